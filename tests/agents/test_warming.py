"""A prompt is kept in its provider's cache by asking the last request once more, for one token."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from agents.conversation import Conversations
from agents.frame import CONTEXT
from agents.model.anthropic_messages import AnthropicMessages
from agents.model.catalog import facts
from agents.model.catalog_models import Thinking
from agents.model.cooling import Cooling
from agents.model.failover import Failover, Link
from agents.model.keys import Keys
from agents.model.prices import Price
from agents.model.provider import CacheTtl, ModelError, ModelProvider, ThinkingLevel
from agents.model.spelling import Spelling
from agents.replay import past_calls, replay
from agents.runtime import AgentRuntime
from agents.scene import ChosenModel
from agents.settings import AgentSettings, ModelsSettings
from agents.tools.results import result_tools
from agents.turn import Turn
from agents.warming import KEEP_WARM, Warmth, warmth
from agents.workspace import Workspace
from sessions.context import messages_of
from sessions.entries import Custom, Entry
from sessions.messages import Assistant, JsonObject, Text, User
from sessions.plan import last_plan
from sessions.settings import SessionsSettings
from sessions.warmth import warmings
from tests.fakes.model_script import Call, Fail, Say
from tests.fakes.modelserver import ModelServer
from tests.fakes.protocols import START, FakeClock, FakeTool, turn

MODEL, OTHER = "claude-sonnet-5-5", "claude-sonnet-5-5-other"
WIRE = Spelling(
    api="anthropic_messages",
    provider="anthropic",
    thinking="between_tools",
    effort="plain",
    vision=True,
    limit="max_tokens",
    ids="anthropic",
)
CLAUDE = Price(input=2, output=10, cache_read=0.2, cache_write=2.5, cache_write_1h=4)
LONG = "a long page. " * 2_000


@dataclass(slots=True)
class Talk:
    """One session with the vendor's real SDK in between."""

    runtime: AgentRuntime
    clock: FakeClock
    server: ModelServer
    workspace: Path

    def turn(self) -> Turn:
        return replace(turn(), at=self.clock())

    async def say(self, text: str) -> None:
        now = self.turn()
        said = User(at=now.at, parts=(Text(text=text),))
        await self.runtime.respond(now, said, on_event=lambda _: None)

    async def keep(self, price: Price | None = CLAUDE) -> str:
        return await self.runtime.keep_warm(self.turn(), lambda _provider, _model: price)

    async def entries(self) -> tuple[Entry, ...]:
        return tuple(await self.runtime.conversations.entries("s1"))

    @property
    def sent(self) -> list[JsonObject]:
        return [one.json for one in self.server.requests]

    def later(self, **time: float) -> None:
        self.clock.now += timedelta(**time)


def in_chain(chosen: ChosenModel, clock: FakeClock) -> ChosenModel:
    """The same with another model behind it, at the same vendor."""
    cooling = Cooling()

    async def opened(_key: int) -> ModelProvider:
        return chosen.provider

    links = tuple(
        Link(
            provider="anthropic",
            model=model,
            window=chosen.window,
            max_output=None,
            spelling=chosen.spelling,
            keys=Keys(provider="anthropic", count=1, cooling=cooling),
            open=opened,
        )
        for model in (MODEL, OTHER)
    )
    return replace(chosen, provider=Failover(links, cooling=cooling, clock=clock), links=links)


@asynccontextmanager
async def talk(
    folder: Path,
    *,
    ttl: CacheTtl | None = "5m",
    thinking: ThinkingLevel = "off",
    kind: Thinking = "between_tools",
    chain: bool = False,
) -> AsyncIterator[Talk]:
    clock, workspace = FakeClock(), Workspace(folder / "workspace")
    workspace.ensure(START.date())
    async with ModelServer() as server:
        with ThreadPoolExecutor(1) as executor:
            known = replace(facts("anthropic", MODEL, ModelsSettings()), thinking=kind)
            provider = AnthropicMessages(
                name="anthropic",
                api_key="k",
                base_url=server.url,
                timeout=10,
                clock=clock,
                facts_of=lambda _: known,
            )
            chosen = ChosenModel(
                provider=provider,
                provider_name="anthropic",
                model=MODEL,
                max_output=None,
                max_retries=2,
                spelling=replace(WIRE, thinking=kind),
            )

            if chain:
                chosen = in_chain(chosen, clock)

            async def choose(_name: str = "") -> ChosenModel:
                return chosen

            conversations = Conversations(
                folder / "sessions",
                clock=clock,
                limit=2,
                max_bytes=1 << 24,
                max_line_bytes=1 << 24,
                executor=executor,
            )
            runtime = AgentRuntime(
                settings=AgentSettings(id="main", cache_ttl=ttl, thinking=thinking),
                time_zone="Europe/Lisbon",
                workspace=workspace,
                conversations=conversations,
                tools=(*result_tools(conversations.said, max_chars=50_000), FakeTool(answer=LONG)),
                choose=choose,
                choose_named=choose,
                clock=clock,
                sessions=SessionsSettings.model_validate({"start_notes": {"enabled": False}}),
            )
            yield Talk(runtime=runtime, clock=clock, server=server, workspace=workspace.root)
            conversations.close()
            await provider.aclose()


