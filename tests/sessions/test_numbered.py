"""sessions/numbered.py: every entry with its line, beside a writer, and further from where one was."""

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.entries import Body, Entry, Said
from sessions.messages import User, text_of
from sessions.numbered import Numbered, Reading, read_numbered, read_on
from sessions.transcript import Transcript
from tests.sessions.making import AT, CASES, HEADER, LIMIT, assistant, user
from tests.sessions.strategies import bodies


def read(path: Path) -> Reading:
    found = read_numbered(path, max_line_bytes=LIMIT)
    assert found is not None
    return found


def on(path: Path, before: Reading) -> Reading | None:
    return read_on(path, before.mark, before.header, max_line_bytes=LIMIT)


def made(folder: Path, *texts: str) -> Transcript:
    transcript = Transcript.create(folder / "s.jsonl", HEADER)
    for text in texts:
        transcript.append(Said(message=user(text)), AT)
    return transcript


def spoken(entries: tuple[Numbered, ...]) -> list[tuple[int, str]]:
    return [
        (one.line, text_of(one.entry.body.message.parts))
        for one in entries
        if isinstance(one.entry.body, Said) and isinstance(one.entry.body.message, User)
    ]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    transcript = made(tmp_path, "one", "two")

    assert spoken(read(transcript.path).entries) == [(2, "one"), (3, "two")]
    transcript.close()


def test_a_torn_line_counts_and_is_not_read(tmp_path: Path) -> None:
    transcript = made(tmp_path, "one")
    transcript.close()
    with transcript.path.open("ab") as file:
        file.write(b'{"type":"message","id":"x","mess')
    torn = read(transcript.path)
    again = Transcript.open(transcript.path, max_line_bytes=LIMIT)
    again.append(Said(message=user("three")), AT)
    again.close()

    assert spoken(torn.entries) == [(2, "one")]
    assert torn.mark.lines == 2
    assert spoken(read(transcript.path).entries) == [(2, "one"), (4, "three")]
    further = on(transcript.path, torn)
    assert further is not None
    assert spoken(further.entries) == [(4, "three")]
    assert further.mark == read(transcript.path).mark


def test_a_line_that_is_being_written_waits_for_its_end(tmp_path: Path) -> None:
    transcript = made(tmp_path, "one", "two")
    transcript.close()
    whole = transcript.path.read_bytes()
    for size in range(len(whole) - 1, whole.index(b'"one"') + 200, -7):
        transcript.path.write_bytes(whole[:size])
        assert spoken(read(transcript.path).entries) == [(2, "one")]


def test_another_branch_is_read_from_the_start(tmp_path: Path) -> None:
    transcript = made(tmp_path, "one", "two", "three")
    transcript.close()
    before = read(transcript.path)
    with transcript.path.open("ab") as file:
        file.write(
            b'{"type":"message","id":"b1","parentId":"00000001","timestamp":"2026-05-01T08:00:00.000Z",'
            b'"message":{"role":"user","content":"other","timestamp":1}}\n'
        )

    assert on(transcript.path, before) is None
    assert spoken(read(transcript.path).entries) == [(2, "one"), (5, "other")]


@pytest.mark.parametrize("change", ["shorter", "other bytes before the mark"])
def test_another_file_in_its_place_is_noticed(change: str, tmp_path: Path) -> None:
    transcript = made(tmp_path, "one", "two")
    transcript.close()
    before = read(transcript.path)
    data = transcript.path.read_bytes()
    transcript.path.write_bytes(
        data[:-40] if change == "shorter" else data.replace(b'"two"', b'"TWO"') + data
    )

    assert on(transcript.path, before) is None


def test_what_is_no_transcript_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"type":"message"}\n')

    assert read_numbered(path, max_line_bytes=LIMIT) is None
    path.write_bytes(b"")
    assert read_numbered(path, max_line_bytes=LIMIT) is None
    assert [one.name for one in tmp_path.iterdir()] == ["x.jsonl"]


def test_the_entries_are_those_that_a_transcript_opens_with(tmp_path: Path) -> None:
    for case in sorted(CASES.glob("*.jsonl")):
        path = tmp_path / case.name
        path.write_bytes(case.read_bytes().rstrip(b"\n") + b"\n")
        found = read_numbered(path, max_line_bytes=LIMIT)
        if found is None:
            continue
        transcript = Transcript.open(path, max_line_bytes=LIMIT)
        transcript.close()
        assert [one.entry for one in found.entries] == list(transcript.entries)


def test_a_running_writer_is_followed_without_a_gap(tmp_path: Path) -> None:
    transcript = made(tmp_path)
    texts = [f"text {number} {'x' * (number % 7 * 900)}" for number in range(200)]

    def write() -> None:
        for text in texts:
            transcript.append(Said(message=user(text)), AT)

    writer = threading.Thread(target=write)
    state = read(transcript.path)
    collected: list[tuple[int, str]] = []
    writer.start()
    while len(collected) < len(texts):
        further = on(transcript.path, state)
        assert further is not None
        collected += spoken(further.entries)
        state = further
    writer.join()
    transcript.close()

    assert collected == [(number + 2, text) for number, text in enumerate(texts)]


@settings(max_examples=60, deadline=None)
@given(first=st.lists(bodies, max_size=5), second=st.lists(bodies, max_size=5))
def test_reading_in_two_steps_gives_what_reading_at_once_gives(
    tmp_path_factory: pytest.TempPathFactory, first: list[Body], second: list[Body]
) -> None:
    transcript = Transcript.create(tmp_path_factory.mktemp("t") / "s.jsonl", HEADER)
    for body in first:
        transcript.append(body, AT)
    begun = read(transcript.path)
    for body in second:
        transcript.append(body, AT)
    transcript.close()

    further, whole = on(transcript.path, begun), read(transcript.path)

    assert further is not None
    entries: list[Entry] = [one.entry for one in (*begun.entries, *further.entries)]
    assert entries == [one.entry for one in whole.entries] == list(transcript.entries)
    assert further.mark == whole.mark


def test_assistants_are_read_too(tmp_path: Path) -> None:
    transcript = made(tmp_path, "one")
    transcript.append(Said(message=assistant("answer")), AT)
    transcript.close()

    assert [one.line for one in read(transcript.path).entries] == [2, 3]
