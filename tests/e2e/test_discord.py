"""A whole clawd, a process of its own, between people on Discord and a model: what stands in the channels.

`pytest -s` shows the conversation as people would read it.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents.clock import system_clock
from tests.e2e.running import Running, clawd, running
from tests.e2e.test_telegram import GROWING, PICTURE, models_asked
from tests.fakes.discord import TOKEN, DiscordServer, discord_server
from tests.fakes.discord_transcript import by_bot, transcript
from tests.fakes.discord_world import ANNA, BEN, BOT_ID, GENERAL, GUILD, OFFICE, Json, World
from tests.fakes.model_script import Call, Hang, Say
from tests.fakes.modelserver import ModelServer

HEARD = "What is the weather in Porto?"
REPORT = "Three apples, two pears.\n"


def config(models: ModelServer, server: DiscordServer) -> Json:
    account: Json = {
        "token": TOKEN,
        "api_base_url": server.url,
        "dm_policy": "pairing",
        "guilds": {str(GUILD): {"users": [str(ANNA), str(BEN)]}},
        "auto_thread": True,
    }
    provider = {"api_key": "test-key-0123456789", "base_url": models.url}
    listening = ["/bin/sh", "-c", f"echo '{HEARD}'", "{path}"]
    return {
        "agents": {"defaults": {"tools": {"exec": {"mode": {"owner": "ask"}}}}},
        "models": {"default": "anthropic/claude-sonnet-5-5", "providers": {"anthropic": provider}},
        "channels": {"owners": [f"discord:{ANNA}"], "discord": {"accounts": {"default": account}}},
        "gateway": {"media": {"transcription": {"command": listening}}},
    }


class Talk:
    """Anna's side of the conversation, and what the model is to say."""

    def __init__(self, server: DiscordServer, models: ModelServer) -> None:
        self.server = server
        self.world = server.world
        self.models = models
        self.dm = self.world.dm(ANNA)

    def texts(self, chat: int) -> list[str]:
        return [one["content"] for one in by_bot(self.world, chat)]

    async def answered(self, text: str, *, chat: int | None = None, times: int = 1) -> None:
        where = chat or self.dm
        await self.world.until(lambda: self.texts(where).count(text.strip()) == times, seconds=60)

    async def turn(self, text: str, *replies: Say | Call, chat: int | None = None, **more: Any) -> Json:  # noqa: ANN401 (of a message)
        """Say it, and wait for the last of the replies."""
        self.models.script += replies
        said = self.world.say(chat or self.dm, text, **more)
        last = replies[-1]
        assert isinstance(last, Say)
        await self.answered(last.text, chat=chat)
        return said

    @asynccontextmanager
    async def clawd(self, home: Path) -> AsyncIterator[Running]:
        """A clawd that Discord has let in."""
        before = len(self.server.sessions)
        async with running(home, config(self.models, self.server)) as daemon:
            await self.world.until(lambda: len(self.server.sessions) > before, 60)
            yield daemon


@asynccontextmanager
async def talking() -> AsyncIterator[Talk]:
    """Time passes in the world as it does outside."""

    async def tick(world: World) -> None:
        while True:
            world.now = system_clock()
            await asyncio.sleep(0.05)

    async with ModelServer(delay_ms=30) as models, discord_server() as server:
        server.world.now = system_clock()
        ticking = asyncio.create_task(tick(server.world))
        try:
            yield Talk(server, models)
        finally:
            ticking.cancel()
            print(transcript(server.world))  # noqa: T201 (for who looks)


async def test_ten_turns_with_a_growing_answer_files_a_voice_note_and_two_restarts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with talking() as talk:
        world, models = talk.world, talk.models
        async with talk.clawd(home) as daemon:
            await _before(talk, home)
            assert await daemon.end() == 0
        models.script.append(Say("I was away."))
        world.say(talk.dm, "are you there?", silent=True)
        async with talk.clawd(home) as daemon:
            await talk.answered("I was away.")
            await talk.turn("still?", Say("Still."))
            await _killed_while_answering(talk, daemon)
        models.script.clear()
        models.script.append(Say("After the fall."))
        async with talk.clawd(home):
            await talk.answered("After the fall.")
            await talk.turn("last one", Say("The end."))
        replies = ["Hello Anna.", GROWING.strip(), "A picture.", "Here it is.", "Sunny.",
                   "I was away.", "Still.", "After the fall.", "The end."]  # fmt: skip
        told = [text for text in talk.texts(talk.dm) if text and "**Session**" not in text]
        assert told == replies
        assert any(b"image/" in one.body for one in models.requests)
        assert any(HEARD.encode() in one.body for one in models.requests)


