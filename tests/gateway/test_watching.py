"""A file becomes another in every way in which editors and machines do that."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from gateway.watching import polled, stamp, still, watched

SECONDS = 30


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "clawd.yaml").write_text("one", encoding="utf-8")
    return folder / "clawd.yaml"


def _in_place(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def _by_rename(file: Path, text: str) -> None:
    draft = file.with_name("draft~")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


def _moved_away_first(file: Path, text: str) -> None:
    file.replace(file.with_name("clawd.yaml~"))
    file.write_text(text, encoding="utf-8")


def _linked(file: Path, folder: Path) -> Path:
    folder.mkdir()
    target = file.replace(folder / file.name)
    file.symlink_to(target)
    return target


def _ways(file: Path) -> list[AsyncIterator[None]]:
    return [watched(file, poll_seconds=0.2), polled(file, poll_seconds=0.02)]


async def _noticed(events: AsyncIterator[None], edit: Callable[[], None]) -> None:
    noticing = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0.05)
    edit()
    async with asyncio.timeout(SECONDS):
        await noticing


@pytest.mark.parametrize("edit", [_in_place, _by_rename, _moved_away_first])
@pytest.mark.parametrize("way", [0, 1], ids=["watched", "polled"])
async def test_each_edit_is_noticed(file: Path, edit: Callable[[Path, str], None], way: int) -> None:
    events = _ways(file)[way]

    for number in range(3):
        await _noticed(events, partial(edit, file, f"text {number}"))


@pytest.mark.parametrize("way", [0, 1], ids=["watched", "polled"])
async def test_behind_a_link_the_edit_of_the_file_itself_is_noticed(
    file: Path, tmp_path: Path, way: int
) -> None:
    target = _linked(file, tmp_path / "dotfiles")

    await _noticed(_ways(file)[way], lambda: _by_rename(target, "other"))


async def test_a_folder_that_is_exchanged_as_a_whole_is_noticed(tmp_path: Path) -> None:
    """As Kubernetes does it: the file is a link through a link, and only that one becomes another."""
    for name in ("..1", "..2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "clawd.yaml").write_text(name, encoding="utf-8")
    (tmp_path / "..data").symlink_to("..1")
    file = tmp_path / "clawd.yaml"
    file.symlink_to(Path("..data") / "clawd.yaml")

    def exchange() -> None:
        (tmp_path / "..tmp").symlink_to("..2")
        (tmp_path / "..tmp").replace(tmp_path / "..data")

    await _noticed(watched(file, poll_seconds=0.2), exchange)


async def test_an_edit_between_the_reading_and_the_watching_is_noticed(file: Path) -> None:
    known = stamp(file)
    _in_place(file, "meanwhile")

    for events in (watched(file, known=known, poll_seconds=0.2), polled(file, known=known)):
        async with asyncio.timeout(SECONDS):
            await anext(events)


async def test_a_text_that_is_still_written_is_waited_for(file: Path) -> None:
    writing = True

    async def write() -> None:
        with file.open("w", encoding="utf-8") as out:
            while writing:
                out.write("more\n")
                out.flush()
                await asyncio.sleep(0.01)
            out.write("end")

    task = asyncio.create_task(write())
    waiting = asyncio.create_task(still(file, quiet_seconds=0.5))
    done, _ = await asyncio.wait({waiting}, timeout=1.2)
    assert not done
    writing = False
    await task

    assert await waiting == stamp(file)


async def test_a_file_that_is_written_without_end_is_read_all_the_same(file: Path) -> None:
    async def write() -> None:
        number = 0
        while True:
            number += 1
            _in_place(file, "x" * number)
            await asyncio.sleep(0.005)

    task = asyncio.create_task(write())
    try:
        async with asyncio.timeout(SECONDS):
            await still(file, quiet_seconds=1)
    finally:
        task.cancel()


def test_no_file_has_a_stamp_too(tmp_path: Path) -> None:
    assert not any(stamp(tmp_path / "none"))
