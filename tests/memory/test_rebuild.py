"""An index made anew: the old one answers until the new one is whole, whatever happens in between."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from memory.embed.embedder import Kind, MemoryUnavailable, Vector
from memory.index import MemoryIndex
from memory.settings import ChunkingSettings
from tests.fakes.embedder import FakeEmbedder
from tests.memory.conftest import MakeIndex, Notes

ROOT = Path(__file__).parents[2]
# More chunks than a search waits for, and than are embedded at once.
SMALL = ChunkingSettings(tokens=8, overlap=0)
MANY = {"memory/many.md": "".join(f"bicycle number {i}\n" for i in range(300))}
CHILD = Path(__file__).with_name("indexing_child.py")


class Gated(FakeEmbedder):
    """Embeds notes only while `go` is set."""

    def __init__(self, version: str = "1") -> None:
        super().__init__(version=version)
        self.go = asyncio.Event()
        self.waits = asyncio.Event()

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        if kind == "document" and not self.go.is_set():
            self.waits.set()
            await self.go.wait()
        return await super().embed(texts, kind=kind)


def database(tmp_path: Path) -> Path:
    return tmp_path / "home" / "memory" / "main.sqlite"


def stored(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return [tuple(row) for row in connection.execute(sql)]
    finally:
        connection.close()


async def found(index: MemoryIndex, word: str) -> set[str]:
    """Notes that have the word; a vector may be near by chance."""
    return {hit.path for hit in (await index.search(word, max_results=50)).hits if hit.text_score > 0.4}


async def child(tmp_path: Path, notes: Notes, what: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(CHILD),
        str(notes.root),
        str(database(tmp_path)),
        what,
        env={"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    return process.returncode or 0, out.decode()


async def test_while_it_is_made_anew_the_old_one_answers_and_takes_new_notes(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({f"memory/{i}.md": f"bicycle number {i}" for i in range(20)})
    await make_index(FakeEmbedder()).sync()
    before = database(tmp_path).stat().st_ino
    embedder = Gated()
    index = make_index(embedder, chunking=ChunkingSettings(tokens=100))
    notes.write({"memory/0.md": "another text"})
    running = asyncio.ensure_future(index.sync())
    await embedder.waits.wait()
    embedder.go.set()
    forced = asyncio.ensure_future(index.sync(force=True))
    notes.write({"memory/late.md": "zeppelin"})
    assert await found(index, "zeppelin") == {"memory/late.md"}
    reports = await asyncio.gather(running, forced)
    assert reports[1].files == 21
    assert database(tmp_path).stat().st_ino != before
    assert (await index.search("bicycle number 7", max_results=1)).hits[0].path == "memory/7.md"
    assert await found(index, "zeppelin") == {"memory/late.md"}
    assert not list(database(tmp_path).parent.glob("*.tmp-*"))


async def test_another_model_answers_by_words_until_all_is_made_anew(
    notes: Notes, make_index: MakeIndex
) -> None:
    notes.write(MANY)
    await make_index(FakeEmbedder(), chunking=SMALL).sync()
    embedder = Gated(version="2")
    index = make_index(embedder, chunking=SMALL)
    result = await index.search("bicycle number 7", max_results=1)
    assert (result.mode, result.hits[0].path) == ("keyword", "memory/many.md")
    assert "made anew" in str(result.warning)
    embedder.go.set()
    await index.sync()
    after = await index.search("bicycle number 7", max_results=1)
    assert (after.mode, after.warning) == ("hybrid", None)


async def test_another_named_model_is_unavailable_until_it_is_accepted(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "bicycle"})
    await make_index(FakeEmbedder(provider="openai"), provider="openai").sync()
    before = database(tmp_path).stat().st_ino
    new = FakeEmbedder(provider="openai", model="larger", dims=128)
    index = make_index(new, provider="openai")
    for call in (index.search("bicycle"), index.sync(), index.search("bicycle")):
        with pytest.raises(MemoryUnavailable, match="clawd memory index"):
            await call
    notes.write({"memory/b.md": "canoe"})
    with pytest.raises(MemoryUnavailable, match=r"openai/words.*openai/larger"):
        await index.search("canoe")
    assert new.asked == []
    assert database(tmp_path).stat().st_ino == before
    old = make_index(FakeEmbedder(provider="openai"), provider="openai")
    assert (await old.search("canoe")).mode == "hybrid"
    report = await index.sync(accept=True)
    assert (report.files, report.waiting, report.embedded) == (2, 0, 2)
    assert (await index.search("bicycle")).mode == "hybrid"


async def test_a_configured_fallback_makes_the_index_anew_by_itself(
    notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "bicycle"})
    settings = {"fallback": "local"}
    await make_index(FakeEmbedder(provider="openai"), provider="openai", search=settings).sync()
    other = make_index(FakeEmbedder(provider="local"), provider="openai", search=settings)
    assert (await other.search("bicycle")).mode == "hybrid"


async def test_vectors_that_cannot_be_made_again_are_kept(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "bicycle"})
    await make_index(FakeEmbedder()).sync()
    before = database(tmp_path).stat().st_ino
    embedder = FakeEmbedder(version="2", failure="the model is not there")
    index = make_index(embedder, retry_seconds=0)
    report = await index.sync(force=True)
    assert "the model is not there" in report.warnings[0]
    assert database(tmp_path).stat().st_ino == before
    assert (await make_index(FakeEmbedder()).search("bicycle")).hits[0].vector_score > 0.5


@pytest.mark.parametrize("entries", [0, 2, 50])
async def test_no_text_is_embedded_twice_however_small_the_cache(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, entries: int
) -> None:
    notes.write({f"memory/{i}.md": f"bicycle {i}" for i in range(10)})
    embedder = FakeEmbedder()
    index = make_index(embedder, search={"cache_entries": entries})
    await index.sync()
    await index.sync(force=True)
    assert len(embedder.asked) == 10
    assert stored(database(tmp_path), "SELECT count(*) FROM embedding_cache") == [(min(10, entries),)]


async def test_b02_by_words_alone_nothing_is_lost(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": "zebra quartz"})
    for force in (False, True, False):
        index = make_index(provider="none")
        assert (await index.sync(force=force)).chunks == 1
        assert [hit.path for hit in (await index.search("quartz")).hits] == ["MEMORY.md"]


async def test_vectors_outlive_an_index_of_another_version(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({f"memory/{i}.md": f"bicycle {i}" for i in range(5)})
    first = make_index(FakeEmbedder())
    await first.sync()
    await first.aclose()
    stored(database(tmp_path), "UPDATE meta SET value = 'of long ago' WHERE key = 'schema'")
    embedder = FakeEmbedder()
    report = await make_index(embedder).sync()
    assert (report.files, report.waiting, embedder.asked) == (5, 0, [])
    assert "another version" in report.warnings[0]


@pytest.mark.parametrize("force", [False, True])
async def test_a_model_that_rests_is_not_a_reason_to_lose_vectors(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, force: bool
) -> None:
    notes.write({"memory/a.md": "some words in a line\n" * 40})
    await make_index(FakeEmbedder()).sync()
    embedder = FakeEmbedder(failure="the model is not there")
    index = make_index(embedder, chunking=ChunkingSettings(tokens=100))
    for _ in range(2):
        await index.sync(force=force)
    assert (await make_index(FakeEmbedder()).search("words")).mode == "hybrid"


async def test_b84_what_a_killed_process_left_is_removed_and_the_old_index_answers(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "bicycle"})
    await make_index(FakeEmbedder()).sync()
    left = [database(tmp_path).with_name(f"main.sqlite.tmp-77{end}") for end in ("", "-wal", "-shm")]
    for file in left:
        file.write_bytes(b"half of something")
    assert len((await make_index(FakeEmbedder()).search("bicycle")).hits) == 1
    assert not any(file.exists() for file in left)


async def test_b84_a_kill_in_the_middle_leaves_the_old_one_whole(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write(MANY)
    first = make_index(FakeEmbedder(), chunking=SMALL)
    await first.sync()
    before = database(tmp_path).stat().st_ino
    code, _ = await child(tmp_path, notes, "die")
    assert code == -9
    assert list(database(tmp_path).parent.glob("*.tmp-*"))
    assert database(tmp_path).stat().st_ino == before
    assert (await first.search("bicycle number 7", max_results=1)).hits[0].vector_score > 0.5
    assert stored(database(tmp_path), "PRAGMA integrity_check") == [("ok",)]
    embedder = FakeEmbedder(version="2")
    report = await make_index(embedder, chunking=SMALL).sync()
    assert (report.files, report.chunks, report.waiting) == (1, 300, 0)
    assert len(embedder.asked) < 300  # what the killed process had made is not made again
    assert not list(database(tmp_path).parent.glob("*.tmp-*"))


async def test_two_processes_share_one_index_over_rebuilds(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({f"memory/{i}.md": f"bicycle number {i}" for i in range(40)})
    index = make_index(FakeEmbedder())
    other = asyncio.ensure_future(child(tmp_path, notes, "8"))
    rounds = 0
    while not other.done():
        notes.write({"memory/mine.md": f"canoe round{rounds}"})
        assert await found(index, f"round{rounds}") == {"memory/mine.md"}
        if rounds % 10 == 5:
            await index.sync(force=True)
        rounds += 1
    assert await other == (0, "")
    assert rounds > 5
    assert len(await found(index, "zeppelin")) == 8
    report = await index.sync()
    assert (report.files, report.waiting) == (49, 0)
    assert stored(database(tmp_path), "PRAGMA integrity_check") == [("ok",)]


async def test_a_full_disk_is_told_and_the_old_index_answers(tmp_path: Path, notes: Notes) -> None:
    notes.write({f"memory/{i}.md": f"bicycle {i}" for i in range(30)})
    code, said = await child(tmp_path, notes, "full")
    assert code == 0, said
    assert "could not be made anew" in said
    assert "free space" in said
    assert "found: 6" in said
    assert not list(database(tmp_path).parent.glob("*.tmp-*"))


async def test_while_another_process_builds_nobody_else_begins(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "some words in a line\n" * 40})
    await make_index(FakeEmbedder()).sync()
    slow = Gated(version="2")
    first, second = make_index(slow), make_index(FakeEmbedder(version="2"))
    building = asyncio.ensure_future(first.sync())
    await slow.waits.wait()
    assert "Another process" in (await second.sync()).warnings[0]
    patient = asyncio.ensure_future(second.sync(force=True))
    await asyncio.sleep(0.05)
    assert not patient.done()
    slow.go.set()
    await asyncio.gather(building, patient)
    assert (await second.search("words")).mode == "hybrid"


async def test_what_another_process_put_in_its_place_is_read(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"memory/a.md": "bicycle"})
    one, two = make_index(FakeEmbedder()), make_index(FakeEmbedder())
    await one.sync()
    assert len((await two.search("bicycle")).hits) == 1
    await one.sync(force=True)
    inode = database(tmp_path).stat().st_ino
    notes.write({"memory/b.md": "canoe"})
    assert len((await two.search("canoe")).hits) == 1
    assert len((await one.search("canoe")).hits) == 1
    assert database(tmp_path).stat().st_ino == inode
    assert not list(database(tmp_path).parent.glob("*.broken-*"))
