"""What a transcript says of a prompt that was kept warm."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agents.frame import last_asked
from sessions.entries import Custom, Entry, Said
from sessions.pruning import last_use
from sessions.warmth import WARMED, Warmed, warmed_at, warmed_entry, warmings
from tests.sessions.making import AT, assistant

LATER = AT + timedelta(minutes=4)
ANSWERED = Entry(id="1", parent_id=None, at=AT, body=Said(message=assistant("hello")))


def entry(body: Custom) -> Entry:
    return Entry(id="2", parent_id="1", at=LATER, body=body)


@given(st.floats(0, 1_000), st.floats(0, 1_000))
def test_it_is_read_as_it_was_recorded(cost: float, cold: float) -> None:
    renewed = entry(warmed_entry(cost=cost, cold=cold))

    assert warmings([ANSWERED, renewed]) == [Warmed(at=LATER, cost=cost, cold=cold)]


def test_what_is_no_number_is_nothing() -> None:
    assert warmings([entry(Custom(kind=WARMED, data={"cost": "x"}))]) == [Warmed(at=LATER, cost=0, cold=0)]


def test_a_renewal_counts_as_the_last_use_of_the_prompt() -> None:
    renewed = entry(warmed_entry(cost=0.1, cold=1.0))

    assert warmed_at(ANSWERED) is None
    assert last_use([ANSWERED, renewed]) == last_asked([ANSWERED, renewed]) == LATER
    assert last_use([ANSWERED]) == last_asked([ANSWERED]) == AT
