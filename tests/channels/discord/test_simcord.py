"""The same channel inside simcord, a Discord that none of us wrote."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from channels.channel import SendError
from channels.discord.channel import DiscordChannel
from channels.discord.line import use_api
from channels.discord.seen import Seen
from channels.message import Address, Choice, Pressed, Reaction
from channels.platforms import DiscordAccount
from tests.channels.discord.wired import COMMANDS, FAST, Gateway, answer

simcord = pytest.importorskip("simcord")


@dataclass(slots=True)
class Sim:
    env: Any
    guild: Any
    general: Any
    anna: Any
    channel: DiscordChannel
    gateway: Gateway

    @property
    def bot(self) -> int:
        line = self.channel._line
        assert line is not None
        assert line.user is not None
        return line.user.id

    @property
    def here(self) -> Address:
        return Address(
            channel="discord",
            account="default",
            chat=str(self.general.id),
            kind="group",
            space=str(self.guild.id),
        )


@asynccontextmanager
async def simulated(folder: Path, settings: dict[str, Any] | None = None) -> AsyncIterator[Sim]:
    account = DiscordAccount.model_validate({"guilds": {"*": {}}} | (settings or {}))
    use_api(account.api_base_url)
    gateway = Gateway()
    started: list[Any] = []

    def clock() -> datetime:
        now: datetime = started[0].now()
        return now

    channel = DiscordChannel(
        account,
        account="default",
        token="x",
        folder=folder,
        commands=COMMANDS,
        clock=clock,
        timing=FAST,
    )
    ears = channel.ears(Seen(folder / "seen.json"), gateway.deliver)
    line = channel.line(ears)
    async with simcord.run(line) as env:
        started.append(env)
        channel._line = line
        ears.meet(line)
        await channel._offered(line)
        guild = env.create_guild()
        general = guild.create_text_channel("general")
        anna = guild.add_member(env.create_user("anna"))
        yield Sim(env, guild, general, anna, channel, gateway)
        await channel._answers.close()


async def test_a_mention_is_heard_and_answered(tmp_path: Path) -> None:
    async with simulated(tmp_path) as sim:
        asked = await sim.anna.send(sim.general, f"<@{sim.bot}> hello")
        [message] = sim.gateway.messages
        assert (message.text, message.addressed, message.address) == ("hello", True, sim.here)
        assert message.sender.id == str(sim.anna.id)
        number = await sim.channel.send(answer(sim.here, "hi", reply_to=message.id))
        shown = sim.general.last_message
        assert (shown.content, str(shown.id), shown.reference.message_id) == ("hi", number, asked.id)
        await sim.channel.edit(answer(sim.here, "hi there"), number)
        assert sim.general.last_message.content == "hi there"
        await sim.anna.react(shown, "👍")
        [reaction] = sim.gateway.others
        assert isinstance(reaction, Reaction)
        assert (reaction.emoji, reaction.own) == ("👍", True)


async def test_a_direct_message(tmp_path: Path) -> None:
    async with simulated(tmp_path) as sim:
        await sim.anna.send_dm("psst")
        [message] = sim.gateway.messages
        assert (message.address.kind, message.text, message.addressed) == ("direct", "psst", True)


async def test_a_slash_command_is_registered_and_answered_privately(tmp_path: Path) -> None:
    async with simulated(tmp_path) as sim:
        assert set(sim.anna.available_commands(sim.general)) == {"new", "status"}
        result = await sim.anna.slash(sim.general, "status", text="in short")
        [message] = sim.gateway.messages
        assert message.text == "/status in short"
        assert result.ephemeral
        await sim.channel.send(answer(sim.here, "all is well", reply_to=message.id))
        assert result.response.content == "all is well"


async def test_a_button_is_pressed(tmp_path: Path) -> None:
    async with simulated(tmp_path) as sim:
        choices = ((Choice(label="Yes", data="yes"), Choice(label="No", data="no")),)
        await sim.channel.send(answer(sim.here, "sure?", choices=choices))
        await sim.anna.click(sim.general.last_message, label="Yes")
        [pressed] = sim.gateway.others
        assert isinstance(pressed, Pressed)
        assert pressed.data == "yes"


async def test_an_auto_thread(tmp_path: Path) -> None:
    async with simulated(tmp_path, {"auto_thread": True}) as sim:
        await sim.anna.send(sim.general, f"<@{sim.bot}> what is it?")
        [message] = sim.gateway.messages
        await sim.channel.send(answer(message.address, "this"))
        line = sim.channel._line
        assert line is not None
        thread: Any = line.get_channel(int(message.address.thread))
        assert (thread.name, thread.parent_id) == ("what is it?", sim.general.id)


async def test_a_refusal(tmp_path: Path) -> None:
    async with simulated(tmp_path) as sim:
        with pytest.raises(SendError, match="no such channel"):
            await sim.channel.send(
                answer(Address(channel="discord", account="default", chat="5", kind="group"))
            )
