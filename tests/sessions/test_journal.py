"""Append-only files: whole lines, whoever writes and however it ends."""

import errno
import io
import logging
import threading
from pathlib import Path

import pytest

from sessions.journal import Journal, physical_lines, set_aside
from sessions.messages import JsonObject
from tests.sessions.children import append_numbers, compact_often, spawned


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journals" / "things.jsonl"


def numbers(journal: Journal) -> list[object]:
    return [obj["n"] for obj in journal.replay()]


def test_what_was_appended_is_replayed_in_order_also_after_a_new_start(path: Path) -> None:
    journal = Journal.open(path)
    for number in range(3):
        journal.append({"n": number}, sync=number == 1)
    journal.close()

    assert numbers(Journal.open(path)) == [0, 1, 2]
    assert path.read_bytes() == b'{"n":0}\n{"n":1}\n{"n":2}\n'


def test_the_file_and_its_folder_are_closed_to_others(path: Path) -> None:
    Journal.open(path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_torn_last_line_is_skipped_and_the_next_one_begins_a_line(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Journal.open(path).append({"n": 1})
    with path.open("ab") as file:
        file.write(b'{"n":2,"text":"caf\xc3')

    journal = Journal.open(path)
    journal.append({"n": 3})

    assert numbers(journal) == [1, 3]
    assert journal.skipped == (2,)
    assert [record.name for record in caplog.records] == ["clawd.sessions"]
    assert "1 unreadable line skipped" in caplog.text


def test_the_same_unreadable_lines_are_told_of_once(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"n":1}\nnull\n[1]\n')
    journal = Journal.open(path)

    assert numbers(journal) == numbers(journal) == [1]
    assert len(caplog.records) == 1
    assert "2 unreadable lines skipped" in caplog.text


def test_a_whole_last_line_without_newline_counts(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"n":1}\n{"n":2}')
    journal = Journal.open(path)
    journal.append({"n": 3})

    assert numbers(journal) == [1, 2, 3]


def test_blank_lines_are_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir()
    path.write_bytes(b'\n{"n":1}\r\n   \n\t\n{"n":2}\n\n')

    assert numbers(Journal.open(path)) == [1, 2]
    assert not caplog.records


def test_a_line_that_could_not_be_read_again_is_not_written(path: Path) -> None:
    journal = Journal.open(path, max_line_bytes=20)
    journal.append({"n": "x" * 12})

    with pytest.raises(OSError, match="too long") as caught:
        journal.append({"n": "x" * 13})

    assert caught.value.errno == errno.EFBIG
    assert numbers(journal) == ["x" * 12]


def test_a_full_disk_raises_and_names_it() -> None:
    journal = Journal.open(Path("/dev/full"), create=False)

    with pytest.raises(OSError, match="No space left") as caught:
        journal.append({"n": 1})

    assert caught.value.errno == errno.ENOSPC


def test_a_journal_that_is_not_to_be_made_must_exist(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Journal.open(path, create=False)


def test_a_closed_journal_takes_nothing(path: Path) -> None:
    journal = Journal.open(path)
    journal.close()
    journal.close()

    with pytest.raises(OSError, match="closed"):
        journal.append({"n": 1})


def test_lines_may_be_appended_while_they_are_replayed(path: Path) -> None:
    journal = Journal.open(path)
    journal.append({"n": 1})

    for obj in journal.replay():
        journal.append({"n": 10, "after": obj})

    assert numbers(journal) == [1, 10]


def test_threads_do_not_mix_their_lines(path: Path) -> None:
    journal = Journal.open(path)

    def write(thread: int) -> None:
        for number in range(100):
            journal.append({"n": [thread, number]})

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = numbers(journal)
    assert len(found) == 400
    assert sorted(map(str, found)) == sorted(str([t, n]) for t in range(4) for n in range(100))


def test_two_processes_do_not_mix_their_lines_and_lose_none_to_a_third_that_compacts(path: Path) -> None:
    Journal.open(path)
    processes = [
        spawned(append_numbers, path, "a", 150),
        spawned(append_numbers, path, "b", 150),
        spawned(compact_often, path, 10),
    ]
    for process in processes:
        process.join(60)

    journal = Journal.open(path)
    found = [(obj["writer"], obj["number"]) for obj in journal.replay()]

    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert journal.skipped == ()
    assert [number for writer, number in found if writer == "a"] == list(range(150))
    assert [number for writer, number in found if writer == "b"] == list(range(150))


def last_only(objects: object) -> list[JsonObject]:
    assert hasattr(objects, "__iter__")
    return list(objects)[-1:]


def test_compaction_puts_the_folded_lines_in_place_of_all(path: Path) -> None:
    journal = Journal.open(path)
    for number in range(5):
        journal.append({"n": number})

    journal.compact(last_only)
    journal.append({"n": 9})

    assert numbers(journal) == [4, 9]
    assert path.read_bytes() == b'{"n":4}\n{"n":9}\n'
    assert [file.name for file in path.parent.iterdir()] == ["things.jsonl"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_another_writer_goes_on_in_the_compacted_file(path: Path) -> None:
    first, second = Journal.open(path), Journal.open(path)
    first.append({"n": 1})
    second.append({"n": 2})

    first.compact(last_only)
    second.append({"n": 3})

    assert numbers(first) == numbers(second) == [2, 3]


def test_compaction_keeps_a_file_that_had_unreadable_lines(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"n":1}\n{"n":\n{"n":2}\n')
    journal = Journal.open(path)

    journal.compact(last_only)

    assert numbers(journal) == [2]
    assert journal.skipped == ()
    assert (path.parent / "things.jsonl.broken-1").read_bytes() == b'{"n":1}\n{"n":\n{"n":2}\n'


def test_a_compaction_that_fails_leaves_everything_as_it_was(path: Path) -> None:
    journal = Journal.open(path)
    journal.append({"n": 1})

    def fail(objects: object) -> list[JsonObject]:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        journal.compact(fail)
    journal.append({"n": 2})

    assert numbers(journal) == [1, 2]
    assert [file.name for file in path.parent.iterdir()] == ["things.jsonl"]


def test_a_journal_whose_file_was_removed_begins_a_new_one(path: Path) -> None:
    journal = Journal.open(path)
    journal.append({"n": 1})
    path.unlink()

    journal.append({"n": 2})

    assert numbers(journal) == [2]


def test_files_are_set_aside_under_the_first_free_name(tmp_path: Path) -> None:
    names = []
    for text in ("one", "two", "three"):
        file = tmp_path / "x.jsonl"
        file.write_text(text)
        names.append(set_aside(file).name)

    assert names == ["x.jsonl.broken-1", "x.jsonl.broken-2", "x.jsonl.broken-3"]
    assert [(tmp_path / name).read_text() for name in names] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("content", "end", "expected"),
    [
        (b"abcd\nef\n", 8, [(1, b"abcd\n"), (2, b"ef\n")]),
        (b"abcde\nef\n", 9, [(1, None), (2, b"ef\n")]),
        (b"abcd", 4, [(1, b"abcd")]),
        (b"abcde", 5, [(1, None)]),
        (b"ab\ncdef\n", 5, [(1, b"ab\n"), (2, b"cd")]),
        (b"abcdefghijkl\n\nx", 15, [(1, None), (2, b"\n"), (3, b"x")]),
        (b"ab\n", 99, [(1, b"ab\n")]),
        (b"abcdef", 99, [(1, None)]),
        (b"", 0, []),
    ],
    ids=[
        "at",
        "above",
        "at, torn",
        "above, torn",
        "bounded",
        "far above",
        "shrunk",
        "shrunk in long",
        "empty",
    ],
)
def test_lines_above_the_limit_are_passed_over(
    content: bytes, end: int, expected: list[tuple[int, bytes | None]]
) -> None:
    assert list(physical_lines(io.BytesIO(content), end=end, max_line_bytes=4)) == expected


def test_a_journal_of_readable_lines_warns_of_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    journal = Journal.open(path)
    journal.append({"n": 1})

    assert numbers(journal) == [1]
    assert not caplog.records
