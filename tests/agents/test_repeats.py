"""The guard against calls that go round in circles."""

import pytest

from agents.repeats import RepeatGuard
from sessions.messages import Text, ToolCall, ToolResult
from tests.fakes.protocols import START, call


def note(guard: RepeatGuard, one: ToolCall, text: str) -> None:
    guard.note(one, ToolResult(at=START, call_id=one.id, name=one.name, parts=(Text(text=text),)))


def test_a_call_may_run_until_it_has_given_the_same_result_three_times() -> None:
    guard = RepeatGuard()
    one = call("read", {"path": "a"})
    for _ in range(2):
        note(guard, one, "same")
    assert guard.refusal(one) is None

    note(guard, one, "same")

    assert "3 times" in (guard.refusal(one) or "")


def test_results_that_change_never_stop_a_call() -> None:
    guard = RepeatGuard()
    one = call("exec", {"command": "make test"})
    for number in range(10):
        note(guard, one, f"{number} failures")

    assert guard.refusal(one) is None


def test_other_arguments_are_another_call_whatever_their_order() -> None:
    guard = RepeatGuard()
    for _ in range(3):
        note(guard, call("read", {"path": "a", "lines": 1}), "same")

    assert guard.refusal(call("read", {"path": "b", "lines": 1})) is None
    assert guard.refusal(call("read", {"lines": 1, "path": "a"})) is not None


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_circle_of_a_few_calls_and_results_is_broken_before_its_fourth_round(size: int) -> None:
    """Each call may give other results in turn: on, off, on, off."""
    guard = RepeatGuard()
    toggle = call("exec", {"argv": ["toggle"]})
    for number in range(3 * size):
        assert guard.refusal(toggle) is None
        note(guard, toggle, f"state {number % size}")

    assert f"the same {size} over and over" in (guard.refusal(toggle) or "")
    assert guard.refusal(call("exec", {"argv": ["other"]})) is None


def test_two_calls_in_turn_are_a_circle_too() -> None:
    guard = RepeatGuard()
    for _ in range(3):
        for name in ("a", "b"):
            note(guard, call("read", {"path": name}), f"text of {name}")

    assert "same 2 over and over" in (guard.refusal(call("read", {"path": "a"})) or "")


def test_a_circle_with_any_progress_in_it_is_none() -> None:
    guard = RepeatGuard()
    for number in range(6):
        note(guard, call("edit", {"line": number}), "edited")
        note(guard, call("exec", {"command": "make test"}), f"{6 - number} failures")

    assert guard.refusal(call("exec", {"command": "make test"})) is None
