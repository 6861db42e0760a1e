"""Turns under way: what is remembered of them, and how much."""

from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.http import runs
from gateway.http.runs import Run, Runs
from sessions.key import SessionKey
from tests.fakes.protocols import START

MAIN = SessionKey(agent="main", kind="main")
OTHER = SessionKey(agent="main", kind="api", peer="other")


def run(name: str, key: SessionKey = MAIN) -> Run:
    return Run(id=name, key=key, text="hi", since=START)


@given(st.lists(st.tuples(st.sampled_from(["text", "thinking"]), st.text(min_size=1, max_size=9))))
def test_pieces_of_one_kind_are_told_as_one_and_nothing_is_lost(pieces: list[tuple[str, str]]) -> None:
    one = run("a")
    for kind, delta in pieces:
        one.take(kind, {"delta": delta})
    events = one.told()["events"]

    assert isinstance(events, list)
    kinds = [event["kind"] for event in events if isinstance(event, dict)]
    assert all(first != second for first, second in pairwise(kinds))
    for kind in ("text", "thinking"):
        said = "".join(
            str(event["delta"]) for event in events if isinstance(event, dict) and event["kind"] == kind
        )
        assert said == "".join(delta for name, delta in pieces if name == kind)


def test_calls_stay_where_they_were_between_texts() -> None:
    one = run("a")
    one.take("text", {"delta": "x"})
    one.take("tool", {"id": "c", "state": "started"})
    one.take("tool", {"id": "c", "state": "finished"})
    one.take("text", {"delta": "y"})

    assert one.told()["events"] == [
        {"kind": "text", "delta": "x"},
        {"kind": "tool", "id": "c", "state": "started"},
        {"kind": "tool", "id": "c", "state": "finished"},
        {"kind": "text", "delta": "y"},
    ]
    assert one.told()["since"] == START.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_of_an_endless_turn_the_end_is_remembered() -> None:
    one = run("a")
    for number in range(50):
        one.take("text", {"delta": f"{number:02}" + "x" * 10_000})
    told = one.told()

    assert told["cut"] is True
    assert "49x" in str(told["events"])
    assert "00x" not in str(told["events"])
    assert len(str(told["events"])) <= runs.MOST_CHARS + 100


def test_a_turn_that_waited_begins_when_the_one_before_it_ends() -> None:
    known = Runs()
    for one in (run("first"), run("second"), run("far", OTHER)):
        known.begin(one)
    later = START + timedelta(seconds=5)
    known.end("first", later)
    known.end("unknown", later + timedelta(seconds=5))
    known.take("unknown", "text", {"delta": "x"})

    assert [(one.id, one.since) for one in known.of(None)] == [("second", later), ("far", START)]
    assert [one.id for one in known.of(frozenset({OTHER}))] == ["far"]
    assert known.busy() == ["agent:main:api:other", "agent:main:main"]
