"""The pool of model providers: made once, when first used, with the right key."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.model.provider import AuthFailed
from agents.replay import past_calls, replay
from agents.settings import ModelsSettings
from gateway.build import built
from gateway.config import Config
from gateway.gateway import Gateway
from gateway.home import Home
from gateway.models import Models
from gateway.views import ChatReply, Refused
from sessions.entries import Custom, Said
from sessions.messages import JsonObject, ToolResult
from tests.fakes.model_script import Behaviour, Call, Fail, Say
from tests.fakes.modelserver import ModelServer
from tests.fakes.protocols import FakeClock


def pool(settings: dict[str, object] | None = None, environ: Mapping[str, str] | None = None) -> Models:
    return Models(ModelsSettings.model_validate(settings or {}), environ=environ or {}, clock=FakeClock())


async def test_without_anything_there_is_the_offline_assistant() -> None:
    models = pool()

    chosen = await models.choose(None)

    assert chosen.name == "offline/notes"
    assert [status.name for status in models.status() if status.is_default] == ["offline/notes"]
    await models.aclose()


@pytest.mark.parametrize(
    ("variable", "name"),
    [("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5-5"), ("OPENAI_API_KEY", "openai/gpt-6.1-terra")],
)
async def test_a_key_in_the_environment_is_enough(variable: str, name: str) -> None:
    models = pool(environ={variable: "key-0123456789"})

    chosen = await models.choose(None)

    assert chosen.name == name
    assert (await models.choose(None)).provider is chosen.provider
    await models.aclose()


async def test_an_agents_own_model_comes_before_the_default() -> None:
    models = pool({"default": "offline/notes"}, {"OPENAI_API_KEY": "key-0123456789"})

    assert (await models.choose("openai/gpt-6-luna")).name == "openai/gpt-6-luna"
    await models.aclose()


async def test_a_model_without_its_key_is_refused_with_the_variable_to_set() -> None:
    models = pool({"default": "anthropic/claude-sonnet-5-5"})

    with pytest.raises(AuthFailed, match="ANTHROPIC_API_KEY"):
        await models.choose(None)


async def test_a_server_in_the_house_needs_no_key() -> None:
    models = pool({"default": "ollama/qwen3:8b"})

    assert (await models.choose(None)).name == "ollama/qwen3:8b"
    await models.aclose()


async def test_warming_up_leaves_out_what_cannot_be_used() -> None:
    models = pool(environ={"OPENAI_API_KEY": "key-0123456789"})

    await models.warm_up([None, "anthropic/claude-sonnet-5-5"])

    assert (await models.choose(None)).provider_name == "openai"
    await models.aclose()


# The chain, with a whole gateway around it: both vendors are one server, which answers from one script.


def two_vendors(url: str, **models: object) -> Config:
    return Config.model_validate(
        {
            "models": {
                "default": "anthropic/claude-haiku-5-5",
                "fallbacks": ["openai/gpt-5.4-mini"],
                "max_retries": 0,
                "providers": {
                    "anthropic": {"api_key": "k-1", "base_url": url},
                    "openai": {"api_key": "k-2", "base_url": f"{url}/v1"},
                },
                **models,
            },
            "memory": {"backend": "none"},
        }
    )


@asynccontextmanager
async def running(
    folder: Path, *script: Behaviour, **models: object
) -> AsyncIterator[tuple[Gateway, ModelServer]]:
    async with ModelServer() as server:
        server.script.extend(script)
        home = Home(folder / "home")
        async with built(two_vendors(server.url, **models), home, environ={}) as parts:
            parts.gateway.ready = True
            yield parts.gateway, server


async def say(gateway: Gateway, text: str) -> ChatReply:
    return await gateway.chat(agent=None, session=None, text=text)


async def test_who_answered_is_told_once_and_the_first_prompt_stays_as_it_was(tmp_path: Path) -> None:
    script = (Say("one"), Fail(status=529), Say("two"), Say("three"))
    async with running(tmp_path, *script) as (gateway, server):
        first = await say(gateway, "a")
        second = await say(gateway, "b")
        third = await say(gateway, "c")
        entries = await gateway.entries(second.key)

        assert "answer" not in first.reply
        assert "openai/gpt-5.4-mini answered instead of anthropic/claude-haiku-5-5" in second.reply
        assert "overloaded or out of order" in second.reply
        assert third.reply == "three", "told once"
        assert (first.model, second.model) == ("anthropic/claude-haiku-5-5", "openai/gpt-5.4-mini")
        kinds = [entry.body.kind for entry in entries if isinstance(entry.body, Custom)]
        assert kinds.count("clawd.context") == 1, "the first model's frame is the session's still"
        sent = {one.body for one in server.requests}
        assert all(replay(entries, call).body in sent for call in past_calls(entries))
        rests = next(row for row in gateway.models() if row.is_default)
        assert rests.until is not None
        assert "rests: overloaded" in rests.reason
        assert next(row for row in gateway.models() if row.is_fallback).name == "openai/gpt-5.4-mini"


async def test_a_tool_that_ran_is_not_run_again_by_the_next_model(tmp_path: Path) -> None:
    note: JsonObject = {"path": "memory/x.md", "content": "tea", "mode": "append"}
    async with running(tmp_path, Call("write", note), Fail(status=529), Say("noted")) as (gateway, server):
        reply = await say(gateway, "note tea")

        assert reply.reply.startswith("noted")
        assert [one.path for one in server.requests][-1] == "/v1/chat/completions"
        entries = await gateway.entries(reply.key)
        results = [
            entry
            for entry in entries
            if isinstance(entry.body, Said) and isinstance(entry.body.message, ToolResult)
        ]
        assert len(results) == 1
        assert all(
            replay(entries, call).body in {one.body for one in server.requests}
            for call in past_calls(entries)
        )


async def test_a_model_that_a_person_chose_fails_alone_and_says_what_can_be_done(tmp_path: Path) -> None:
    async with running(tmp_path, Fail(status=529), Say("never")) as (gateway, server):
        await say(gateway, "/model anthropic/claude-sonnet-5-5")

        with pytest.raises(Refused, match="/model default"):
            await say(gateway, "a")

        assert [one.path for one in server.requests] == ["/v1/messages"]


async def test_a_refused_key_is_followed_by_the_next_and_rests(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script.append(Say("with the second"))
        keys = {"anthropic": {"api_key": "bad-1", "api_keys": ["k-2"], "base_url": server.url}}
        config = two_vendors(server.url, providers=keys, fallbacks=[])
        async with built(config, Home(tmp_path / "other"), environ={}) as parts:
            reply = await say(parts.gateway, "a")
            row = next(row for row in parts.gateway.models() if row.is_default)

    assert reply.reply == "with the second"
    assert row.until is None
    assert "key 1 (the key was not accepted)" in row.reason


async def test_an_empty_answer_is_asked_for_once_more_and_then_told(tmp_path: Path) -> None:
    async with running(tmp_path, Say(""), Say("here"), Say(""), Say("")) as (gateway, _server):
        assert (await say(gateway, "a")).reply == "here"
        assert "empty answer twice" in (await say(gateway, "b")).reply


async def test_a_fallback_without_a_key_is_left_out_and_a_default_without_one_is_told(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script.append(Say("hello"))
        only = {"openai": {"api_key": "k", "base_url": f"{server.url}/v1"}}
        config = two_vendors(server.url, providers=only)
        async with built(config, Home(tmp_path / "home"), environ={}) as parts:
            reply = await say(parts.gateway, "a")

    assert reply.model == "openai/gpt-5.4-mini"
    assert "instead of anthropic/claude-haiku-5-5: it cannot be used" in reply.reply


def test_offline_is_no_fallback() -> None:
    with pytest.raises(ValueError, match="cannot be offline"):
        ModelsSettings.model_validate({"fallbacks": ["offline/notes"]})


async def test_another_key_asks_anew_and_the_old_one_is_closed_when_nobody_has_it() -> None:
    def settings(key: str, **more: object) -> ModelsSettings:
        one = {"base_url": "http://127.0.0.1:9/v1", "api_key": key, **more}
        return ModelsSettings.model_validate({"default": "one/small", "providers": {"one": one}})

    models = Models(settings("key-one-0123456789"), environ={}, clock=FakeClock())
    before = await models.choose(None)
    first = await before.links[0].open(0)
    models._cooling.failed("one#1", AuthFailed("no"), FakeClock()())

    models.change(settings("key-one-0123456789", models={"small": {"context_window": 9_000}}))
    same = await models.choose(None)
    assert await same.links[0].open(0) is first
    assert same.window == 9_000
    assert models._cooling.last("one#1")

    retire = models.change(settings("key-two-0123456789"))
    after = await models.choose(None)
    second = await after.links[0].open(0)
    assert second is not first
    assert await before.links[0].open(0) is first
    assert models._cooling.last("one#1") is None

    models.change(settings("key-three-0123456789"))
    await retire()
    await retire()
    assert await after.links[0].open(0) is second
    assert len(models._made) == 1
    assert "key-one" not in repr(before)
    await models.aclose()


async def test_a_choice_of_before_the_change_is_not_the_choice_of_after() -> None:
    models = pool({"default": "offline/notes"}, {"OPENAI_API_KEY": "key-0123456789"})
    choosing = asyncio.create_task(models.choose(None))
    await asyncio.sleep(0)
    models.change(ModelsSettings(default="openai/gpt-6-luna"))
    await choosing

    assert (await models.choose(None)).name == "openai/gpt-6-luna"
    await models.aclose()
