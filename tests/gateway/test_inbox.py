"""Accepted messages: once each, over restarts, until they have their end."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given

from channels.message import Edited, Inbound, Sender
from gateway.events import EventCodec
from gateway.inbox import KEPT, MOST_DONE, Inbox, event_id
from sessions.codec import iso
from sessions.journal import Journal
from tests.gateway.strategies import AT, events, message


@contextmanager
def opened(folder: Path, *, days: int = 0) -> Iterator[Inbox]:
    inbox = Inbox.open(folder / "inbox.jsonl", now=AT + timedelta(days=days))
    yield inbox
    inbox.close()


@given(events)
def test_every_event_comes_back_as_it_was(event: Inbound) -> None:
    codec = EventCodec()
    assert codec.of_json(json.loads(json.dumps(codec.to_json(event)))) == event


@pytest.mark.parametrize("line", [{}, {"kind": "message"}, {"kind": "message", "event": {"id": 1}}])
def test_an_event_of_another_version_is_left_out(line: dict[str, object]) -> None:
    assert EventCodec().of_json(json.loads(json.dumps(line))) is None


def test_a_message_is_accepted_once(tmp_path: Path) -> None:
    with opened(tmp_path) as inbox:
        first = inbox.accept(message(1), AT)
        assert first is not None
        assert inbox.accept(message(1, "again"), AT) is None
        assert inbox.accept(message(2), AT) is not None
        inbox.done([first.id], "answered", AT)
        assert inbox.accept(message(1), AT) is None
    with opened(tmp_path) as inbox:
        assert inbox.accept(message(1), AT) is None
        assert [one.event.id for one in inbox.waiting()] == ["2"]


def test_the_same_number_in_another_chat_is_another_message() -> None:
    here = message(1)
    there = message(
        1, address=here.address.__class__(channel="telegram", account="b", chat="42", kind="direct")
    )
    assert event_id(here) != event_id(there)


def test_what_was_begun_is_known_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as inbox:
        one = inbox.accept(message(1), AT)
        assert one is not None
        inbox.begun([one.id], "session-1")
    with opened(tmp_path) as inbox:
        assert [(one.session_id, one.event) for one in inbox.waiting()] == [("session-1", message(1))]


def test_the_oldest_comes_first(tmp_path: Path) -> None:
    with opened(tmp_path) as inbox:
        inbox.accept(message(2), AT + timedelta(seconds=1))
        inbox.accept(message(1), AT)
        assert [one.event.id for one in inbox.waiting()] == ["1", "2"]


def test_what_is_done_is_forgotten_after_a_week_and_what_waits_never(tmp_path: Path) -> None:
    with opened(tmp_path) as inbox:
        one, other = inbox.accept(message(1), AT), inbox.accept(message(2), AT)
        assert one is not None
        assert other is not None
        inbox.begun([other.id], "s")
        inbox.done([one.id], "silent", AT)
    with opened(tmp_path, days=KEPT.days - 1) as inbox:
        assert inbox.accept(message(1), AT) is None
    with opened(tmp_path, days=KEPT.days) as inbox:
        assert [(one.id, one.session_id) for one in inbox.waiting()] == [(other.id, "s")]
        assert inbox.accept(message(1), AT) is not None


def test_a_torn_line_loses_only_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as inbox:
        inbox.accept(message(1), AT)
        inbox.accept(message(2), AT)
    path = tmp_path / "inbox.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    with opened(tmp_path) as inbox:
        assert [one.event.id for one in inbox.waiting()] == ["1"]
        assert inbox.accept(message(2), AT) is not None


def test_half_of_a_surrogate_pair_in_a_text_does_no_harm(tmp_path: Path) -> None:
    with opened(tmp_path) as inbox:
        assert inbox.accept(message(1, "a\ud83db"), AT) is not None
    with opened(tmp_path) as inbox:
        assert [getattr(one.event, "text", "") for one in inbox.waiting()] == ["a\ufffdb"]


def test_a_long_life_does_not_grow_the_file_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "inbox.jsonl"
    inbox = Inbox(Journal.open(path), slack=20)
    for number in range(300):
        now = AT + timedelta(hours=number)
        one = inbox.accept(message(number), now)
        assert one is not None
        inbox.done([one.id], "answered", now)
    inbox.close()
    assert path.read_bytes().count(b"\n") < 24 * KEPT.days + 100


def test_an_edit_of_what_still_waits_survives(tmp_path: Path) -> None:
    right = Edited(id="1", address=message(1).address, sender=message(1).sender, text="hello", at=AT)
    with opened(tmp_path) as inbox:
        one = inbox.accept(message(1, "helo"), AT)
        assert one is not None
        inbox.begun([one.id], "session-1")
        inbox.edited(right)
        inbox.edited(replace(right, id="2", text="of nothing"))
        inbox.edited(replace(right, sender=Sender(id="another", name=""), text="of another"))
    with opened(tmp_path) as inbox:
        assert [(one.event, one.session_id) for one in inbox.waiting()] == [
            (message(1, "hello"), "session-1")
        ]
        inbox.compact(AT)
    with opened(tmp_path) as inbox:
        assert [one.event for one in inbox.waiting()] == [message(1, "hello")]
        assert inbox.accept(message(1, "helo"), AT) is None


def test_no_more_ends_are_remembered_than_useful(tmp_path: Path) -> None:
    """At the limit and above it, also over a restart: the oldest go first."""
    lines = [
        {"type": "done", "id": event_id(message(one)), "end": "answered", "at": iso(AT)}
        for one in range(MOST_DONE)
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "inbox.jsonl").write_text(text, encoding="utf-8")
    with opened(tmp_path) as inbox:
        assert inbox.accept(message(0), AT) is None, "so many are remembered"
        new = inbox.accept(message(MOST_DONE), AT)
        assert new is not None
        inbox.done([new.id], "answered", AT)
        assert inbox.accept(message(1), AT) is None
        assert inbox.accept(message(0), AT) is not None
    with opened(tmp_path) as inbox:
        assert inbox.accept(message(MOST_DONE), AT) is None
