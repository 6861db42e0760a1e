"""The checker of Telegram's HTML refuses what the documentation does not allow."""

import pytest

from tests.fakes.telegram_html import CannotParse, Entity, Refused, accept, parse


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<p>x</p>", 'Unsupported start tag "p" at byte offset 0'),
        ("é < b", 'Unsupported start tag "" at byte offset 3'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'),
        ("a & b", "Bare ampersand"),
        ("&nbsp;", 'Unsupported entity "nbsp"'),
        ("&#0;", "Invalid character"),
        ("a > b", "Bare >"),
        ("<b class='x'>y</b>", "Unsupported attribute"),
        ("<a href='javascript:x'>y</a>", "Unsupported URL"),
        ("<a>y</a>", "Unsupported URL"),
        ('<a href="http://x?a&b">y</a>', "Bare character"),
        ("<span>x</span>", "must have class"),
        ("<code><b>x</b></code>", "cannot stand in"),
        ("<b><code>x</code></b>", "cannot stand in"),
        ("<pre>a<code>x</code></pre>", "cannot stand in"),
        ("<blockquote>a<blockquote>x</blockquote></blockquote>", "cannot stand in"),
        ('<code class="language-py">x</code>', "directly inside pre"),
    ],
)
def test_what_is_refused(html: str, why: str) -> None:
    with pytest.raises(CannotParse, match="can't parse entities") as refused:
        parse(html)
    assert why in str(refused.value)


def test_what_is_seen_and_marked() -> None:
    html = '👍<b>a<i>b</i></b> &lt;&#65; <pre><code class="language-py">x</code></pre><a href="http://x?a&amp;b">l</a>'
    seen, entities = parse(html)
    assert seen == "👍ab <A xl"
    assert entities == [
        Entity(type="bold", offset=2, length=2),
        Entity(type="italic", offset=3, length=1),
        Entity(type="pre", offset=8, length=1, language="py"),
        Entity(type="text_link", offset=9, length=1, url="http://x?a&b"),
    ]


@pytest.mark.parametrize(("size", "taken"), [(4095, True), (4096, True), (4097, False)])
def test_the_limit_counts_what_is_seen(size: int, taken: bool) -> None:
    html = "&amp;" * size
    if taken:
        assert len(accept(html)[0]) == size
    else:
        with pytest.raises(Refused, match="too long"):
            accept(html)


def test_nothing_to_see_is_refused() -> None:
    with pytest.raises(Refused, match="empty"):
        accept("<b> </b>")
