"""WhatsApp's marks."""

import pytest

from channels.text import pieces
from tests.channels.text.showing import traits


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**b** *i* ~~s~~ `c` ***both***", "*b* _i_ ~s~ `c` *_both_*"),
        ("in**si**de", "inside"),
        ("# Title\ntext", "*Title*\ntext"),
        ("[t](https://x.y) <https://x.y>", "t (https://x.y) https://x.y"),
        ("**`code`**", "`code`"),
        ("```py\nx\n```", "```\nx\n```"),
        ("> a\n> b", "> a\n> b"),
        ("|k|v|\n|-|-|\n|a|1|\n|b||", "- k: *a*\n  v: 1\n- k: *b*"),
        ("||hidden||", "hidden"),
    ],
)
def test_what_is_rendered_how(markdown: str, text: str) -> None:
    (piece,) = pieces(markdown, traits("whatsapp", tables="list"))
    assert piece.text == text


def test_a_long_address_is_divided_like_any_text() -> None:
    address = "https://x.y/" + "a" * 200
    made = pieces(f"[t]({address})", traits("whatsapp", 100))
    assert "".join(piece.text for piece in made).replace(" ", "") == f"t({address})"
