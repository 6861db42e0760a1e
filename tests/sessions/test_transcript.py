"""A session's file: opened whole, whatever happened to it; appended to, never rewritten."""

import logging
import time
from datetime import timedelta
from pathlib import Path

import pytest

from sessions.codec import header_json
from sessions.entries import Custom, CustomMessage, Said, Unknown
from sessions.lines import to_line
from sessions.messages import Text, User, text_of
from sessions.transcript import BrokenTranscript, Transcript
from tests.sessions.children import (
    create_on_a_full_disk,
    say_numbers,
    say_without_end,
    spawned,
    write_over_the_limit,
)
from tests.sessions.making import AT, CASES, HEADER, LIMIT, assistant, open_case, user

HEAD = to_line(header_json(HEADER))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "s.jsonl"


def open_bytes(path: Path, content: bytes, *, max_line_bytes: int = LIMIT) -> Transcript:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return Transcript.open(path, max_line_bytes=max_line_bytes)


def said(transcript: Transcript) -> list[str]:
    return [text_of(entry.body.message.parts) for entry in transcript.entries if isinstance(entry.body, Said)]


def line(entry_id: str, parent: str | None, text: str = "") -> bytes:
    return to_line(
        {
            "type": "message",
            "id": entry_id,
            "parentId": parent,
            "timestamp": "2026-05-01T08:00:00.000Z",
            "message": {"role": "user", "content": text or entry_id},
        }
    )


def test_what_was_appended_is_there_after_a_new_start(path: Path) -> None:
    transcript = Transcript.create(path, HEADER)
    first = transcript.append(Said(message=user("hello")), AT)
    second = transcript.append(Said(message=assistant("hi")), AT)
    third = transcript.append(Custom(kind="clawd.x", data={"a": [1, None]}), AT)
    transcript.close()

    again = Transcript.open(path, max_line_bytes=LIMIT)

    assert again.header == HEADER
    assert list(again.entries) == list(transcript.entries) == [first, second, third]
    assert [entry.id for entry in again.entries] == ["00000001", "00000002", "00000003"]
    assert [entry.parent_id for entry in again.entries] == [None, "00000001", "00000002"]
    assert again.skipped == ()


def test_an_entry_is_given_back_as_a_reader_will_see_it(path: Path) -> None:
    transcript = Transcript.create(path, HEADER)
    at = AT + timedelta(microseconds=1_234)
    message = User(at=at, parts=(Text(text="half \ud83d, whole 😀"),), envelope="[\ude00]")

    entry = transcript.append(Said(message=message), at)

    assert entry.at == AT + timedelta(milliseconds=1)
    assert entry.body == Said(
        message=User(
            at=AT + timedelta(milliseconds=1),
            parts=(Text(text="half \ufffd, whole 😀"),),
            envelope="[\ufffd]",
        )
    )
    assert list(Transcript.open(path, max_line_bytes=LIMIT).entries) == [entry]


def test_a_new_file_is_closed_to_others_and_never_takes_the_place_of_one(path: Path) -> None:
    Transcript.create(path, HEADER)

    with pytest.raises(FileExistsError):
        Transcript.create(path, HEADER)

    assert path.read_bytes() == HEAD
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_b18_a_lone_surrogate_is_replaced_when_it_is_read_and_the_line_on_disk_stays(tmp_path: Path) -> None:
    transcript = open_case("B18-lone-surrogate.jsonl", tmp_path)

    transcript.append(Said(message=user("again: " + said(transcript)[-1] + "\ud83d")), AT)

    assert said(transcript)[2] == "cut \ufffd here, whole 😀 there"
    stored = transcript.path.read_bytes()
    assert stored.startswith((CASES / "B18-lone-surrogate.jsonl").read_bytes())
    assert "again: cut \ufffd here, whole 😀 there\ufffd" in stored.decode()


