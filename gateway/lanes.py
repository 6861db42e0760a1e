"""One turn at a time for each session, many sessions at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gateway.views import Refused
from sessions.key import SessionKey

logger = logging.getLogger("clawd.lanes")

T = TypeVar("T")


async def unbroken(work: Awaitable[T]) -> T:
    """The work to its end, which a cancellation neither stops nor outlives: what was asked for too late is
    forgotten. For what is short and must not be left half done."""
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            continue
    return task.result()


class Lane:
    """The turns of one session, in the order in which they came."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.tasks: list[asyncio.Task[object]] = []
        self.yielding: asyncio.Task[object] | None = None


class Lanes:
    """Runs turns as tasks of its own, so that a caller who goes away does not take its turn along.

    `limit` turns run at once over all sessions; the rest wait.
    """

    def __init__(self, limit: int) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._lanes: dict[SessionKey, Lane] = {}

    def submit(
        self, key: SessionKey, work: Callable[[], Awaitable[T]], *, yields: bool = False
    ) -> asyncio.Task[T]:
        """Queue a turn behind those of its session. The task raises Refused and nothing else.

        One that `yields` is cancelled by the next that is submitted: nobody waits for it, and somebody
        waits for the other.
        """
        lane = self._lanes.setdefault(key, Lane())
        if lane.yielding is not None and not yields:
            lane.yielding.cancel()
        task = asyncio.create_task(self._run(lane, work), name=f"turn {key}")
        lane.tasks.append(task)
        lane.yielding = task if yields else None
        task.add_done_callback(lambda done: self._ended(key, lane, done))
        return task

    async def run(self, key: SessionKey, work: Callable[[], Awaitable[T]]) -> T:
        """As `submit`, to its end. A caller that is cancelled does not cancel it. Raises Refused, also when
        it was stopped before it began."""
        task = self.submit(key, work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if not task.cancelled():
                raise
            raise Refused("Stopped.", code="stopped", status=409) from error

    def stop(self, key: SessionKey) -> bool:
        """Cancel the session's running turn, and only that. False when none runs."""
        lane = self._lanes.get(key)
        if lane is None or not lane.tasks:
            return False
        return lane.tasks[0].cancel()

    def busy(self, key: SessionKey) -> bool:
        """Whether a turn of the session runs or waits."""
        return key in self._lanes

    def at_work(self, agent: str) -> bool:
        """Whether a turn of any session of the agent runs or waits."""
        return any(key.agent == agent for key in self._lanes)

    @property
    def running(self) -> int:
        """Turns that run or wait."""
        return sum(len(lane.tasks) for lane in self._lanes.values())

    async def passed(self, agent: str | None = None) -> None:
        """Until all turns that run or wait now have ended; with an agent, until none of it is left."""
        while tasks := self._tasks(agent):
            await asyncio.wait(tasks)
            if agent is None:
                return
            await asyncio.sleep(0)  # what has ended is taken out of its lane

    def _tasks(self, agent: str | None = None) -> list[asyncio.Task[object]]:
        return [
            task for key, lane in self._lanes.items() if agent in (None, key.agent) for task in lane.tasks
        ]

    async def drain(self, seconds: float) -> int:
        """Wait for all turns; after `seconds` cancel what is left and say how many those were."""
        tasks = self._tasks()
        if not tasks:
            return 0
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=5)
        return len(late)

    async def _run(self, lane: Lane, work: Callable[[], Awaitable[T]]) -> T:
        async with lane.turn, self._slots:
            try:
                return await work()
            except Refused:
                raise
            except Exception as error:
                logger.exception("a turn failed unexpectedly")
                raise Refused(
                    "Something went wrong inside clawd; your message is kept. The log says what it was.",
                    code="internal",
                    status=500,
                ) from error

    def _ended(self, key: SessionKey, lane: Lane, task: asyncio.Task[object]) -> None:
        lane.tasks.remove(task)
        if lane.yielding is task:
            lane.yielding = None
        if not lane.tasks and self._lanes.get(key) is lane:
            del self._lanes[key]
        if not task.cancelled():
            task.exception()  # marks it as seen, for a caller that has gone away
