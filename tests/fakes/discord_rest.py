"""The REST API of a fake Discord: its limits and its refusals, with the codes of the real one."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.discord_world import (
    BOT_ID,
    FORUM_CHANNEL,
    GUILD,
    PUBLIC_THREAD,
    Json,
    World,
)

MAX_TEXT, MAX_FILES = 2_000, 10
EPHEMERAL, SUPPRESS_EMBEDS = 1 << 6, 1 << 2


class Refused(Exception):
    """An answer other than 2xx: the status, Discord's code, its words."""

    def __init__(self, status: int, code: int, text: str, **more: float) -> None:
        super().__init__(text)
        self.status = status
        self.told: Json = {"message": text, "code": code, **more}


@dataclass(slots=True)
class Request:
    """`files` are parts of a multipart body: name and bytes."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    files: list[tuple[str, bytes]] = field(default_factory=list)


Route = tuple[str, "re.Pattern[str]", Callable[..., Any]]


class Rest:
    """`nonces` are those that were used, with what they made."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.nonces: dict[tuple[int, str], Json] = {}
        self._routes: list[Route] = [
            (method, re.compile(pattern), work)
            for method, pattern, work in (
                ("GET", r"/users/@me", self.me),
                ("GET", r"(?:/oauth2)?/applications/@me", self.application),
                ("POST", r"/users/@me/channels", self.open_dm),
                ("GET", r"/channels/(\d+)", self.channel),
                ("GET", r"/channels/(\d+)/messages", self.history),
                ("POST", r"/channels/(\d+)/messages", self.send),
                ("GET", r"/channels/(\d+)/messages/(\d+)", self.one),
                ("PATCH", r"/channels/(\d+)/messages/(\d+)", self.edit),
                ("DELETE", r"/channels/(\d+)/messages/(\d+)", self.delete),
                ("PUT", r"/channels/(\d+)/messages/(\d+)/reactions/([^/]+)/@me", self.react),
                ("DELETE", r"/channels/(\d+)/messages/(\d+)/reactions/([^/]+)/@me", self.unreact),
                ("POST", r"/channels/(\d+)/typing", self.typing),
                ("POST", r"/channels/(\d+)/messages/(\d+)/threads", self.thread),
                ("POST", r"/channels/(\d+)/threads", self.post),
                ("PUT", r"/applications/(\d+)/commands", self.register),
                ("POST", r"/interactions/(\d+)/([^/]+)/callback", self.callback),
                ("POST", r"/webhooks/(\d+)/([^/]+)", self.follow),
                ("PATCH", r"/webhooks/(\d+)/([^/]+)/messages/([^/]+)", self.change_answer),
                ("DELETE", r"/webhooks/(\d+)/([^/]+)/messages/([^/]+)", self.drop_answer),
            )
        ]

    def call(self, request: Request) -> Any:  # noqa: ANN401
        for method, pattern, work in self._routes:
            found = pattern.fullmatch(request.path)
            if found and method == request.method:
                return work(request, *found.groups())
        raise Refused(404, 0, f"404: Not Found ({request.method} {request.path})")

    # who and where

    def me(self, _: Request) -> Json:
        return self.world.users[BOT_ID]

    def application(self, _: Request) -> Json:
        bits = {"presences": 1 << 13, "members": 1 << 15, "message_content": 1 << 19}
        flags = sum(bit for name, bit in bits.items() if name in self.world.portal)
        return {
            "id": str(BOT_ID),
            "name": "clawd",
            "icon": None,
            "description": "",
            "summary": "",
            "bot_public": True,
            "bot_require_code_grant": False,
            "verify_key": "",
            "flags": flags,
            "owner": self.world.users[101],
            "team": None,
            "rpc_origins": [],
        }

    def open_dm(self, request: Request) -> Json:
        person = int(request.body["recipient_id"])
        if person not in self.world.users:
            raise Refused(400, 50033, "Invalid Recipient(s)")
        return self.world.channels[self.world.dm(person)]

    def channel(self, _: Request, chat: str) -> Json:
        return self._channel(int(chat))

    def _channel(self, chat: int, *rights: str) -> Json:
        found = self.world.channels.get(chat)
        if found is None:
            raise Refused(404, 10003, "Unknown Channel")
        denied = self.world.denied.get(chat, set()) | self.world.denied.get(
            int(found.get("parent_id") or 0), set()
        )
        if (not self.world.in_guild and "guild_id" in found) or "view_channel" in denied:
            raise Refused(403, 50001, "Missing Access")
        if denied & set(rights):
            raise Refused(403, 50013, "Missing Permissions")
        return found

    def _message(self, chat: int, number: int) -> Json:
        self._channel(chat)
        found = self.world.messages.get(chat, {}).get(number)
        if found is None:
            raise Refused(404, 10008, "Unknown Message")
        return found

    # messages

    def history(self, request: Request, chat: str) -> list[Json]:
        self._channel(int(chat))
        limit = int(request.query.get("limit", 50))
        before = int(request.query.get("before", 1 << 63))
        after = int(request.query.get("after", 0))
        found = [
            one for one in self.world.messages.get(int(chat), {}).values() if after < int(one["id"]) < before
        ]
        found.sort(key=lambda one: -int(one["id"]))
        return found[-limit:] if "after" in request.query else found[:limit]

    def one(self, _: Request, chat: str, number: str) -> Json:
        return self._message(int(chat), int(number))

    def send(self, request: Request, chat: str) -> Json:
        channel = self._channel(int(chat), "send_messages")
        if channel["type"] == FORUM_CHANNEL:
            raise Refused(400, 50008, "Cannot send messages in a non-text channel")
        if channel["type"] == 1 and int(channel["recipients"][0]["id"]) in self.world.dms_closed:
            raise Refused(403, 50007, "Cannot send messages to this user")
        body = request.body
        nonce = str(body.get("nonce") or "")
        known = self.nonces.get((int(chat), nonce)) if body.get("enforce_nonce") else None
        if known is not None:
            return known
        made = self._made(int(chat), body, request.files)
        self._refer(made, int(chat), body)
        if body.get("enforce_nonce"):
            if not nonce or len(nonce) > 25:
                raise Refused(400, 50035, "Invalid Form Body: nonce")
            self.nonces[int(chat), nonce] = made
        self.world.emit("MESSAGE_CREATE", self.world.told(made))
        return made

    def _refer(self, made: Json, chat: int, body: Json) -> None:
        reference = body.get("message_reference")
        if not reference:
            return
        there = int(reference["message_id"]) in self.world.messages.get(chat, {})
        if not there and reference.get("fail_if_not_exists", True):
            raise Refused(400, 50035, "Invalid Form Body: Unknown message")
        if there:
            made |= {"type": 19, "message_reference": reference}

    def _made(self, chat: int, body: Json, files: list[tuple[str, bytes]]) -> Json:
        self._check(body, files)
        told = [self.world.attachment(chat, name, data, "application/octet-stream") for name, data in files]
        return self.world.message(
            chat,
            BOT_ID,
            body.get("content") or "",
            attachments=told,
            components=body.get("components") or [],
            flags=body.get("flags") or 0,
            allowed=body.get("allowed_mentions"),
        )

    def _check(self, body: Json, files: list[tuple[str, bytes]]) -> None:
        text = body.get("content") or ""
        if len(text.encode("utf-16-le")) // 2 > MAX_TEXT:
            raise Refused(400, 50035, "Invalid Form Body: content: Must be 2000 or fewer in length.")
        if not text.strip() and not files:
            raise Refused(400, 50006, "Cannot send an empty message")
        if len(files) > MAX_FILES:
            raise Refused(400, 50035, "Invalid Form Body: files")
        if sum(len(data) for _, data in files) > 10_485_760:
            raise Refused(413, 40005, "Request entity too large")
        rows = body.get("components") or []
        if len(rows) > 5 or any(len(row["components"]) > 5 for row in rows):
            raise Refused(400, 50035, "Invalid Form Body: components")
        ids = [one["custom_id"] for row in rows for one in row["components"]]
        if len(set(ids)) < len(ids) or any(len(one) > 100 for one in ids):
            raise Refused(400, 50035, "Invalid Form Body: components: custom id cannot be duplicated")

    def edit(self, request: Request, chat: str, number: str) -> Json:
        found = self._message(int(chat), int(number))
        if found["author"]["id"] != str(BOT_ID):
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        self._change(found, request)
        self.world.emit("MESSAGE_UPDATE", self.world.told(found))
        return found

    def _change(self, found: Json, request: Request) -> None:
        body = request.body
        self._check(body | {"content": body.get("content") or found["content"]}, request.files)
        for name in ("content", "components"):
            if name in body:
                found[name] = body[name] or ("" if name == "content" else [])
        if request.files:
            chat = int(found["channel_id"])
            found["attachments"] = [
                self.world.attachment(chat, name, data, "x/y") for name, data in request.files
            ]
        found["edited_timestamp"] = self.world.now.isoformat()
        self.world.happened()

    def delete(self, _: Request, chat: str, number: str) -> None:
        self._message(int(chat), int(number))
        del self.world.messages[int(chat)][int(number)]
        self.world.happened()

    def react(self, _: Request, chat: str, number: str, emoji: str) -> None:
        self._channel(int(chat), "add_reactions")
        self._message(int(chat), int(number))
        self.world.reactions.setdefault(int(number), set()).add((BOT_ID, emoji))
        self.world.happened()

    def unreact(self, _: Request, chat: str, number: str, emoji: str) -> None:
        self._message(int(chat), int(number))
        self.world.reactions.get(int(number), set()).discard((BOT_ID, emoji))
        self.world.happened()

    def typing(self, _: Request, chat: str) -> None:
        self._channel(int(chat), "send_messages")
        self.world.typed.append(int(chat))
        self.world.happened()

    # threads

    def thread(self, request: Request, chat: str, number: str) -> Json:
        self._channel(int(chat), "create_public_threads")
        self._message(int(chat), int(number))
        if int(number) in self.world.channels:
            raise Refused(400, 160004, "A thread has already been created for this message")
        return self._threaded(int(chat), int(number), request.body["name"])

    def _threaded(self, parent: int, number: int, name: str) -> Json:
        if not 1 <= len(name.encode("utf-16-le")) // 2 <= 100:
            raise Refused(400, 50035, "Invalid Form Body: name: Must be between 1 and 100 in length.")
        made = self.world.channel(number, PUBLIC_THREAD, name=name, parent=parent)
        self.world.emit("THREAD_CREATE", made | {"newly_created": True})
        self.world.happened()
        return made

    def post(self, request: Request, chat: str) -> Json:
        """In a forum."""
        self._channel(int(chat), "send_messages")
        self._check(request.body["message"], request.files)
        made = self._threaded(int(chat), self.world.new_id(), request.body["name"])
        first = self.world.message(
            int(made["id"]), BOT_ID, request.body["message"].get("content") or "", id=int(made["id"])
        )
        return made | {"message": first}

    # commands

    def register(self, request: Request, _: str) -> list[Json]:
        if len(request.body) > 100:
            raise Refused(400, 30032, "Maximum number of application commands reached (100)")
        self.world.commands = [one | {"id": str(self.world.new_id())} for one in request.body]
        self.world.happened()
        return self.world.commands

    def callback(self, request: Request, number: str, token: str) -> Json:
        kept = self.world.interactions.get(token)
        if kept is None or asyncio.get_running_loop().time() - kept["at"] > self.world.patience:
            raise Refused(404, 10062, "Unknown interaction")
        if kept["ack"] is not None:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        kept["ack"] = request.body
        self.world.happened()
        return {"interaction": {"id": number, "type": kept["type"], "response_message_loading": True}}

    def _kept(self, token: str) -> Json:
        kept = self.world.interactions.get(token)
        if kept is None or kept["ack"] is None:
            raise Refused(404, 10015, "Unknown Webhook")
        return kept

    def _said(self, kept: Json, body: Json, files: list[tuple[str, bytes]], number: int) -> Json:
        self._check(body, files)
        flags = (body.get("flags") or 0) | (kept["ack"].get("data", {}).get("flags") or 0)
        made = self.world.message(kept["chat"], BOT_ID, body.get("content") or "", flags=flags, id=number)
        told = [self.world.attachment(kept["chat"], name, data, "x/y") for name, data in files]
        made |= {"webhook_id": str(BOT_ID), "application_id": str(BOT_ID), "attachments": told}
        made["components"] = body.get("components") or []
        del self.world.messages[kept["chat"]][number]  # it is not found as others are
        kept["messages"][number] = made
        self.world.happened()
        return made

    def follow(self, request: Request, _: str, token: str) -> Json:
        kept = self._kept(token)
        return self._said(kept, request.body, request.files, self.world.new_id())

    def change_answer(self, request: Request, _: str, token: str, which: str) -> Json:
        kept = self._kept(token)
        if which == "@original" and "original" not in kept:
            kept["original"] = self.world.new_id()
            return self._said(kept, request.body, request.files, kept["original"])
        number = kept["original"] if which == "@original" else int(which)
        if number not in kept["messages"]:
            raise Refused(404, 10008, "Unknown Message")
        self._change(kept["messages"][number], request)
        answer: Json = kept["messages"][number]
        return answer

    def drop_answer(self, _: Request, __: str, token: str, which: str) -> None:
        kept = self._kept(token)
        number = kept.get("original", 0) if which == "@original" else int(which)
        if kept["messages"].pop(number, None) is None:
            raise Refused(404, 10008, "Unknown Message")
        self.world.happened()


def decoded(raw: bytes) -> Any:  # noqa: ANN401
    return json.loads(raw) if raw else {}


__all__ = ["EPHEMERAL", "GUILD", "SUPPRESS_EMBEDS", "Refused", "Request", "Rest", "decoded"]
