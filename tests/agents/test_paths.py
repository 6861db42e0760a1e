"""Confined paths: what is refused as text, and what cannot be reached by links, swaps or other names."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.paths import Confined, PathRefused, inside, lexical
from agents.saving import opened

B85 = json.loads((Path(__file__).parents[1] / "cases" / "B85-paths.json").read_text())
PARTS = st.lists(st.sampled_from(["a", "b.md", "..", ".", "memory", "..x", "x.."]), max_size=8)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "n.md").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "n.md").write_text("secret")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "n.md").write_text("secret")
    return folder


def read(paths: Confined, name: str) -> bytes:
    with paths.locate(name) as place, opened(place) as fd:
        return os.read(fd, 1000)


@pytest.mark.parametrize(("given", "allowed"), B85["rows"], ids=[repr(row[0]) for row in B85["rows"]])
def test_a_path_is_decided_as_text_b85(given: str, allowed: bool) -> None:
    root = PurePosixPath(B85["root"])  # does not exist: nothing can have been opened

    if allowed:
        assert root / inside(root, given) == lexical(root, given)
    else:
        with pytest.raises(PathRefused):
            inside(root, given)


@settings(max_examples=60, deadline=None)
@given(parts=PARTS, absolute=st.booleans())
def test_what_is_inside_never_climbs_out(parts: list[str], absolute: bool) -> None:
    root = PurePosixPath("/srv/work")
    text = ("/srv/work/" if absolute else "") + "/".join(parts)

    with suppress(PathRefused):
        found = inside(root, text)
        assert ".." not in found.parts
        assert not found.is_absolute()
        assert os.path.normpath(root / text) == str(root / found)


@pytest.mark.parametrize(
    "name", ["memory/n.md", "./memory/../memory/n.md", "memory//n.md", "{root}/memory/n.md"]
)
def test_files_inside_are_opened(root: Path, name: str) -> None:
    assert read(Confined(root), name.format(root=root)) == b"inside"


@pytest.mark.parametrize(
    "name",
    [
        "../outside/n.md",
        "{up}/outside/n.md",
        "{up}/workspace/n.md",
        "/etc/passwd",
        "~/x",
        "a\0b",
        "",
        "\ud800",
    ],
)
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_files_outside_are_refused(root: Path, name: str, write: bool) -> None:
    with (
        pytest.raises(PathRefused),
        Confined(root).locate(name.format(up=root.parent), write=write, make_parents=write),
    ):
        pytest.fail("located")


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("file", "../outside/n.md"),
        ("absolute", "{up}/outside/n.md"),
        ("folder", "../outside"),
        ("chain", "second"),
        ("dangling", "../outside/new.md"),
    ],
)
def test_a_link_that_leads_out_is_refused(root: Path, link: str, target: str) -> None:
    (root / "second").symlink_to("../outside/n.md")
    (root / link).symlink_to(target.format(up=root.parent))
    name = f"{link}/n.md" if link == "folder" else link

    for write in (False, True):
        with pytest.raises(PathRefused), Confined(root).locate(name, write=write, make_parents=write):
            pytest.fail("located")
    assert sorted(path.name for path in (root.parent / "outside").iterdir()) == ["n.md"]


@pytest.mark.parametrize("target", ["memory/n.md", "memory/../memory/n.md", "{root}/memory/n.md"])
def test_a_link_that_stays_inside_is_followed(root: Path, target: str) -> None:
    (root / "link.md").symlink_to(target.format(root=root))

    with Confined(root).locate("link.md") as place:
        assert place.shown == "memory/n.md"
    assert read(Confined(root), "link.md") == b"inside"


def test_links_in_a_circle_end(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")

    with pytest.raises(PathRefused, match="too many links"), Confined(root).locate("a"):
        pytest.fail("located")


def test_a_workspace_that_is_a_link_itself_is_usable_by_both_names(root: Path) -> None:
    alias = root.parent / "alias"
    alias.symlink_to(root)

    assert read(Confined(alias), "memory/n.md") == b"inside"
    assert read(Confined(alias), f"{alias}/memory/n.md") == b"inside"
    assert read(Confined(alias), f"{root}/memory/n.md") == b"inside"


def test_names_are_shown_relative_to_the_workspace(root: Path) -> None:
    paths = Confined(root)

    with paths.locate(f"{root}/memory/new/x.md", write=True, make_parents=True) as place:
        assert (place.shown, place.in_workspace) == ("memory/new/x.md", True)
    with paths.locate(".") as place:
        assert (place.shown, place.path) == (".", PurePosixPath(root))
    with Confined(root, access="host").locate(f"{root.parent}/outside/n.md") as place:
        assert (place.shown, place.in_workspace) == (f"{root.parent}/outside/n.md", False)


def test_a_missing_workspace_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(PathRefused, match="cannot be used: it does not exist"),
        Confined(tmp_path / "x").locate("a"),
    ):
        pytest.fail("located")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / ".clawd"
    for name in ("credentials/token", "media/out.txt", "workspace/a.md", "workspace-other/a.md"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize("access", ["workspace", "host"])
@pytest.mark.parametrize(
    ("name", "write", "allowed"),
    [
        ("workspace/a.md", True, True),
        ("media/out.txt", False, True),
        ("media/out.txt", True, False),
        ("credentials/token", False, False),
        ("clawd.yaml", True, False),
        ("workspace-other/a.md", False, False),
        (".", False, False),
    ],
)
def test_of_the_home_only_workspace_and_media_are_open(
    home: Path, access: str, name: str, write: bool, allowed: bool
) -> None:
    paths = Confined(
        home / "workspace",
        access="host" if access == "host" else "workspace",
        forbidden=(home,),
        readable=(home / "media",),
    )

    if allowed:
        with paths.locate(f"{home}/{name}", write=write) as place:
            assert str(place.path) == f"{home}/{name}"
    else:
        with pytest.raises(PathRefused), paths.locate(f"{home}/{name}", write=write):
            pytest.fail("located")


def test_the_home_is_closed_by_any_other_name(home: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "alias").symlink_to(home)
    (work / "link").symlink_to(home / "credentials")
    paths = Confined(work, access="host", forbidden=(home,))

    for name in (f"{tmp_path}/alias/credentials/token", "link/token", f"{tmp_path}/work/../.clawd/lock"):
        with pytest.raises(PathRefused, match="belongs to clawd itself"), paths.locate(name):
            pytest.fail("located")


def test_a_home_inside_the_workspace_stays_closed(home: Path) -> None:
    paths = Confined(home.parent, forbidden=(home,))

    with pytest.raises(PathRefused), paths.locate(".clawd/credentials/token"):
        pytest.fail("located")


def test_no_descriptor_is_left_open(root: Path) -> None:
    paths = Confined(root)
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208

    for name in ["memory/n.md", "../x", "missing/x", "memory/n.md/x"] * 5:
        with suppress(OSError, PathRefused):
            read(paths, name)

    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


@pytest.fixture
def swapper(root: Path) -> Iterator[None]:
    """Exchanges root/door between a folder of ours and a link to a folder outside, as fast as it can."""
    stop = threading.Event()
    ours, link, door = root / "ours", root / "link", root / "door"
    ours.mkdir()
    (ours / "n.md").write_text("inside")
    link.symlink_to(root.parent / "outside")

    def swap() -> None:
        while not stop.is_set():
            ours.rename(door)
            door.rename(ours)
            link.rename(door)
            door.rename(link)

    thread = threading.Thread(target=swap)
    thread.start()
    yield
    stop.set()
    thread.join()


@pytest.mark.usefixtures("swapper")
def test_a_folder_swapped_for_a_link_between_check_and_open_never_leads_out(root: Path) -> None:
    paths = Confined(root)
    seen: set[bytes] = set()
    refusals = 0

    for _ in range(1000):
        try:
            seen.add(read(paths, "door/n.md"))
        except (OSError, PathRefused):
            refusals += 1

    assert seen <= {b"inside"}
    assert refusals


@pytest.mark.usefixtures("swapper")
def test_nothing_is_written_outside_while_folders_are_swapped(root: Path) -> None:
    paths = Confined(root)

    for number in range(400):
        with (
            suppress(OSError, PathRefused),
            paths.locate(f"door/{number}.md", write=True) as place,
        ):
            os.close(os.open(place.name, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, dir_fd=place.parent))

    assert [path.name for path in (root.parent / "outside").iterdir()] == ["n.md"]
