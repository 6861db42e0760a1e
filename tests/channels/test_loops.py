"""Bots that answer each other are borne for a while."""

from datetime import timedelta

from channels.loops import COOL_DOWN, EVENTS, MAX_PAIRS, WINDOW, LoopGuard
from tests.channels.arriving import NOON

PAIR = ("telegram", "default", "77")
SECOND = timedelta(seconds=1)


def test_twenty_messages_in_a_minute_are_borne_and_no_more() -> None:
    guard = LoopGuard()

    assert all(guard.allows(PAIR, NOON + number * SECOND) for number in range(EVENTS))
    assert not guard.allows(PAIR, NOON + EVENTS * SECOND)


def test_the_quiet_lasts_a_minute() -> None:
    guard = LoopGuard()
    for _ in range(EVENTS + 1):
        guard.allows(PAIR, NOON)

    assert not guard.allows(PAIR, NOON + COOL_DOWN - SECOND)
    assert guard.allows(PAIR, NOON + COOL_DOWN)


def test_slow_talk_goes_on_for_ever() -> None:
    guard = LoopGuard()

    assert all(guard.allows(PAIR, NOON + number * WINDOW / EVENTS) for number in range(200))


def test_another_pair_is_not_concerned() -> None:
    guard = LoopGuard()
    for _ in range(EVENTS + 1):
        guard.allows(PAIR, NOON)

    assert guard.allows(("telegram", "other", "77"), NOON)


def test_what_is_remembered_is_bounded() -> None:
    guard = LoopGuard()
    for number in range(MAX_PAIRS + 50):
        guard.allows(("telegram", "default", str(number)), NOON)

    assert len(guard._talks) == MAX_PAIRS
