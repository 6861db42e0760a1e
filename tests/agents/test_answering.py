"""Who answered is told when it changes, and only then."""

from dataclasses import replace

import pytest

from agents.answering import answering_notice, last_answering, last_configured
from agents.model.cooling import Cooling
from agents.model.failover import Failover, Link
from agents.model.keys import Keys
from agents.model.provider import ModelProvider, Overloaded
from agents.scene import ChosenModel
from sessions.entries import Entry, ModelChanged
from sessions.messages import Assistant, StopReason, Text, User
from tests.fakes.protocols import START, FakeClock, ScriptedModel


async def opened(_number: int) -> ModelProvider:
    return ScriptedModel([])


def link(provider: str, cooling: Cooling) -> Link:
    return Link(
        provider=provider,
        model="m",
        window=1_000,
        max_output=None,
        spelling=None,
        keys=Keys(provider=provider, count=1, cooling=cooling),
        open=opened,
    )


def chosen(*providers: str, instead_of: str = "", busy: bool = True) -> ChosenModel:
    cooling = Cooling()
    if busy:
        cooling.failed(f"{providers[0]}/m", Overloaded("busy"), START)
    links = tuple(link(provider, cooling) for provider in providers)
    return ChosenModel(
        provider=Failover(links, cooling=cooling, clock=FakeClock()),
        provider_name=providers[0],
        model="m",
        max_output=None,
        max_retries=0,
        links=links,
        instead_of=instead_of,
    )


def answer(provider: str, stop: StopReason = "stop") -> Assistant:
    return Assistant(at=START, parts=(Text(text="ok"),), stop=stop, provider=provider, api="x", model="m")


TWO = chosen("one", "two")
INSTEAD = "(two/m answered instead of one/m: overloaded or out of order.)"
BACK = "(one/m answers again.)"


@pytest.mark.parametrize(
    ("before", "configured", "now", "told"),
    [
        (None, None, "one", ""),
        (None, None, "two", INSTEAD),
        ("one", "one/m", "one", ""),
        ("one", "one/m", "two", INSTEAD),
        ("two", "one/m", "two", ""),
        ("two", "one/m", "one", BACK),
        ("two", "two/m", "one", ""),
        ("two", "two/m", "two", INSTEAD),
    ],
    ids=[
        "first answer",
        "first answer by another",
        "nothing changed",
        "another took over",
        "still the other",
        "back again",
        "the person changed the model",
        "changed, and another answered",
    ],
)
def test_each_change_is_told_once(before: str | None, configured: str | None, now: str, told: str) -> None:
    earlier = [answer(before)] if before else []

    assert answering_notice(earlier, configured, answer(now), TWO) == told


def test_a_model_alone_is_never_told() -> None:
    assert answering_notice([], None, answer("one"), chosen("one")) == ""


def test_a_configured_model_that_cannot_be_used_is_told_once() -> None:
    alone = chosen("two", instead_of="one/m", busy=False)

    assert "instead of one/m: it cannot be used" in answering_notice([], None, answer("two"), alone)
    assert answering_notice([answer("two")], "two/m", answer("two"), alone) == ""


def test_failed_and_stopped_answers_are_nobodys() -> None:
    user = User(at=START, parts=(Text(text="hi"),))

    assert last_answering([answer("one"), user, answer("two", "error"), answer("two", "aborted")]) == "one/m"
    assert last_answering([user]) is None


def test_the_last_change_of_model_is_what_was_configured() -> None:
    first = Entry(id="a", parent_id=None, at=START, body=ModelChanged(provider="one", model="m"))
    second = replace(first, id="b", body=ModelChanged(provider="two", model="m"))

    assert last_configured([first, second]) == "two/m"
    assert last_configured([]) is None
