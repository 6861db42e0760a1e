"""What can be wrong with a configuration, said so that a person can put it right."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault. `path` is dotted and empty for the file as a whole; `line` is 1-based, None when unknown.
    `message` never holds a secret."""

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.path}: {self.message}" if self.path else f"{where}{self.message}"


class ConfigError(Exception):
    """The configuration cannot be used; the text names the file and every problem in it."""

    def __init__(self, file: Path, problems: Sequence[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems, key=lambda one: (one.line or 0, one.path)))
        count = "a problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        lines = [f"{file} has {count}:", *(f"  {problem}" for problem in self.problems)]
        super().__init__("\n".join(lines))


def dotted(loc: Loc) -> str:
    """`agents.list[0].id`; a name that holds a dot is quoted."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        name = f'"{part}"' if "." in part or not part else part
        text += f".{name}" if text else name
    return text
