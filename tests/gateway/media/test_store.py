"""The folder of files: closed to others, names of our own, old ones deleted, nothing outside of it."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.media.store import Store, sized
from tests.fakes.files import counting, picture
from tests.fakes.protocols import START, FakeClock


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "media", clock=FakeClock(), token=counting())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def aged(path: Path, age: timedelta) -> Path:
    at = (START - age).timestamp()
    os.utime(path, (at, at))
    return path


def test_a_file_is_kept_closed_to_others_under_a_sortable_name(store: Store) -> None:
    one, two = store.keep("Foto da Ana.jpg", picture()), store.keep("b.jpg", picture())
    assert one.ref < two.ref
    assert one.ref.endswith("-Foto-da-Ana.jpg")
    assert (one.mime, one.name, one.size) == ("image/jpeg", "Foto da Ana.jpg", len(picture()))
    assert (mode(one.path), mode(store.inbound)) == (0o600, 0o700)


def test_a_file_that_is_not_finished_leaves_nothing(store: Store) -> None:
    with store.incoming() as path:
        path.write_bytes(b"half")
    assert list(store.inbound.iterdir()) == []


def test_what_was_swapped_for_a_link_is_not_taken(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    with store.incoming() as path:
        path.unlink()
        path.symlink_to(secret)
        with pytest.raises(OSError, match="ordinary"):
            store.settle(path, "a.txt")
    assert secret.exists()


def test_a_folder_that_is_a_link_is_not_used(store: Store, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "media").mkdir()
    store.inbound.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        store.keep("a.txt", b"x")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("ref", ["../secret", "/etc/passwd", "", ".", "..", "a/b", "nothing", "x.part"])
def test_a_reference_leads_nowhere_else(store: Store, tmp_path: Path, ref: str) -> None:
    store.keep("a.txt", b"x")
    (tmp_path / "media" / "secret").write_text("x")
    (store.inbound / "x.part").write_text("x")
    assert store.find(ref) is None


def test_a_stored_file_is_found_by_its_reference(store: Store) -> None:
    kept = store.keep("a.txt", b"words")
    assert store.find(kept.ref, "a.txt") == kept


def test_a_copy_that_goes_out_is_known_as_ours(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "report.pdf"
    source.write_bytes(b"%PDF-1.4 " + bytes(3 << 20))
    with source.open("rb") as file:
        copy = store.copy_out(file.fileno(), source.name)
    source.unlink()
    assert (copy.name, copy.mime, copy.size) == ("report.pdf", "application/pdf", (3 << 20) + 9)
    assert mode(copy.path) == 0o600
    assert store.is_copy(copy.path)
    assert not store.is_copy(tmp_path / "media/outbound/../../report.pdf")
    copy.path.unlink()
    assert not store.is_copy(copy.path)


@pytest.mark.parametrize(("days", "left"), [(29, 2), (30, 2), (31, 1)])
def test_old_files_are_deleted_and_those_that_are_needed_stay(store: Store, days: int, left: int) -> None:
    needed = aged(store.keep("needed.txt", b"x").path, timedelta(days=400))
    aged(store.keep("old.txt", b"x").path, timedelta(days=days))
    store.sweep(timedelta(days=30), held=[needed])
    assert needed.exists()
    assert len(list(store.inbound.iterdir())) == left


def test_what_was_never_finished_is_deleted_after_a_day(store: Store) -> None:
    store.keep("a.txt", b"x")
    for age in (23, 25):
        part = store.inbound / f"{age}.part"
        part.touch()
        aged(part, timedelta(hours=age))
    assert store.sweep(timedelta(days=30)) == 1
    assert not (store.inbound / "25.part").exists()


def test_a_sweep_before_the_first_file_finds_nothing(store: Store) -> None:
    assert store.sweep(timedelta(days=1)) == 0


@pytest.mark.parametrize(
    ("size", "text"), [(999, "999 bytes"), (1_000, "1 KB"), (999_999, "1000 KB"), (1_000_000, "1.0 MB")]
)
def test_sizes_are_told_for_people(size: int, text: str) -> None:
    assert sized(size) == text
