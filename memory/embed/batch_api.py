"""Batch APIs: thousands of texts as one job, cheaper than asked one by one, and done some time later."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from memory.embed.batching import Limits, Sender, TooSlow, persistently
from memory.embed.embedder import Vector
from memory.embed.faults import BadAnswer, Fault, Passing, Refused
from memory.embed.link import Link
from memory.embed.senders import HttpSender
from memory.embed.vectors import to_vector
from memory.embed.wire import Json

MOST_REQUESTS = 5_000  # 50,000 are taken; but the answers to a job are in memory together
MOST_CHARS = 40_000_000
_MOST_FAILURES = 2


class JobFailed(Fault):
    """The job ended without its vectors."""


class Jobs(Protocol):
    """One vendor's batch API. All raise Fault."""

    async def submit(self, link: Link, texts: Sequence[str]) -> str:
        """Upload the texts and start a job; its name."""
        ...

    async def is_done(self, link: Link, job: str) -> bool:
        """Whether the job is through. Raises JobFailed when it will never be."""
        ...

    async def results(self, link: Link, job: str) -> dict[int, Json]:
        """The raw vector of each text by its place. Raises JobFailed when a text was refused."""
        ...

    async def forget(self, link: Link, job: str) -> None:
        """Stop the job if it runs, and delete what was uploaded and made."""
        ...


class BatchApi:
    """Runs jobs and counts failures: after two in a row, or when there is no such API, it is off for good.

    `min_texts` is from where on it is worth it. A job that is not done after `job_seconds` is stopped. A job
    lives and dies with this process.
    """

    def __init__(
        self,
        jobs: Jobs,
        *,
        limits: Limits,
        min_texts: int,
        concurrency: int,
        poll_seconds: float,
        job_seconds: float,
    ) -> None:
        self.min_texts = min_texts
        self._jobs = jobs
        self._limits = limits
        self._poll_seconds = poll_seconds
        self._job_seconds = job_seconds
        self._under_way = asyncio.Semaphore(concurrency)
        self._failures = 0
        self._last = ""

    @property
    def on(self) -> bool:
        return self._failures < _MOST_FAILURES

    @property
    def problem(self) -> str | None:
        """What went wrong, for the status; None when nothing did."""
        if not self._failures:
            return None
        state = (
            f"failed {self._failures} of {_MOST_FAILURES} times" if self.on else "is off until the next start"
        )
        return f"The batch API {state}: {self._last}."

    async def embed(
        self, sender: Sender, texts: Sequence[str], *, dims: int, give_up: Callable[[], bool]
    ) -> list[Vector]:
        """The vectors in the order of the texts; all or none. Raises Fault."""
        if not self.on or not isinstance(sender, HttpSender):
            raise JobFailed(f"takes no batch jobs now ({self._last or 'not spoken here'})")
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._job(sender.link, part, dims, give_up)) for part in _parts(texts)
                ]
        except BaseExceptionGroup as failed:
            fault = _first_fault(failed)
            if fault is None:
                raise
            self._count(fault)
            raise fault from failed
        self._failures = 0
        return [vector for task in tasks for vector in task.result()]

    async def _job(
        self, link: Link, texts: Sequence[str], dims: int, give_up: Callable[[], bool]
    ) -> list[Vector]:
        async with self._under_way:
            name = await persistently(partial(self._jobs.submit, link, texts), self._limits)
            try:
                await self._until_done(link, name, give_up)
                found = await persistently(partial(self._jobs.results, link, name), self._limits)
            finally:
                await self._forget(link, name)
        missing = len(texts) - len(found.keys() & set(range(len(texts))))
        if missing:
            raise JobFailed(f"left {missing} of {len(texts)} texts out of its batch job")
        return await asyncio.to_thread(lambda: [to_vector(found[n], dims=dims) for n in range(len(texts))])

    async def _until_done(self, link: Link, name: str, give_up: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(self._job_seconds):
                while not await self._is_done(link, name):
                    if give_up():
                        raise PutOff("was told to stop its batch job, since there is something newer to do")
                    await asyncio.sleep(self._poll_seconds)
        except TimeoutError as error:
            raise TooSlow(
                f"did not end its batch job within {self._job_seconds / 60:g} minutes "
                "(memory.search.batch_api.timeout_minutes)"
            ) from error

    async def _is_done(self, link: Link, name: str) -> bool:
        """A look that fails in passing is made again at the next time."""
        try:
            return await self._jobs.is_done(link, name)
        except Passing:
            return False

    async def _forget(self, link: Link, name: str) -> None:
        try:
            async with asyncio.timeout(30):
                await self._jobs.forget(link, name)
        except (Fault, TimeoutError):
            return  # the vendor deletes it in its own time

    def _count(self, fault: Fault) -> None:
        if isinstance(fault, PutOff):
            return
        gone = isinstance(fault, Refused) and fault.cause == "address"
        self._failures = _MOST_FAILURES if gone else self._failures + 1
        self._last = str(fault)


class PutOff(Fault):
    """The caller gave the job up; nothing failed."""


def by_place(lines: bytes, read: Callable[[Json], tuple[str, Json]]) -> dict[int, Json]:
    """What `read` finds in each line of a JSONL file, a key and a raw vector, by the place that the key
    names. Raises BadAnswer, and what `read` raises."""
    found: dict[int, Json] = {}
    for line in lines.splitlines():
        if not line.strip():
            continue
        try:
            key, vector = read(json.loads(line))
            found[int(key)] = vector
        except (ValueError, RecursionError) as error:
            raise BadAnswer("a line of its batch results cannot be read") from error
    return found


def _parts(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start, size = 0, 0
    for place, text in enumerate(texts):
        if place > start and (place - start >= MOST_REQUESTS or size + len(text) > MOST_CHARS):
            yield texts[start:place]
            start, size = place, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def _first_fault(group: BaseExceptionGroup[BaseException]) -> Fault | None:
    found: BaseException | None = group.subgroup(Fault)
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found if isinstance(found, Fault) else None
