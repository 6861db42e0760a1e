"""The fake server refuses what the real one refuses."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.fakes.telegram import TOKEN, TelegramServer, telegram_server
from tests.fakes.telegram_world import ANNA, BEN, FORUM, GROUP, Json


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with telegram_server() as made:
        yield made


async def ask(server: TelegramServer, method: str, *, token: str = TOKEN, **form: object) -> Json:
    async with httpx.AsyncClient(verify=False, trust_env=False, timeout=30) as client:  # noqa: S501 (plain http)
        told = {k: v if isinstance(v, str) else json.dumps(v) for k, v in form.items()}
        answer = await client.post(f"{server.url}/bot{token}/{method}", data=told)
    answered: Json = answer.json()
    assert answered["ok"] is (answer.status_code == 200)
    return answered


@pytest.mark.parametrize(
    ("form", "said_by_it"),
    [
        ({"chat_id": ANNA, "text": "x" * 4097}, "message is too long"),
        ({"chat_id": ANNA, "text": " "}, "message text is empty"),
        ({"chat_id": ANNA, "text": "<b>x", "parse_mode": "HTML"}, "can't parse entities"),
        ({"chat_id": ANNA, "text": "x", "parse_mode": "Nonsense"}, "parse_mode"),
        ({"chat_id": 4711, "text": "x"}, "chat not found"),
        ({"chat_id": "@nobody", "text": "x"}, "chat not found"),
        ({"chat_id": BEN, "text": "x"}, "initiate conversation"),
        ({"chat_id": FORUM, "text": "x", "message_thread_id": 1}, "message thread not found"),
        ({"chat_id": FORUM, "text": "x", "message_thread_id": 7}, "message thread not found"),
        ({"chat_id": GROUP, "text": "x", "message_thread_id": 285}, "message thread not found"),
        ({"chat_id": ANNA, "text": "x", "reply_parameters": {"message_id": 9}}, "replied not found"),
    ],
)
async def test_what_cannot_be_sent(server: TelegramServer, form: Json, said_by_it: str) -> None:
    assert said_by_it in (await ask(server, "sendMessage", **form))["description"]
    assert server.world.from_bot(ANNA) == []


async def test_4096_signs_count_after_parsing(server: TelegramServer) -> None:
    text = "&amp;" * 4096
    assert (await ask(server, "sendMessage", chat_id=ANNA, text=text, parse_mode="HTML"))["ok"]
    assert server.world.from_bot(ANNA)[0].text == "&" * 4096


async def test_another_token_is_unauthorized(server: TelegramServer) -> None:
    assert (await ask(server, "getMe", token="1:x"))["error_code"] == 401
    assert (await ask(server, "getNothing"))["error_code"] == 404


async def test_an_offset_confirms_what_is_below_it(server: TelegramServer) -> None:
    for text in ("one", "two"):
        server.world.say(ANNA, text)
    first, second = (await ask(server, "getUpdates"))["result"]
    assert len((await ask(server, "getUpdates", limit=1))["result"]) == 1
    assert (await ask(server, "getUpdates", offset=second["update_id"]))["result"] == [second]
    assert (await ask(server, "getUpdates", offset=first["update_id"]))["result"] == [second]


async def test_of_two_pollers_the_first_is_sent_away(server: TelegramServer) -> None:
    first = asyncio.create_task(ask(server, "getUpdates", timeout=20))
    while server.polls < 1:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    second = asyncio.create_task(ask(server, "getUpdates", timeout=20))
    assert "terminated by other getUpdates" in (await first)["description"]
    server.world.say(ANNA, "hello")
    assert len((await second)["result"]) == 1


async def test_an_edit_without_a_change_is_refused(server: TelegramServer) -> None:
    sent = (await ask(server, "sendMessage", chat_id=ANNA, text="x"))["result"]
    told = {"chat_id": ANNA, "message_id": sent["message_id"]}
    assert "not modified" in (await ask(server, "editMessageText", text="x", **told))["description"]
    assert (await ask(server, "editMessageText", text="y", **told))["ok"]
    theirs = server.world.say(ANNA, "mine")
    refused = await ask(server, "editMessageText", chat_id=ANNA, message_id=theirs, text="z")
    assert "can't be edited" in refused["description"]


async def test_the_page_plays_the_people(server: TelegramServer) -> None:
    """They write, answer, attach, change, press, react and delete; the bot hears of all but the last."""
    world = server.world
    photo = {"name": "a.png", "data": "eA=="}
    async with httpx.AsyncClient(verify=False, trust_env=False, base_url=server.url) as client:  # noqa: S501

        async def post(path: str, **told: object) -> int:
            return (await client.post(path, json=told)).status_code

        assert "<title>Telegram for one</title>" in (await client.get("/")).text
        markup = {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}
        asked = (await ask(server, "sendMessage", chat_id=ANNA, text="Well?", reply_markup=markup))["result"]
        await post(
            "/say", chat=ANNA, text="look", kind="photo", files=[photo, photo], answers=asked["message_id"]
        )
        await post("/say", chat=FORUM, topic=285, text="in the garden", user=BEN)
        await post("/edit", chat=FORUM, id=1, text="in the *garden*")
        await post("/press", chat=ANNA, id=asked["message_id"], data="y")
        await post("/react", chat=ANNA, id=asked["message_id"], emoji="👍")
        assert await post("/delete", chat=ANNA, id=3) == 200
        assert await post("/delete", chat=ANNA, id=3) == await post("/nothing") == 404
        state = (await client.get("/state")).json()
        picture = await client.get(f"/media/{state['messages'][1]['file_id']}")
        assert (picture.content, picture.headers["content-type"]) == (b"x", "image/png")
    shown = [(one["who"], one["text"], one["file"], one["thread"]) for one in state["messages"]]
    assert shown == [
        ("Clawd", "Well?", "", None),
        ("Anna", "look", "photo", None),
        ("Ben", "in the *garden*", "", 285),
    ]
    assert state["messages"][0]["reactions"] == ["👍"]
    assert [next(iter(one.keys() - {"update_id"})) for one in world.updates] == [
        "message", "message", "message", "edited_message", "callback_query", "message_reaction"
    ]  # fmt: skip
    assert len({one["message"]["media_group_id"] for one in world.updates[:2]}) == 1