async def _before(talk: Talk, home: Path) -> None:
    world = talk.world
    await talk.turn("hello", Say("Hello Anna."))
    await talk.turn("tell me more", Say(GROWING))
    assert talk.server.count(f"PATCH /channels/{talk.dm}/messages") > 0, "it grew before the eyes"
    photo = world.attachment(talk.dm, "cat.png", PICTURE, "image/png", width=1, height=1)
    await talk.turn("what is this?", Say("A picture."), attachments=[photo])
    (home / "workspace" / "report.txt").write_text(REPORT, encoding="utf-8")
    await talk.turn("send me the report", Call("send_file", {"path": "report.txt"}), Say("Here it is."))
    await world.until(lambda: any(one["attachments"] for one in by_bot(world, talk.dm)), 60)
    [file] = [file for one in by_bot(world, talk.dm) for file in one["attachments"]]
    there = file["url"].removeprefix(world.base_url)
    assert (file["filename"], world.files[there]) == ("report.txt", REPORT.encode())
    more = {"waveform": "AAAA", "duration_secs": 2.0}
    voice = world.attachment(talk.dm, "voice-message.ogg", b"OggS" + b"0" * 50, "audio/ogg", **more)
    await talk.turn("", Say("Sunny."), attachments=[voice], flags=1 << 13)
    asked = world.slash(talk.dm, "status")
    await world.until(lambda: any("**Session**" in one["content"] for one in asked["messages"].values()), 60)


async def _killed_while_answering(talk: Talk, daemon: Running) -> None:
    served = talk.models.served
    talk.models.script.append(Hang())
    talk.world.say(talk.dm, "and now?")
    await models_asked(talk.models, served + 1)
    await daemon.end(signal.SIGKILL)


async def test_a_command_runs_once_its_button_is_pressed(tmp_path: Path) -> None:
    async with talking() as talk:
        world = talk.world
        async with talk.clawd(tmp_path / "home"):
            talk.models.script += [
                Call("exec", {"command": "echo blue > gate.txt"}),
                Say("The gate is blue."),
            ]
            world.say(talk.dm, "paint the gate")
            await world.until(lambda: any(one["components"] for one in by_bot(world, talk.dm)), 60)
            [asked] = [one for one in by_bot(world, talk.dm) if one["components"]]
            assert "asked by Anna (id 101)" in asked["content"]
            kept = world.press(asked, asked["components"][0]["components"][0]["custom_id"])
            await talk.answered("The gate is blue.")
            assert kept["ack"] is not None
        painted = tmp_path / "home" / "workspace" / "gate.txt"
        assert await asyncio.to_thread(painted.read_text) == "blue\n"


async def test_in_a_server_a_mention_begins_a_thread_in_which_people_talk_on(tmp_path: Path) -> None:
    async with talking() as talk:
        world = talk.world
        async with talk.clawd(tmp_path / "home"):
            world.say(GENERAL, "nobody asked the bot", by=BEN)
            asked = world.say(GENERAL, f"<@{BOT_ID}> where are the keys?", by=BEN)
            thread = int(asked["id"])
            talk.models.script.append(Say("Under the mat."))
            await world.until(lambda: "Under the mat." in talk.texts(thread), 60)
            await talk.turn("and the lamp?", Say("In the cellar."), chat=thread, by=BEN)
            told = world.slash(OFFICE, "whoami", by=BEN)
            await world.until(lambda: bool(told["messages"]), 60)
        assert talk.texts(thread) == ["Under the mat.", "In the cellar."]
        assert talk.texts(GENERAL) == []
        [whoami] = told["messages"].values()
        assert whoami["flags"] & 64, "only who asked sees it"
        first = next(one for one in talk.models.requests if b"where are the keys" in one.body)
        assert b"nobody asked the bot" in first.body, "what was said before goes along"


async def test_a_stranger_is_answered_with_a_code_and_reaches_no_model(tmp_path: Path) -> None:
    async with talking() as talk:
        async with talk.clawd(tmp_path / "home"):
            chat = talk.world.dm(BEN)
            talk.world.say(chat, "hello?", by=BEN)
            await talk.world.until(lambda: bool(talk.texts(chat)), 60)
        [told] = talk.texts(chat)
        assert "pairing approve" in told
        assert talk.models.served == 0


async def test_the_status_tells_what_is_wrong_and_that_it_is_well_again(tmp_path: Path) -> None:
    home = tmp_path / "home"

    async def told(*words: str, code: int) -> None:
        """`clawd channels status` comes to say all of it."""
        while True:
            done = await asyncio.to_thread(clawd, home, "channels", "status")
            if done.returncode == code and all(word in done.stdout for word in words):
                print(done.stdout)  # noqa: T201 (for who looks)
                return

    async with asyncio.timeout(120), talking() as talk, talk.clawd(home):
        await told("connected", code=0)
        talk.world.lack("attach_files")
        await told("connected", "the bot's role lacks Attach Files", code=0)
        await talk.server.down()
        await told("connecting", "Discord cannot be reached", code=1)
        await talk.server.up()
        await told("connected", code=0)
        talk.server.knobs.resumable = False
        talk.server.knobs.close_with = 4011
        await talk.server.drop()
        await told("failed", "so many servers that Discord wants several connections", code=1)
