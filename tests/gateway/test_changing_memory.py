"""The engine behind a memory becomes another while it is used."""

import asyncio
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from gateway.changing_memory import ChangingMemory
from memory.embed.embedder import MemoryUnavailable
from memory.hybrid import SearchResult
from memory.index import MemoryIndex
from memory.settings import MemorySettings
from tests.fakes.embedder import FakeEmbedder

SECONDS = 30
NOTE = "## Boat\n\nThe boat is called Marisol.\n"


class Gated(MemoryIndex):
    """An index whose searches wait until they are let through, or until it is closed."""

    def __init__(self, workspace: Path, database: Path, *, before_end: Callable[[], None]) -> None:
        super().__init__(
            workspace=workspace,
            database=database,
            settings=MemorySettings(),
            embedder=FakeEmbedder(),
            today=lambda: date(2026, 5, 1),
        )
        self.asked = asyncio.Event()
        self.ended = asyncio.Event()
        self.how: type[BaseException] | None = None
        self._before_end = before_end

    async def search(self, query: str, **options: object) -> SearchResult:
        self.asked.set()
        if self.how is None:
            return await super().search(query)
        await self.ended.wait()
        raise self.how("the end")

    async def aclose(self) -> None:
        self._before_end()
        self.ended.set()
        await super().aclose()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-05-01.md").write_text(NOTE, encoding="utf-8")
    return tmp_path


def _engine(workspace: Path, before_end: Callable[[], None] = lambda: None) -> Gated:
    return Gated(workspace, workspace / "memory.sqlite", before_end=before_end)


@pytest.mark.parametrize("how", [asyncio.CancelledError, MemoryUnavailable])
async def test_what_the_old_engine_leaves_is_asked_of_the_new_one(
    workspace: Path, how: type[BaseException]
) -> None:
    memory, old, new = ChangingMemory(), _engine(workspace), _engine(workspace)
    memory.begin(old)
    old.how = how
    search = asyncio.create_task(memory.search("boat"))
    await old.asked.wait()

    await memory.change(new)

    assert len((await search).hits) == 1
    await memory.aclose()


async def test_the_old_engine_is_closed_before_the_new_one_is_asked(workspace: Path) -> None:
    memory, order = ChangingMemory(), list[str]()
    old, new = _engine(workspace, lambda: order.append("closed")), _engine(workspace)
    memory.begin(old)

    async def search() -> None:
        await memory.search("boat")
        order.append("answered")

    change = asyncio.create_task(memory.change(new))
    await asyncio.sleep(0)
    await asyncio.gather(change, search())

    assert order == ["closed", "answered"]
    await memory.aclose()


async def test_a_caller_that_is_cancelled_is_not_asked_for_again(workspace: Path) -> None:
    memory, old, new = ChangingMemory(), _engine(workspace), _engine(workspace)
    memory.begin(old)
    old.how = MemoryUnavailable
    search = asyncio.create_task(memory.search("boat"))
    await old.asked.wait()
    search.cancel()

    await asyncio.gather(search, return_exceptions=True)
    await memory.change(new)

    assert search.cancelled()
    assert not new.asked.is_set()
    await memory.passed()
    await memory.aclose()


async def test_an_engine_that_stays_says_itself_why_it_cannot(workspace: Path) -> None:
    memory, engine = ChangingMemory(), _engine(workspace)
    memory.begin(engine)
    engine.how = MemoryUnavailable
    engine.ended.set()

    with pytest.raises(MemoryUnavailable, match="the end"):
        await memory.search("boat")
    await memory.aclose()


async def test_without_an_engine_it_says_so(workspace: Path) -> None:
    memory = ChangingMemory()
    memory.begin(_engine(workspace))
    await memory.change(None)
    memory.stale()

    for ask in (memory.start, memory.status, memory.sync, lambda: memory.read("MEMORY.md")):
        with pytest.raises(MemoryUnavailable, match="no memory engine"):
            await ask()


async def test_what_was_asked_before_is_waited_for(workspace: Path) -> None:
    memory, engine = ChangingMemory(), _engine(workspace)
    memory.begin(engine)
    engine.how = MemoryUnavailable
    search = asyncio.create_task(memory.search("boat"))
    await engine.asked.wait()
    passed = asyncio.create_task(memory.passed())
    done, _ = await asyncio.wait({passed}, timeout=0.05)

    assert not done
    engine.ended.set()
    async with asyncio.timeout(SECONDS):
        await passed
    await asyncio.gather(search, return_exceptions=True)
    await memory.aclose()


async def test_the_new_engine_is_started_and_watches(workspace: Path) -> None:
    memory, new = ChangingMemory(), _engine(workspace)
    memory.begin(_engine(workspace))
    watching = asyncio.create_task(memory.watch())
    await asyncio.sleep(0)

    await memory.change(new)

    async with asyncio.timeout(SECONDS):
        while (await new.status()).files != 1 or (await new.status()).watcher != "watching":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    await memory.aclose()
