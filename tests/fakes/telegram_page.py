"""The human side of the fake: a page with chats to write, press, react and attach in, and its small API."""

import asyncio
import base64
import json
import mimetypes
from pathlib import Path
from typing import Any

from tests.fakes.http_wire import Answer, HttpRequest
from tests.fakes.telegram_world import BEN, Chat, Json, World

PAGE = Path(__file__).with_name("telegram.html")
_SERVICE = {
    "forum_topic_closed": "the topic was closed",
    "forum_topic_reopened": "the topic was opened again",
    "migrate_to_chat_id": "the group became a supergroup",
    "migrate_from_chat_id": "the group became a supergroup",
}
_FILES = ("photo", "document", "voice", "audio", "video", "animation", "sticker")


async def page_answer(world: World, request: HttpRequest, answer: Answer) -> None:
    if request.method == "POST":
        try:
            _do(world, request.path, json.loads(request.body))
        except KeyError:  # what is pressed or changed may be gone by now
            await answer.send(404, b"not found", "text/plain")
        else:
            await answer.send(200, b"{}", "application/json")
    elif request.path == "/":
        page = await asyncio.to_thread(PAGE.read_bytes)
        await answer.send(200, page, "text/html; charset=utf-8")
    elif request.path == "/state":
        await answer.send(200, json.dumps(state(world)).encode(), "application/json")
    elif request.path.startswith("/media/") and (file := world.files.get(request.path.split("/")[2])):
        kind = mimetypes.guess_type(file[0])[0] or ""
        shown = kind.startswith(("image/", "audio/", "video/"))
        await answer.send(200, file[1], kind if shown else "application/octet-stream")
    else:
        await answer.send(404, b"not found", "text/plain")


def _do(world: World, path: str, told: Json) -> None:
    """Raises KeyError."""
    user = int(told.get("user") or next(iter(world.users)))
    match path:
        case "/say":
            said(world, told)
        case "/press":
            world.press(told["chat"], told["id"], told["data"], user=user)
        case "/react":
            world.react(told["chat"], told["id"], *filter(None, [told["emoji"]]), user=user)
        case "/edit":
            world.change(told["chat"], told["id"], told["text"])
        case "/delete":
            world.take_away(told["chat"], told["id"])
        case _:
            raise KeyError(path)


def said(world: World, told: Json) -> list[int]:
    """A person writes, with or without files; several pictures are an album."""
    chat, topic = int(told["chat"]), told.get("topic")
    user = BEN if chat == BEN else world.users[told["user"]]["id"] if told.get("user") else None
    more: Json = {"thread": None if topic is None else int(topic), "answers": told.get("answers")}
    more["user"] = user or next(iter(world.users))
    files, text = told.get("files") or [], str(told.get("text") or "")
    world.chats[chat].started = True
    if not files:
        return [world.say(chat, text, **more)]
    if len(files) > 1:
        more["media_group_id"] = f"page{world.chats[chat].last}"
    kind = str(told["kind"])
    return [
        world.say(chat, "" if number else text, **more, **_attached(world, kind, file))
        for number, file in enumerate(files)
    ]


def _attached(world: World, kind: str, told: Json) -> dict[str, Any]:
    file = world.file(base64.b64decode(told["data"]), f"{kind}s/{told['name']}")
    shapes: dict[str, Any] = {
        "photo": [file | {"width": 900, "height": 600}],
        "document": file | {"file_name": told["name"]},
        "voice": file | {"duration": 3, "mime_type": "audio/ogg"},
    }
    return {kind: shapes[kind]}


def state(world: World) -> Json:
    chats = [
        {
            "id": chat.id,
            "title": f"{chat.title} / {name}" if name else chat.title,
            "topic": topic,
            "typing": sum(one in (topic, None) for one in chat.typing),
        }
        for chat in world.chats.values()
        for topic, name in _topics(chat)
    ]
    messages = [
        _message(world, chat, message) for chat in world.chats.values() for message in chat.messages.values()
    ]
    users = [{"id": one["id"], "name": one["first_name"]} for one in world.users.values()]
    return {"chats": chats, "messages": messages, "users": users}


def _message(world: World, chat: Chat, message: Json) -> Json:
    file = next((kind for kind in _FILES if kind in message), "")
    told = message[file][-1] if file == "photo" else message.get(file, {})
    file_id = told.get("file_id", "")
    path = world.files[file_id][0] if file_id in world.files else ""
    answered = message.get("reply_to_message")
    return {
        "chat": chat.id,
        "id": message["message_id"],
        "who": message["from"]["first_name"],
        "user": message["from"]["id"],
        "bot": message["from"]["is_bot"],
        "text": message.get("text") or message.get("caption") or "",
        "entities": message.get("entities") or message.get("caption_entities") or [],
        "thread": message.get("message_thread_id"),
        "file": file,
        "file_id": file_id,
        "file_name": told.get("file_name") or path.rpartition("/")[2],
        "album": message.get("media_group_id", ""),
        "edited": "edit_date" in message,
        "answers": answered["message_id"] if answered else None,
        "service": next((text for key, text in _SERVICE.items() if key in message), ""),
        "reactions": [one for given in message.get("_reactions", {}).values() for one in given],
        "buttons": [
            [{"text": one["text"], "data": one["callback_data"]} for one in row]
            for row in message.get("reply_markup", {}).get("inline_keyboard", [])
        ],
    }


def _topics(chat: Chat) -> list[tuple[int | None, str]]:
    return [*chat.topics.items()] or [(None, "")]
