"""The keys of one provider: which of them is asked with, in their order, while others rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.model.cooling import Cooling, Rest
from agents.model.provider import ModelError, RateLimited


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Keys are known by their number, from 0; they themselves are never told here. A rate limit holds for one
    model, a refused or unpaid key for all."""

    provider: str
    count: int
    cooling: Cooling

    def in_order(self, model: str, now: datetime) -> Sequence[int]:
        """The keys to ask with: those that do not rest, in the order of the settings; when all rest, all of
        them, the soonest first."""
        rests = [self._rest(number, model, now) for number in range(self.count)]
        ready = [number for number, rest in enumerate(rests) if rest is None]
        resting = sorted((rest.until, number) for number, rest in enumerate(rests) if rest)
        return ready or [number for _, number in resting]

    def resting(self, model: str, now: datetime) -> Rest | None:
        """The rest that ends first, when all keys rest."""
        found = [rest for _, rest in self.told(model, now)]
        return min(found, key=lambda rest: rest.until) if len(found) == self.count else None

    def told(self, model: str, now: datetime) -> Sequence[tuple[int, Rest]]:
        """Each key that rests, with its rest."""
        rests = ((number, self._rest(number, model, now)) for number in range(self.count))
        return [(number, rest) for number, rest in rests if rest is not None]

    def last(self, model: str) -> Rest | None:
        """The first rest that no success has ended, over or not."""
        names = (name for number in range(self.count) for name in self._names(number, model))
        return next((rest for name in names if (rest := self.cooling.last(name))), None)

    def failed(self, number: int, model: str, error: ModelError, now: datetime) -> None:
        of_all, of_model = self._names(number, model)
        self.cooling.failed(of_model if isinstance(error, RateLimited) else of_all, error, now)

    def worked(self, number: int, model: str) -> None:
        for name in self._names(number, model):
            self.cooling.worked(name)

    def probe(self, number: int, model: str, now: datetime) -> None:
        for name in self._names(number, model):
            self.cooling.probe(name, now)

    def _rest(self, number: int, model: str, now: datetime) -> Rest | None:
        rests = (self.cooling.resting(name, now) for name in self._names(number, model))
        return max((rest for rest in rests if rest), key=lambda rest: rest.until, default=None)

    def _names(self, number: int, model: str) -> tuple[str, str]:
        return f"{self.provider}#{number + 1}", f"{self.provider}#{number + 1} for {model}"