async def test_the_last_request_is_sent_again_for_one_token(tmp_path: Path) -> None:
    async with talk(tmp_path, thinking="low") as one:
        one.server.script += [Call("look"), Say("A page.", thinking="Hm."), Say("x")]
        await one.say("look")
        one.later(minutes=4)
        said = messages_of(await one.entries())

        assert await one.keep() == ""

        *_, last, again = one.sent
        assert again == {**last, "max_tokens": 1}
        assert messages_of(await one.entries()) == said  # nothing of it enters the conversation


async def test_all_of_the_prompt_is_read_and_nothing_written(tmp_path: Path) -> None:
    async with talk(tmp_path) as one:
        one.server.script += [Call("look"), Say("A page."), Say("x")]
        await one.say("look")
        answer = messages_of(await one.entries())[-1]
        assert isinstance(answer, Assistant)
        one.later(minutes=4)
        heard: list[tuple[Assistant, str]] = []
        one.runtime._on_answer = lambda answer, origin, *_: heard.append((answer, origin))

        assert await one.keep() == ""

        ((pinged, origin),) = heard
        whole = answer.usage.cache_read + answer.usage.cache_write
        assert origin == KEEP_WARM
        assert (pinged.usage.cache_read, pinged.usage.cache_write) == (whole, 0)
        (kept,) = warmings(await one.entries())
        assert pinged.usage.cost is not None
        assert kept.cost == pinged.usage.cost.total
        assert kept.cold == pytest.approx(whole * 2.5 / 1e6)


@pytest.mark.parametrize("ttl", ["5m", "1h"])
async def test_afterwards_the_prompt_is_warm_for_the_next_message(tmp_path: Path, ttl: CacheTtl) -> None:
    life = timedelta(minutes=5) if ttl == "5m" else timedelta(hours=1)
    async with talk(tmp_path, ttl=ttl) as one:
        for text in ("look", "a", "b", "c"):
            one.server.script += [Call("look")] if text == "look" else []
            one.server.script += [Say("Yes.")]
            await one.say(text)
        for _ in range(3):
            one.later(seconds=(life - timedelta(seconds=45)).total_seconds())
            one.server.script += [Say("x")]
            assert await one.keep() == ""
        one.later(seconds=life.total_seconds() - 1)
        one.server.script += [Say("Still here.")]
        await one.say("are you there?")

        entries = await one.entries()
        frames = [e for e in entries if isinstance(e.body, Custom) and e.body.kind == CONTEXT]
        assert len(frames) == 1
        assert last_plan(entries) is None
        last, before = messages_of(entries)[-1], messages_of(entries)[-3]
        assert isinstance(last, Assistant)
        assert isinstance(before, Assistant)
        whole = before.usage.cache_read + before.usage.cache_write
        assert last.usage.cache_read == pytest.approx(whole, abs=1)  # the vendor's counts are rounded


async def test_without_it_the_same_pause_makes_the_prompt_cold(tmp_path: Path) -> None:
    async with talk(tmp_path) as one:
        for text in ("look", "a", "b", "c"):
            one.server.script += [Call("look")] if text == "look" else []
            one.server.script += [Say("Yes.")]
            await one.say(text)
        one.later(minutes=9)
        one.server.script += [Say("Still here.")]
        await one.say("are you there?")

        assert last_plan(await one.entries()) is not None


