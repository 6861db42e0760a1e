"""A connection that ends and comes back: resumed where Discord allows it, never lost, never in a hurry."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.discord.timing import Timing
from tests.channels.discord.wired import FAST, Gateway, answer, channel_of, live, running, to, until
from tests.fakes.discord import discord_server
from tests.fakes.discord_world import ANNA, GENERAL


async def test_a_cut_connection_is_taken_up_again_and_nothing_is_lost(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        await one.server.drop()
        one.world.say(GENERAL, "while it was cut")
        await one.gateway.until(1)
        await until(lambda: one.channel.status().resumed == 1)
        assert one.channel.status().identified == 1
        assert [m.missed for m in one.gateway.messages] == [False]


@pytest.mark.parametrize("code", [1000, 4000, 4007, 4009])
async def test_codes_after_which_discord_lets_one_in_again(tmp_path: Path, code: int) -> None:
    async with live(tmp_path) as one:
        await one.server.drop(code)
        await until(lambda: one.channel.status().resumed == 1 and one.channel.health.connected)
        one.world.say(GENERAL, "hello")
        await one.gateway.until(1)


async def test_discord_asks_to_connect_again(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        await one.server.op(7)
        await until(lambda: one.channel.status().resumed == 1)
        one.world.say(GENERAL, "hello")
        await one.gateway.until(1)


async def test_a_session_that_discord_ends_is_begun_anew(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        await one.server.op(9, data=False)
        await until(lambda: one.channel.status().identified == 2 and one.channel.health.connected)
        one.world.say(GENERAL, "hello")
        await one.gateway.until(1)


async def test_an_outage_is_waited_out_and_said(tmp_path: Path) -> None:
    """Nobody listens for a while, then everybody answers 503, then all is well."""
    async with live(tmp_path) as one:
        one.world.say(GENERAL, "before")
        await one.gateway.until(1)
        await one.server.down()
        await until(lambda: not one.channel.health.connected)
        await until(lambda: "cannot be reached" in one.channel.health.error)
        one.world.say(GENERAL, "during it")
        one.server.knobs.cut = True
        await one.server.up()
        await asyncio.sleep(0.1)
        assert not one.channel.health.connected
        one.server.knobs.cut = False
        await until(lambda: one.channel.health.connected)
        await one.gateway.until(2)
        assert one.gateway.texts == ["before", "during it"]
        assert one.channel.health.error == ""


async def test_a_gateway_that_greets_nobody_is_given_up(tmp_path: Path) -> None:
    async with discord_server() as server:
        server.knobs.mute = True
        channel = channel_of(server, tmp_path, timing=replace(FAST, hello=0.2))
        task = asyncio.create_task(channel.run(Gateway().deliver))
        await until(lambda: server.connections >= 2)
        assert "in time" in channel.health.error
        server.knobs.mute = False
        await until(lambda: channel.health.connected)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_gateway_that_lets_nobody_in_is_given_up(tmp_path: Path) -> None:
    async with discord_server() as server:
        server.knobs.no_ready = True
        channel = channel_of(server, tmp_path, timing=replace(FAST, ready=0.3))
        task = asyncio.create_task(channel.run(Gateway().deliver))
        await until(lambda: server.connections >= 2)
        assert "in time" in channel.health.error
        server.knobs.no_ready = False
        await until(lambda: channel.health.connected)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_connection_without_a_word_is_dead(tmp_path: Path) -> None:
    """No heartbeat is answered: it looks open, and is replaced."""
    async with discord_server() as server:
        server.knobs.deaf = True
        channel = channel_of(server, tmp_path, timing=replace(FAST, silence=0.6))
        gateway = Gateway()
        async with running(channel, gateway):
            await until(lambda: server.connections >= 2)
            server.knobs.deaf, server.knobs.heartbeat = False, 0.1
            await until(lambda: channel.health.connected)
            server.world.say(server.world.dm(ANNA), "hello")
            await gateway.until(1)


async def test_a_quiet_connection_is_alive_by_its_heartbeats(tmp_path: Path) -> None:
    async with discord_server() as server:
        server.knobs.heartbeat = 0.05
        channel = channel_of(server, tmp_path)
        async with running(channel, Gateway()):
            event_at = channel.status().last_event
            server.world.now = server.world.now.replace(hour=13)
            await until(lambda: channel.health.alive_at == server.world.now)
            assert channel.status().last_event == event_at, "nothing happened, it is only alive"
            assert channel.status().latency is not None


async def test_a_gateway_url_of_the_settings_is_used(tmp_path: Path) -> None:
    async with discord_server() as server:
        channel = channel_of(server, tmp_path, settings={"gateway_url": server.gateway})
        async with running(channel, Gateway()):
            assert server.count("GET /gateway/bot") == 0
            await channel.send(answer(to(GENERAL)))


async def test_connections_that_end_at_once_are_not_made_in_a_hurry(tmp_path: Path) -> None:
    """Discord lets one in and ends it, again and again: each try waits longer than the one before."""
    waits: list[int] = []

    class Counting(Timing):
        def wait(self, failures: int) -> float:
            waits.append(failures)
            return 0

    async with discord_server() as server:
        channel = channel_of(server, tmp_path, timing=Counting(identify=0, guilds=0.2, teardown=0.5))
        async with running(channel, Gateway()):
            for resumed in range(1, 4):
                await server.drop()
                await until(lambda wanted=resumed: channel.status().resumed == wanted)  # type: ignore[misc]
            assert waits == [0, 1, 2]


async def test_it_ends_at_once_when_it_is_told_to(tmp_path: Path) -> None:
    async with discord_server() as server:
        server.knobs.slow["GET /users/@me"] = 60
        task = asyncio.create_task(channel_of(server, tmp_path).run(Gateway().deliver))
        await until(lambda: server.count("GET /users/@me") == 1)
        task.cancel()
        async with asyncio.timeout(10):
            await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
