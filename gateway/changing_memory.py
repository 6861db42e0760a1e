"""An agent's memory, behind which the engine may become another one while it is used."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from memory.backend import MemoryBackend
from memory.documents import Visible
from memory.embed.embedder import MemoryUnavailable
from memory.hybrid import SearchResult
from memory.orders import SyncProgress, SyncReport
from memory.reading import NoteText
from memory.status import IndexStatus

T = TypeVar("T")

logger = logging.getLogger("clawd.memory")


class ChangingMemory:
    """Implements MemoryBackend. One engine at a time has the files: the old one is closed before the new one
    is used. Who asks meanwhile waits; what the old one had begun is asked of the new one."""

    def __init__(self) -> None:
        self._engine: MemoryBackend | None = None
        self._changing = asyncio.Lock()
        self._others = asyncio.Event()
        self._attending: asyncio.Task[None] | None = None
        self._to_start = False
        self._calls: set[asyncio.Future[None]] = set()

    def begin(self, engine: MemoryBackend) -> None:
        """The first one, before anybody asks; whoever begins with it also starts it."""
        self._engine = engine

    async def change(self, engine: MemoryBackend | None) -> None:
        """From now on this one answers; None: nobody does."""
        async with self._changing:
            await self._leave()
            if self._engine is not None:
                await self._engine.aclose()
            self._engine, self._to_start = engine, True
        self._others.set()

    async def passed(self) -> None:
        """Until what was asked before now is answered: then nobody waits for an earlier engine."""
        if self._calls:
            await asyncio.wait([*self._calls])

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        visible: Visible | None = None,
        as_it_is: bool = False,
    ) -> SearchResult:
        """As MemoryBackend.search."""
        return await self._asked(
            lambda engine: engine.search(
                query, max_results=max_results, min_score=min_score, visible=visible, as_it_is=as_it_is
            )
        )

    async def read(
        self, path: str, *, from_line: int = 1, lines: int | None = None, max_chars: int = 12_000
    ) -> NoteText:
        """As MemoryBackend.read."""
        return await self._asked(
            lambda engine: engine.read(path, from_line=from_line, lines=lines, max_chars=max_chars)
        )

    async def sync(
        self,
        *,
        force: bool = False,
        accept: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport:
        """As MemoryBackend.sync."""
        return await self._asked(lambda engine: engine.sync(force=force, accept=accept, progress=progress))

    def stale(self) -> None:
        """As MemoryBackend.stale."""
        if self._engine is not None:
            self._engine.stale()

    async def start(self) -> SyncReport | None:
        """As MemoryBackend.start."""
        return await self._asked(lambda engine: engine.start())

    async def status(self, *, deep: bool = False) -> IndexStatus:
        """As MemoryBackend.status."""
        return await self._asked(lambda engine: engine.status(deep=deep))

    async def watch(self) -> None:
        """Stay in step with the notes, whichever engine it is, until cancelled."""
        try:
            while True:
                async with self._changing:
                    self._others.clear()
                    attending = self._attending = asyncio.create_task(self._attend(self._engine))
                other = asyncio.create_task(self._others.wait())
                try:
                    await asyncio.wait({attending, other}, return_when=asyncio.FIRST_COMPLETED)
                    if attending.done() and not attending.cancelled():
                        attending.result()
                    await other
                finally:
                    other.cancel()
        finally:
            await self._leave()

    async def aclose(self) -> None:
        """May be called again."""
        await self.change(None)

    async def _leave(self) -> None:
        """Nobody watches for the engine any more."""
        attending, self._attending = self._attending, None
        if attending is not None:
            attending.cancel()
            await asyncio.gather(attending, return_exceptions=True)

    async def _attend(self, engine: MemoryBackend | None) -> None:
        if engine is None:
            return
        if self._to_start:
            self._to_start = False
            try:
                await engine.start()
            except MemoryUnavailable as error:
                logger.warning("a memory is not up to date after a change of its settings: %s", error)
        await engine.watch()

    async def _asked(self, work: Callable[[MemoryBackend], Awaitable[T]]) -> T:
        call: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._calls.add(call)
        try:
            return await self._answered(work)
        finally:
            self._calls.discard(call)
            call.set_result(None)

    async def _answered(self, work: Callable[[MemoryBackend], Awaitable[T]]) -> T:
        while True:
            async with self._changing:
                engine = self._engine
            if engine is None:
                raise MemoryUnavailable("This agent has no memory engine now (memory.backend: none).")
            try:
                return await work(engine)
            except MemoryUnavailable:
                if self._stays(engine):
                    raise
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if self._stays(engine) or (task is not None and task.cancelling()):
                    raise

    def _stays(self, engine: MemoryBackend) -> bool:
        return engine is self._engine and not self._changing.locked()
