"""What a model may not offer as a document, and real documents that are never taken for that."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.candidate import Fault, fault_of, is_blank, is_envelope, placeholder, refusal
from domain.document import parse

ROOT = Path(__file__).parent.parent.parent


def fault(text: str) -> Fault | None:
    return fault_of(text, parse(text))


# --- nothing to see ---------------------------------------------------------------------------------------------------

BLANK = [
    "",
    " \n\t ",
    "\u200b\u200d\ufeff",
    "\u3164\u115f",
    "\u2800\u2800",
    "\x00\x07",
    "\u0301",
    "\u00ad",
    "\u2028\r\n",
]


@pytest.mark.parametrize("text", BLANK, ids=ascii)
def test_rs_02_whitespace_and_zero_width_characters_are_blank(text: str) -> None:
    assert is_blank(text)
    assert fault(text) == "blank"


@pytest.mark.parametrize("text", ["a", ".", "\u200b0", "é", "# ", "-", "中", "🙂"], ids=ascii)
def test_anything_that_is_drawn_is_not_blank(text: str) -> None:
    assert not is_blank(text)


HEADING_ONLY = [
    "# Ada\n",
    "# Ada\n\n## Work\n\n## Life\n",
    "Ada\n===\n\nWork\n----\n",
    "# Ada\n\n---\n\n***\n",
    "# Ada\n\n<!-- to be written -->\n",
    "# Ada\n\n<!-- never closed",
    "# Ada\n\n[a]: https://example.org\n",
    "# Ada\n\n- \n-\n* \n",
    "# Ada\n\n- [ ] \n",
    "# Ada\n\n1. \n2. <!-- x -->\n",
    "# Ada\n\n>\n> \n",
    "# Ada\n\n```\n```\n",
    "# Ada\n\n```python\n\n```\n",
    "# Ada\r\n\r\n```\r\n```\r\n",
    "# Ada\n\n| |\n|-|\n| |\n",
    "# Ada\n\n&nbsp;\n\n&#8203;\n",
    "# Ada\n\n<br>\n\n<div></div>\n",
    '# Ada\n\n<a id="top"></a>\n',
    "# Ada\n\n\u200b\n",
    "---\ntitle: Ada\n---\n# Ada\n",
]


@pytest.mark.parametrize("text", HEADING_ONLY)
def test_headings_with_nothing_under_them_are_no_document(text: str) -> None:
    assert fault(text) == "heading_only"


@pytest.mark.parametrize("text", ["---\n", "<!-- draft -->\n", "[a]: https://example.org\n", "```\n```\n", "&nbsp;\n"])
def test_marks_alone_are_as_good_as_blank(text: str) -> None:
    assert fault(text) == "blank"


CONTENT = [
    "# Ada\n\nA mathematician.\n",
    "# Ada\n\n## Work\n\n---\n\n## Life\n\n- Born 1815\n",
    "# Ada\n\n- \n- b\n",
    "# Ada\n\n| |\n|-|\n| 1815 |\n",
    "# Ada\n\n```\nx\n```\n",
    "# Ada\r\r```\rx\r```\r",
    "# Ada\n\n    code\n",
    "# Ada\n\n![portrait](ada.png)\n",
    '# Ada\n\n<img src="ada.png">\n',
    "# Ada\n\n<https://example.org/ada>\n",
    "# Ada\n\n<div>Born 1815</div>\n",
    "# Ada\n\n<!-- a -->\nBorn 1815\n",
    "# Ada\n\n> quoted\n",
    "# Ada\n\n1815\n",
    "- 1815\n",
    "a < b and c > d\n",
]


@pytest.mark.parametrize("text", CONTENT)
def test_any_block_a_reader_sees_makes_a_document(text: str) -> None:
    assert fault(text) is None


# --- placeholders -----------------------------------------------------------------------------------------------------

PLACEHOLDERS = [
    "Generating content...",
    "Generating content…",
    "generating content",
    "No answer provided.",
    "**No answer provided.**",
    "No answer",
    "N/A",
    "n/a.",
    "TODO",
    "TODO: content",
    "TBD",
    "To be determined.",
    "[content]",
    "[Content goes here]",
    "[Insert summary here]",
    "{{content}}",
    "(placeholder)",
    "This is a placeholder.",
    "Placeholder text",
    "Your answer here",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    "Lorem ipsum dolor sit amet.\n\nSed ut perspiciatis unde omnis.",
    "None",
    "`null`",
    "undefined",
    "Unknown.",
    "...",
    "???",
    "Coming soon!",
    "Loading...",
    "No content available yet.",
    "No data",
    "Content not available",
    "Not available.",
    "Answer: N/A",
    "- N/A\n- N/A\n",
    "> TODO",
    "暂无内容",
    "xxx",
]


@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_rs_02_a_placeholder_is_no_document_whatever_its_title(text: str) -> None:
    for form in (
        text,
        f"{text}\n",
        f"# Ada Lovelace\n\n{text}\n",
        f"# Ada\n\n## Work\n\n{text}\n\n## Life\n\n{text}\n",
    ):
        assert placeholder(form), form
        assert fault(form) == "placeholder", form


NO_PLACEHOLDERS = [
    "None of the servers is in Europe.",
    "TODO: call Ada before Friday",
    "# TODO\n\n- Call Ada\n",
    "Content is written by Ada.",
    "The answer is 42.",
    "42",
    "Yes.",
    "Pending.",
    "In progress.",
    "Writing code is what Ada does.",
    "Processing plant",
    "No.",
    "No answer was given by Bob on Monday.",
    "Lorem is a column of the table `ipsum`.",
    "N/A is the code of Namibia in the table.",
    "Unknown Pleasures is Ada's favourite record.",
    "# Ada\n\nTBD\n\n## Work\n\nWrote the first program.\n",
    "- N/A\n- 1815\n",
    "| Name | Born |\n|---|---|\n| Ada | N/A |\n",
    "```\nTODO\n```\n",
    "Memories of Ada",
    "Ada",
    "x",
]


@pytest.mark.parametrize("text", NO_PLACEHOLDERS)
def test_a_text_that_says_something_is_no_placeholder(text: str) -> None:
    assert not placeholder(text)
    assert fault(text) is None


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSALS = [
    "I cannot find any information",
    "I can't find any information about Ada.",
    "I can’t find any information about Ada.",
    "I'm sorry, but I don't have information about Ada Lovelace.",
    "I’m sorry, but I don’t have any information about the launch date of Palimpsest.",
    "I am sorry. I do not have enough information to answer this question.",
    "Sorry, I couldn't find anything relevant.",
    "Unfortunately, I was unable to find any relevant memories about Ada and Bob.",
    "No relevant memories were found for this question.",
    "No memories found.",
    "No information found",
    "No information about Ada.",
    "No relevant information is available in the memory bank.",
    "No matching facts were returned by the search.",
    "There is no information available on the team's plans.",
    "There's no information about this topic in my memories.",
    "There isn't enough information to answer the question.",
    "There are no relevant memories about Ada Lovelace.",
    "As an AI language model, I don't have access to real-time information.",
    "As an AI, I cannot provide personal opinions.",
    "As a large language model trained by OpenAI, I do not have memories of past conversations.",
    "Based on the available memories, I cannot answer this question.",
    "Based on the provided context, there is no information about Ada. Please provide more details.",
    "The available memories do not contain any information about Ada.",
    "The memory bank doesn't contain any relevant information.",
    "The search returned no results.",
    "My memory contains no information about the deployment.",
    "I don't know.",
    "I do not know the answer to that question.",
    "I don't know who Ada Lovelace is.",
    "I have no information about that.",
    "I found no relevant memories. If you can share more context, I'd be happy to help!",
    "I have no memory of Ada.",
    "I'm unable to answer this question with the information provided.",
    "I'm sorry, but I can't help with that.",
    "I can't assist with that request.",
    "I cannot fulfill this request.",
    "I must respectfully decline this request.",
    "I was not able to locate any records about Ada; please rephrase your question.",
    "Insufficient information to answer.",
    "Not enough information is available.",
    "Nothing is known about Ada yet.",
    "Unable to find relevant information about Ada.",
    "This question cannot be answered from the available memories.",
    "It seems that there are no memories about Ada.",
    "It looks like I don't have any memories about Ada. Could you share more details? I'd be glad to help.",
    "**No information found.**",
    "> I could not find any information about Ada.",
    "- No relevant memories were found.\n- Please try another question.\n",
    "Answer: I do not have this information.",
    "I could not find any information about Dr. Lovelace.",
    "I couldn't find\nany information\nabout Ada.",
    "抱歉，我没有找到关于艾达的任何信息。",
    "没有找到相关信息。",
    "很抱歉，我无法回答这个问题。",
    "对不起，根据现有的记忆，我无法提供相关信息。",
    "暂无相关资料。",
    "我不知道。",
    "作为一个人工智能语言模型，我无法提供个人意见。",
    "抱歉，沒有找到相關資訊。",
    "Leider habe ich keine Informationen über Ada gefunden.",
    "Es tut mir leid, aber ich habe keine Informationen zu diesem Thema.",
    "Dazu liegen mir keine Informationen vor.",
    "Es wurden keine relevanten Erinnerungen gefunden.",
    "Es gibt keine Informationen über Ada.",
    "Keine Informationen verfügbar.",
    "Ich kann diese Frage leider nicht beantworten.",
    "Als KI-Sprachmodell habe ich keine persönlichen Erinnerungen.",
    "Désolé, je n'ai pas trouvé d'informations sur Ada.",
    "Je n’ai aucune information à ce sujet.",
    "Je ne dispose pas d'informations sur Ada.",
    "Il n'y a aucune information disponible sur Ada.",
    "Aucune information n'a été trouvée.",
    "Je ne peux pas répondre à cette question.",
    "Lo siento, pero no tengo información sobre Ada.",
    "No tengo información sobre este tema.",
    "No se encontró información relevante.",
    "No hay información disponible sobre Ada.",
    "No puedo responder a esta pregunta.",
    "I don't have enough context to answer that.",
    "I could not locate any memories related to your query.",
    "After reviewing the memories, I found nothing relevant to this question.",
    "I wasn't able to find anything in memory about the project's budget.",
    "There are currently no memories stored about this user.",
    "I apologize, but there's no information in the provided context to answer this.",
    "I'm afraid I don't have that information.",
    "The provided memories do not include any details about the user's preferences.",
    "No data available for this query.",
    "There is insufficient information to create a document about Ada.",
    "I don't have any stored memories on this topic yet.",
    "Based on my search, no relevant facts were found about the customer.",
    "The information needed to answer this question is not available.",
    "I do not have access to information about Ada's plans.",
    "There is nothing in my memory about that.",
    "It is not possible to answer this question based on the available information.",
    "The question cannot be answered with the available data.",
    "I regret to inform you that I have no information about that topic.",
    "No relevant facts available.",
    "I have searched the memory bank but found no relevant information.",
    "I searched my memories and found nothing about Ada.",
    "Memory bank is empty.",
    "We don't have any information on that.",
    "I currently do not have any information regarding the status of the migration.",
    "Your query did not return any results.",
    "I am not able to provide an answer to this question.",
    "Sorry, I can't answer that.",
    "I need more information to answer this question. There is no information about Ada.",
    "No observations or facts were retrieved.",
    'There is no relevant information in the memory bank about "Ada Lovelace".',
    "I do not have sufficient information to write this document. Please add memories about the topic first.",
    "The memories contain no mention of a launch date.",
    "Information not found.",
    "No information is currently available about Ada.",
    "My apologies, I was unable to retrieve any relevant information regarding this inquiry.",
    "I don't have a record of that.",
    "None of the memories mention Ada.",
    "None of the retrieved facts are relevant to the question.",
    "记忆库中没有关于该用户的信息。",
    "未找到相关记忆。",
    "抱歉，目前没有足够的信息来回答您的问题。",
    "Zu dieser Frage liegen keine Informationen vor.",
    "Ich habe leider keine Informationen dazu.",
    "Ich konnte keine passenden Erinnerungen finden.",
    "Je n'ai trouvé aucune information pertinente.",
    "Aucun souvenir pertinent n'a été trouvé.",
    "Désolé, je ne trouve aucune information concernant Ada.",
    "No encontré información sobre Ada.",
    "Lo siento, no dispongo de suficiente información para responder.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_rs_04_a_refusal_is_no_document_whatever_its_title(text: str) -> None:
    for form in (text, f"\n{text}\n\n", f"# Ada Lovelace\n\n{text}\n", f"Ada\n===\n\n## Summary\n\n{text}\n\n---\n"):
        assert refusal(form), form
        assert fault(form) == "refusal", form


NO_REFUSALS = [
    "The team has no information about the launch date yet; the owner is Ada Lovelace.",
    "The team has no information about the launch date yet.",
    "There is no information about the launch date, but the owner is Ada.",
    "There is no information about the launch date and the owner is Ada.",
    "There is no information about the launch date, Ada is the owner.",
    "There is no information about the launch date. Ada owns it.",
    "I could not find any information about the launch date. The owner is Ada.",
    "I don't have information about Ada's birthday; she lives in London.",
    "I don't have information about Ada's birthday - she lives in London.",
    "I don't have information about Ada beyond her move to London in May.",
    "No information was leaked in the breach.",
    "No information about customers leaves the region.",
    "No data was lost in the outage.",
    "No memories of the war were kept by the family.",
    "No evidence of tampering was found.",
    "We found no evidence of tampering.",
    "We found no bugs in the release.",
    "There are no records from before 1812, because the archive burned.",
    "There is no backup of the database.",
    "I cannot eat gluten.",
    "I can't attend the meeting on Monday.",
    "I don't know how to swim.",
    "I do not have a car.",
    "I'm sorry for being late to the standup.",
    "I am unable to attend on Fridays.",
    "I was unable to find the keys in the drawer.",
    "Sorry for the delay. The release is on Friday.",
    "As an AI engineer, I do not have access to production.",
    "As an AI assistant, I have booked the flight for Monday.",
    "As an AI startup, the company raised five million.",
    "Ada is an AI researcher and cannot travel in June.",
    "The documents do not contain signatures.",
    "The context switch does not cost much.",
    "The search team returned to the office.",
    "Search is slow: no index exists on the table of memories.",
    "Unfortunately, the launch was moved to May.",
    "Please provide more details.",
    "Let me know if you need anything else.",
    "Do not provide any information about patients to callers.",
    "Nothing was found wrong with the engine.",
    "Nothing in the house was insured.",
    "Ada said: I do not know.",
    "When asked about the plan, Ada said that she had no information.",
    "Information about pricing is not available to interns.",
    "This question was answered by Ada in May.",
    "- No information about the date\n- Owner: Ada\n",
    "| Question | Answer |\n|---|---|\n| Date | No information found |\n",
    "```\nNo information found\n```\n",
    "No information found.\n\n```\nSELECT 1\n```\n",
    "# No information found\n\nThe error message of the import, seen by Ada on Monday.\n",
    "No information found. " * 4,
    "There is no information about the date. " + "The plan has several phases that depend on each other. " * 8,
    "该团队没有关于发布日期的信息，负责人是艾达。",
    "没有关于日期的信息，但是负责人是艾达。",
    "艾达没有汽车。",
    "Das Team hat keine Informationen über den Termin; Ada leitet es.",
    "Es gibt keine Informationen über den Termin, aber Ada leitet das Projekt.",
    "Keine Daten verlassen die EU.",
    "L'équipe n'a aucune information sur la date ; Ada dirige le projet.",
    "El equipo no tiene información sobre la fecha; Ada lo dirige.",
    "No hay coches en el centro.",
    "Ada has no information about her father.",
    "I have no siblings.",
    "I have no context menu on my phone.",
    "I don't have results from the lab yet; the doctor calls on Friday.",
    "No results from the lab until Friday.",
    "There is no content warning on the film.",
    "We do not have a data center in Asia.",
    "There is no data center in Asia.",
    "We have no data scientists on the team.",
    "No records were broken at the 2012 race.",
    "I cannot recall Ada without smiling.",
    "I found no answer satisfying, so I wrote my own.",
    "Search results are cached for 5 minutes.",
    "The knowledge base does not require a login.",
    "No facts are deleted: corrections are new versions.",
    "There is no memory limit for workers.",
    "The memory does not leak.",
    "I do not have access to the building on weekends.",
    "Nothing was recorded in 1812 at the studio.",
    "I'm unable to provide cover on Tuesdays.",
    "The customer cannot find any information in the manual.",
    "I don't know what I would do without Ada's help, she owns the whole pipeline.",
    "We cannot determine the cause of the outage.",
    "We could not determine whether the cause was the disk or the controller; the vendor replaced both.",
    "No answer from Bob: Ada escalated.",
    "The user prefers short answers.",
    "Ada does not know.",
    "The user said they cannot find any information about refunds on the website.",
    "I'm sorry I missed the call.",
    "There are no details missing from the contract.",
    "There is no mention of pricing in the contract.",
    "The search did not find any survivors.",
    "The recall did not include any vehicles made after 2015.",
    "The bank does not provide any details on request.",
    "Our bank has no branches.",
    "The bank did not provide any information to the press.",
    "Our knowledge base contains no customer data.",
    "I lack the details of the plan Ada made in May.",
    "El banco no tiene sucursales.",
    "我没有汽车。",
    "我不知道他住在哪里，但他在柏林工作。",
    "公司没有数据中心。",
    "无法登录时请重置密码。",
    "Ich habe keine Daten verloren.",
    "Je n'ai pas de voiture.",
    "No hay datos fuera de la UE.",
]


@pytest.mark.parametrize("text", NO_REFUSALS)
def test_a_document_that_says_anything_is_no_refusal(text: str) -> None:
    assert not refusal(text)
    assert fault(text) is None


def test_real_documents_and_their_sections_are_never_held_back() -> None:
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    files += sorted((ROOT / "adapters" / "demo").glob("*.md"))
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    assert len(texts) > 10
    paragraphs = [part for text in texts.values() for part in re.split(r"\n{2,}", text)]
    sections = [
        "".join(block.source + block.gap for block in section.blocks)
        for text in texts.values()
        for section in parse(text).sections
        if section.blocks
    ]
    for text in (*texts.values(), *sections):
        assert fault(text) is None, text[:200]
    for text in paragraphs:
        assert not refusal(text), text
        assert not placeholder(text), text


# --- envelopes --------------------------------------------------------------------------------------------------------

REPLY = {"answer": "# Ada\n\nA mathematician.", "memory_ids": ["m1"], "directive_compliance": "none"}
ENVELOPES: list[Any] = [
    REPLY,
    {"answer": "Ada"},
    {"markdown": "Ada"},
    {"document": {"sections": []}, "answer_found": True},
    {"operations": [{"op": "append_block", "text": "x"}]},
    {"operations": []},
    {"sections": [{"heading": "Ada", "blocks": ["a"]}]},
    {"name": "done", "arguments": REPLY},
    {"name": "done", "parameters": {"answer": "Ada"}},
    [{"name": "done", "arguments": "{}"}],
    {"memory_ids": []},
]


@pytest.mark.parametrize("reply", ENVELOPES, ids=lambda reply: json.dumps(reply)[:40])
def test_rs_10_the_json_of_a_reply_is_no_document(reply: Any) -> None:
    bare = json.dumps(reply)
    pretty = json.dumps(reply, indent=2)
    for text in (bare, f"\n {pretty}\n", f"```json\n{pretty}\n```", f"~~~\n{bare}\n~~~\n", f"````\r\n{bare}\r\n````"):
        assert is_envelope(text), text
        assert fault(text) == "envelope", text
    assert is_envelope(f"Here is the answer:\n\n```json\n{pretty}\n```\n")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(REPLY)[:-20],
        '{"answer": "a line\nand another", "memory_ids": []}',
        '{"answer": "with "quotes" inside"}',
        '```json\n{"answer": "cut off in the midd',
        "```json\n" + json.dumps(REPLY)[:-10] + "\n```",
    ],
)
def test_rs_10_an_envelope_that_is_cut_off_or_broken_is_one_too(text: str) -> None:
    assert is_envelope(text)


@pytest.mark.parametrize(
    "text",
    [
        "A mathematician.",
        "# Ada\n\n```json\n" + json.dumps(REPLY) + "\n```\n\nThis is what the service answers.\n",
        "The reply is as follows; its fields are explained further below in this guide, with examples of each of them."
        "\n\n```json\n" + json.dumps(REPLY) + "\n```\n",
        '```json\n{"answer": "Ada"}\n```\n\nis what comes back of\n\n```sh\ncurl localhost\n```',
        '{"port": 8080, "host": "localhost"}',
        '```json\n{"name": "palimpsest", "version": "1.0"}\n```',
        '{"sections": 5}',
        '{"operations": "daily"}',
        "{a} and {b} are sets",
        "[x] done",
        "[1, 2, 3]",
        "{}",
        "[]",
        '"answer"',
        '{"answer": 42, "question": "?"}',
        "{" * 5000,
        "[" * 100_000,
    ],
    ids=lambda text: text[:30],
)
def test_other_texts_and_other_json_are_no_envelope(text: str) -> None:
    assert not is_envelope(text)
    assert fault(text) != "envelope"


# --- all together -----------------------------------------------------------------------------------------------------

_PIECES = [
    *PLACEHOLDERS, *REFUSALS, *HEADING_ONLY, "关于", "在", "根据", ",", "，",
    "about", "any ", "relevant ", "zu ", "ich ", "es ",
    "unfortunately ", "based on the ", "n'", "pas ", "d'", "\n", "\n\n", "# ", "- ", "<", "<!--", "&", "```", "{", '"',
]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=5), max_size=12).map("".join))
def test_every_text_is_judged(text: str) -> None:
    assert fault(text) in ("blank", "heading_only", "placeholder", "refusal", "envelope", None)


def _seconds(text: str) -> float:
    """The best of three: what else runs on the machine does not count."""
    document = parse(text)

    def once() -> float:
        start = time.perf_counter()
        fault_of(text, document)
        return time.perf_counter() - start

    fault_of("I do not know.", parse("I do not know."))
    return min(once() for _ in range(3))


@pytest.mark.parametrize(
    "text",
    [
        "# Ada\n\n" + "She wrote a program. " * 5000,
        "- Ada wrote a program\n" * 5000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 10_000,
        "No information found. " * 5000,
        "> quoted\n" * 11_000,
        "<p>Ada</p>\n" * 9000,
        "# Ada\n\n```\n" + "x = 1\n" * 16_000 + "```\n",
        '{"port": "' + "8" * 100_000 + '"}',
    ],
    ids=lambda text: text[:12],
)
def test_a_document_of_100_kb_costs_almost_nothing(text: str) -> None:
    assert len(text) > 90_000
    assert _seconds(text) < 0.01


def test_hostile_short_texts_cost_little() -> None:
    chance = random.Random(1)
    words = [piece for piece in _PIECES if len(piece) < 20]
    texts = ["".join(chance.choices(words, k=60))[:400] for _ in range(300)]
    texts += [word * (400 // len(word)) for word in words]
    start = time.perf_counter()
    for text in texts:
        refusal(text)
        placeholder(text)
    assert time.perf_counter() - start < 20
