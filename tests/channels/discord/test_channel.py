"""A bot on a server with Discord's rules, the real library in between: coming up, failing, coming back."""

import asyncio
import json
from pathlib import Path

import pytest

from channels.channel import ChannelFailed, SendError
from tests.channels.discord.wired import FAST, Gateway, answer, channel_of, live, running, to, until
from tests.fakes.channel import FakeChannel
from tests.fakes.discord import discord_server
from tests.fakes.discord_world import ANNA, BOT_ID, GENERAL, GUILD
from tests.fakes.protocols import FakeClock


async def test_a_message_arrives_and_an_answer_is_shown(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        asked = one.world.say(GENERAL, f"<@{BOT_ID}> hello there")
        await one.gateway.until(1)
        [message] = one.gateway.messages
        assert (message.text, message.addressed, message.address) == ("hello there", True, to(GENERAL))
        assert (message.sender.id, message.sender.name, message.id) == (str(ANNA), "Anna", asked["id"])
        number = await one.channel.send(answer(to(GENERAL), "hi", reply_to=message.id))
        shown = one.world.messages[GENERAL][int(number)]
        assert (shown["content"], shown["message_reference"]["message_id"]) == ("hi", int(asked["id"]))
        one.world.say(GENERAL, "and after it")
        await one.gateway.until(2)
        assert one.gateway.texts == ["hello there", "and after it"], "our own message is not heard"


async def test_only_the_needed_intents_are_asked_for(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        [told] = [one["d"] for one in one.server.heard if one["op"] == 2]
        guilds, guild_messages, guild_reactions = 1 << 0, 1 << 9, 1 << 10
        direct, direct_reactions, content = 1 << 12, 1 << 13, 1 << 15
        assert (
            told["intents"] == guilds + guild_messages + guild_reactions + direct + direct_reactions + content
        )
    async with live(tmp_path, settings={"intents": {"message_content": False}}) as one:
        assert "Message Content Intent" in one.channel.health.problems[0]
        assert "intents.message_content: true" in one.channel.health.problems[0]


async def test_health_is_from_evidence(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        health, status = one.channel.health, one.channel.status()
        assert (health.connected, health.name, health.alive_at) == (True, "clawd", one.world.now)
        assert (status.bot_id, status.identified, status.resumed) == (BOT_ID, 1, 0)
        assert (status.state, status.event_age_seconds) == ("connected", 0)
    assert one.channel.status().state == "stopped"
    with pytest.raises(SendError, match="not connected") as caught:
        await one.channel.send(answer())
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("code", "portal", "said"),
    [
        (None, {"members"}, "switch on Message Content Intent at https://discord.com/developers"),
        (4014, {"message_content"}, "switch on Message Content Intent at https://discord.com/developers"),
        (4013, {"message_content"}, "does not understand the intents"),
        (4004, {"message_content"}, "does not accept the token of channels.discord.accounts.default"),
    ],
)
async def test_b55_a_close_that_nothing_will_change_is_not_tried_again(
    tmp_path: Path, code: int | None, portal: set[str], said: str
) -> None:
    """B55: only this account fails, saying what to switch on; another channel goes on meanwhile."""
    async with discord_server() as server:
        server.world.portal = portal
        server.knobs.close_with = code
        other, heard = FakeChannel(), Gateway()
        beside = asyncio.create_task(other.run(heard.deliver))
        channel = channel_of(server, tmp_path)
        with pytest.raises(ChannelFailed, match=said):
            await channel.run(Gateway().deliver)
        assert server.connections == 1
        assert channel.status().state == "failed"
        assert said in channel.health.error
        assert not beside.done()
        beside.cancel()


async def test_b55_the_gateway_keeps_the_other_channel(tmp_path: Path) -> None:
    """B55: under the supervisor, the failed account stays failed and the other one runs."""
    from gateway.supervisor import Supervisor  # noqa: PLC0415 (the only test above this room)

    class Posts:
        def attach(self, _: object) -> None: ...
        def detach(self, _: object) -> None: ...

    async def receive(*_: object) -> None: ...

    async with discord_server() as server:
        server.world.portal = set()
        supervisor = Supervisor(receive=receive, postman=Posts(), clock=FakeClock(), jitter=lambda: 1)  # type: ignore[arg-type]
        supervisor.add(("discord", "default"), lambda: channel_of(server, tmp_path))
        supervisor.add(("telegram", "default"), FakeChannel)
        task = asyncio.create_task(supervisor.run())
        await until(lambda: supervisor.status()[0].state == "failed")
        await asyncio.sleep(0.1)
        discord, telegram = supervisor.status()
        assert (discord.state, telegram.state) == ("failed", "running")
        assert "Message Content Intent" in discord.error
        assert (discord.restarts, server.connections) == (0, 1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_bad_token_is_said_before_any_connection(tmp_path: Path) -> None:
    async with discord_server() as server:
        with pytest.raises(ChannelFailed, match="Reset Token"):
            await channel_of(server, tmp_path, token="wrong").run(Gateway().deliver)
        assert server.connections == 0


async def test_it_comes_up_when_discord_does(tmp_path: Path) -> None:
    async with discord_server() as server:
        server.knobs.refuse("GET /users/@me", 503, 0, "overloaded", times=2)
        server.knobs.refuse("GET /gateway/bot", 503, 0, "overloaded")
        channel = channel_of(server, tmp_path)
        async with running(channel, Gateway()):
            assert server.count("GET /users/@me") == 4


async def test_it_may_run_again_after_it_ended(tmp_path: Path) -> None:
    async with discord_server() as server:
        channel, gateway = channel_of(server, tmp_path), Gateway()
        for text in ("one", "two"):
            async with running(channel, gateway):
                server.world.say(server.world.dm(ANNA), text)
                await gateway.until(1 if text == "one" else 2)
        assert gateway.texts == ["one", "two"]


async def test_commands_are_registered_only_when_they_change(tmp_path: Path) -> None:
    async with discord_server() as server:
        for commands in ((("new", "begin anew"),), (("new", "begin anew"),), (("new", "afresh"),)):
            async with running(channel_of(server, tmp_path, commands=commands), Gateway()):
                await until(lambda: bool(server.world.commands))
                await asyncio.sleep(0.05)
        assert server.count("PUT /applications") == 2
        assert [one["description"] for one in server.world.commands] == ["afresh"]


async def test_without_commands_the_channel_comes_up_and_says_so(tmp_path: Path) -> None:
    async with discord_server() as server:
        server.knobs.refuse("PUT /applications", 400, 30032, "too many commands")
        channel = channel_of(server, tmp_path)
        async with running(channel, Gateway()):
            await until(lambda: bool(channel.health.problems))
            assert "slash commands could not be registered" in channel.health.problems[0]
            assert channel.health.connected


async def test_marks_of_what_was_heard_are_written_down(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        said = one.world.say(GENERAL, "hello")
        await one.gateway.until(1)
    told = json.loads((tmp_path / "discord" / "seen-default.json").read_text(encoding="utf-8"))
    assert told == {"bot_id": BOT_ID, "chats": {str(GENERAL): {"last": int(said["id"]), "space": str(GUILD)}}}
    assert (tmp_path / "discord" / "seen-default.json").stat().st_mode & 0o777 == 0o600


async def test_a_gateway_without_discord_does_not_load_its_library() -> None:
    program = "import sys, gateway.build, channels.settings; sys.exit('discord' in sys.modules)"
    import sys  # noqa: PLC0415

    process = await asyncio.create_subprocess_exec(sys.executable, "-W", "ignore", "-c", program)
    assert await process.wait() == 0
    assert FAST.teardown < 1
