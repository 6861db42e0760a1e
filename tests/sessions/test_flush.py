"""When to save to memory, and what is asked."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.entries import Body, Compacted, Custom
from sessions.flush import (
    FLUSH_KIND,
    FlushOutcome,
    FlushState,
    flush_due,
    flush_mark,
    flush_message,
    flush_owed,
    flush_state,
    may_compact,
)
from sessions.limits import Limits
from sessions.messages import Message, text_of
from sessions.settings import CompactionSettings, FlushSettings
from tests.sessions.making import assistant, chain, user

DAY = date(2026, 5, 1)
LIMITS = Limits.of(272_000, CompactionSettings(reserve_tokens=62_500), floor=20_000)
DEFAULTS = FlushSettings()
COMPACTED = Compacted(summary="s", first_kept_id="", tokens_before=9)


def due(
    state: FlushState, *, tokens: int = 0, size: int = 0, settings: FlushSettings = DEFAULTS
) -> str | None:
    return flush_due(state, tokens=tokens, transcript_bytes=size, limits=LIMITS, settings=settings)


def mark(outcome: FlushOutcome, size: int = 0) -> Custom:
    return flush_mark(outcome, cause="tokens", transcript_bytes=size)


def turn() -> list[Body | Message]:
    return [user("q"), assistant("a")]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(205_000, None), (205_499, None), (205_500, "tokens"), (206_000, "tokens")],
)
def test_a_flush_is_due_below_the_compaction(tokens: int, expected: str | None) -> None:
    """B31."""
    assert due(FlushState(unsaved=1), tokens=tokens) == expected


@pytest.mark.parametrize(
    ("compactions", "flushed_at", "expected"),
    [(0, None, "tokens"), (0, 0, None), (1, 0, "tokens")],
)
def test_a_flush_comes_once_a_cycle(compactions: int, flushed_at: int | None, expected: str | None) -> None:
    """B31: never flushed is not the same as flushed at 0 compactions."""
    state = FlushState(compactions=compactions, flushed_at=flushed_at, unsaved=1)

    assert due(state, tokens=206_000) == expected


@pytest.mark.parametrize(
    ("size", "expected"), [(2_097_151, None), (2_097_152, "size"), (2_097_153, "size")], ids=str
)
def test_a_transcript_that_grew_is_a_reason_too(size: int, expected: str | None) -> None:
    assert due(FlushState(unsaved=1), size=size) == expected
    assert due(FlushState(unsaved=1, bytes_at=1_000), size=size + 1_000) == expected
    assert due(FlushState(unsaved=1), size=size, settings=FlushSettings(transcript_bytes=0)) is None


def test_nothing_is_due_when_nothing_is_new_or_it_is_switched_off() -> None:
    assert due(FlushState(), tokens=206_000) is None
    assert due(FlushState(unsaved=1), tokens=206_000, settings=FlushSettings(enabled=False)) is None
    assert not flush_owed(FlushState(), DEFAULTS)
    assert flush_owed(FlushState(unsaved=1), DEFAULTS)


def test_unsaved_turns_are_those_of_people_since_the_last_success() -> None:
    ask = flush_message(None, DAY)
    bodies: list[Body | Message] = [*turn(), *turn(), ask, assistant("NO_REPLY")]

    assert flush_state(chain(bodies)).unsaved == 2
    assert flush_state(chain([*bodies, mark("failed")])).unsaved == 2
    assert flush_state(chain([*bodies, mark("interrupted")])).unsaved == 2
    assert flush_state(chain([*bodies, mark("nothing")])).unsaved == 0
    assert flush_state(chain([*bodies, mark("saved"), *turn()])).unsaved == 1


def test_a_failure_counts_as_the_attempt_and_is_told() -> None:
    failed = flush_mark("failed", cause="tokens", transcript_bytes=77, error="no network")
    state = flush_state(chain([*turn(), flush_message(None, DAY), failed]))

    assert state.attempted
    assert (state.outcome, state.error, state.bytes_at) == ("failed", "no network", 77)
    assert due(state, tokens=206_000) is None
    assert may_compact(state, DEFAULTS)


def test_a_compaction_begins_a_new_cycle() -> None:
    state = flush_state(chain([*turn(), flush_message(None, DAY), mark("saved"), COMPACTED, *turn()]))

    assert (state.compactions, state.flushed_at, state.unsaved) == (1, 0, 1)
    assert not state.attempted
    assert not may_compact(state, DEFAULTS)
    assert due(state, tokens=206_000) == "tokens"


def test_a_person_interrupts_at_most_twice_a_cycle() -> None:
    ask = flush_message(None, DAY)
    once = [*turn(), ask, mark("interrupted")]

    assert flush_state(chain(once)).may_yield
    assert not flush_state(chain([*once, *once])).may_yield
    assert not flush_state(chain([*once, *turn(), ask])).may_yield  # killed before its mark
    assert flush_state(chain([*once, *once, COMPACTED])).may_yield


def test_a_mark_that_cannot_be_read_is_a_failed_attempt() -> None:
    state = flush_state(chain([*turn(), Custom(kind=FLUSH_KIND, data={"outcome": 3})]))

    assert (state.outcome, state.attempted, state.unsaved) == ("failed", True, 1)


def test_the_instruction_names_the_day_and_the_silent_word() -> None:
    text = text_of(flush_message(None, DAY).parts)

    assert "memory/2026-05-01.md" in text
    assert "YYYY-MM-DD" not in text
    assert "NO_REPLY" in text
    assert "Append" in text
    assert "read-only" in text
    assert all(word in text for word in ("when it holds", "what ends it", "avoid", "who said so"))


def test_an_owners_own_prompt_gets_the_rules_that_it_lacks() -> None:
    own = text_of(flush_message("Save what matters to memory/YYYY-MM-DD.md, append only.", DAY).parts)

    assert own.startswith("Save what matters to memory/2026-05-01.md, append only.\n\n")
    assert own.count("memory/2026-05-01.md") == 1
    assert "read-only" in own
    assert "NO_REPLY" in own


steps = st.lists(
    st.sampled_from(["turn", "ask", "saved", "nothing", "failed", "interrupted", "compacted"]), max_size=12
)


@examples(max_examples=100, deadline=None)
@given(steps)
def test_no_compaction_is_allowed_while_turns_wait_for_their_first_attempt(names: list[str]) -> None:
    bodies: list[Body | Message] = []
    attempted, unsaved = False, 0
    for name in names:
        match name:
            case "turn":
                bodies += turn()
                unsaved += 1
            case "ask":
                bodies.append(flush_message(None, DAY))
            case "compacted":
                bodies.append(COMPACTED)
                attempted = False
            case "saved" | "nothing" | "failed" | "interrupted":
                bodies.append(mark(name))
                attempted = attempted or name != "interrupted"
                unsaved = 0 if name in ("saved", "nothing") else unsaved

    state = flush_state(chain(bodies))

    assert (state.attempted, state.unsaved) == (attempted, unsaved)
    assert may_compact(state, DEFAULTS) == (attempted or not unsaved)
    assert not (state.attempted and due(state, tokens=10**9))
