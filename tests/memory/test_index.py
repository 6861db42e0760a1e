"""The index over its life: in step with the notes, whatever happens to them, to the file and to the model."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from memory.embed.embedder import Kind, MemoryUnavailable, Vector
from memory.files import MemoryRefused
from memory.orders import SyncProgress
from memory.settings import ChunkingSettings
from tests.fakes.embedder import FakeEmbedder
from tests.memory.conftest import MakeIndex, Notes

LATIN = b"User name is Ana\nUser prefers caf\xe9 mode\nTimezone is Lisbon\n"


def stored(tmp_path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(tmp_path / "home/memory/main.sqlite"))
    try:
        return [tuple(row) for row in connection.execute(sql)]
    finally:
        connection.close()


async def test_what_is_written_is_found_changed_and_gone(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    index = make_index(embedder)
    notes.write({"MEMORY.md": "the red bicycle", "memory/a.md": "the green tent"})
    first = await index.sync()
    assert (first.files, first.chunks, first.indexed, first.embedded, first.waiting) == (2, 2, 2, 2, 0)
    notes.write({"memory/a.md": "the yellow canoe"})
    assert [hit.path for hit in (await index.search("canoe")).hits] == ["memory/a.md"]
    assert (await index.search("tent")).hits == ()
    (notes.root / "memory/a.md").unlink()
    report = await index.sync()
    assert (report.files, report.chunks, report.removed) == (1, 1, 1)
    assert (await index.search("canoe")).hits == ()


async def test_a_note_moved_back_in_time_with_the_same_size_is_read_again(
    notes: Notes, make_index: MakeIndex
) -> None:
    index = make_index()
    notes.write({"MEMORY.md": "red one"})
    await index.sync()
    times = (notes.root / "MEMORY.md").stat()
    notes.write({"MEMORY.md": "new one"})
    os.utime(notes.root / "MEMORY.md", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert len((await index.search("new")).hits) == 1


async def test_nothing_changed_means_nothing_read(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    index = make_index(embedder)
    notes.write({"MEMORY.md": "the red bicycle"})
    await index.sync()
    report = await index.sync()
    assert (report.indexed, report.embedded, report.files) == (0, 0, 1)
    (notes.root / "MEMORY.md").touch()
    assert (await index.sync()).indexed == 0


async def test_the_same_text_is_embedded_once_over_moves_copies_and_forced_runs(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    index = make_index(embedder)
    notes.write({"memory/a.md": "same text", "memory/b.md": "same text"})
    await index.sync()
    (notes.root / "memory/a.md").rename(notes.root / "memory/moved.md")
    await index.sync()
    report = await index.sync(force=True)
    assert (report.indexed, report.waiting) == (2, 0)
    assert embedder.asked == ["same text"]
    assert stored(tmp_path, "SELECT count(*) FROM embedding_cache") == [(1,)]
    other = make_index(FakeEmbedder(version="2"))
    assert (await other.sync()).embedded == 1


async def test_callers_at_once_share_a_run_and_a_later_one_sees_later_notes(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    index = make_index(embedder)
    notes.write({"MEMORY.md": "one"})
    reports = await asyncio.gather(*(index.sync() for _ in range(5)))
    assert [report.indexed for report in reports] == [1] * 5
    running = asyncio.ensure_future(index.sync())
    await asyncio.sleep(0)
    notes.write({"memory/late.md": "zeppelin"})
    assert len((await index.search("zeppelin")).hits) == 1
    await running


async def test_a_cancelled_caller_does_not_end_the_run_of_others(notes: Notes, make_index: MakeIndex) -> None:
    index = make_index()
    notes.write({"MEMORY.md": "one"})
    first, second = (asyncio.ensure_future(index.sync()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).indexed == 1


async def test_progress_tells_both_stages_to_their_end(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({f"memory/{i}.md": f"note {i}" for i in range(70)})
    told: list[SyncProgress] = []
    await make_index(embedder).sync(progress=told.append)
    assert {one.stage for one in told} == {"reading", "embedding"}
    for stage in ("reading", "embedding"):
        done = [one.done for one in told if one.stage == stage]
        assert done == sorted(done)
        assert done[-1] == 70


async def test_b03_a_note_that_is_not_utf8_is_read_with_one_warning(
    notes: Notes, make_index: MakeIndex
) -> None:
    path = notes.root / "MEMORY.md"
    path.write_bytes(LATIN)
    index = make_index()
    report = await index.sync()
    assert [warning for warning in report.warnings if "MEMORY.md" in warning] == list(report.warnings)
    assert len(report.warnings) == 1
    (hit,) = (await index.search("Timezone")).hits
    assert hit.snippet.split("\n")[1:] == ["User prefers caf\ufffd mode", "Timezone is Lisbon"]
    assert (await index.read("MEMORY.md", from_line=3)).text == "Timezone is Lisbon"
    with path.open("ab") as file:
        file.write(b"more\n")
    await index.sync()
    assert path.read_bytes() == LATIN + b"more\n"


async def test_failing_notes_are_reported_and_the_rest_goes_on(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/good.md": "good", "memory/large.md": "x" * 101, "memory/limit.md": "y" * 100})
    (notes.root / "memory/closed").mkdir()
    notes.write({"memory/closed/a.md": "secret"})
    index = make_index(max_file_bytes=100)
    await index.sync()
    (notes.root / "memory/closed").rename(notes.root / "memory/gone")
    report = await index.sync()
    assert [problem.path for problem in report.failed] == ["memory/large.md"]
    assert "memory.max_file_bytes" in report.failed[0].reason
    assert report.files == 3
    assert (await index.status()).failed == report.failed


async def test_a_note_that_cannot_be_read_leaves_the_index(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": "short"})
    index = make_index(max_file_bytes=100)
    await index.sync()
    notes.write({"MEMORY.md": "short " * 100})
    report = await index.sync()
    assert (report.files, report.chunks, len(report.failed)) == (0, 0, 1)


async def test_a_note_of_fifty_megabytes_is_reported_without_being_read(
    notes: Notes, make_index: MakeIndex
) -> None:
    with (notes.root / "MEMORY.md").open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    (problem,) = (await make_index().sync()).failed
    assert "50.0 MB" in problem.reason


async def test_a_missing_workspace_is_reported(notes: Notes, make_index: MakeIndex) -> None:
    notes.root.rmdir()
    index = make_index()
    assert "does not exist" in (await index.sync()).failed[0].reason
    assert (await index.search("anything")).hits == ()


async def test_other_chunk_sizes_cut_all_notes_again(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"MEMORY.md": "some words in a line\n" * 40})
    assert (await make_index(embedder).sync()).chunks == 1
    small = make_index(embedder, chunking=ChunkingSettings(tokens=50, overlap=0))
    report = await small.sync()
    assert (report.chunks, report.indexed, report.waiting) == (5, 1, 0)
    assert (await small.sync()).indexed == 0


async def test_another_model_embeds_all_again_and_finds(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    await make_index(FakeEmbedder()).sync()
    index = make_index(FakeEmbedder(model="other", dims=128))
    result = await index.search("bicycle")
    assert result.hits[0].vector_score == pytest.approx(1)
    assert (await index.sync()).embedded == 0


async def test_b82_embedding_a_chunk_again_leaves_one_vector(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    await make_index(embedder).sync()
    broken = apsw.Connection(str(tmp_path / "home/memory/main.sqlite"))
    broken.execute("UPDATE passages SET embedded = 0")
    broken.close()
    await make_index(embedder).sync()
    assert stored(tmp_path, "SELECT count(*) FROM chunks_vec_rowids") == [(1,)]
    assert embedder.asked == ["bicycle"]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM chunks_fts",
        "DELETE FROM chunks",
        "DELETE FROM files",
        "DELETE FROM chunks WHERE id = 1",
        "UPDATE passages SET embedded = 0",
        "DELETE FROM chunks_fts WHERE rowid = 2",
    ],
)
async def test_b82_tables_that_disagree_heal_with_the_next_start(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder, damage: str
) -> None:
    notes.write({"memory/a.md": "bicycle", "memory/b.md": "canoe"})
    await make_index(embedder).sync()
    connection = apsw.Connection(str(tmp_path / "home/memory/main.sqlite"))
    connection.execute(damage)
    connection.close()
    index = make_index(embedder)
    for word in ("bicycle", "canoe"):
        (hit,) = (await index.search(word)).hits
        assert min(hit.vector_score, hit.text_score) > 0.5
    assert (await index.sync()).chunks == 2


@pytest.mark.parametrize("damage", ["noise", "half", "empty"])
async def test_b84_a_broken_index_is_made_anew_with_one_warning(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder, damage: str
) -> None:
    notes.write({f"memory/{i}.md": f"bicycle number {i}" for i in range(30)})
    first = make_index(embedder)
    await first.sync()
    await first.aclose()
    path = tmp_path / "home/memory/main.sqlite"
    whole = path.read_bytes()
    path.write_bytes({"noise": os.urandom(100), "half": whole[: len(whole) // 2], "empty": b""}[damage])
    index = make_index(embedder)
    report = await index.sync()
    assert report.files == 30
    assert len(report.warnings) == (0 if damage == "empty" else 1)
    assert (await index.search("bicycle number 7", max_results=1)).hits[0].path == "memory/7.md"
    assert (await index.sync()).warnings == ()


async def test_b84_an_index_that_breaks_while_it_is_open_is_made_anew(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({f"memory/{i}.md": f"bicycle number {i} " * 50 for i in range(30)})
    index = make_index()
    await index.sync()
    await index.aclose()
    path = tmp_path / "home/memory/main.sqlite"
    data = bytearray(path.read_bytes())
    data[4096 * 3 :] = os.urandom(len(data) - 4096 * 3)
    path.write_bytes(bytes(data))
    report = await make_index().sync()
    assert report.files == 30
    assert len(report.warnings) == 1


async def test_the_file_may_be_deleted_at_any_time(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    index = make_index()
    await index.sync()
    for file in (tmp_path / "home/memory").iterdir():
        file.unlink()
    assert len((await index.search("bicycle")).hits) == 1
    assert (tmp_path / "home/memory/main.sqlite").exists()


async def test_two_indexes_share_one_file(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({f"memory/{i}.md": f"bicycle {i}" for i in range(40)})
    one, two = make_index(FakeEmbedder()), make_index(FakeEmbedder())
    await asyncio.gather(one.sync(), two.sync(), one.search("bicycle"), two.search("bicycle"))
    report = await two.sync()
    assert (report.chunks, report.waiting) == (40, 0)
    assert len((await one.search("bicycle", max_results=50)).hits) == 40


async def test_b81_without_sqlite_vec_words_are_searched_until_it_is_there(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    index = make_index(embedder, vector_extension=tmp_path / "nothing")
    report = await index.sync()
    assert (report.files, report.waiting) == (1, 1)
    (warning,) = report.warnings
    assert "sqlite-vec" in warning
    result = await index.search("bicycle")
    assert (result.mode, len(result.hits)) == ("keyword", 1)
    assert "sqlite-vec" in str((await index.status()).vector_problem)
    await index.aclose()
    again = make_index(embedder)
    assert (await again.sync(force=True)).waiting == 0
    result = await again.search("bicycle")
    assert (result.mode, result.warning) == ("hybrid", None)
    assert result.hits[0].vector_score > 0.5


async def test_b81_vectors_that_cannot_be_used_for_a_while_come_back(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    await make_index(embedder).sync()
    index = make_index(embedder, vector_extension=tmp_path / "nothing")
    notes.write({"MEMORY.md": "a canoe"})
    result = await index.search("canoe")
    assert result.mode == "keyword"
    assert "sqlite-vec" in str(result.warning)
    assert len(result.hits) == 1
    assert "sqlite-vec" in str((await index.status()).vector_problem)
    assert (await make_index(embedder).search("canoe")).hits[0].vector_score > 0.5


@pytest.mark.parametrize("provider", [None, "auto", "local"])
async def test_b10_by_default_a_failing_model_leaves_words_and_a_warning(
    notes: Notes, make_index: MakeIndex, provider: str | None
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    embedder = FakeEmbedder(failure="the model is not there")
    index = make_index(embedder, provider=provider, retry_seconds=0)
    result = await index.search("bicycle")
    assert (result.mode, len(result.hits)) == ("keyword", 1)
    assert "the model is not there" in str(result.warning)
    assert "the model is not there" in (await index.sync()).warnings[0]
    embedder.failure = None
    mended = await index.search("bicycle")
    assert (mended.mode, mended.warning) == ("hybrid", None)
    assert mended.hits[0].vector_score > 0.9


async def test_b10_a_failing_model_rests_for_a_while(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    embedder = FakeEmbedder(failure="the model is not there")
    index = make_index(embedder, retry_seconds=1000)
    await index.search("bicycle")
    embedder.failure = None
    result = await index.search("bicycle")
    assert result.mode == "keyword"
    assert embedder.asked == []


async def test_b10_a_named_model_that_fails_is_never_replaced(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    embedder = FakeEmbedder(failure="the model is not there; install it")
    index = make_index(embedder, provider="openai")
    with pytest.raises(MemoryUnavailable, match="install it"):
        await index.search("bicycle")
    with pytest.raises(MemoryUnavailable, match="install it"):
        await index.sync()
    embedder.failure = None
    assert (await index.search("bicycle")).mode == "hybrid"
    embedder.failure = "gone again"
    with pytest.raises(MemoryUnavailable, match="gone again"):
        await index.search("bicycle")


async def test_b10_none_means_words_without_a_warning(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    result = await make_index(embedder, provider="none").search("bicycle")
    assert (result.mode, result.provider, result.model, result.warning) == ("keyword", "none", None, None)
    assert embedder.asked == []


async def test_an_empty_memory_asks_no_model(make_index: MakeIndex, embedder: FakeEmbedder) -> None:
    result = await make_index(embedder).search("anything at all")
    assert result.hits == ()
    assert result.warning is None
    assert embedder.asked == []


class _Slow(FakeEmbedder):
    """Embeds notes only after `go`."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        if kind == "document":
            await self.go.wait()
        return await super().embed(texts, kind=kind)


