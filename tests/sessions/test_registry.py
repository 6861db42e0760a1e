"""The registry: the last line of each key holds, and nothing readable is lost."""

import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from sessions.journal import Journal
from sessions.key import SessionKey
from sessions.registry import Registry, SessionRecord
from tests.sessions.making import AT

MAIN = SessionKey(agent="main", kind="main")
WORK = SessionKey(agent="main", kind="api", peer="work")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journals" / "registry.jsonl"


def open_registry(path: Path) -> Registry:
    return Registry.open(path, lambda agent: Path("/home") / agent)


def test_what_was_started_and_touched_is_there_after_a_new_start(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    touched = registry.touch(MAIN, AT + timedelta(minutes=5), 4)
    registry.close()

    again = open_registry(path)

    assert again.get(MAIN) == touched
    assert touched == SessionRecord(
        key=MAIN, session_id="s-1", started_at=AT, last_seen_at=AT + timedelta(minutes=5), messages=4
    )


def test_only_what_a_person_says_moves_the_persons_time(path: Path) -> None:
    """B39."""
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    assert registry.touch(MAIN, AT + timedelta(minutes=1), 2).last_person_at is None

    registry.touch(MAIN, AT + timedelta(minutes=5), 4, person_at=AT + timedelta(minutes=3))
    touched = registry.touch(MAIN, AT + timedelta(minutes=60), 6)
    registry.close()

    assert touched.last_person_at == AT + timedelta(minutes=3)
    assert open_registry(path).get(MAIN) == touched


def test_a_resumed_session_begins_now_for_silence_too(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    registry.touch(MAIN, AT, 2, person_at=AT)
    resumed = registry.resume("s-1", AT + timedelta(days=1))

    assert resumed.last_person_at is None
    assert resumed.started_at == AT + timedelta(days=1)


def test_a_new_session_takes_the_place_of_the_keys_old_one(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    registry.touch(MAIN, AT, 9)

    registry.start(MAIN, "s-2", AT + timedelta(days=1))

    record = open_registry(path).get(MAIN)
    assert record is not None
    assert (record.session_id, record.messages) == ("s-2", 0)


def test_records_come_with_the_last_seen_first(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    registry.start(WORK, "s-2", AT + timedelta(seconds=1))

    assert [record.session_id for record in registry.records()] == ["s-2", "s-1"]

    registry.touch(MAIN, AT + timedelta(seconds=2), 1)

    assert [record.session_id for record in registry.records()] == ["s-1", "s-2"]


def test_last_seen_never_goes_back(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)

    assert registry.touch(MAIN, AT - timedelta(hours=1), 2).last_seen_at == AT


def test_a_key_without_session_is_none_and_cannot_be_touched(path: Path) -> None:
    registry = open_registry(path)

    assert registry.get(MAIN) is None
    assert registry.records() == []
    with pytest.raises(KeyError):
        registry.touch(MAIN, AT, 1)


def test_a_transcript_lies_in_the_folder_of_its_agent(path: Path) -> None:
    registry = open_registry(path)

    assert registry.transcript(registry.start(MAIN, "s-1", AT)) == Path("/home/main/s-1.jsonl")


def test_a_torn_line_costs_only_itself(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    open_registry(path).start(MAIN, "s-1", AT)
    with path.open("ab") as file:
        file.write(b'{"type":"session","key":"agent:ma')

    registry = open_registry(path)
    registry.start(WORK, "s-2", AT)

    assert "1 unreadable line" in caplog.text
    assert {record.session_id for record in open_registry(path).records()} == {"s-1", "s-2"}


def test_lines_that_are_no_records_are_told_of_and_kept(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    open_registry(path).start(MAIN, "s-1", AT)
    strange = (
        b'{"type":"label","key":"agent:main:main"}\n'
        b'{"type":"session","key":"nonsense","sessionId":"s","startedAt":"2026-05-01T08:00:00Z",'
        b'"lastSeenAt":"2026-05-01T08:00:00Z","messages":0}\n'
        b'{"type":"session","key":"agent:main:main","sessionId":"s","startedAt":"once","lastSeenAt":"now",'
        b'"messages":0}\n'
    )
    with path.open("ab") as file:
        file.write(strange)

    registry = open_registry(path)

    assert [record.session_id for record in registry.records()] == ["s-1"]
    assert "3 lines are no records" in caplog.text
    assert strange in path.read_bytes()


@pytest.mark.parametrize(
    "content", [b"\x00" * 500, b"not json\n", b'{"type":"other"}\n'], ids=["NUL", "text", "other"]
)
def test_a_file_without_any_record_is_set_aside_as_it_is(
    path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)

    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)

    assert (path.parent / "registry.jsonl.broken-1").read_bytes() == content
    assert "set aside" in caplog.text
    assert len(open_registry(path).records()) == 1


def test_the_journal_does_not_grow_without_end(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    registry.start(WORK, "s-2", AT)
    for number in range(2_500):
        registry.touch(MAIN, AT + timedelta(seconds=number), number)

    assert len(path.read_bytes().splitlines()) < 1_000
    again = open_registry(path)
    assert again.records() == registry.records()
    assert [record.messages for record in again.records()] == [2_499, 0]


def test_a_compaction_that_fails_costs_nothing_but_room(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    path.with_name("registry.jsonl.new").mkdir()
    for number in range(2_010):
        registry.touch(MAIN, AT, number)

    assert "could not be compacted" in caplog.text
    assert [record.messages for record in open_registry(path).records()] == [2_009]


def test_a_line_of_a_key_is_compacted_and_a_line_of_none_stays(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"note":1}\n{"note":2}\n')
    Registry(Journal.open(path), lambda agent: Path("/home") / agent).start(MAIN, "s-1", AT)
    registry = open_registry(path)
    for number in range(2_010):
        registry.touch(MAIN, AT, number)

    assert path.read_bytes().startswith(b'{"note":1}\n{"note":2}\n{"type":"session"')
    assert len(path.read_bytes().splitlines()) < 20


def test_ten_thousand_sessions_are_no_burden(path: Path) -> None:
    open_registry(path).start(SessionKey(agent="main", kind="api", peer="0"), "s-0", AT)
    line = path.read_text()
    path.write_text("".join(line.replace("api:0", f"api:{number}") for number in range(10_000)))
    started = time.process_time()

    registry = open_registry(path)

    assert len(registry.records()) == 10_000
    assert time.process_time() - started < 3


def test_threads_may_touch_at_once(path: Path) -> None:
    registry = open_registry(path)
    keys = [SessionKey(agent="main", kind="api", peer=str(number)) for number in range(4)]
    for key in keys:
        registry.start(key, f"s-{key.peer}", AT)

    def touch(key: SessionKey) -> None:
        for number in range(1, 51):
            registry.touch(key, AT, number)

    threads = [threading.Thread(target=touch, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [record.messages for record in open_registry(path).records()] == [50] * 4


def test_what_cannot_be_written_does_not_count(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    registry.close()

    with pytest.raises(OSError, match="closed"):
        registry.start(MAIN, "s-2", AT)

    record = registry.get(MAIN)
    assert record is not None
    assert record.session_id == "s-1"


def test_whose_an_earlier_session_was_is_known_after_a_compaction_too(path: Path) -> None:
    registry = open_registry(path)
    registry.start(MAIN, "s-1", AT)
    registry.start(WORK, "s-2", AT)
    registry.start(MAIN, "s-3", AT)
    registry.start(MAIN, "s-1", AT)  # gone back to
    for number in range(2_100):
        registry.touch(WORK, AT, number)
    registry.close()

    again = open_registry(path)

    assert len(path.read_text().splitlines()) < 200
    assert [again.key_of(name) for name in ("s-1", "s-2", "s-3", "s-4")] == [MAIN, WORK, MAIN, None]
    current = again.get(MAIN)
    assert current is not None
    assert current.session_id == "s-1"


def test_sessions_that_have_ended_are_still_known_and_can_be_taken_up_again(path: Path) -> None:
    registry = open_registry(path)
    for number in range(3):
        registry.start(MAIN, f"s-{number}", AT + timedelta(days=number))
    registry.start(WORK, "other", AT)
    registry.close()

    again = open_registry(path)
    assert [record.session_id for record in again.earlier(MAIN)] == ["s-1", "s-0"]
    resumed = again.resume("s-0", AT + timedelta(days=5))
    again.close()

    last = open_registry(path)
    assert last.get(MAIN) == resumed
    assert (resumed.session_id, resumed.started_at) == ("s-0", AT + timedelta(days=5))
    assert [record.session_id for record in last.earlier(MAIN)] == ["s-2", "s-1"]


def test_a_session_that_never_was_cannot_be_taken_up(path: Path) -> None:
    with pytest.raises(KeyError):
        open_registry(path).resume("nobody", AT)
