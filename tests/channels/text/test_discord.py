"""Discord's Markdown: what is meant is marked, what is not is escaped."""

import pytest

from channels.text import pieces
from tests.channels.text.showing import traits

ZERO = "\u200b"


def shown(markdown: str) -> str:
    (piece,) = pieces(markdown, traits("discord", 2000))
    return piece.text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**b** *i* ~~s~~ `c` ||h||", "**b** _i_ ~~s~~ `c` ||h||"),
        ("**a***b*", "**a**_b_"),
        ("*a*b", "*a*b"),
        ("# One\n### Three\n#### Four", "# One\n### Three\n**Four**"),
        ("snake_case __init__ 2 * 3 * 4", "snake_case **init** 2 * 3 * 4"),
        (r"\*stars\* \_lines\_ \~~x\~~ \`c\`", r"\*stars\* \_lines\_ \~\~x\~\~ \`c\`"),
        (r"\# no heading", r"\# no heading"),
        (r"\- no list", r"\- no list"),
        (r"\> no quote", r"\> no quote"),
        ("-# small", r"\-# small"),
        ("@everyone @here <@123> @you", f"@{ZERO}everyone @{ZERO}here \\<@{ZERO}123> @you"),
        ("<:smile:123> <t:1234> List<int> <b>x</b>", r"\<:smile:123> \<t:1234> List<int> <b>x</b>"),
        ("[docs (v2)](https://x.y/a_(b))", "[docs (v2)](https://x.y/a_%28b%29)"),
        ("[a](relative/path)", "a (relative/path)"),
        ("**https://x.y/_b_/(c)**, (https://x.y).", "**https://x.y/_b_/(c)**, (https://x.y)."),
        ("<https://x.y/a_b>", "https://x.y/a_b"),
        ("`` a`b ``", "`` a`b ``"),
        ("> a\n>\n> b", "> a\n> \n> b"),
        ("> ```py\n> x\n> ```", "> ```py\n> x\n> ```"),
        ("````\na ``` b\n````", f"```\na ``{ZERO}` b\n```"),
        ("```python title=x\ny\n```", "```python\ny\n```"),
        ("- a\n  - b\n- [x] c", "- a\n  - b\n- ☑ c"),
    ],
)  # fmt: skip
def test_what_is_rendered_how(markdown: str, text: str) -> None:
    assert shown(markdown) == text
