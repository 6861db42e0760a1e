"""Telegram's HTML, read back by a checker written from the Bot API."""

import json

import pytest

from channels.text import pieces
from tests.channels.text.showing import case, traits
from tests.fakes.telegram_html import Entity, accept

EXPECTED = json.loads(case("B50-telegram-torture.expect.json"))


def shown(markdown: str) -> str:
    (piece,) = pieces(markdown, traits("telegram"))
    accept(piece.text)
    return piece.text


def test_all_that_went_wrong_elsewhere_at_once() -> None:
    """B50: names with underscores, triple marks, tags, entities, fences in fences, and unclosed ones."""
    html = shown(case("B50-telegram-torture.md"))
    seen, entities = accept(html)
    listed = next(check for check in EXPECTED["checks"] if check.startswith("visible text contains: "))
    for text in listed.removeprefix("visible text contains: ").split(" | "):
        assert text in seen
    assert "&amp;" in seen
    assert "&amp;amp;" in html
    assert 'href="https://example.org/a_b?x=1&amp;y=2"' in html
    assert not [one for one in entities if one.url.startswith("javascript")]
    code = [seen[one.offset : one.offset + one.length] for one in entities if one.type == "pre"]
    assert code[0] == "outer fence with ``` inside"
    assert code[-1].startswith('print("<&>")')
    assert "a_b | 1 < 2" in code[1]


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**b** *i* ~~s~~ `c` ||h||", "<b>b</b> <i>i</i> <s>s</s> <code>c</code> <tg-spoiler>h</tg-spoiler>"),
        ("# Title", "<b>Title</b>"),
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("**bold `code` on**", "<b>bold </b><code>code</code><b> on</b>"),
        ("[`f`](https://x.y)", '<a href="https://x.y">f</a>'),
        ('[q](https://x.y/"a)', '<a href="https://x.y/%22a">q</a>'),
        ("[mail](mailto:a@b.c)", "mail (mailto:a@b.c)"),
        ("[here](tg://user?id=1)", "here (tg://user?id=1)"),
        ("[](https://x.y)", '<a href="https://x.y">https://x.y</a>'),
        ("![a cat](https://x.y/c.png)", '<a href="https://x.y/c.png">a cat</a>'),
        ("> one\n> > two", "<blockquote>one\n&gt; two</blockquote>"),
        ("> say\n>\n> ```\n> x\n> ```", "<blockquote>say</blockquote>\n\n<pre>x</pre>"),
        ("- a\n  - b\n- [x] c\n- [ ] d", "• a\n  • b\n☑ c\n☐ d"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("```\na\n\n  b\n```", "<pre>a\n\n  b</pre>"),
        ("```npm install x", "<pre>npm install x</pre>"),
        ("a\n---\nb", "a\n———\nb"),
        ("x||y||z and a || b || c", "x||y||z and a || b || c"),
    ],
)  # fmt: skip
def test_what_is_rendered_how(markdown: str, html: str) -> None:
    assert shown(markdown) == html


def test_a_cut_in_quotes_keeps_both_halves_quotes() -> None:
    made = pieces("> " + "word " * 40, traits("telegram", 120))
    assert len(made) > 1
    assert all(accept(one.text)[1][0].type == "blockquote" for one in made)


def test_offsets_count_utf16_units() -> None:
    assert accept(shown("👍 **b**"))[1] == [Entity(type="bold", offset=3, length=1)]
