"""Documents as HTML: GFM is rendered, and nothing in them can act."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.safe_markdown import CLASSES, TAGS, as_plain, first_lines, rendered, sanitised

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "<svg onload=alert(1)><circle/></svg>",
    '<iframe src="https://evil.example/"></iframe>',
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](\tjavascript:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:x)",
    "[a](//evil.example/)",
    "![a](https://evil.example/pixel.png)",
    "![a](javascript:alert(1))",
    "![a](data:image/svg+xml,<svg onload=alert(1)>)",
    '<div style="background:url(https://evil.example/x)">a</div>',
    "<style>@import 'https://evil.example/x.css'</style>",
    '<base href="https://evil.example/"><form action="https://evil.example/"><input autofocus onfocus=alert(1)></form>',
    "<a href='javascript:alert(1)'>a</a>",
    '<https://evil.example/?"onmouseover=alert(1)>',
    '[a](https://evil.example "x" onmouseover="alert(1)")',
    "> - <details open ontoggle=alert(1)>\n>   | <b onclick=x> |\n>   |---|\n",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
]


def assert_harmless(html: str) -> None:
    """Only known tags; no handler, style or source; links by known schemes, that tell nothing of the reader."""
    for tag, attributes in re.findall(r"<\s*/?\s*([a-zA-Z][\w-]*)((?:\"[^\"]*\"|[^>\"])*)>", html):
        assert tag in TAGS, html
        names = dict(re.findall(r"([\w-]+)=\"([^\"]*)\"", attributes))
        assert set(names) <= {"href", "title", "target", "rel", "class", "data-piece", "tabindex", "start"}, html
        assert set(names.get("class", "").split()) <= CLASSES, html
        if "href" in names:
            assert re.match(r"(https?://|mailto:)", names["href"]), html
            assert names["rel"] == "noopener noreferrer nofollow"
    assert not re.search(r"<\s*(script|img|iframe|style|svg|object|form|input|link|base)", html, re.IGNORECASE)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_a_hostile_document_acts(text: str) -> None:
    assert_harmless(rendered(text))
    assert_harmless(sanitised(text))
    assert_harmless(sanitised(f"<div>{text}</div>"))


@given(
    st.lists(
        st.sampled_from([*HOSTILE, "word", "\n", "\n\n", "- ", "> ", "| a | b |\n|---|---|\n", "`", "**", "<", ">"])
    )
)
def test_nor_does_any_mixture_of_them(parts: list[str]) -> None:
    assert_harmless(rendered("".join(parts)))


def test_tables_code_and_nested_lists_are_rendered() -> None:
    """UI-01: they were shown as raw text."""
    html = rendered("| a | b |\n|:--|--:|\n| 1 | ~~2~~ |\n\n- x\n  - `y`\n\n```python\nprint(1 < 2)\n```\n")
    assert '<th class="left">a</th>' in html
    assert '<td class="right"><s>2</s></td>' in html
    assert "<ul>\n<li>x\n<ul>\n<li><code>y</code></li>" in html
    assert "<pre><code>print(1 &lt; 2)\n</code></pre>" in html


def test_raw_html_is_shown_as_it_was_written() -> None:
    assert "&lt;b&gt;bold&lt;/b&gt;" in rendered("<b>bold</b>")


def test_links_open_elsewhere_and_images_are_links() -> None:
    assert rendered("[a](https://example.org/)") == (
        '<p><a href="https://example.org/" target="_blank" rel="noopener noreferrer nofollow">a</a></p>\n'
    )
    image = rendered("![a chart](https://example.org/c.png)")
    assert "<img" not in image
    assert 'class="image"' in image
    assert ">a chart</a>" in image


def test_a_link_that_may_not_be_followed_keeps_its_words() -> None:
    assert rendered("[a](javascript:b)") == "<p>[a](javascript:b)</p>\n"
    assert ">a</a>" in rendered("[a](ftp://example.org/)")
    assert "href" not in rendered("[a](ftp://example.org/)")


def test_a_text_made_to_be_slow_is_not() -> None:
    wide = "|" + "a|" * 1000 + "\n|" + "-|" * 1000 + "\n" + "|\n" * 1_000
    began = time.perf_counter()
    rendered(wide)
    rendered("> " * 5_000)
    rendered("[" * 5_000)
    rendered("*a_" * 5_000)
    assert time.perf_counter() - began < 20


def test_blocks_items_and_rows_carry_the_number_of_their_piece() -> None:
    text = "# Head\n\nSome words.\n\n- one\n- two\n\n| a |\n|---|\n| 1 |\n"
    pieces = ["# Head", "Some words.", "", "- one", "- two", "| a |\n|---|", "| 1 |"]
    html = rendered(text, first_lines(text, pieces))
    assert re.findall(r'<(\w+)[^>]*data-piece="(\d)"', html) == [
        ("h1", "0"), ("p", "1"), ("li", "3"), ("li", "4"), ("tr", "5"), ("tr", "6"),
    ]  # fmt: skip


def test_pieces_with_the_same_text_are_told_apart_by_their_order() -> None:
    assert first_lines("- a\n- a\n- b\n", ["- a", "- a", "- b"]) == [(0, 0), (1, 1), (2, 2)]


def test_lines_may_end_in_any_way() -> None:
    assert first_lines("a\r\n\r\nb\rc\r\n", ["a\r\n", "b\rc"]) == [(0, 0), (2, 1)]


def test_a_piece_that_is_not_in_the_text_begins_nowhere() -> None:
    assert first_lines("- a\n- b\n", ["- x", "- b"]) == [(1, 1)]


def test_a_fact_is_told_without_its_marks() -> None:
    assert as_plain("**Decision.** Use `make` *always*") == "Decision. Use make always"
    assert as_plain("<b>") == "<b>"
