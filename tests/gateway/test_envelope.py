"""The line before a message's text."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from gateway.envelope import envelope

NIGHT = datetime(2026, 5, 1, 23, 30, tzinfo=UTC)


def test_the_time_is_the_owners() -> None:
    assert envelope(NIGHT, time_zone="Asia/Tokyo") == "[2026-05-02 08:30 Sat Asia/Tokyo]"


def test_a_sender_is_named_outside_private_sessions() -> None:
    assert envelope(NIGHT, time_zone="UTC", sender="Ana") == "[2026-05-01 23:30 Fri UTC] Ana:"


@given(st.text(max_size=100))
def test_no_name_can_pass_for_an_envelope(sender: str) -> None:
    line = envelope(NIGHT, time_zone="UTC", sender=sender)

    assert line.count("[") == line.count("]") == 1
    assert "\n" not in line
    assert "\r" not in line
