"""From any number of texts to their vectors: batches, further tries, time limits, and clean numbers."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from memory.embed.embedder import Kind, Vector
from memory.embed.faults import Fault, Passing, TooLarge
from memory.embed.vectors import to_vector
from memory.embed.wire import Json

T = TypeVar("T")

_SHORTEST = 64


class Sender(Protocol):
    """One request: as many raw vectors as texts, in their order. Raises Fault, in no more time than it is
    given."""

    async def send(self, texts: Sequence[str], kind: Kind) -> list[Json]: ...

    async def aclose(self) -> None: ...


class TooSlow(Fault):
    """No answer within the time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`max_chars` counts characters; a longer text goes alone. The seconds are those of a batch with all of
    its tries; a question, for which a person waits, gets fewer of these. `longest_wait` bounds what a server
    may ask us to wait. `pause` is the first wait between tries (then twice as long each time, and up to a
    fifth of it more)."""

    max_texts: int
    max_chars: int
    concurrency: int
    query_seconds: float
    batch_seconds: float
    tries: int = 4
    query_tries: int = 2
    pause: float = 0.5
    longest_pause: float = 8.0
    longest_wait: float = 60.0


class Batcher:
    """Sends what it is given in pieces that the server bears.

    At most `limits.concurrency` requests for documents are under way; a query never waits for those. A
    request that is too large is halved; a single text that is too long is cut at its half, since the vector
    of its beginning is better than none. A Passing fault is tried again, any other one ends all batches.
    """

    def __init__(self, sender: Sender, limits: Limits) -> None:
        self._sender = sender
        self._limits = limits
        self._under_way = asyncio.Semaphore(limits.concurrency)

    async def embed(self, texts: Sequence[str], kind: Kind, *, dims: int) -> list[Vector]:
        """Unit vectors of `dims` dimensions (0: any) in the order of the texts. Raises Fault."""
        if kind == "query":
            return await self._pieces(texts, kind, dims)
        try:
            async with asyncio.TaskGroup() as group:
                cut = batches(texts, max_texts=self._limits.max_texts, max_chars=self._limits.max_chars)
                tasks = [group.create_task(self._in_turn(batch, dims)) for batch in cut]
        except BaseExceptionGroup as group_error:
            raise _first(group_error) from group_error
        return [vector for task in tasks for vector in task.result()]

    async def once(self, ask: Callable[[], Awaitable[list[Json]]], *, dims: int) -> list[Vector]:
        """What one request of the caller's brings, with the same tries and limits. Raises Fault."""
        async with self._under_way:
            return await self._limited(ask, "document", dims)

    async def _in_turn(self, texts: Sequence[str], dims: int) -> list[Vector]:
        async with self._under_way:
            return await self._pieces(texts, "document", dims)

    async def _pieces(self, texts: Sequence[str], kind: Kind, dims: int) -> list[Vector]:
        try:
            return await self._limited(functools.partial(self._sender.send, texts, kind), kind, dims)
        except TooLarge:
            if len(texts) > 1:
                half = len(texts) // 2
                first = await self._pieces(texts[:half], kind, dims)
                return first + await self._pieces(texts[half:], kind, dims)
            if len(texts[0]) <= _SHORTEST:
                raise
            return await self._pieces([texts[0][: len(texts[0]) // 2]], kind, dims)

    async def _limited(self, ask: Callable[[], Awaitable[list[Json]]], kind: Kind, dims: int) -> list[Vector]:
        limits = self._limits
        seconds = limits.query_seconds if kind == "query" else limits.batch_seconds
        tries = limits.query_tries if kind == "query" else limits.tries
        try:
            async with asyncio.timeout(seconds):
                raw = await persistently(ask, limits, tries=tries)
        except TimeoutError as error:
            raise TooSlow(f"gave no answer within {seconds:g} s") from error
        return await asyncio.to_thread(lambda: [to_vector(one, dims=dims) for one in raw])


async def persistently(ask: Callable[[], Awaitable[T]], limits: Limits, *, tries: int | None = None) -> T:
    """What `ask` gives, tried again after a Passing fault, later each time or when the server says. Raises
    the last fault. `tries` None: as many as the limits say."""

    def passing(error: BaseException) -> bool:
        return isinstance(error, Passing) and (error.wait or 0) <= limits.longest_wait

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.wait if isinstance(error, Passing) else None
        return own(state) if asked is None else max(asked, limits.pause)

    own = wait_exponential(multiplier=limits.pause, max=limits.longest_pause) + wait_random(
        0, limits.pause / 5
    )
    retrying = AsyncRetrying(
        retry=retry_if_exception(passing),
        stop=stop_after_attempt(tries or limits.tries),
        wait=pause,
        reraise=True,
    )
    return await retrying(ask)


def batches(texts: Sequence[str], *, max_texts: int, max_chars: int) -> Iterator[list[str]]:
    """The texts in order, cut so that each batch keeps both limits or holds a single text."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) >= max_texts or size + len(text) > max_chars):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The plain exception that ended a group; a Fault before anything else."""
    faults = group.subgroup(Fault)
    chosen: BaseException = faults or group
    while isinstance(chosen, BaseExceptionGroup):
        chosen = chosen.exceptions[0]
    return chosen
