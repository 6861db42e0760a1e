"""What goes wrong between a person and their answer: each message is answered once, nothing falls, and the
status tells the truth meanwhile and afterwards."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.discord.missed import MOST_MESSAGES
from tests.channels.discord.talking import Town, town
from tests.channels.discord.wired import FAST, until
from tests.fakes.discord_world import ANNA, BEN, GENERAL, GUILD, OFFICE, Json

SEND = "POST /channels"


def well(scene: Town) -> bool:
    return scene.channel.health.connected and scene.troubles.strip() == ""


@pytest.mark.parametrize("resumable", [True, False])
async def test_two_minutes_without_a_connection(tmp_path: Path, resumable: bool) -> None:
    """Resumed, or begun anew: what was written meanwhile is answered, and so is what was being answered."""
    async with town(tmp_path, timing=replace(FAST, guilds=3)) as one:
        chat = one.world.dm(ANNA)
        one.world.say(chat, "q1")
        await one.answered(chat, 1)
        one.model.held = asyncio.Event()
        one.world.say(chat, "q2")
        await until(lambda: "re q2" in one.model.asked)
        one.server.knobs.resumable = resumable
        await one.server.down()
        await until(lambda: not one.channel.health.connected)
        await until(lambda: "cannot be reached" in one.channel.health.error)
        one.world.say(chat, "q3", silent=not resumable)
        one.world.say(GENERAL, "q4", silent=not resumable)
        one.model.held.set()
        one.pass_time(timedelta(minutes=2))
        age = one.channel.status().age_seconds
        assert age is not None
        assert age >= 120, "the status says how long nothing was heard"
        await one.server.up()
        await one.answered(chat, 1, 2, 3)
        await one.answered(GENERAL, 4)
        await until(lambda: well(one))
        status = one.channel.status()
        assert (status.resumed, status.identified) == ((1, 1) if resumable else (0, 2))


@pytest.mark.parametrize(("status", "times"), [(500, 2), (503, 5)])
async def test_discord_answers_500_for_a_while(tmp_path: Path, status: int, times: int) -> None:
    async with town(tmp_path) as one:
        chat = one.world.dm(ANNA)
        one.server.knobs.refuse(SEND, status, 0, "Internal Server Error", times=times)
        one.world.say(chat, "q1")
        one.world.say(chat, "q2")
        await one.answered(chat, 1, 2)
        assert well(one)


async def test_slow_answers_are_given_up_and_nothing_is_shown_twice(tmp_path: Path) -> None:
    """Discord obeys, after nobody waits for its answer any more."""
    async with town(tmp_path, timing=replace(FAST, answer=0.5)) as one:
        chat = one.world.dm(ANNA)
        one.server.knobs.slow[f"{SEND}/{chat}/messages"] = 1.5
        one.world.say(chat, "q1")
        await until(lambda: one.server.count(f"{SEND}/{chat}/messages") >= 2)
        del one.server.knobs.slow[f"{SEND}/{chat}/messages"]
        await one.answered(chat, 1)
        await asyncio.sleep(1.6)  # the slow requests are obeyed as well
        await one.answered(chat, 1)


async def test_answers_of_discord_that_are_lost(tmp_path: Path) -> None:
    async with town(tmp_path) as one:
        one.server.knobs.lost = [f"{SEND}/{GENERAL}/messages"] * 3
        one.world.say(GENERAL, "q1")
        await one.answered(GENERAL, 1)


async def test_everything_is_told_twice(tmp_path: Path) -> None:
    async with town(tmp_path) as one:
        chat = one.world.dm(ANNA)
        one.server.knobs.twice = True
        for number in range(5):
            one.world.say(chat, f"q{number}")
        await one.answered(chat, *range(5))
        one.world.slash(GENERAL, "whoami")
        await until(lambda: bool(one.shown(GENERAL)))
        await one.street.quiet()
        assert len(one.shown(GENERAL)) == 1
        assert sorted(one.model.asked) == [f"re q{number}" for number in range(5)]


async def test_events_come_in_the_wrong_order(tmp_path: Path) -> None:
    """The later message first; a change and a reaction before what they are of; what nobody has heard of."""
    async with town(tmp_path) as one:
        first = one.world.say(GENERAL, "q1", silent=True)
        one.world.say(GENERAL, "q2")
        one.world.react(first, "👍")
        one.world.rewrite(first, "q1")
        one.world.emit("MESSAGE_DELETE", {"id": "1", "channel_id": "2", "guild_id": str(GUILD)})
        one.world.emit("MESSAGE_CREATE", one.world.told(first))
        await one.answered(GENERAL, 1, 2)
        assert well(one)


@pytest.mark.parametrize("jump", [timedelta(days=2), -timedelta(days=2)])
async def test_the_clock_jumps(tmp_path: Path, jump: timedelta) -> None:
    """That of this machine alone: nothing is lost, and the status says that it differs from Discord's."""
    async with town(tmp_path) as one:
        chat = one.world.dm(ANNA)
        one.world.say(chat, "q1")
        await one.answered(chat, 1)
        one.house.clock.now += jump
        one.world.say(chat, "q2")
        await one.answered(chat, 1, 2)
        one.server.knobs.resumable = False
        await one.server.drop()
        one.world.say(chat, "q3", silent=True)
        await one.answered(chat, 1, 2, 3)
        assert "2,880 minutes" in one.troubles
        assert one.channel.health.connected
        assert (one.channel.status().age_seconds or 0) >= 0
        one.house.clock.now = one.world.now
        one.world.say(chat, "q4")
        await one.answered(chat, 1, 2, 3, 4)
        await until(lambda: well(one))


