"""`palimpsest demo-conversation`, as a user starts it, and the files it reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.demo.conversations import UnreadableConversation, corpus, read_conversations

TURNS = [
    ("Ann", "2024-03-01T10:00:00Z", "Hey Ben! I adopted a dog from the shelter yesterday, her name is Luna."),
    ("Ben", "2024-03-01T10:01:00Z", "Wow! I painted the lake near Bergen last week."),
    ("Ann", "2024-03-09T18:00:00Z", "Luna and I went hiking in the mountains on 8 March 2024."),
    ("Ben", "2024-03-09T18:01:00Z", "I sold my first painting at the gallery in Oslo."),
    ("Ann", "2024-03-20T18:00:00Z", "Great! I started a new job at the bakery."),
    ("Ben", "2024-03-20T18:02:00Z", "My sister visits me in Bergen next month."),
]


def run(*arguments: str, data_dir: Path, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "DATABASE_"))}
    return subprocess.run(
        [sys.executable, "-m", "adapters.cli", "demo-conversation", *arguments],
        env={**kept, "PALIMPSEST_DATA_DIR": str(data_dir), "COLUMNS": "200", **env},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def written(folder: Path, value: object) -> Path:
    path = folder / "talk.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_a_conversation_becomes_documents_and_answers(folder: Path, tmp_path: Path) -> None:
    talk = written(tmp_path, [{"speaker": who, "text": text, "timestamp": at} for who, at, text in TURNS])
    shown = run(str(talk), data_dir=folder / "data")
    assert shown.returncode == 0, shown.stderr
    assert "3 sessions, Ann and Ben; the first 2 of them now" in shown.stdout
    assert "\n4 facts, 4 observations" in shown.stdout
    assert "\n6 facts, 6 observations" in shown.stdout
    happened, about_ann, observed, about_ben = shown.stdout.split("A document: ")[1:]
    assert happened.index("painted the lake") < happened.index("adopted a dog") < happened.index("went hiking")
    assert "Luna" in about_ann
    assert "Bergen" not in about_ann
    assert "painting" in observed
    assert "+- (2024-04) Ben: My sister visits me in Bergen next month." in about_ben
    assert "written by the worker in version 3 on: “Ben: My sister visits me in Bergen next month.”" in about_ben
    assert "0 tokens of language models" in about_ben


@pytest.mark.slow
def test_a_conversation_of_the_corpus_becomes_documents_and_answers(folder: Path) -> None:
    if not corpus().exists():
        pytest.skip(f"{corpus()} is missing; name its folder with CORPUS_DIR")
    shown = run(data_dir=folder / "data")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.count("Outcome: content_written") == 5
    assert "merged from several facts" in shown.stdout
    assert "; 0 tokens of language models" in shown.stdout


def test_without_the_file_one_line_says_so(tmp_path: Path) -> None:
    shown = run(data_dir=tmp_path, CORPUS_DIR=str(tmp_path))
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.splitlines() == [
        f"palimpsest: there is no file {tmp_path}/locomo-dev.json; name one, or its folder with CORPUS_DIR"
    ]


def test_of_a_conversation_that_is_not_in_the_file_the_names_are_told(tmp_path: Path) -> None:
    talk = written(tmp_path, [{"role": "user", "content": "I moved to Oslo."}])
    shown = run(str(talk), "--conversation", "other", data_dir=tmp_path)
    assert shown.returncode == 2
    assert shown.stderr.splitlines() == ["palimpsest: no conversation is named other; there are talk"]


@pytest.mark.parametrize("value", [[], {}, 3, "text", [{"a": 1}], {"conversation": {}}, [{"conversation": []}]])
def test_what_has_no_conversation_is_told(tmp_path: Path, value: object) -> None:
    with pytest.raises(UnreadableConversation, match="has no conversation"):
        read_conversations(written(tmp_path, value))


def test_what_is_no_json_is_told(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(b"\xff{")
    with pytest.raises(UnreadableConversation, match="is not JSON"):
        read_conversations(path)
    with pytest.raises(UnreadableConversation, match="cannot be read"):
        read_conversations(tmp_path)


def test_turns_are_cut_into_sessions_where_nobody_spoke_for_hours(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "I moved to Oslo.", "timestamp": "2024-03-01T10:00:00"},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "I moved to Rome.", "timestamp": "2024-03-02T10:00:00+02:00"},
    ]
    (talk,) = read_conversations(written(tmp_path, turns))
    assert talk.name == "talk"
    assert talk.speakers == ("user", "assistant")
    assert [session.said_at for session in talk.sessions] == [
        datetime(2024, 3, 1, 10, tzinfo=UTC),
        datetime(2024, 3, 2, 8, tzinfo=UTC),
    ]
    assert talk.sessions[0].turns[1] == {"speaker": "assistant", "text": "Noted."}


def test_a_sample_of_locomo_has_sessions_in_order_and_questions(tmp_path: Path) -> None:
    said = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I ran.", "blip_caption": "a photo of shoes"},
        {"speaker": "B"},
    ]
    conversation = {
        "speaker_a": "Ann",
        "session_10": said,
        "session_2": said,
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_3": [],
    }
    asked = [{"question": "Who ran?", "answer": 1}, {"question": "Who swam?", "adversarial_answer": "Ann"}, {}]
    sample = {"sample_id": "conv-1", "conversation": conversation, "qa": asked}
    (talk,) = read_conversations(written(tmp_path, [sample]))
    assert [session.name for session in talk.sessions] == ["session-02", "session-10"]
    assert talk.sessions[0].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert talk.sessions[0].turns == ({"speaker": "Ann", "text": "I ran."},)
    assert talk.sessions[1].said_at is None
    assert [(each.text, each.expected) for each in talk.questions] == [("Who ran?", "1"), ("Who swam?", None)]