def test_b22_what_can_be_read_is_read_the_rest_is_counted_and_the_next_line_is_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    transcript = open_case("B22-broken.jsonl", tmp_path)

    assert said(transcript) == ["first", "second"]
    assert transcript.skipped == (4, 5, 6, 8, 9, 10)
    assert [(record.name, record.levelno) for record in caplog.records] == [
        ("clawd.sessions", logging.WARNING)
    ]
    assert "6 unreadable lines" in caplog.text
    assert transcript.path.name in caplog.text

    transcript.append(Said(message=user("third")), AT)
    again = Transcript.open(transcript.path, max_line_bytes=LIMIT)

    assert said(again) == said(transcript) == ["first", "second", "third"]
    assert again.skipped == (4, 5, 6, 8, 9, 10)
    assert again.path.read_bytes().startswith((CASES / "B22-broken.jsonl").read_bytes() + b"\n{")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        HEAD[:40],
        HEAD[:40] + b"\n" + line("a", None),
        line("a", None) + line("b", "a"),
        b'{"type":"session"}\n',
        b"\x00\x01binary\xff",
    ],
    ids=["empty", "blank", "torn header", "torn header and more", "no header", "no id", "binary"],
)
def test_a_file_without_a_header_is_set_aside_as_it_is(path: Path, content: bytes) -> None:
    with pytest.raises(BrokenTranscript, match=r"set aside as s\.jsonl\.broken-1") as caught:
        open_bytes(path, content)

    assert caught.value.aside.read_bytes() == content
    assert not path.exists()
    Transcript.create(path, HEADER).append(Said(message=user("new")), AT)
    assert caught.value.aside.read_bytes() == content


