"""What the tests of text share: traits of platforms, and texts made of all that Markdown has."""

from pathlib import Path
from typing import Literal

from hypothesis import strategies as st

from channels.channel import Markup, Traits

CASES = Path(__file__).parents[2] / "cases"
MARKUPS: tuple[Markup, ...] = ("telegram", "discord", "whatsapp", "plain")


def traits(
    markup: Markup,
    max_text: int = 4096,
    *,
    soft_lines: int | None = None,
    tables: Literal["code", "list"] = "code",
) -> Traits:
    return Traits(
        markup=markup,
        max_text=max_text,
        max_caption=1024,
        can_edit=True,
        has_nonce=False,
        has_choices=False,
        soft_lines=soft_lines,
        tables=tables,
    )


def case(name: str) -> str:
    return (CASES / name).read_text(encoding="utf-8")


WORDS = [
    "word",
    "snake_case",
    "a.",
    "x" * 30,
    "日本語。",
    "🧭",
    "👩‍👩‍👧",
    "e\u0301",
    "2 * 3",
    "http://u.v/w_x_y",
]
MARKS = [
    "**", "*", "_", "`", "``", "~~", "||", "<b>", "&", "&amp;", "<", ">", "\\", "@everyone", "<@12345>",
    "[t](http://x.y/a?b=1&c=2)", "[t](", "![i](http://p.q)", "[j](javascript:x)", "[", "](", "\u200b",
    "\ud800", "\0",
]  # fmt: skip
BLOCKS = [
    "\n", "\n\n", "\n- ", "\n1. ", "\n> ", "\n# ", "\n#### ", "\n---\n", "\n- [ ] ", "\n    ", "  ",
    "\n```py\n", "\n```\n", "\n~~~\n", "\n|a|b|\n|-|-:|\n|1|2|\n",
]  # fmt: skip
MARKDOWN = st.lists(st.sampled_from([*WORDS, " ", *MARKS, *BLOCKS]), max_size=60).map("".join)
TRAITS = st.builds(
    traits,
    st.sampled_from(MARKUPS),
    st.sampled_from([40, 41, 64, 100, 333, 2000, 4096]),
    soft_lines=st.sampled_from([None, 3, 17]),
    tables=st.sampled_from(["code", "list"]),
)
