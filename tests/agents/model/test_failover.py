"""A chain of models: who is asked, in what order, and who comes back; over the real wires as well."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from agents.model.cooling import STEPS, Cooling
from agents.model.failover import Failover, Link, NoneAnswered, in_order, link_of
from agents.model.keys import Keys
from agents.model.provider import (
    AuthFailed,
    BadAnswer,
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    Done,
    ModelError,
    ModelEvent,
    ModelNotFound,
    ModelProvider,
    ModelRequest,
    Overloaded,
    QuotaExhausted,
    RateLimited,
    Restarted,
    TextDelta,
    TimedOut,
    Unreachable,
)
from sessions.messages import Text, User
from tests.agents.model.talking import anthropic, openai
from tests.fakes.model_script import Behaviour, CutAfter, Fail, Overflow, Say, StallAfter
from tests.fakes.model_script import RateLimited as Limit
from tests.fakes.modelserver import ModelServer
from tests.fakes.protocols import START, Fails, FakeClock, Hangs, Says, ScriptedModel, Step

HELLO = ModelRequest(
    model="first",
    system="You are kind.",
    context="",
    messages=(User(at=START, parts=(Text(text="hello"),)),),
)
BUSY = Fails(Overloaded("busy"))


@dataclass(slots=True)
class Chain:
    """Models `one`, `two`, … each with a script for each of its keys."""

    scripts: Sequence[Sequence[Sequence[Step]]]
    clock: FakeClock = field(default_factory=FakeClock)
    cooling: Cooling = field(default_factory=Cooling)
    windows: Sequence[int] = (100_000, 100_000, 100_000)
    models: list[list[ScriptedModel]] = field(default_factory=list)

    def failover(self) -> Failover:
        self.models = [[ScriptedModel(list(script)) for script in keys] for keys in self.scripts]
        links = [self._link(place, models) for place, models in enumerate(self.models)]
        return Failover(links, cooling=self.cooling, clock=self.clock)

    def _link(self, place: int, models: list[ScriptedModel]) -> Link:
        name = ("one", "two", "three")[place]

        async def opened(number: int) -> ModelProvider:
            return models[number]

        return Link(
            provider=name,
            model="m",
            window=self.windows[place],
            max_output=None,
            spelling=None,
            keys=Keys(provider=name, count=len(models), cooling=self.cooling),
            open=opened,
        )

    @property
    def asked(self) -> list[list[int]]:
        """How often each key of each model was asked."""
        return [[len(model.requests) for model in models] for models in self.models]


async def events(failover: Failover, request: ModelRequest = HELLO) -> list[ModelEvent]:
    return [event async for event in failover.stream(request)]


def said(made: Sequence[ModelEvent]) -> str:
    last = made[-1]
    assert isinstance(last, Done)
    return last.message.text


async def test_the_first_that_can_answer_does_and_the_change_is_told() -> None:
    chain = Chain([[[BUSY]], [[BUSY]], [[Says("third")]]])

    made = await events(chain.failover())

    assert said(made) == "third"
    assert [event.reason for event in made if isinstance(event, Restarted)] == [
        "one/m: overloaded or out of order. two/m is asked instead.",
        "two/m: overloaded or out of order. three/m is asked instead.",
    ]


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("slow"),
        Overloaded("busy"),
        TimedOut("silent"),
        Unreachable("no line"),
        BadAnswer("garbled"),
        QuotaExhausted("poor"),
        AuthFailed("wrong"),
        ModelNotFound("who"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_failure_of_the_model_is_answered_by_the_next_b73(error: ModelError) -> None:
    assert said(await events(Chain([[[Fails(error)]], [[Says("second")]]]).failover())) == "second"


@pytest.mark.parametrize(
    "error",
    [ContextOverflow("too long"), BadRequest("no"), ContentFiltered("no"), ModelError("the budget is spent")],
    ids=lambda error: type(error).__name__,
)
async def test_a_failure_of_the_request_is_told_and_nobody_rests_b73(error: ModelError) -> None:
    chain = Chain([[[Fails(error)]], [[Says("second")]]])

    with pytest.raises(type(error), match=str(error)):
        await events(chain.failover())

    assert chain.asked == [[1], [0]]
    assert chain.cooling.last("one/m") is None


async def test_what_failed_is_not_asked_until_its_rest_is_over_and_then_is_the_first_again() -> None:
    chain = Chain([[[BUSY, Says("back")]], [[Says("two"), Says("two"), Says("two")]]])
    failover = chain.failover()
    await events(failover)
    assert failover.trouble() == "overloaded or out of order"

    chain.clock.now = START + STEPS[0] - timedelta(seconds=1)
    assert said(await events(failover)) == "two"
    assert chain.asked == [[1], [2]]

    chain.clock.now = START + STEPS[0]
    assert said(await events(failover)) == "back"
    assert failover.trouble() == ""


async def test_while_one_finds_out_whether_the_first_is_back_the_others_stay_where_they_are() -> None:
    chain = Chain([[[BUSY, Hangs()]], [[Says("two"), Says("two")]]])
    failover = chain.failover()
    await events(failover)
    chain.clock.now = START + STEPS[0]
    probing = asyncio.create_task(events(failover))
    await chain.models[0][0].hanging.wait()

    assert said(await events(failover)) == "two"

    probing.cancel()
    await asyncio.gather(probing, return_exceptions=True)


async def test_when_all_rest_all_are_asked_the_soonest_first() -> None:
    chain = Chain([[[Fails(QuotaExhausted("poor"))]], [[BUSY, Says("two")]]])
    failover = chain.failover()
    with pytest.raises(NoneAnswered):
        await events(failover)

    assert said(await events(failover)) == "two"
    assert chain.asked == [[1], [2]]


async def test_when_nobody_answers_each_is_named_with_its_reason() -> None:
    chain = Chain([[[BUSY]], [[Fails(RateLimited("slow", retry_after=7))]]])

    with pytest.raises(
        NoneAnswered, match="one/m: overloaded or out of order; two/m: rate limited"
    ) as raised:
        await events(chain.failover())

    assert raised.value.retryable
    assert raised.value.retry_after is None, "the first may be back at once"


async def test_a_chain_of_refused_keys_is_not_tried_again() -> None:
    chain = Chain([[[Fails(AuthFailed("wrong"))]], [[Fails(QuotaExhausted("poor"))]]])

    with pytest.raises(NoneAnswered) as raised:
        await events(chain.failover())

    assert not raised.value.retryable


async def test_a_model_alone_fails_with_its_own_error_and_is_always_asked() -> None:
    chain = Chain([[[BUSY, Says("again")]]])
    failover = chain.failover()
    with pytest.raises(Overloaded, match="busy"):
        await events(failover)

    assert said(await events(failover)) == "again"


async def test_a_cut_answer_is_asked_for_once_more_before_another_model_is() -> None:
    cut = Fails(Unreachable("cut"), after="half an")
    chain = Chain([[[cut, Says("whole")]], [[]]])

    made = await events(chain.failover())

    assert [type(event).__name__ for event in made[:2]] == ["TextDelta", "Restarted"]
    assert said(made) == "whole"
    assert chain.cooling.last("one/m") is None


async def test_a_model_whose_answers_are_cut_twice_rests() -> None:
    cut = Fails(Unreachable("cut"), after="half an")
    chain = Chain([[[cut, cut]], [[Says("second")]]])

    assert said(await events(chain.failover())) == "second"
    assert chain.asked == [[2], [1]]
    assert chain.cooling.last("one/m") is not None


@pytest.mark.parametrize(
    "error",
    [RateLimited("slow"), QuotaExhausted("poor"), AuthFailed("wrong")],
    ids=lambda e: type(e).__name__,
)
async def test_the_next_key_is_tried_before_the_next_model_and_kept(error: ModelError) -> None:
    chain = Chain([[[Fails(error)], [Says("key 2"), Says("key 2")]], [[]]])
    failover = chain.failover()

    made = await events(failover)

    assert said(made) == "key 2"
    assert "Key 2 is tried." in "".join(event.reason for event in made if isinstance(event, Restarted))
    assert said(await events(failover)) == "key 2"
    assert chain.asked == [[1, 2], [0]]


async def test_load_is_not_blamed_on_a_key() -> None:
    chain = Chain([[[BUSY], []], [[Says("second")]]])

    await events(chain.failover())

    assert chain.asked == [[1, 0], [1]]


async def test_of_several_keys_the_failure_that_may_pass_is_raised() -> None:
    chain = Chain([[[Fails(RateLimited("slow", retry_after=5))], [Fails(AuthFailed("wrong"))]]])

    with pytest.raises(RateLimited):
        await events(chain.failover())


async def test_a_fallback_that_cannot_read_the_conversation_is_passed_over() -> None:
    chain = Chain([[[BUSY]], [[Says("small")]], [[Says("large")]]], windows=(100_000, 8_192, 100_000))

    assert said(await events(chain.failover())) == "large"
    assert chain.asked == [[1], [0], [1]]


async def test_each_model_is_asked_the_same_under_its_own_name() -> None:
    chain = Chain([[[BUSY]], [[Says("second")]]])

    await events(chain.failover())

    first, second = chain.models[0][0].requests[0], chain.models[1][0].requests[0]
    assert first.model == second.model == "m"
    assert first.messages is second.messages


def test_the_order_is_that_of_the_settings_but_for_those_that_rest() -> None:
    chain = Chain([[[]], [[]], [[]]])
    links = chain.failover().links
    chain.cooling.failed("one/m", RateLimited("slow", retry_after=100), START)
    chain.cooling.failed("two/m", Overloaded("busy"), START)

    names = [link.name for link in in_order(links, chain.cooling, START)]

    assert names == ["three/m", "two/m", "one/m"]


async def test_the_answer_tells_which_link_gave_it() -> None:
    chain = Chain([[[BUSY]], [[Says("second")]]])
    failover = chain.failover()
    made = await events(failover)
    assert isinstance(made[-1], Done)

    assert link_of(failover.links, made[-1].message) is None, "a script has a name of its own"


# Over the wires: anthropic first, openai behind it, each with the real SDK.

Opener = Callable[[int], Awaitable[ModelProvider]]


@asynccontextmanager
async def wires(
    *script: Behaviour, keys: Sequence[str] = ("k-1",)
) -> AsyncIterator[tuple[Failover, ModelServer]]:
    """Both models at one server, which answers them from one script."""
    async with ModelServer() as server:
        server.script.extend(script)
        cooling, made = Cooling(), [anthropic(server.url, key=key, timeout=0.5) for key in keys]
        other = openai(server.url, timeout=5)

        async def first(number: int) -> ModelProvider:
            return made[number]

        async def second(_number: int) -> ModelProvider:
            return other

        links = [
            _wire_link("anthropic", "claude-haiku-5-5", len(keys), cooling, first),
            _wire_link("openai", "gpt-5.4-mini", 1, cooling, second),
        ]
        yield Failover(links, cooling=cooling, clock=FakeClock()), server
        speakers: list[ModelProvider] = [*made, other]
        for one in speakers:
            await one.aclose()


def _wire_link(provider: str, model: str, keys: int, cooling: Cooling, opened: Opener) -> Link:
    return Link(
        provider=provider,
        model=model,
        window=200_000,
        max_output=None,
        spelling=None,
        keys=Keys(provider=provider, count=keys, cooling=cooling),
        open=opened,
    )


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Fail(status=529), id="overloaded"),
        pytest.param(Fail(status=500), id="broken"),
        pytest.param(Limit(retry_after=30), id="rate limited"),
        pytest.param(Fail(status=402), id="no credit"),
        pytest.param(Fail(status=401), id="refused key"),
        pytest.param(Fail(status=404), id="unknown model"),
        pytest.param(Fail(status=504), id="gateway time-out"),
        pytest.param(StallAfter(4), id="stalled"),
    ],
)
async def test_the_other_vendor_answers_over_its_own_wire(failure: Behaviour) -> None:
    async with wires(failure, Say("from the other side")) as (failover, server):
        made = await events(failover)

        assert said(made) == "from the other side"
        assert [one.path for one in server.requests] == ["/v1/messages", "/v1/chat/completions"]
        last = made[-1]
        assert isinstance(last, Done)
        assert (last.message.provider, last.message.model) == ("openai", "gpt-5.4-mini")
        assert link_of(failover.links, last.message) is failover.links[1]


async def test_a_stream_cut_in_the_middle_is_void_and_asked_for_once_more() -> None:
    async with wires(CutAfter(5), Say("whole")) as (failover, server):
        made = await events(failover)

        after = [type(event) for event in made].index(Restarted)
        assert "".join(event.text for event in made[after:] if isinstance(event, TextDelta)) == "whole"
        assert [one.path for one in server.requests] == ["/v1/messages"] * 2


async def test_an_overflow_goes_to_nobody_else() -> None:
    async with wires(Overflow(), Say("never")) as (failover, server):
        with pytest.raises(ContextOverflow):
            await events(failover)

        assert len(server.requests) == 1


async def test_a_refused_key_is_followed_by_the_next_of_the_same_provider() -> None:
    async with wires(Say("with the second key"), keys=("bad-key-1", "k-2")) as (failover, server):
        assert said(await events(failover)) == "with the second key"
        assert [one.path for one in server.requests] == ["/v1/messages"] * 2
