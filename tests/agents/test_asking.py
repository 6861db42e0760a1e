"""One question: tried again with bounds, and what was said before a restart is void."""

import gc
import weakref
from collections.abc import AsyncGenerator

import pytest

from agents.asking import LONGEST_WAIT, Asker
from agents.model.provider import (
    ContentFiltered,
    ModelError,
    ModelEvent,
    ModelRequest,
    Overloaded,
    RateLimited,
    Restarted,
    TextDelta,
    ThinkingDropped,
)
from agents.turn import Retrying, TurnEvent
from tests.fakes.protocols import Fails, Says, ScriptedModel

ASK = ModelRequest(model="m", system="", context="", messages=())


async def asked(*errors: ModelError, tries: int = 2) -> tuple[ScriptedModel, list[float]]:
    model, slept = ScriptedModel([*(Fails(error) for error in errors), Says("ok")]), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    await Asker(provider=model, max_retries=tries, sleep=sleep).ask(ASK)
    return model, slept


async def test_a_passing_failure_is_tried_again_after_a_growing_wait() -> None:
    model, slept = await asked(Overloaded("busy"), Overloaded("busy"))

    assert len(model.requests) == 3
    assert 0 < slept[0] <= 2
    assert 2 <= slept[1] <= 3


@pytest.mark.parametrize("seconds", [0.0, 7.0, LONGEST_WAIT])
async def test_the_wait_that_was_asked_for_is_kept(seconds: float) -> None:
    assert (await asked(RateLimited("slow", retry_after=seconds)))[1] == [seconds]


@pytest.mark.parametrize(
    "error",
    [RateLimited("slow", retry_after=LONGEST_WAIT + 1), ContentFiltered("no")],
    ids=["too long a wait", "the filter"],
)
async def test_what_will_not_pass_is_told_at_once(error: ModelError) -> None:
    with pytest.raises(type(error)):
        await asked(error)


class Twice:
    """Implements ModelProvider: says something, takes it back, says something else."""

    name = "twice"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield TextDelta(text="wro")
        yield Restarted(reason="one/m: overloaded. two/m is asked instead.")
        async for event in ScriptedModel([Says("right")]).stream(request):
            yield event

    async def aclose(self) -> None:
        """Nothing is held."""


async def test_what_was_said_before_a_restart_is_void() -> None:
    events: list[object] = []
    asker = Asker(provider=Twice(), max_retries=0, on_event=events.append)

    message = await asker.ask(ASK)

    assert message.text == "right"
    assert "".join(asker.said).strip() == "right"
    assert events[1] == Retrying(reason="one/m: overloaded. two/m is asked instead.", seconds=0)


class Listener:
    """Hears what a question tells; it stands for the turn around it."""

    def __call__(self, event: TurnEvent | ThinkingDropped) -> None:
        """Nothing to do."""


async def test_nothing_of_an_answered_question_waits_for_the_collector() -> None:
    """To look through all memory for what a turn leaves behind holds up everybody's answers."""
    listener = Listener()
    gone = weakref.ref(listener)
    gc.disable()
    try:
        await Asker(provider=ScriptedModel([Says("ok")]), max_retries=2, on_event=listener).ask(ASK)
        del listener
        assert gone() is None
    finally:
        gc.enable()
