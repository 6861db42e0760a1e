"""A whole clawd, a process of its own, between a person on Telegram and a model: what stands in the chat."""

import asyncio
import base64
import signal
from pathlib import Path

from tests.e2e.running import running
from tests.fakes.model_script import Call, Hang, Say
from tests.fakes.modelserver import ModelServer
from tests.fakes.telegram import TOKEN, TelegramServer, telegram_server
from tests.fakes.telegram_world import ANNA, FORUM, Json

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
GROWING = "A long answer grows word by word. " * 12


def config(models: ModelServer, server: TelegramServer) -> Json:
    account: Json = {
        "token": TOKEN,
        "api_base_url": server.url,
        "dm_policy": "open",
        "allow_from": ["*"],
        "groups": {str(FORUM): {"require_mention": True}},
    }
    provider = {"api_key": "test-key-0123456789", "base_url": models.url}
    return {
        "agents": {"defaults": {"tools": {"exec": {"mode": {"owner": "ask"}}}}},
        "models": {"default": "anthropic/claude-sonnet-5-5", "providers": {"anthropic": provider}},
        "channels": {"owners": [f"telegram:{ANNA}"], "telegram": {"accounts": {"default": account}}},
    }


async def answered(server: TelegramServer, text: str, *, chat: int = ANNA, times: int = 1) -> None:
    def there() -> bool:
        return sum(one.text.strip() == text.strip() for one in server.world.from_bot(chat)) == times

    await server.world.until(there, seconds=60)


async def turn(server: TelegramServer, models: ModelServer, text: str, reply: str, **more: object) -> None:
    models.script.append(Say(reply))
    server.world.say(ANNA, text, **more)  # type: ignore[arg-type]
    await answered(server, reply)


async def test_ten_turns_with_a_growing_answer_files_and_a_restart_in_the_middle(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with ModelServer(delay_ms=30) as models, telegram_server() as server:
        world = server.world
        async with running(home, config(models, server)) as daemon:
            await turn(server, models, "hello", "Hello Anna.")
            await turn(server, models, "tell me more", GROWING)
            assert server.count("editMessageText") > 0
            photo = world.photo(PICTURE)
            await turn(server, models, "what is this?", "A picture.", photo=photo)
            voice = world.file(b"OggS" + b"0" * 50, "voice/v.ogg") | {"duration": 2, "mime_type": "audio/ogg"}
            await turn(server, models, "", "I heard it.", voice=voice)
            world.say(ANNA, "/status")
            await world.until(lambda: any("Session:" in one.text for one in world.from_bot(ANNA)))
            assert await daemon.end() == 0
        models.script.append(Say("I was away."))
        world.say(ANNA, "are you there?")
        async with running(home, config(models, server)) as daemon:
            await answered(server, "I was away.")
            await turn(server, models, "still?", "Still.")
            models.script.append(Hang())
            world.say(ANNA, "and now?")
            served = models.served
            await models_asked(models, served + 1)
            await daemon.end(signal.SIGKILL)
        models.script.clear()
        models.script.append(Say("After the fall."))
        async with running(home, config(models, server)):
            await answered(server, "After the fall.")
            await turn(server, models, "last one", "The end.")
            models.script.append(Say("In the garden."))
            world.say(FORUM, "@clawd_test_bot where are you?", thread=285)
            await answered(server, "In the garden.", chat=FORUM)
        shown = world.from_bot(ANNA)
        replies = ["Hello Anna.", GROWING.strip(), "A picture.", "I heard it.", "I was away.", "Still.",
                   "After the fall.", "The end."]  # fmt: skip
        told = [one.text.split("\n")[0] for one in shown if "Session:" not in one.text]
        assert told == replies
        assert any(b"image/" in one.body for one in models.requests)
        assert [one.thread for one in world.from_bot(FORUM)] == [285]


async def test_a_command_runs_once_its_button_is_pressed(tmp_path: Path) -> None:
    async with ModelServer() as models, telegram_server() as server:
        world = server.world
        async with running(tmp_path / "home", config(models, server)):
            models.script += [Call("exec", {"command": "echo blue > gate.txt"}), Say("The gate is blue.")]
            world.say(ANNA, "paint the gate")
            await world.until(lambda: any(one.buttons for one in world.from_bot(ANNA)), seconds=60)
            [asked] = [one for one in world.from_bot(ANNA) if one.buttons]
            [row] = world.chats[ANNA].messages[asked.id]["reply_markup"]["inline_keyboard"]
            query = world.press(ANNA, asked.id, row[0]["callback_data"])
            await answered(server, "The gate is blue.")
            assert query in world.answered
        painted = tmp_path / "home" / "workspace" / "gate.txt"
        assert await asyncio.to_thread(painted.read_text) == "blue\n"


async def models_asked(models: ModelServer, count: int) -> None:
    async with asyncio.timeout(60):
        while models.served < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
