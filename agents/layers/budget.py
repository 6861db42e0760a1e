"""What the files of layer 1 may weigh, and what they do."""

from collections.abc import Mapping
from dataclasses import dataclass

from agents.bootstrap import NAMES
from sessions.tokens import estimate

FILE_TOKENS = 1_000
TOTAL_TOKENS = 7_000
PASSING = "BOOTSTRAP.md"  # gone after the first conversation: reported, neither counted nor trimmed
COUNTED = tuple(name for name in NAMES if name != PASSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One file of layer 1. A file that is not there weighs nothing; `same_as` is another name of its text."""

    name: str
    tokens: int
    exists: bool = True
    same_as: str | None = None

    @property
    def counted(self) -> bool:
        return self.name in COUNTED and self.same_as is None

    @property
    def over(self) -> int:
        """Tokens beyond the budget of one file; 0 when it is kept or does not hold for this file."""
        return max(0, self.tokens - FILE_TOKENS) if self.counted else 0


def tokens(text: str) -> int:
    """What `text` costs in a prompt, where blanks at its end are dropped."""
    return estimate(text.rstrip())


def measure(texts: Mapping[str, str], *, same: Mapping[str, str]) -> tuple[Measure, ...]:
    """The seven files in their order, then BOOTSTRAP.md. `same` names a file by another name of it."""
    return tuple(
        Measure(
            name=name,
            tokens=tokens(texts.get(name, "")),
            exists=name in texts or name in same,
            same_as=same.get(name),
        )
        for name in (*COUNTED, PASSING)
    )


def total(measures: tuple[Measure, ...]) -> int:
    """Tokens of the seven files together."""
    return sum(one.tokens for one in measures if one.counted)


def within(measures: tuple[Measure, ...]) -> bool:
    """Whether every file keeps its budget and all of them stay below the common one."""
    return total(measures) < TOTAL_TOKENS and not any(one.over for one in measures)
