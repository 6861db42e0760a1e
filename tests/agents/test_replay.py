"""Past requests from entries alone: which calls there were, and what each was asked."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.frame import context_entry
from agents.replay import NotReplayable, past_calls, replay
from sessions.entries import Body, CustomMessage, Entry, Said
from sessions.messages import Assistant, Text, ToolResult, User
from tests.agents.test_context_report import FRAME
from tests.fakes.house import house
from tests.fakes.protocols import Calls, Says, Step, call

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def entry(number: int, body: Body) -> Entry:
    return Entry(id=f"e{number}", parent_id=f"e{number - 1}" if number else None, at=NOON, body=body)


def user() -> Said:
    return Said(message=User(at=NOON, parts=(Text(text="hi"),)))


def answer(text: str = "ok") -> Said:
    return Said(
        message=Assistant(at=NOON, parts=(Text(text=text),), stop="stop", provider="p", api="a", model="m")
    )


def result() -> Said:
    return Said(message=ToolResult(at=NOON, call_id="1", name="look", parts=(Text(text="r"),)))


def silent() -> CustomMessage:
    return CustomMessage(kind="clawd.flush", parts=(Text(text="save"),), display=False)


@pytest.mark.parametrize(
    ("bodies", "places"),
    [
        ([user(), answer(), user(), answer()], [(1, 1), (2, 1)]),
        ([user(), answer(), result(), answer(), user(), answer()], [(1, 1), (1, 2), (2, 1)]),
        ([user(), answer(), silent(), answer()], [(1, 1), (2, 1)]),
        ([user(), user(), answer()], [(1, 1)]),
        ([answer(), answer()], [(1, 1), (1, 2)]),
        ([user()], []),
    ],
    ids=["two turns", "a tool", "a silent turn", "two messages", "nobody spoke", "no answer"],
)
def test_calls_are_numbered_by_turn(bodies: list[Body], places: list[tuple[int, int]]) -> None:
    found = past_calls([entry(number, body) for number, body in enumerate(bodies)])

    assert [(one.turn, one.number) for one in found] == places


def test_a_transcript_of_another_program_is_told_apart() -> None:
    entries = [entry(0, user()), entry(1, answer())]

    with pytest.raises(NotReplayable, match="Another program"):
        replay(entries, past_calls(entries)[0])


def test_what_came_later_changes_nothing() -> None:
    bodies: list[Body] = [context_entry(FRAME, "new session"), user(), answer(), user(), answer("two")]
    entries = [entry(number, body) for number, body in enumerate(bodies)]
    first = past_calls(entries)[0]
    other = replace(FRAME, request=replace(FRAME.request, system="another"))
    later = [*entries, entry(5, context_entry(other, "edited")), entry(6, user()), entry(7, answer())]

    assert replay(later, first) == replay(entries, first)
    assert replay(later, past_calls(later)[2]).request.system == "another"


_steps = st.lists(
    st.sampled_from(["say", "call", "cold", "owner edits", "agent edits", "restart"]), min_size=1, max_size=8
)


@settings(deadline=None, max_examples=10)
@given(_steps)
async def test_every_request_is_rebuilt_whatever_happens_in_between(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    folder: Path = tmp_path_factory.mktemp("house")
    sent, restarts, now = [], [i for i, step in enumerate(steps) if step == "restart"], None
    lives = [steps[a:b] for a, b in zip([0, *restarts], [*restarts, len(steps)], strict=True)]
    entries: Sequence[Entry] = ()
    for life in lives:
        async with house(folder, first_session=1) as scene:
            scene.clock.now = now or scene.clock.now
            for number, step in enumerate(life):
                script: list[Step] = [Says(f"done {step}")]
                if step == "call":
                    script.insert(0, Calls((call("list", {}), call("read", {"path": "none"}, id="c2"))))
                if step == "agent edits":
                    note = {"path": "USER.md", "content": f"Ana {number}\n", "mode": "append"}
                    script.insert(0, Calls((call("write", {**note}),)))
                if step == "owner edits":
                    (scene.workspace / "SOUL.md").write_text(f"Be kind. {number}\n")
                scene.clock.now += timedelta(minutes=10 if step == "cold" else 1)
                scene.model.script.extend(script)
                await scene.gateway.chat(agent=None, session=None, text=step)
            sent += scene.model.requests
            now = scene.clock.now
            key = scene.gateway.sessions()[0].key if sent else None
            entries = await scene.gateway.entries(key) if key else []

    assert [replay(entries, one).request for one in past_calls(entries)] == sent