async def test_a_search_does_not_wait_for_a_long_first_indexing(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({f"memory/{i}.md": f"bicycle {i}" for i in range(50)})
    embedder = _Slow()
    index = make_index(embedder, patience_seconds=0.01)
    syncing = asyncio.ensure_future(index.sync())
    result = await index.search("bicycle 7", max_results=1)
    assert result.hits[0].path == "memory/7.md"
    assert "still being indexed" in str(result.warning)
    embedder.go.set()
    report = await syncing
    assert (report.waiting, report.indexed, report.embedded) == (0, 50, 50)


async def test_reading_gives_lines_and_refuses_what_is_no_memory(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    notes.write({"MEMORY.md": "a\nb\nc\n", "SOUL.md": "soul", "memory/x.md/inside.md": "i"})
    (tmp_path / "secret.md").write_text("secret")
    (notes.root / "memory/link.md").symlink_to(tmp_path / "secret.md")
    index = make_index()
    part = await index.read("MEMORY.md", from_line=2, lines=1)
    assert (part.text, part.end_line, part.next_from) == ("b", 2, 3)
    assert (await index.read("memory/2031-01-01.md")).text == ""
    for path in ("SOUL.md", "memory/../SOUL.md", "/etc/passwd", "memory/link.md", "memory/x.md", ""):
        with pytest.raises(MemoryRefused):
            await index.read(path)


async def test_a_note_too_large_to_read_is_said(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": "x" * 101})
    with pytest.raises(MemoryUnavailable, match="split it"):
        await make_index(max_file_bytes=100).read("MEMORY.md")


async def test_an_index_that_cannot_be_made_is_unavailable(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    notes.write({"MEMORY.md": "bicycle"})
    index = make_index()
    with pytest.raises(MemoryUnavailable, match="cannot be made"):
        await index.sync()
    with pytest.raises(MemoryUnavailable, match="cannot be made"):
        await index.search("bicycle")


async def test_after_closing_everything_is_unavailable(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    index = make_index(embedder)
    await index.sync()
    await index.aclose()
    await index.aclose()
    for call in (index.sync(), index.search("bicycle"), index.status()):
        with pytest.raises(MemoryUnavailable, match="closed"):
            await call
    assert not embedder.closed


async def test_closing_in_the_middle_ends_the_run(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({f"memory/{i}.md": f"bicycle {i}" for i in range(50)})
    index = make_index(_Slow())
    syncing = asyncio.ensure_future(index.sync())
    await asyncio.sleep(0.05)
    await index.aclose()
    with pytest.raises(asyncio.CancelledError):
        await syncing


async def test_status_tells_what_is_there(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"MEMORY.md": "bicycle"})
    index = make_index(embedder)
    assert (await index.status()).files == 0
    await index.sync()
    status = await index.status()
    assert (status.files, status.chunks, status.waiting) == (1, 1, 0)
    assert (status.provider, status.model, status.version) == ("fake", "words", "1")
    assert status.database == tmp_path / "home/memory/main.sqlite"
    assert status.bytes > 0
