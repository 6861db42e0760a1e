"""Watching real folders: every change is seen, what is ignored costs nothing, refusals are borne."""

import asyncio
import errno
import logging
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from memory.notes import Notes as Files
from memory.settings import MemorySettings
from memory.watcher import Events, Watcher, native
from tests.memory.conftest import Notes

QUIET = 0.15


class Heard:
    """What the watcher told: how many changes, and a bell for when it was quiet again."""

    def __init__(self) -> None:
        self.changes = 0
        self.settled = 0
        self.bell = asyncio.Event()

    def changed(self) -> None:
        self.changes += 1

    async def settle(self) -> None:
        self.settled += 1
        self.bell.set()

    async def quiet(self) -> None:
        """Until the next time that it is quiet after a change."""
        self.bell.clear()
        async with asyncio.timeout(8):
            await self.bell.wait()


@asynccontextmanager
async def watching(
    notes: Notes, *, extra: object = (), events: Events | None = None, poll_seconds: float = 0.05
) -> AsyncIterator[tuple[Watcher, Heard]]:
    """A watcher that has begun and said so."""
    files = Files(notes.root, MemorySettings.model_validate({"search": {"extra_paths": extra}}))
    heard = Heard()
    watcher = Watcher(
        folders=files.folders,
        places=files.places,
        is_note=files.is_note,
        changed=heard.changed,
        settled=heard.settle,
        quiet_seconds=QUIET,
        poll_seconds=poll_seconds,
        events=events,
    )
    task = asyncio.ensure_future(watcher.run())
    await heard.quiet()
    try:
        yield watcher, heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert watcher.state == "off"


def write(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("new")

    return change


def move(to: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / "memory/sub").rename(root / to)

    return change


def save_by_rename(root: Path) -> None:
    (root / "memory/.a.md.swp").write_text("new")
    (root / "memory/.a.md.swp").rename(root / "memory/a.md")


def replace_workspace(root: Path) -> None:
    root.rename(root.with_name("old"))
    write("memory/a.md")(root)


CHANGES: dict[str, Callable[[Path], None]] = {
    "written": write("memory/a.md"),
    "a new root note": write("MEMORY.md"),
    "by rename": save_by_rename,
    "deleted": lambda root: (root / "memory/a.md").unlink(),
    "in a folder": write("memory/deep/deeper/b.md"),
    "a folder moved": move("memory/other"),
    "a folder moved away": move("../elsewhere"),
    "all gone": lambda root: shutil.rmtree(root / "memory"),
    "the workspace is another": replace_workspace,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
async def test_a_change_is_told_at_once_and_when_it_is_quiet(
    notes: Notes, change: Callable[[Path], None]
) -> None:
    notes.write({"memory/a.md": "a", "memory/sub/c.md": "c"})
    async with watching(notes) as (watcher, heard):
        before = heard.changes
        change(notes.root)
        await heard.quiet()
        assert heard.changes > before
        assert watcher.state == "watching"
        write("memory/sub2/later.md")(notes.root)  # and it goes on
        await heard.quiet()


async def test_what_comes_into_a_new_folder_is_told_too(notes: Notes) -> None:
    async with watching(notes) as (watcher, heard):
        assert notes.root / "memory" not in watcher.watched
        write("memory/sub/a.md")(notes.root)
        await heard.quiet()
        write("memory/sub/b.md")(notes.root)
        await heard.quiet()
        assert notes.root / "memory/sub" in watcher.watched


async def test_a_thousand_files_at_once_are_told_once(notes: Notes) -> None:
    notes.write({f"memory/{i}.md": "x" for i in range(1000)})
    async with watching(notes) as (_, heard):
        (notes.root / "memory").rename(notes.root / "memory-2")
        (notes.root / "memory-2").rename(notes.root / "memory")
        for i in range(1000):
            (notes.root / f"memory/{i}.md").rename(notes.root / f"memory/new-{i}.md")
        await heard.quiet()
        await asyncio.sleep(3 * QUIET)
        assert heard.settled <= 3


async def test_changes_without_an_end_are_settled_in_between(notes: Notes) -> None:
    async with watching(notes) as (_, heard):
        before = heard.settled
        async with asyncio.timeout(30):
            while heard.settled == before:
                write("MEMORY.md")(notes.root)
                await asyncio.sleep(QUIET / 10)


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "memory/state.json",
        "memory/.git/HEAD.md",
        "memory/node_modules/x/readme.md",
        "reference/long.md",
    ],
)
async def test_what_is_no_note_is_not_told(notes: Notes, path: str) -> None:
    notes.write({"memory/a.md": "a", path: "old"})
    async with watching(notes) as (_, heard):
        before = heard.changes
        write(path)(notes.root)
        await asyncio.sleep(3 * QUIET)
        assert heard.changes == before


async def test_extra_paths_are_watched_files_and_folders(tmp_path: Path, notes: Notes) -> None:
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "single.md").write_text("one")
    extra = [str(tmp_path / "docs"), str(tmp_path / "single.md"), str(tmp_path / "not-yet")]
    async with watching(notes, extra=extra) as (_, heard):
        for path in ("docs/deep/a.md", "single.md", "not-yet/a.md"):
            write(path)(tmp_path)
            await heard.quiet()


async def test_b80_ignored_folders_cost_no_open_files_and_no_watches(tmp_path: Path, notes: Notes) -> None:
    for i in range(300):
        for folder in (".venv", "node_modules", ".git", "__pycache__"):
            (tmp_path / f"extra/{folder}/p{i}").mkdir(parents=True)
    write("a.md")(tmp_path / "extra")
    before = psutil.Process().num_fds()
    async with watching(notes, extra=[str(tmp_path / "extra")]) as (watcher, heard):
        assert psutil.Process().num_fds() - before < 20
        assert len(watcher.watched) <= 4
        write("b.md")(tmp_path / "extra")
        await heard.quiet()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSPC])
async def test_b80_where_watching_is_refused_there_is_one_warning_and_polling(
    notes: Notes, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    notes.write({f"memory/{i}.md": "x" for i in range(400)})

    async def refuse(folders: Iterable[Path]) -> AsyncGenerator[set[str], None]:
        raise OSError(number, os.strerror(number))
        yield set()

    with caplog.at_level(logging.WARNING, "clawd.memory"):
        async with watching(notes, events=refuse) as (watcher, heard):
            assert watcher.state == "polling"
            for _ in range(3):
                await heard.quiet()
    assert [os.strerror(number) in record.getMessage() for record in caplog.records] == [True]


async def test_a_folder_that_goes_before_it_is_watched_is_no_refusal(notes: Notes) -> None:
    notes.write({"memory/a.md": "a"})
    calls = 0

    def vanishing(folders: Iterable[Path]) -> AsyncGenerator[set[str], None]:
        nonlocal calls
        calls += 1
        return native([*folders, notes.root / "gone"] if calls == 1 else folders)

    async with watching(notes, events=vanishing) as (watcher, _):
        assert watcher.state == "watching"
        assert calls == 2
