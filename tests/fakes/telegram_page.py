"""The human side of the fake: a page with chats to write, press, react and attach in, and its small API."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

from tests.fakes.http_wire import Answer, HttpRequest
from tests.fakes.telegram_world import BEN, Chat, World

PAGE = Path(__file__).with_name("telegram.html")


async def page_answer(world: World, request: HttpRequest, answer: Answer) -> None:
    told = json.loads(request.body) if request.body else {}
    match request.method, request.path:
        case "GET", "/":
            page = await asyncio.to_thread(PAGE.read_bytes)
            await answer.send(200, page, "text/html; charset=utf-8")
        case "GET", "/state":
            await answer.send(200, json.dumps(state(world)).encode(), "application/json")
        case "POST", "/say":
            said(world, told)
            await answer.send(200, b"{}", "application/json")
        case "POST", "/press":
            world.press(told["chat"], told["id"], told["data"])
            await answer.send(200, b"{}", "application/json")
        case "POST", "/react":
            world.react(told["chat"], told["id"], told["emoji"])
            await answer.send(200, b"{}", "application/json")
        case _:
            await answer.send(404, b"not found", "text/plain")


def said(world: World, told: dict[str, object]) -> int:
    """A person writes, with or without a file."""
    chat = int(str(told["chat"]))
    topic = told.get("topic")
    more: dict[str, Any] = {}
    if told.get("file"):
        data = base64.b64decode(str(told["file"]))
        kind, name = str(told["kind"]), str(told["name"])
        file = world.file(data, f"{kind}s/{name}")
        more[kind] = {
            "photo": [file | {"width": 900, "height": 600}],
            "document": file | {"file_name": name},
            "voice": file | {"duration": 3, "mime_type": "audio/ogg"},
        }[kind]
    thread = int(str(topic)) if topic is not None else None
    user = BEN if chat == BEN else next(iter(world.users))
    world.chats[chat].started = True
    return world.say(chat, str(told.get("text") or ""), user=user, thread=thread, **more)


def state(world: World) -> dict[str, object]:
    chats = [
        {"id": chat.id, "title": f"{chat.title} / {name}" if name else chat.title, "topic": topic}
        for chat in world.chats.values()
        for topic, name in _topics(chat)
    ]
    messages = [
        {
            "chat": chat.id,
            "id": one.id,
            "who": one.who,
            "bot": one.who == world.bot["first_name"],
            "text": one.text,
            "thread": one.thread,
            "file": one.file,
            "edited": one.edited,
            "answers": one.answers,
            "reactions": one.reactions,
            "buttons": [
                [{"text": b["text"], "data": b["callback_data"]} for b in row]
                for row in chat.messages[one.id].get("reply_markup", {}).get("inline_keyboard", [])
            ],
        }
        for chat in world.chats.values()
        for one in world.screen(chat.id)
    ]
    return {"chats": chats, "messages": messages}


def _topics(chat: Chat) -> list[tuple[int | None, str]]:
    return [*chat.topics.items()] or [(None, "")]
