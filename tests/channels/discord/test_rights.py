"""What the bot lacks is told before it fails: for the servers and channels of the settings, at once."""

from pathlib import Path

import pytest

from channels.channel import SendError
from channels.discord.rights import MOST
from tests.channels.discord.wired import Live, answer, in_thread, live, to, until
from tests.fakes.discord_world import ANNA, FORUM, GENERAL, GUILD, OFFICE, THREAD_700, Json, World


def settings(*channels: int, **more: object) -> Json:
    return {"guilds": {str(GUILD): {"channels": {str(one): {} for one in channels}}}, **more}


async def told(one: Live, *words: str, count: int = 1) -> None:
    """The status says these words, among so many problems."""
    await until(lambda: all(word in str(one.channel.health.problems) for word in words))
    await until(lambda: len(one.channel.health.problems) == count)


async def test_nothing_is_said_where_nothing_is_missing(tmp_path: Path) -> None:
    async with live(tmp_path, settings=settings(GENERAL, FORUM)) as one:
        assert one.channel.health.problems == ()


@pytest.mark.parametrize(
    ("right", "title"),
    [
        ("view_channel", "View Channel"),
        ("send_messages", "Send Messages"),
        ("send_messages_in_threads", "Send Messages in Threads"),
        ("read_message_history", "Read Message History"),
        ("attach_files", "Attach Files"),
        ("add_reactions", "Add Reactions"),
        ("embed_links", "Embed Links"),
        ("create_public_threads", "Create Public Threads"),
    ],
)
async def test_each_right_that_is_missing_in_a_channel_is_named(
    tmp_path: Path, right: str, title: str
) -> None:
    world = World(denied={GENERAL: {right}})
    more = settings(GENERAL, OFFICE, auto_thread=True, suppress_embeds=False)
    async with live(tmp_path, settings=more, world=world) as one:
        where = f"server Club, channel {GENERAL} (#general): allow the bot's role {title} (Edit Channel"
        await told(one, where)
        assert one.channel.health.connected
        one.world.deny(GENERAL)
        await told(one, count=0)


async def test_a_right_that_nobody_needs_is_not_asked_for(tmp_path: Path) -> None:
    """Without previews, threads of its own and reactions, four rights less are enough."""
    unused = {"embed_links", "create_public_threads", "add_reactions"}
    more = settings(GENERAL, ack_reaction={"scope": "off"})
    async with live(tmp_path, settings=more, world=World(denied={GENERAL: unused})) as one:
        assert one.channel.health.problems == ()


async def test_a_right_that_is_taken_away_is_told_at_once(tmp_path: Path) -> None:
    async with live(tmp_path, settings=settings(GENERAL)) as one:
        one.world.deny(GENERAL, "send_messages", "add_reactions")
        await told(one, "allow the bot's role Send Messages, Add Reactions")
        one.world.deny(OFFICE, "send_messages")
        one.world.deny(GENERAL)
        await told(one, count=0)


async def test_where_every_channel_is_heard_the_role_is_looked_at(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.lack("attach_files")
        await told(one, "server Club: the bot's role lacks Attach Files (Server Settings, Roles)")
        one.world.lack()
        await told(one, count=0)


async def test_servers_and_channels_that_are_not_there_are_told(tmp_path: Path) -> None:
    more = settings(GENERAL, 777)
    more["guilds"]["123"] = {}
    more["guilds"]["124"] = {"enabled": False}
    async with live(tmp_path, settings=more) as one:
        await told(one, "the bot is not in server 123", "channel 777: it was deleted", count=2)


async def test_no_more_is_told_than_somebody_reads(tmp_path: Path) -> None:
    async with live(tmp_path, settings=settings(*range(7_000, 7_000 + MOST + 5))) as one:
        await told(one, "more rights are missing elsewhere", count=MOST + 1)


async def test_groups_that_are_switched_off_need_no_rights(tmp_path: Path) -> None:
    more = settings(777, group_policy="disabled")
    async with live(tmp_path, settings=more) as one:
        assert one.channel.health.problems == ()


async def test_a_chat_that_could_not_be_written_to_is_well_as_soon_as_it_can(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.deny(GENERAL, "send_messages", "send_messages_in_threads")
        await until(lambda: one.channel._line is not None)
        for address in (to(GENERAL), in_thread()):
            with pytest.raises(SendError, match="the bot may not do that there"):
                await one.channel.send(answer(address))
        await told(one, f"chat {GENERAL}", f"chat {THREAD_700}", count=2)
        one.world.deny(GENERAL)
        await told(one, count=0)


async def test_a_server_that_took_the_bot_in_again_is_well(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.say(GENERAL, "hello")
        await one.gateway.until(1)
        one.world.in_guild = False
        one.world.emit("GUILD_DELETE", {"id": str(GUILD)})
        await told(one, "the bot was removed from the server")
        one.world.in_guild = True
        one.world.emit("GUILD_CREATE", one.world.guild())
        await told(one, count=0)
        one.world.say(one.world.dm(ANNA), "still here")
        await one.gateway.until(3)
