"""The index in step with the notes: by the watcher, by whoever writes here, by a look before each search."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.index import MemoryIndex
from memory.notes import Notes as Files
from tests.fakes.embedder import FakeEmbedder
from tests.memory.conftest import MakeIndex, Notes

QUICK = {"sync": {"watch_debounce_seconds": 0.1}}


@asynccontextmanager
async def watched(index: MemoryIndex) -> AsyncIterator[None]:
    """The index with its watcher at work, everything in it."""
    task = asyncio.ensure_future(index.watch())
    async with asyncio.timeout(10):
        while (await index.status()).watcher != "watching":  # noqa: ASYNC110 (only a look tells)
            await asyncio.sleep(0.02)
    await index.search("anything")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def eventually(index: MemoryIndex, files: int) -> None:
    async with asyncio.timeout(10):
        while (await index.status()).files != files:  # noqa: ASYNC110 (only a look tells)
            await asyncio.sleep(0.02)


async def test_b78_what_was_there_before_and_what_came_at_the_end_is_found(
    notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "bicycle", "memory/b.md": "canoe"})
    index = make_index(FakeEmbedder(), search={"sync": {"watch_debounce_seconds": 60}})
    async with watched(index):
        assert len((await index.search("bicycle")).hits) == 1
        notes.write({"memory/late.md": "zeppelin"})
    await index.aclose()
    second = make_index(FakeEmbedder())
    status = await second.status()
    assert (status.files, status.on_disk, status.outdated) == (2, 3, 1)
    await second.start()
    status = await second.status()
    assert (status.files, status.on_disk, status.outdated) == (3, 3, 0)
    assert len((await second.search("zeppelin")).hits) == 1


async def test_a_change_is_indexed_without_a_search(notes: Notes, make_index: MakeIndex) -> None:
    index = make_index(FakeEmbedder(), search=QUICK)
    async with watched(index):
        notes.write({"memory/a.md": "bicycle"})
        await eventually(index, 1)
        (notes.root / "memory").rename(notes.root / "elsewhere")
        await eventually(index, 0)


async def test_many_files_that_are_renamed_are_embedded_once(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({f"memory/{i}.md": f"bicycle {i}" for i in range(300)})
    embedder = FakeEmbedder()
    index = make_index(embedder, search=QUICK)
    await index.sync()
    (notes.root / "memory").rename(notes.root / "old")
    (notes.root / "memory").mkdir()
    for i in range(300):
        (notes.root / f"old/{i}.md").rename(notes.root / f"memory/new-{i}.md")
    report = await index.sync()
    assert (report.files, report.indexed, report.removed, report.embedded) == (300, 300, 300, 0)
    assert len(embedder.asked) == 300


async def test_while_nothing_happens_a_search_does_not_look_at_the_files(
    notes: Notes, make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write({"memory/a.md": "bicycle"})
    index = make_index(FakeEmbedder(), search=QUICK)
    looks = 0
    real = Files.list

    def counted(files: Files) -> object:
        nonlocal looks
        looks += 1
        return real(files)

    async with watched(index):
        monkeypatch.setattr(Files, "list", counted)
        for _ in range(3):
            assert len((await index.search("bicycle")).hits) == 1
        assert looks == 0
        index.stale()
        await index.search("bicycle")
        assert looks == 1
    await index.search("bicycle")
    assert looks == 2


async def test_the_own_write_is_found_by_the_next_search(notes: Notes, make_index: MakeIndex) -> None:
    index = make_index(FakeEmbedder(), search={"sync": {"watch_debounce_seconds": 60}})
    async with watched(index):
        for i in range(5):
            notes.write({f"memory/{i}.md": f"zeppelin{i}"})
            index.stale()
            hits = (await index.search(f"zeppelin{i}")).hits
            assert [hit.path for hit in hits if hit.text_score > 0.4] == [f"memory/{i}.md"]


async def test_a_deleted_index_is_made_again_also_when_no_note_changed(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "bicycle"})
    index = make_index(FakeEmbedder(), search=QUICK)
    async with watched(index):
        for file in (tmp_path / "home/memory").iterdir():
            file.unlink()
        assert len((await index.search("bicycle")).hits) == 1


async def test_a_problem_is_told_once_and_again_when_it_is_another(
    notes: Notes, make_index: MakeIndex, caplog: pytest.LogCaptureFixture
) -> None:
    notes.write({"memory/large.md": "x" * 200, "memory/a.md": "bicycle"})
    (notes.root / "memory/latin.md").write_bytes(b"caf\xe9")
    index = make_index(max_file_bytes=100)
    with caplog.at_level(logging.WARNING, "clawd.memory"):
        for _ in range(3):
            await index.search("bicycle")
        assert sorted(record.getMessage().split()[0] for record in caplog.records) == [
            "memory/large.md",
            "memory/latin.md",
        ]
        os.truncate(notes.root / "memory/large.md", 50)
        await index.search("bicycle")
        notes.write({"memory/large.md": "x" * 200})
        await index.search("bicycle")
    assert len(caplog.records) == 3
    status = await make_index(max_file_bytes=100).status()
    assert [one.path for one in status.failed] == ["memory/large.md", "memory/latin.md"]


async def test_a_note_that_vanishes_while_it_is_read_is_no_problem(
    notes: Notes, make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write({"memory/a.md": "bicycle", "memory/b.md": "canoe"})
    real = Files.read

    def vanishing(files: Files, path: str) -> object:
        (notes.root / "memory/b.md").unlink(missing_ok=True)
        return real(files, path)

    monkeypatch.setattr(Files, "read", vanishing)
    report = await make_index().sync()
    assert (report.files, report.failed) == (1, ())


async def test_a_large_note_comes_and_goes_in_pieces(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/a.md": "".join(f"line {i} of the bicycle\n" * 20 for i in range(500))})
    index = make_index(FakeEmbedder())
    report = await index.sync()
    assert report.chunks > 100
    assert (await index.search("line 480 bicycle")).hits
    notes.write({"memory/a.md": "short canoe"})
    report = await index.sync()
    assert (report.files, report.chunks, report.waiting) == (1, 1, 0)


async def test_deep_status_asks_the_model(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/a.md": "bicycle"})
    index = make_index(FakeEmbedder())
    await index.sync()
    status = await index.status(deep=True)
    assert (status.probe, status.dims, status.cache_entries) == ("", 256, 1)
    assert status.made_with == "fake/words 1, 256"
    failing = make_index(FakeEmbedder(failure="not there"))
    assert (await failing.status(deep=True)).probe == "not there"
    assert (await failing.status()).probe is None
