"""A whole clawd, a process of its own, between a person on Telegram and a model: what stands in the chat.

`pytest -s` shows the conversation as people would read it.
"""

import asyncio
import base64
import signal
from pathlib import Path

from tests.e2e.running import clawd, running, until
from tests.fakes.model_script import Call, Calls, Hang, Say
from tests.fakes.modelserver import ModelServer
from tests.fakes.telegram import TOKEN, TelegramServer, telegram_server
from tests.fakes.telegram_transcript import transcript
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


async def pressed(server: TelegramServer, label: str) -> None:
    """Anna presses the newest button of that label, as soon as there is one."""
    world = server.world

    def asked() -> list[Json]:
        rows = [one.get("reply_markup", {}) for one in world.chats[ANNA].messages.values()]
        return [each for one in rows for row in one.get("inline_keyboard", []) for each in row]

    await world.until(lambda: any(one["text"] == label for one in asked()), seconds=60)
    chosen = [one for one in asked() if one["text"] == label][-1]
    bubble = [one for one in world.from_bot(ANNA) if one.buttons][-1]
    query = world.press(ANNA, bubble.id, chosen["callback_data"])
    await world.until(lambda: query in world.answered, seconds=60)


async def before_the_restart(server: TelegramServer, models: ModelServer) -> None:
    world = server.world
    await turn(server, models, "hello", "Hello Anna.")
    await turn(server, models, "tell me more", GROWING)
    assert server.count("editMessageText") > 0
    photo = world.photo(PICTURE)
    await turn(server, models, "what is this?", "A picture.", photo=photo)
    voice = world.file(b"OggS" + b"0" * 50, "voice/v.ogg") | {"duration": 2, "mime_type": "audio/ogg"}
    await turn(server, models, "", "I heard it.", voice=voice)
    models.script.append(Call("exec", {"command": "echo blue > gate.txt"}))
    models.script.append(Say("The gate is blue."))
    world.say(ANNA, "paint the gate")
    await pressed(server, "Approve")
    await answered(server, "The gate is blue.")


async def pictures_sent(server: TelegramServer, models: ModelServer, workspace: Path) -> None:
    world = server.world
    paths = [f"{n}.png" for n in range(2)]
    for path in paths:
        await asyncio.to_thread((workspace / path).write_bytes, PICTURE)
    models.script.append(Calls(tuple(Call("send_file", {"path": path}) for path in paths)))
    await turn(server, models, "send me the pictures", "Here they are.")
    await world.until(lambda: sum(one.file == "photo" for one in world.from_bot(ANNA)) == 2)


async def test_ten_turns_with_a_growing_answer_files_an_approval_and_a_restart_in_the_middle(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with ModelServer(delay_ms=30) as models, telegram_server() as server:
        world = server.world
        async with running(home, config(models, server)) as daemon:
            await before_the_restart(server, models)
            world.say(ANNA, "/status")
            await world.until(lambda: any("Session:" in one.text for one in world.from_bot(ANNA)))
            assert await daemon.end() == 0
        models.script.append(Say("I was away."))
        world.say(ANNA, "are you there?")
        async with running(home, config(models, server)) as daemon:
            await answered(server, "I was away.")
            await pictures_sent(server, models, home / "workspace")
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
            asked = world.say(FORUM, "@clawd_test_bot where are you?", thread=285)
            await answered(server, "In the garden.", chat=FORUM)
        print(transcript(world))  # noqa: T201 (for who looks)
        shown = world.from_bot(ANNA)
        replies = ["Hello Anna.", GROWING.strip(), "A picture.", "I heard it.", "The gate is blue.",
                   "I was away.", "Here they are.", "", "", "After the fall.", "The end."]  # fmt: skip
        told = [one.text.split("\n")[0] for one in shown if "Session:" not in one.text]
        assert [one for one in told if "pprov" not in one] == replies
        assert server.count("sendMediaGroup") == 1
        assert any(b"image/" in one.body for one in models.requests)
        assert world.chats[ANNA].typing
        assert {"new", "status", "stop"} <= {one["command"] for one in world.commands}
        [question] = [one for one in world.screen(FORUM) if one.id == asked]
        assert question.reactions == ("👀",)
        assert [(one.thread, one.answers) for one in world.from_bot(FORUM)] == [(285, asked)]
    assert await asyncio.to_thread((home / "workspace" / "gate.txt").read_text) == "blue\n"


async def test_two_bots_of_one_clawd_know_nothing_of_each_other(tmp_path: Path) -> None:
    """One is started again, and one has no connection: the other goes on."""
    home = tmp_path / "home"
    async with ModelServer() as models, telegram_server() as one, telegram_server() as two:
        told = config(models, one)
        accounts = told["channels"]["telegram"]["accounts"]
        accounts["work"] = accounts["default"] | {"api_base_url": two.url}
        async with running(home, told):
            await turn(one, models, "hello", "From the first.")
            await turn(two, models, "hello", "From the second.")
            assert [len(server.world.from_bot(ANNA)) for server in (one, two)] == [1, 1]
            met = [server.count("getMe") for server in (one, two)]
            done = await asyncio.to_thread(
                clawd, home, "channels", "restart", "telegram", "--account", "work"
            )
            assert done.returncode == 0, done.stdout
            await until(lambda: two.count("getMe") > met[1])
            assert one.count("getMe") == met[0]
            await two.down()
            await turn(one, models, "still?", "Still.")
            models.script.append(Say("Back."))
            two.world.say(ANNA, "and you?")
            await two.up()
            await answered(two, "Back.")
            assert [len(server.world.from_bot(ANNA)) for server in (one, two)] == [2, 2]


async def models_asked(models: ModelServer, count: int) -> None:
    async with asyncio.timeout(60):
        while models.served < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