async def test_a_thousand_messages_wait_at_the_start(tmp_path: Path) -> None:
    """Of one chat those within the limit of a fetch, of others theirs, each once and in its order."""
    async with town(tmp_path) as one:
        anna, ben = one.world.dm(ANNA), one.world.dm(BEN)
        for chat, number in ((anna, 9001), (ben, 9002)):
            one.world.say(chat, f"q{number}", by=ANNA if chat == anna else BEN)
            await one.answered(chat, number)
        heard: list[str] = []
        reception = one.street.front.reception
        accept = reception._message

        async def accepted(channel: object, message: Json) -> None:
            heard.append(message.text)  # type: ignore[attr-defined]

        reception._message = accepted  # type: ignore[method-assign, assignment]
        one.server.knobs.resumable = False
        await one.server.down()
        for number in range(MOST_MESSAGES):
            one.world.say(anna, f"q{number}", silent=True)
        one.world.say(ben, "q9003", by=BEN, silent=True)
        await one.server.up()
        await until(lambda: len(heard) == MOST_MESSAGES + 1, seconds=60)
        reception._message = accept  # type: ignore[method-assign]
        assert [text for text in heard if text != "q9003"] == [
            f"q{number}" for number in range(MOST_MESSAGES)
        ]
        await until(lambda: well(one))


async def test_a_message_is_deleted_while_it_is_answered(tmp_path: Path) -> None:
    async with town(tmp_path) as one:
        one.model.held = asyncio.Event()
        said = one.world.say(GENERAL, "q1")
        await until(lambda: "re q1" in one.model.asked)
        del one.world.messages[GENERAL][int(said["id"])]
        one.world.emit(
            "MESSAGE_DELETE", {"id": said["id"], "channel_id": str(GENERAL), "guild_id": str(GUILD)}
        )
        one.model.held.set()
        await one.answered(GENERAL, 1)
        assert well(one)


async def test_the_bot_is_removed_from_a_server_while_it_answers(tmp_path: Path) -> None:
    """The answer is given up with a reason; other chats go on; invited again, all is well."""
    async with town(tmp_path) as one:
        chat = one.world.dm(ANNA)
        one.model.held = asyncio.Event()
        one.world.say(GENERAL, "q1")
        await until(lambda: "re q1" in one.model.asked)
        one.world.in_guild = False
        one.world.emit("GUILD_DELETE", {"id": str(GUILD)})
        await until(lambda: "removed from the server" in one.troubles)
        one.model.held.set()
        one.world.say(chat, "q2")
        await one.answered(chat, 2)
        await until(lambda: bool(dead(one)))
        assert "cannot see that channel" in dead(one)[0]
        assert one.channel.health.connected
        one.world.in_guild = True
        one.world.emit("GUILD_CREATE", one.world.guild())
        one.world.say(OFFICE, "q3")
        await one.answered(OFFICE, 3)
        await until(lambda: well(one))


async def test_a_channel_is_deleted_while_it_is_answered(tmp_path: Path) -> None:
    async with town(tmp_path) as one:
        one.model.held = asyncio.Event()
        one.world.say(GENERAL, "q1")
        one.world.say(OFFICE, "q2")
        await until(lambda: len(one.model.asked) == 2)
        gone = one.world.channels.pop(GENERAL)
        one.world.emit("CHANNEL_DELETE", gone)
        one.model.held.set()
        await one.answered(OFFICE, 2)
        await until(lambda: bool(dead(one)))
        assert "it was deleted" in dead(one)[0]
        assert "the channel was deleted" in one.troubles or "no such channel" in one.troubles
        assert one.channel.health.connected


async def test_a_channel_in_which_the_bot_may_not_write(tmp_path: Path) -> None:
    async with town(tmp_path) as one:
        one.world.deny(GENERAL, "send_messages")
        one.world.say(GENERAL, "q1")
        one.world.say(OFFICE, "q2")
        await one.answered(OFFICE, 2)
        await until(lambda: bool(dead(one)))
        assert "give its role Send Messages" in dead(one)[0]
        assert f"chat {GENERAL}" in one.troubles
        one.world.deny(GENERAL)
        one.world.say(GENERAL, "q3")
        await one.answered(GENERAL, 3)
        await until(lambda: well(one))


async def test_all_requests_of_the_bot_are_limited(tmp_path: Path) -> None:
    """A global limit holds every chat back, and loses and doubles nothing."""
    async with town(tmp_path) as one:
        told: Json = {"retry_after": 0.4, "global": True}
        one.server.knobs.refuse(SEND, 429, 0, "You are being rate limited.", times=3, **told)
        for number, chat in enumerate((one.world.dm(ANNA), one.world.dm(BEN), GENERAL, OFFICE)):
            one.world.say(chat, f"q{number}", by=BEN if number == 1 else ANNA)
        await one.answered(one.world.dm(ANNA), 0)
        await one.answered(one.world.dm(BEN), 1)
        await one.answered(GENERAL, 2)
        await one.answered(OFFICE, 3)
        assert well(one)


async def test_one_chat_is_limited_and_the_others_are_not(tmp_path: Path) -> None:
    async with town(tmp_path) as one:
        one.server.knobs.limit = 2
        for number in range(6):
            one.world.say(GENERAL, f"q{number}")
        one.world.say(OFFICE, "q9")
        await one.answered(OFFICE, 9)
        await one.answered(GENERAL, *range(6))
        assert well(one)


def dead(one: Town) -> list[str]:
    """Why answers were given up."""
    return [found.why for found in one.street.front.postman._outbox.dead_letters()]
