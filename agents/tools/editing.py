"""One exact replacement in a text, or a message that helps to get it right."""

import difflib
from dataclasses import dataclass

from agents.tools.tool import ToolError

SHOWN_MATCHES = 10
COMPARED_LINES = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The new text; the replacement stands in lines `first` to `last` of it (1-based, inclusive)."""

    text: str
    first: int
    last: int


def replace_once(text: str, old: str, new: str, *, path: str) -> Edited:
    """`text` with the one place where `old` stands replaced by `new`.

    In a file whose lines end in CR LF, line ends of `old` and `new` are taken for CR LF. Raises ToolError
    when `old` stands nowhere (naming the nearest line) or more than once (naming the lines).
    """
    if old == new:
        raise ToolError(f"{path} was not changed: old_text and new_text are the same.")
    places = _places(text, old)
    carriage = "\r\n" in text
    if not places and carriage:
        old = _with_cr(old)
        places = _places(text, old)
    if not places:
        raise ToolError(_nowhere(text, old, path))
    if len(places) > 1:
        numbers = ", ".join(str(_line_at(text, place)) for place in places[:SHOWN_MATCHES])
        more = " and more" if len(places) > SHOWN_MATCHES else ""
        raise ToolError(
            f"{path} was not changed: old_text stands there {len(places)} times (lines {numbers}{more}). "
            "Take in more of the surrounding lines, so that it stands there once."
        )
    at = places[0]
    if carriage and ("\r\n" in old or _all_cr(text)):
        new = _with_cr(new)
    first = _line_at(text, at)
    return Edited(
        text=text[:at] + new + text[at + len(old) :],
        first=first,
        last=first + max(0, new.rstrip("\n").count("\n")),
    )


def _places(text: str, old: str) -> list[int]:
    found: list[int] = []
    at = text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _with_cr(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _all_cr(text: str) -> bool:
    return text.count("\n") == text.count("\r\n")


def _nowhere(text: str, old: str, path: str) -> str:
    message = f"{path} was not changed: old_text does not stand in it exactly."
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = [line.strip() for line in text.split("\n")[:COMPARED_LINES]]
    near = difflib.get_close_matches(wanted[:400], [line[:400] for line in lines], n=1, cutoff=0.6)
    if near:
        number = next(index for index, line in enumerate(lines, 1) if line[:400] == near[0])
        message += f" The nearest line is {number}: {near[0][:200]!r}."
    return f"{message} Read the file and copy the text as it stands, spaces and line ends included."
