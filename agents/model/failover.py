"""A chain of models: the first that can answer does, and who failed rests for a while."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from agents.clock import Clock
from agents.model.cooling import OF_A_KEY, Cooling, Rest, moves_on, why
from agents.model.keys import Keys
from agents.model.provider import (
    BadAnswer,
    Done,
    ModelError,
    ModelEvent,
    ModelProvider,
    ModelRequest,
    Restarted,
    TimedOut,
    TooSmall,
    Unreachable,
)
from agents.model.spelling import Spelling
from sessions.limits import tokens_of
from sessions.messages import Assistant
from sessions.tokens import estimate

logger = logging.getLogger("clawd.agents")


class NoneAnswered(ModelError):
    """Every model of a chain failed; tried again when one of them may pass."""

    def __init__(self, failures: "Sequence[tuple[str, ModelError]]") -> None:
        told = "; ".join(f"{name}: {why(error)}" for name, error in failures)
        super().__init__(f"No model could answer ({told}). {failures[0][1]}")
        passing = [error for _, error in failures if error.retryable]
        self.retryable = bool(passing)
        waits = [error.retry_after for error in passing]
        self.retry_after = None if None in waits else min((wait or 0 for wait in waits), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A model of a chain, in tokens: `window` is what it reads, `max_output` the most that it says. `open`
    gives its provider for the key of a number."""

    provider: str
    model: str
    window: int
    max_output: int | None
    spelling: Spelling | None
    keys: Keys
    open: Callable[[int], Awaitable[ModelProvider]]

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"

    def rest(self, cooling: Cooling, now: datetime) -> Rest | None:
        """Why it is not asked now, if others are there: the model itself rests, or all of its keys."""
        rests = (cooling.resting(self.name, now), self.keys.resting(self.model, now))
        return max((rest for rest in rests if rest), key=lambda rest: rest.until, default=None)


def in_order(links: Sequence[Link], cooling: Cooling, now: datetime) -> Sequence[Link]:
    """The models to ask: those that do not rest, as they were set; then the others, the soonest first."""
    rests = [(link, link.rest(cooling, now)) for link in links]
    resting = sorted(((rest.until, at) for at, (_, rest) in enumerate(rests) if rest))
    return [*(link for link, rest in rests if rest is None), *(links[at] for _, at in resting)]


class Failover:
    """Implements ModelProvider: a chain of one or more models, each with one or more keys.

    Each is asked the same, under its own name. A fallback that cannot read as much as the first is passed
    over when the conversation is too long for it, so that nothing is shortened for its sake. Nothing is
    waited for here: whoever asks tries the whole chain again, or gives up.
    """

    def __init__(self, links: Sequence[Link], *, cooling: Cooling, clock: Clock) -> None:
        self.links = tuple(links)
        self.name = links[0].provider
        self._cooling = cooling
        self._clock = clock

    def trouble(self) -> str:
        """What the first model failed of, in a few words; empty when it has worked since."""
        first = self.links[0]
        rest = self._cooling.last(first.name) or first.keys.last(first.model)
        return rest.why if rest else ""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        failures: list[tuple[str, ModelError]] = []
        links = in_order(self.links, self._cooling, self._clock())
        for link in links:
            if failures:
                name, error = failures[-1]
                logger.warning("%s: %s; %s is asked instead", name, why(error), link.name)
                yield Restarted(reason=f"{name}: {why(error)}. {link.name} is asked instead.")
            try:
                _check_size(link, self.links[0], request)
                async with aclosing(self._ask(link, request, alone=len(links) == 1)) as events:
                    async for event in events:
                        yield event
            except ModelError as error:
                if not moves_on(error) or len(links) == 1:
                    raise
                failures.append((link.name, error))
                continue
            return
        raise NoneAnswered(failures)

    async def aclose(self) -> None:
        """Nothing is held: providers belong to whoever made them."""

    async def _ask(
        self, link: Link, request: ModelRequest, *, alone: bool
    ) -> AsyncGenerator[ModelEvent, None]:
        """One model. An answer that was cut, or garbled, after it had begun is asked for once more at once
        where another stands by, since this one has the prompt in its cache; alone, whoever asks does it."""
        begun = False
        for again in (not alone, False):
            try:
                async with aclosing(self._with_keys(link, request, alone=alone)) as events:
                    async for event in events:
                        begun = True
                        yield event
            except ModelError as error:
                cut = isinstance(error, Unreachable | BadAnswer) and not isinstance(error, TimedOut)
                if cut and again and begun:
                    reason = f"{link.name}: {why(error)}. It is asked once more."
                else:
                    if moves_on(error) and not isinstance(error, OF_A_KEY):
                        self._cooling.failed(link.name, error, self._clock())
                    raise
            else:
                return
            yield Restarted(reason=reason)

    async def _with_keys(
        self, link: Link, request: ModelRequest, *, alone: bool
    ) -> AsyncGenerator[ModelEvent, None]:
        """One model with its keys, one after the other. Raises what may pass, if anything may."""
        asked = replace(request, model=link.model)
        failures: list[ModelError] = []
        for number in link.keys.in_order(link.model, self._clock()):
            if failures:
                told = f"{link.name}: {why(failures[-1])}"
                logger.warning("%s; key %d is tried", told, number + 1)
                yield Restarted(reason=f"{told}. Key {number + 1} is tried.")
            if not alone:
                self._probe(link, number)
            try:
                provider = await link.open(number)
                async with aclosing(provider.stream(asked)) as events:
                    async for event in events:
                        if isinstance(event, Done):
                            self._worked(link, number)
                        yield event
            except OF_A_KEY as error:
                link.keys.failed(number, link.model, error, self._clock())
                failures.append(error)
                continue
            return
        raise next((error for error in failures if error.retryable), failures[-1])

    def _probe(self, link: Link, number: int) -> None:
        now = self._clock()
        self._cooling.probe(link.name, now)
        link.keys.probe(number, link.model, now)

    def _worked(self, link: Link, number: int) -> None:
        self._cooling.worked(link.name)
        link.keys.worked(number, link.model)


def link_of(links: Sequence[Link], answer: Assistant) -> Link | None:
    """The model of a chain that gave this answer; None for one of no chain."""
    return next((one for one in links if (one.provider, one.model) == (answer.provider, answer.model)), None)


def _check_size(link: Link, first: Link, request: ModelRequest) -> None:
    if link.window >= first.window:
        return
    around = f"{request.system}{request.context}{request.tools}"
    size = estimate(around) + sum(tokens_of(message) for message in request.messages)
    if size + request.max_tokens > link.window:
        raise TooSmall(f"The conversation is longer than {link.name} can read.")