def test_a_missing_file_is_said_to_be_missing(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Transcript.open(path, max_line_bytes=LIMIT)


def test_unreadable_lines_before_the_header_are_skipped(path: Path) -> None:
    transcript = open_bytes(path, b"\xef\xbb\xbf\nnull\n" + HEAD + line("a", None))

    assert said(transcript) == ["a"]
    assert transcript.skipped == (1, 2)


def test_of_a_tree_the_path_of_the_last_leaf_is_read_and_continued(path: Path) -> None:
    content = HEAD + line("a", None) + line("b", "a") + line("c", "b") + line("d", "a")
    transcript = open_bytes(path, content)

    entry = transcript.append(Said(message=user("e")), AT)

    assert said(transcript) == ["a", "d", "e"]
    assert (entry.parent_id, entry.id) == ("d", "00000005")
    assert said(Transcript.open(path, max_line_bytes=LIMIT)) == ["a", "d", "e"]


def test_a_child_of_an_unreadable_line_does_not_lose_its_history(path: Path) -> None:
    content = HEAD + line("a", None) + line("b", "a")[:50] + b"\n" + line("c", "b")

    assert said(open_bytes(path, content)) == ["a", "c"]


def test_kinds_of_later_versions_stay_in_the_chain(path: Path) -> None:
    new = to_line({"type": "kind_of_2031", "id": "b", "parentId": "a", "timestamp": "2031-01-01", "x": [1]})
    transcript = open_bytes(path, HEAD + line("a", None) + new + line("c", "b"))

    assert said(transcript) == ["a", "c"]
    assert transcript.entries[1].body == Unknown(raw={"type": "kind_of_2031", "x": [1]})


def test_a_file_of_a_later_version_is_read_with_a_warning(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    transcript = open_bytes(path, HEAD.replace(b'"version":3', b'"version":4') + line("a", None))

    assert said(transcript) == ["a"]
    assert "version 4" in caplog.text


def test_version_1_is_read_and_continued_without_being_rewritten(path: Path) -> None:
    old = (
        b'{"type":"session","id":"s","timestamp":"2025-11-01T08:00:00.000Z","cwd":"/w"}\n'
        b'{"type":"message","timestamp":"2025-11-01T08:00:01.000Z","message":{"role":"user","content":"q"}}\n'
        b'{"type":"message","timestamp":"2025-11-01T08:00:02.000Z","message":{"role":"assistant","content":[]}}\n'
    )
    transcript = open_bytes(path, old)
    transcript.append(Said(message=user("q2")), AT)
    again = Transcript.open(path, max_line_bytes=LIMIT)

    assert [entry.id for entry in again.entries] == ["00000001", "00000002", "00000003"]
    assert list(again.entries) == list(transcript.entries)
    assert path.read_bytes().startswith(old)


def test_version_2_is_read_without_being_rewritten(path: Path) -> None:
    hook = to_line(
        {
            "type": "message",
            "id": "b",
            "parentId": "a",
            "timestamp": "2025-12-01T08:00:00.000Z",
            "message": {"role": "hookMessage", "customType": "h", "content": "note", "display": True},
        }
    )
    transcript = open_bytes(path, HEAD.replace(b'"version":3', b'"version":2') + line("a", None) + hook)

    assert transcript.entries[1].body == CustomMessage(kind="h", parts=(Text(text="note"),), display=True)


def test_a_line_above_the_limit_stays_on_disk_and_is_skipped_with_a_warning(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = HEAD + line("a", None) + line("b", "a", "x" * 2000) + line("c", "b")
    transcript = open_bytes(path, content, max_line_bytes=1000)

    assert said(transcript) == ["a", "c"]
    assert transcript.skipped == (3,)
    assert path.read_bytes() == content
    assert "1 unreadable line" in caplog.text


@pytest.mark.slow
def test_a_line_of_50_mb_is_read(path: Path) -> None:
    content = HEAD + line("a", None) + line("b", "a", "x" * 50_000_000) + line("c", "b")
    started = time.process_time()
    transcript = open_bytes(path, content)

    assert [len(text) for text in said(transcript)] == [1, 50_000_000, 1]
    assert time.process_time() - started < 5


def test_what_another_program_wrote_meanwhile_is_taken_in_before_the_next_line(path: Path) -> None:
    transcript = Transcript.create(path, HEADER)
    transcript.append(Said(message=user("mine")), AT)
    with path.open("ab") as file:
        file.write(line("00000002", "00000001", "theirs"))

    entry = transcript.append(Said(message=user("mine again")), AT)

    assert (entry.id, entry.parent_id) == ("00000003", "00000002")
    assert said(transcript) == ["mine", "theirs", "mine again"]


def test_a_file_that_was_removed_takes_nothing_more(path: Path) -> None:
    transcript = Transcript.create(path, HEADER)
    path.unlink()

    with pytest.raises(FileNotFoundError):
        transcript.append(Said(message=user("lost?")), AT)


def test_two_processes_write_whole_lines_with_ids_of_their_own(path: Path) -> None:
    Transcript.create(path, HEADER).close()
    processes = [spawned(say_numbers, path, writer, 60) for writer in "ab"]
    for process in processes:
        process.join(60)

    transcript = Transcript.open(path, max_line_bytes=LIMIT)

    assert [process.exitcode for process in processes] == [0, 0]
    assert transcript.skipped == ()
    assert sorted(said(transcript)) == sorted(f"{writer} {number}" for writer in "ab" for number in range(60))
    assert len({entry.id for entry in transcript.entries}) == 120


def test_a_kill_in_the_middle_of_writing_leaves_all_whole_lines(path: Path) -> None:
    Transcript.create(path, HEADER).close()
    process = spawned(say_without_end, path)
    deadline = time.monotonic() + 20
    while path.stat().st_size < 2_000_000 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    process.join()

    transcript = Transcript.open(path, max_line_bytes=LIMIT)
    transcript.append(Said(message=user("after")), AT)
    again = Transcript.open(path, max_line_bytes=LIMIT)

    assert process.exitcode == -9
    numbers = [int(text.split()[0]) for text in said(again)[:-1]]
    assert len(numbers) > 10
    assert numbers == list(range(len(numbers)))
    assert len(again.skipped) <= 1
    assert said(again)[-1] == "after"


@pytest.mark.parametrize("room", [0, 100], ids=["no byte written", "some bytes written"])
def test_a_write_that_is_cut_off_by_a_full_disk_leaves_nothing_and_the_next_one_is_whole(
    path: Path, room: int
) -> None:
    transcript = Transcript.create(path, HEADER)
    transcript.append(Said(message=user("before")), AT)
    process = spawned(write_over_the_limit, path, room)
    process.join(60)

    again = Transcript.open(path, max_line_bytes=LIMIT)

    assert process.exitcode == 0
    assert said(again) == ["before", "after"]
    assert again.skipped == ()


def test_a_transcript_that_cannot_be_begun_leaves_no_file(path: Path) -> None:
    process = spawned(create_on_a_full_disk, path)
    process.join(60)

    assert process.exitcode == 0
    assert list(path.parent.iterdir()) == []


def test_opening_a_thousand_messages_is_quick(path: Path) -> None:
    transcript = Transcript.create(path, HEADER)
    for number in range(1000):
        transcript.append(Said(message=user(f"message {number} " + "word " * 40)), AT)
    transcript.close()
    started = time.process_time()

    again = Transcript.open(path, max_line_bytes=LIMIT)

    assert len(again.entries) == 1000
    assert time.process_time() - started < 0.5
