"""A part of a note, by lines."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """Lines `from_line` to `end_line` of a note, without the last line's end and without carriage returns.

    Lines are 1-based and end at a line feed and nowhere else; `end_line` is `from_line` - 1 when there are
    none. `next_from` is where to go on, None at the end of the note.
    """

    path: str
    from_line: int
    end_line: int
    text: str
    next_from: int | None


def lines_of(text: str) -> list[str]:
    """The lines without their ends. What follows the last line feed is a line only if it is not empty."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def excerpt(text: str, *, path: str, from_line: int, lines: int | None, max_chars: int) -> NoteText:
    """At most `lines` whole lines within `max_chars`; a first line that is longer alone is cut short.

    A start below 1 counts as 1; `lines` below 1 and None as all.
    """
    every = lines_of(text)
    first = max(1, from_line)
    wanted = every[first - 1 :] if lines is None or lines < 1 else every[first - 1 : first - 1 + lines]
    taken: list[str] = []
    room = max_chars
    for line in wanted:
        if len(line) > room:
            break
        taken.append(line)
        room -= len(line) + 1
    if wanted and not taken:
        taken = [wanted[0][:max_chars]]
    end = first + len(taken) - 1
    return NoteText(
        path=path,
        from_line=first,
        end_line=end,
        text="\n".join(taken),
        next_from=end + 1 if taken and end < len(every) else None,
    )
