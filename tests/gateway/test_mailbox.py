"""Queues: nothing is lost or doubled, whatever comes when; a turn has one address and one standing."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.turn import Trust
from gateway.admission import Admission
from gateway.commands.table import TABLE, Typed
from gateway.mailbox import LONG_PASTE, PASTE_WAIT, Item, Mailbox, QueueSettings, text_of
from sessions.key import SessionKey
from tests.gateway.strategies import AT, message

MAIN = SessionKey(agent="main", kind="main")


def item(
    number: int,
    text: str = "x",
    *,
    trust: Trust = "owner",
    chat: str = "42",
    command: bool = False,
    at: float = 0,
) -> Item:
    said = message(number, text)
    return Item(
        id=f"m{number}",
        message=replace(said, address=replace(said.address, chat=chat)),
        admission=Admission(kind="admitted", rule="test", key=MAIN, trust=trust),
        at=AT + timedelta(seconds=at),
        typed=Typed(command=TABLE[4], rest="") if command else None,
    )


steps = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["owner", "known"]),
            st.sampled_from(["42", "43"]),
            st.booleans(),
            st.text(max_size=5),
        ),
        st.none(),
    ),
    max_size=40,
)


@given(
    steps,
    st.sampled_from(["collect", "followup", "steer", "interrupt"]),
    st.sampled_from(["old", "new", "summarize"]),
    st.integers(1, 5),
)
def test_every_item_is_taken_once_or_told_unread(
    plan: list[tuple[Trust, str, bool, str] | None], mode: str, drop: str, cap: int
) -> None:
    box = Mailbox(settings=QueueSettings(mode=mode, cap=cap, drop=drop))  # type: ignore[arg-type]
    put, gone, taken = [], [], []
    for number, step in enumerate(plan):
        if step is None:
            taken += _checked(box.take(), mode)
        else:
            trust, chat, command, text = step
            put.append(f"m{number}")
            made = item(number, text, trust=trust, chat=chat, command=command)
            gone += [one.id for one in box.put(made)]
    while turn := box.take():
        taken += _checked(turn, mode)
    assert sorted(taken + gone) == sorted(put)
    assert taken == [one for one in put if one not in gone]


def _checked(turn: list[Item], mode: str) -> list[str]:
    if turn:
        assert len({(one.message.address, one.message.sender, one.admission.trust) for one in turn}) == 1
        assert len(turn) == 1 or (mode != "followup" and all(one.typed is None for one in turn))
    return [one.id for one in turn]


@pytest.mark.parametrize(("length", "waits"), [(LONG_PASTE - 1, False), (LONG_PASTE, True)])
def test_a_text_of_full_length_waits_for_its_rest(length: int, *, waits: bool) -> None:
    box = Mailbox(settings=QueueSettings())
    box.put(item(1, "a" * length))
    assert (box.ready_at == AT + PASTE_WAIT) is waits


def test_a_command_or_a_file_ends_the_waiting() -> None:
    box = Mailbox(settings=QueueSettings(debounce=timedelta(seconds=5)))
    box.put(item(1))
    assert box.ready_at == AT + timedelta(seconds=5)
    box.put(item(2, command=True, at=1))
    assert box.ready_at is None


def test_who_never_stops_writing_is_read_all_the_same() -> None:
    box = Mailbox(settings=QueueSettings(debounce=timedelta(seconds=5)))
    for number in range(20):
        box.put(item(number, at=number))
    assert box.ready_at == AT + timedelta(seconds=10)


def test_only_a_steering_queue_joins_and_only_what_fits() -> None:
    running = item(0)
    for mode, joined in (("collect", []), ("steer", ["m1", "m2"])):
        box = Mailbox(settings=QueueSettings(mode=mode))  # type: ignore[arg-type]
        for one in (item(1), item(2), item(3, trust="known"), item(4)):
            box.put(one)
        assert [one.id for one in box.join(running)] == joined


def test_texts_stand_on_lines_of_their_own_and_pastes_as_they_were() -> None:
    assert text_of([item(1, "one"), item(2, ""), item(3, "two")]) == "one\ntwo"
    long = "a" * LONG_PASTE
    assert text_of([item(1, long), item(2, "b")]) == f"{long}b"
    assert text_of([]) == ""


@pytest.mark.parametrize(("waiting", "unread"), [(9, 0), (10, 0), (11, 1), (30, 20)])
def test_short_messages_do_not_wait_without_end(waiting: int, unread: int) -> None:
    box = Mailbox(settings=QueueSettings(cap=2))
    lost = [one.id for number in range(waiting) for one in box.put(item(number, "x"))]
    assert lost == [f"m{number}" for number in range(unread)]
    assert len(box.items) == min(waiting, 10)


def test_commands_do_not_count_and_are_not_dropped() -> None:
    box = Mailbox(settings=QueueSettings(cap=1, drop="old"))
    box.put(item(0, command=True))
    box.put(item(1))
    assert [one.id for one in box.put(item(2))] == ["m1"]
    assert [one.id for one in box.items] == ["m0", "m2"]