async def test_every_request_is_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    async with talk(tmp_path, thinking="low") as one:
        one.server.script += [Call("look"), Say("A page.", thinking="Hm."), Say("x"), Say("x"), Say("Yes.")]
        await one.say("look")
        for _ in range(2):
            one.later(minutes=4)
            assert await one.keep() == ""
        one.later(minutes=4)
        await one.say("and now?")
        one.later(minutes=4)
        one.server.script += [Fail(status=529)]
        with pytest.raises(ModelError, match="Try again"):
            await one.keep()

        entries = await one.entries()
        found = [replay(entries, call) for call in past_calls(entries)]
        assert [one.call.origin for one in found].count(KEEP_WARM) == 3
        assert [one.body for one in found] == [request.body for request in one.server.requests]


async def test_an_error_is_not_tried_again_and_warms_nothing(tmp_path: Path) -> None:
    async with talk(tmp_path) as one:
        one.server.script += [Say("Hello."), Fail(status=529)]
        await one.say("hello")
        one.later(minutes=4)
        with pytest.raises(ModelError, match="Try again"):
            await one.keep()

        assert len(one.sent) == 2
        assert not warmings(await one.entries())


async def test_no_other_model_of_the_chain_is_asked_for_it(tmp_path: Path) -> None:
    async with talk(tmp_path, chain=True) as one:
        one.server.script += [Say("Hello."), Say("x"), Fail(status=529)]
        await one.say("hello")
        one.later(minutes=4)
        assert await one.keep() == ""
        one.later(minutes=4)
        with pytest.raises(ModelError):
            await one.keep()

        assert [request["model"] for request in one.sent] == [MODEL] * 3


async def test_after_a_fallback_has_answered_nothing_is_asked(tmp_path: Path) -> None:
    async with talk(tmp_path, chain=True) as one:
        one.server.script += [Fail(status=529), Say("Hello.")]
        await one.say("hello")
        one.later(minutes=4)

        assert "one token" in await one.keep()
        assert [request["model"] for request in one.sent] == [MODEL, OTHER]


@pytest.mark.parametrize(
    ("price", "why"),
    [(None, "nobody knows what"), (replace(CLAUDE, cache_read=1.25), "more than it saves")],
    ids=["unknown", "not worth it"],
)
async def test_what_would_not_save_money_is_not_asked(tmp_path: Path, price: Price | None, why: str) -> None:
    async with talk(tmp_path) as one:
        await one.say("hello")
        one.later(minutes=4)

        assert why in await one.keep(price)
        assert len(one.sent) == 1


async def test_a_cold_prompt_is_left_alone(tmp_path: Path) -> None:
    async with talk(tmp_path) as one:
        await one.say("hello")
        one.later(minutes=5)
        before = await one.entries()

        assert "cold cache" in await one.keep()
        assert await one.entries() == before
        assert len(one.sent) == 1


async def test_a_prompt_that_an_edit_will_change_is_left_alone(tmp_path: Path) -> None:
    async with talk(tmp_path) as one:
        await one.say("hello")
        (one.workspace / "USER.md").write_text("The owner is called Ana.\n")
        one.later(minutes=4)

        assert "edited: USER.md" in await one.keep()
        assert len(one.sent) == 1


async def test_thinking_that_needs_its_own_tokens_is_not_shortened(tmp_path: Path) -> None:
    async with talk(tmp_path, thinking="low", kind="budget") as one:
        one.server._strict = False  # the fake's rules are those of newer models
        await one.say("hello")
        one.later(minutes=4)

        assert "one token" in await one.keep()
        assert len(one.sent) == 1


async def test_without_a_cache_there_is_nothing_to_keep(tmp_path: Path) -> None:
    async with talk(tmp_path, ttl=None) as one:
        await one.say("hello")

        assert warmth(await one.entries()) is None
        assert await one.keep() != ""
        assert len(one.sent) == 1


async def test_a_prompt_is_warm_from_when_it_was_asked_and_not_from_its_answer(tmp_path: Path) -> None:
    async with talk(tmp_path, ttl="1h") as one:
        one.clock.step = timedelta(seconds=1)
        await one.say("hello")
        held = warmth(await one.entries())
        assert isinstance(held, Warmth)
        said, answer = messages_of(await one.entries())

        assert said.at == held.since < answer.at
        assert held.ends == said.at + timedelta(hours=1)
