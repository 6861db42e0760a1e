"""What came while nobody listened is fetched: newer messages of known chats, within limits, and marked."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.discord.missed import MOST_MESSAGES
from channels.discord.seen import snowflake
from tests.channels.discord.wired import FAST, Gateway, channel_of, live, running, until
from tests.fakes.discord import discord_server
from tests.fakes.discord_world import ANNA, ELSEWHERE, GENERAL, GUILD, OFFICE, THREAD_700, Json


async def test_a_session_begun_anew_fetches_what_it_did_not_hear(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        chat = one.world.dm(ANNA)
        for where in (GENERAL, chat, THREAD_700):
            one.world.say(where, "before")
        await one.gateway.until(3)
        one.server.knobs.resumable = False
        await one.server.drop()
        for where in (GENERAL, chat, THREAD_700):
            one.world.say(where, f"missed in {where}", silent=True)
        await one.gateway.until(6)
        missed = [m for m in one.gateway.messages if m.missed]
        assert {m.text for m in missed} == {f"missed in {where}" for where in (GENERAL, chat, THREAD_700)}
        one.world.say(GENERAL, "after")
        await one.gateway.until(7)
        assert len(one.gateway.texts) == len({one.gateway.messages[n].id for n in range(7)})


async def test_a_restart_fetches_what_came_meanwhile_in_its_order(tmp_path: Path) -> None:
    async with discord_server() as server:
        gateway = Gateway()
        async with running(channel_of(server, tmp_path), gateway):
            server.world.say(GENERAL, "before")
            await gateway.until(1)
        for number in range(5):
            server.world.say(GENERAL, str(number), silent=True)
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(6)
        assert gateway.texts == ["before", "0", "1", "2", "3", "4"]
        assert [m.missed for m in gateway.messages] == [False, *[True] * 5]
        async with running(channel_of(server, tmp_path), gateway) as channel:
            await until(lambda: channel.status().identified == 1)
            server.world.say(GENERAL, "live")
            await gateway.until(7)
        assert gateway.texts[-1] == "live"


async def test_live_messages_do_not_hide_the_gap_before_them(tmp_path: Path) -> None:
    """A message is heard before the gap is closed; what lies between is fetched all the same."""
    async with discord_server() as server:
        gateway = Gateway()
        async with running(channel_of(server, tmp_path), gateway):
            server.world.say(GENERAL, "before")
            await gateway.until(1)
        server.world.say(GENERAL, "missed", silent=True)
        server.knobs.slow["GET /channels/500/messages"] = 0.3
        async with running(channel_of(server, tmp_path), gateway):
            server.world.say(GENERAL, "live")
            await gateway.until(3)
        assert sorted(gateway.texts) == ["before", "live", "missed"]


@pytest.mark.parametrize(("hours", "heard"), [(23.9, True), (24.1, False)])
async def test_what_is_older_than_a_day_is_left(tmp_path: Path, hours: float, heard: bool) -> None:
    async with discord_server() as server:
        gateway, world = Gateway(), server.world
        async with running(channel_of(server, tmp_path), gateway):
            world.say(GENERAL, "before")
            await gateway.until(1)
        world.say(GENERAL, "old", silent=True)
        world.now += timedelta(hours=hours)
        world.say(GENERAL, "new", silent=True)
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(3 if heard else 2)
        assert gateway.texts == (["before", "old", "new"] if heard else ["before", "new"])


@pytest.mark.parametrize(("count", "cut"), [(MOST_MESSAGES, False), (MOST_MESSAGES + 20, True)])
async def test_of_many_the_newest_are_fetched_and_it_is_told(tmp_path: Path, count: int, cut: bool) -> None:
    async with discord_server() as server:
        gateway = Gateway()
        chat = server.world.dm(ANNA)
        async with running(channel_of(server, tmp_path), gateway):
            server.world.say(chat, "before")
            await gateway.until(1)
        for number in range(count):
            server.world.say(chat, str(number), silent=True)
        async with running(channel_of(server, tmp_path), gateway) as channel:
            await gateway.until(MOST_MESSAGES + 1, seconds=60)
            first = gateway.messages[1]
            assert [one.label for one in first.asides] == (["a gap"] if cut else [])
            await until(lambda: ("older messages were not read" in str(channel.health.problems)) is cut)
        assert gateway.texts[1:] == [str(number) for number in range(count - MOST_MESSAGES, count)]


async def test_a_channel_in_which_nothing_was_heard_before_is_not_forgotten(tmp_path: Path) -> None:
    async with discord_server() as server:
        gateway, world = Gateway(), server.world
        settings: Json = {"guilds": {str(GUILD): {"channels": {str(GENERAL): {}, str(OFFICE): {}}}}}
        world.say(OFFICE, "long before", silent=True)
        async with running(channel_of(server, tmp_path, settings=settings), gateway):
            world.say(GENERAL, "before")
            await gateway.until(1)
        for where in (OFFICE, THREAD_700, ELSEWHERE):
            world.say(where, f"missed in {where}", silent=True)
        slow = replace(FAST, guilds=3)  # servers may be told late
        async with running(channel_of(server, tmp_path, settings=settings, timing=slow), gateway):
            await gateway.until(3)
        told = {f"missed in {OFFICE}", f"missed in {THREAD_700}"}
        assert (set(gateway.texts[1:]), len(gateway.texts)) == (told, 3)
        assert all(one.missed for one in gateway.messages[1:])
        assert server.count(f"GET /channels/{ELSEWHERE}/messages") == 0, "it is not one of ours"


async def test_a_server_that_is_told_late_is_not_forgotten(tmp_path: Path) -> None:
    async with discord_server() as server:
        gateway, world = Gateway(), server.world
        async with running(channel_of(server, tmp_path), gateway):
            world.say(world.dm(ANNA), "before")
            await gateway.until(1)
        world.say(GENERAL, "missed", silent=True)
        server.knobs.late = 3 * FAST.guilds + 1
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(2)
        assert gateway.texts == ["before", "missed"]


@pytest.mark.parametrize("days", [-40, 40])
async def test_a_clock_that_is_wrong_loses_nothing_and_is_told(tmp_path: Path, days: int) -> None:
    async with discord_server() as server:
        gateway, world = Gateway(), server.world
        async with running(channel_of(server, tmp_path), gateway) as channel:
            world.say(GENERAL, "before")
            await gateway.until(1)
            assert channel.health.problems == ()
        world.say(GENERAL, "missed", silent=True)
        wrong = channel_of(server, tmp_path, clock=lambda: world.now + timedelta(days=days))
        async with running(wrong, gateway) as channel:
            await gateway.until(2)
            assert "minutes ahead of Discord's" in str(channel.health.problems) or days < 0
            assert "57,600 minutes" in str(channel.health.problems)
        assert gateway.texts == ["before", "missed"]


async def test_a_history_that_cannot_be_read_now_is_read_later(tmp_path: Path) -> None:
    async with discord_server() as server:
        gateway = Gateway()
        async with running(channel_of(server, tmp_path), gateway):
            server.world.say(GENERAL, "before")
            await gateway.until(1)
        server.world.say(GENERAL, "missed", silent=True)
        server.knobs.refuse("GET /channels/500/messages", 503, 0, "overloaded", times=3)
        async with running(channel_of(server, tmp_path), gateway) as channel:
            await until(lambda: "could not be fetched" in str(channel.health.problems))
        kept = json.loads((tmp_path / "discord" / "seen-default.json").read_text(encoding="utf-8"))
        assert str(GENERAL) in kept["chats"]
        async with running(channel_of(server, tmp_path), gateway) as channel:
            await gateway.until(2)
        assert gateway.texts == ["before", "missed"]


async def test_a_chat_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    async with discord_server() as server:
        gateway = Gateway()
        async with running(channel_of(server, tmp_path), gateway):
            server.world.say(THREAD_700, "before")
            await gateway.until(1)
        del server.world.channels[THREAD_700]
        async with running(channel_of(server, tmp_path), gateway) as channel:
            await until(lambda: server.count("GET /channels/700") > 0)
            await until(lambda: '"700"' not in seen_text(tmp_path))
            assert channel.health.problems == ()


def seen_text(folder: Path) -> str:
    return (folder / "discord" / "seen-default.json").read_text(encoding="utf-8")


async def test_nothing_is_asked_where_nothing_is_new(tmp_path: Path) -> None:
    async with discord_server() as server:
        gateway = Gateway()
        async with running(channel_of(server, tmp_path), gateway):
            server.world.say(GENERAL, "before")
            server.world.say(THREAD_700, "before")
            await gateway.until(2)
        async with running(channel_of(server, tmp_path), gateway) as channel:
            await until(lambda: bool(channel._line and channel._line.is_ready()))
        assert "/channels/500/messages" not in [path for method, path, _ in server.calls if method == "GET"]


def test_the_ids_of_discord_tell_the_time() -> None:
    """The example of Discord's own documentation: 175928847299117063 is of 2016-04-30 11:18:25.796 UTC."""
    from datetime import UTC, datetime  # noqa: PLC0415

    at = datetime(2016, 4, 30, 11, 18, 25, 796_000, tzinfo=UTC)
    assert snowflake(at) == (175928847299117063 >> 22) << 22
    assert snowflake(datetime(2000, 1, 1, tzinfo=UTC)) == 0
