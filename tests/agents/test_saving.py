"""Files are old or new, whole, whatever happens while they are written."""

import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents.paths import Confined, PathRefused, Place
from agents.saving import ChangedMeanwhile, append, create, opened, replace, status


@contextmanager
def at(root: Path, name: str = "a.md") -> Iterator[Place]:
    with Confined(root).locate(name, write=True) as place:
        yield place


def test_a_new_file_is_the_owners_alone(tmp_path: Path) -> None:
    with at(tmp_path) as place:
        create(place, b"new")

    assert (tmp_path / "a.md").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["a.md"]  # noqa: PTH208


def test_creating_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old")

    with at(tmp_path) as place, pytest.raises(FileExistsError):
        create(place, b"new")

    assert (tmp_path / "a.md").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.md"]  # noqa: PTH208


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_replacing_keeps_the_mode(tmp_path: Path, mode: int) -> None:
    (tmp_path / "a.md").write_text("old")
    (tmp_path / "a.md").chmod(mode)

    with at(tmp_path) as place:
        replace(place, b"new", was=status(place))

    assert (tmp_path / "a.md").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == mode


def test_a_change_by_another_in_between_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old")

    with at(tmp_path) as place:
        was = status(place)
        (tmp_path / "a.md").write_text("by the owner")
        with pytest.raises(ChangedMeanwhile):
            replace(place, b"new", was=was)

    assert (tmp_path / "a.md").read_text() == "by the owner"
    assert os.listdir(tmp_path) == ["a.md"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("old", "data", "new", "line"),
    [
        ("", "x\n", "x\n", 1),
        ("a\n", "x\n", "a\nx\n", 2),
        ("a", "x\n", "a\nx\n", 2),
        ("a\nb", "x", "a\nb\nx", 3),
        ("a\n", "## h\n", "a\n\n## h\n", 3),
        ("a", "## h\n", "a\n\n## h\n", 3),
        ("a\n\n", "## h\n", "a\n\n## h\n", 3),
        ("a\r\n", "## h\n", "a\r\n\r\n## h\n", 3),
        ("", "## h\n", "## h\n", 1),
    ],
)
def test_what_is_added_begins_on_its_own_line(
    tmp_path: Path, old: str, data: str, new: str, line: int
) -> None:
    (tmp_path / "a.md").write_bytes(old.encode())

    with at(tmp_path) as place:
        begins = append(place, data.encode())

    assert (tmp_path / "a.md").read_bytes() == new.encode()
    assert begins == line


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")

    with at(tmp_path) as place:
        with pytest.raises(PathRefused, match="no ordinary file"), opened(place):
            pytest.fail("opened")
        with pytest.raises(PathRefused, match="no ordinary file"):
            append(place, b"x")


FULL = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    from agents.paths import Confined
    from agents.saving import append, create, replace, status

    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    with Confined(Path(sys.argv[1])).locate(sys.argv[3], write=True) as place:
        data = b"x" * 20_000
        try:
            match sys.argv[2]:
                case "create": create(place, data)
                case "replace": replace(place, data, was=status(place))
                case "append": append(place, data)
        except OSError as error:
            print(type(error).__name__, error.errno)
    """
)


@pytest.mark.parametrize(("action", "name"), [("create", "new.md"), ("replace", "a.md"), ("append", "a.md")])
def test_a_disk_that_fills_up_leaves_the_old_file_whole(tmp_path: Path, action: str, name: str) -> None:
    (tmp_path / "a.md").write_text("old\n")

    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), action, name],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )

    assert done.stdout.startswith("OSError")
    assert os.listdir(tmp_path) == ["a.md"]  # noqa: PTH208
    assert (tmp_path / "a.md").read_text() == "old\n"
