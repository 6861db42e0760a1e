"""A month of somebody's use, the same for the same seed: chat, work with tools, pauses, edits, resets."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)
WORDS = """
the boat was ready and nobody knew which harbour would take it before winter because every letter came back
with another answer while we looked for a quiet place where two people could work and talk about what had
been found in the old house near the river after rain had stopped falling on the roof
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One answer of the model with calls: the characters that each tool answers. `remember` is a line that
    the agent adds to its MEMORY.md; `back` a place, 0 to 1, among the results so far that it wants to see."""

    outputs: tuple[int, ...] = ()
    remember: bool = False
    back: float | None = None
    seconds: float = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One message of the person, some time after the last answer and not before `earliest`. `owner_edit`:
    they changed USER.md before it; `new`: they began a new session first."""

    number: int
    earliest: datetime
    pause: timedelta
    chars: int
    rounds: tuple[Round, ...]
    answer: int
    owner_edit: bool
    new: bool


class Month:
    """The person's messages in order, and the words of all that is said."""

    def __init__(self, seed: int, days: int = 30) -> None:
        self._random = random.Random(seed)  # noqa: S311 (a bench needs the same month again)
        self._text = " ".join(self._random.choices(WORDS.split(), k=100_000))
        self.asked = tuple(self._make(days))

    def text(self, what: str, chars: int) -> str:
        """Words that depend on nothing but `what`, which stands in front of them."""
        at = random.Random(what).randrange(len(self._text) - 60_000)  # noqa: S311 (as above)
        lines = self._text[at : at + max(0, chars - len(what) - 1)]
        return f"{what}\n{lines}"

    def _make(self, days: int) -> Iterator[Asked]:
        number = 0
        for day in range(days):
            begin = BEGIN + timedelta(days=day, hours=self._random.uniform(6.5, 10))
            kind: Literal["chat", "work"] = "chat"
            for place in range(self._random.randint(8, 40)):
                pause = self._pause()
                if place == 0 or pause > timedelta(minutes=5):
                    kind = "work" if self._random.random() < 0.4 else "chat"
                yield self._one(number, begin if place == 0 else BEGIN, pause, kind)
                number += 1

    def _pause(self) -> timedelta:
        """Before the next message: mostly about a minute, often minutes, sometimes hours."""
        draw = self._random
        how = draw.choices(("at once", "minutes", "hours"), (65, 25, 10))[0]
        if how == "at once":
            return timedelta(seconds=min(600, math.exp(draw.gauss(math.log(60), 0.9))))
        least, most = (3 * 60, 45 * 60) if how == "minutes" else (45 * 60, 5 * 3_600)
        return timedelta(seconds=math.exp(draw.uniform(math.log(least), math.log(most))))

    def _one(self, number: int, earliest: datetime, pause: timedelta, kind: Literal["chat", "work"]) -> Asked:
        draw = self._random
        rounds = self._work() if kind == "work" else self._chat()
        if draw.random() < 0.05:
            rounds = (*rounds, Round(remember=True))
        if draw.random() < 0.06:
            rounds = (Round(back=draw.random()), *rounds)
        return Asked(
            number=number,
            earliest=earliest,
            pause=pause,
            chars=int(math.exp(draw.uniform(math.log(40), math.log(600)))),
            rounds=rounds,
            answer=int(math.exp(draw.uniform(math.log(150), math.log(2_500)))),
            owner_edit=draw.random() < 0.015,
            new=pause > timedelta(minutes=30) and draw.random() < 0.08,
        )

    def _chat(self) -> tuple[Round, ...]:
        rounds = self._random.choices((0, 1, 2), (60, 30, 10))[0]
        return tuple(Round(outputs=(self._chars(300, 4_000),)) for _ in range(rounds))

    def _work(self) -> tuple[Round, ...]:
        draw = self._random
        return tuple(
            Round(
                outputs=tuple(
                    self._chars(600, 50_000) for _ in range(draw.choices((1, 2, 3), (80, 15, 5))[0])
                ),
                seconds=math.exp(draw.uniform(0, 3.4)),
            )
            for _ in range(draw.randint(2, 8))
        )

    def _chars(self, least: int, most: int) -> int:
        return int(math.exp(self._random.uniform(math.log(least), math.log(most))))
