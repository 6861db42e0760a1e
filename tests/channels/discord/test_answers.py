"""Slash commands, buttons and lists: acknowledged before anything else, answered where they were given."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from channels.discord.answers import NOTED
from channels.message import Choice, Inbound, Pressed
from tests.channels.discord.wired import FAST, answer, live, to, until
from tests.fakes.discord_rest import EPHEMERAL
from tests.fakes.discord_world import ANNA, BEN, GENERAL, Json

YES_NO = ((Choice(label="Yes", data="yes", style="good"), Choice(label="No", data="no", style="bad")),)


def texts(kept: Json) -> list[str]:
    return [one["content"] for one in kept["messages"].values()]


async def test_a_slash_command_is_a_message_and_its_answer_is_private(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        kept = one.world.slash(GENERAL, "status", "in short")
        await one.gateway.until(1)
        [message] = one.gateway.messages
        assert (message.text, message.addressed, message.address) == ("/status in short", True, to(GENERAL))
        assert message.sender.id == str(ANNA)
        assert kept["ack"] == {"type": 5, "data": {"flags": EPHEMERAL}}
        await one.channel.react(message.address, message.id, "👀")
        first = await one.channel.send(answer(text="all is", key="k~", reply_to=message.id))
        await one.channel.edit(answer(text="all is well"), first)
        await one.channel.send(answer(text="and more", part=1))
        shown = list(kept["messages"].values())
        assert [m["content"] for m in shown] == ["all is well", "and more"]
        assert all(m["flags"] & EPHEMERAL for m in shown)
        await one.channel.delete(to(GENERAL), shown[1]["id"])
        assert texts(kept) == ["all is well"]
        assert one.world.messages.get(GENERAL, {}) == {}, "nothing stands in the channel"
        await one.channel.send(answer(text="something else", key="other"))
        assert len(one.world.messages[GENERAL]) == 1


async def test_in_a_direct_chat_the_answer_takes_the_commands_place(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        chat = one.world.dm(ANNA)
        kept = one.world.slash(chat, "new")
        await one.gateway.until(1)
        assert kept["ack"]["type"] == 5
        assert one.gateway.messages[0].address == to(chat, kind="direct")
        await one.channel.send(answer(to(chat, kind="direct"), "a new session", key="a"))
        await one.channel.send(answer(to(chat, kind="direct"), "later", key="b"))
        assert texts(kept) == ["a new session"]
        assert [m["content"] for m in one.world.messages[chat].values()] == ["later"]


async def test_a_command_is_acknowledged_before_the_disk_is_asked(tmp_path: Path) -> None:
    """Discord gives three seconds; here the disk takes longer than it waits."""
    release = asyncio.Event()

    async def before(_: Inbound) -> None:
        await release.wait()

    async with live(tmp_path) as one:
        one.gateway.before = before
        command = one.world.slash(GENERAL, "status")
        await until(lambda: command["ack"] is not None)
        assert one.gateway.events == []
        release.set()
        await one.gateway.until(1)


async def test_an_acknowledgement_that_came_too_late_loses_nothing(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.patience = -1
        kept = one.world.slash(GENERAL, "status")
        await one.gateway.until(1)
        number = await one.channel.send(answer(text="here then", reply_to=one.gateway.messages[0].id))
        assert kept["messages"] == {}
        assert one.world.messages[GENERAL][int(number)]["content"] == "here then"


async def test_a_command_without_an_answer_is_noted(tmp_path: Path) -> None:
    async with live(tmp_path, timing=replace(FAST, thinking=0.1)) as one:
        kept = one.world.slash(GENERAL, "status")
        await one.gateway.until(1)
        await until(lambda: texts(kept) == [NOTED])
        await one.channel.send(answer(text="after all", reply_to=one.gateway.messages[0].id))
        assert texts(kept) == ["after all"]


async def test_after_a_quarter_of_an_hour_the_answer_stands_in_the_channel(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        kept = one.world.slash(GENERAL, "status")
        await one.gateway.until(1)
        one.world.now += timedelta(minutes=15)
        await one.channel.send(answer(text="at last", reply_to=one.gateway.messages[0].id))
        assert kept["messages"] == {}
        assert [m["content"] for m in one.world.messages[GENERAL].values()] == ["at last"]


async def test_a_pressed_button_is_told_and_shows_nothing_by_itself(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        number = await one.channel.send(answer(text="sure?", choices=YES_NO))
        message = one.world.messages[GENERAL][int(number)]
        kept = one.world.press(message, "clawd:yes", by=BEN)
        other = one.world.press(message, "of-another-program")
        await one.gateway.until(1)
        [pressed] = one.gateway.others
        assert isinstance(pressed, Pressed)
        assert (pressed.data, pressed.message_id, pressed.sender.id) == ("yes", number, str(BEN))
        assert pressed.address == to(GENERAL)
        assert kept["ack"]["type"] == 6
        await until(lambda: other["ack"] is not None)
        assert len(one.gateway.events) == 1


async def test_what_is_chosen_from_a_list_is_told(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        choices = tuple((Choice(label=f"model {n}", data=f"model:{n}"),) for n in range(26))
        number = await one.channel.send(answer(text="which?", choices=choices))
        message = one.world.messages[GENERAL][int(number)]
        name = message["components"][0]["components"][0]["custom_id"]
        one.world.press(message, name, values=("model:7",))
        await one.gateway.until(1)
        [pressed] = one.gateway.others
        assert isinstance(pressed, Pressed)
        assert pressed.data == "model:7"


async def test_files_and_buttons_in_a_private_answer(tmp_path: Path) -> None:
    from tests.channels.discord.wired import a_file  # noqa: PLC0415

    async with live(tmp_path) as one:
        kept = one.world.slash(GENERAL, "status")
        await one.gateway.until(1)
        picture = a_file(tmp_path, "a.png", "image", "image/png")
        message = answer(text="look", files=(picture,), choices=YES_NO, reply_to=one.gateway.messages[0].id)
        await one.channel.send(message)
        [shown] = kept["messages"].values()
        assert [a["filename"] for a in shown["attachments"]] == ["a.png"]
        assert len(shown["components"][0]["components"]) == 2
