"""The methods of the Bot API that a bot of ours uses, with the rules that its documentation states."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.fakes.telegram_html import CannotParse, parse, units
from tests.fakes.telegram_world import Chat, Json, World, shown_to_bots

Form: TypeAlias = Mapping[str, Any]
MAX_TEXT, MAX_CAPTION, MAX_BUTTON_BYTES, MAX_FETCH, MAX_ALBUM = 4096, 1024, 64, 20_000_000, 10
REACTIONS = frozenset("👍👎❤🔥🥰👏😁🤔🤯😱🤬😢🎉🤩🤮💩🙏👌🕊🤡🥱🥴😍🐳👀💯🤣⚡🏆💔😐✍🤝🫡🆒")


class ApiError(Exception):
    """An answer that is not ok."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


@dataclass(frozen=True, slots=True)
class Upload:
    name: str
    data: bytes


@dataclass(slots=True)
class Methods:
    """All but getUpdates and webhooks, which belong to the server."""

    world: World
    max_commands: int = 100
    calls: list[tuple[str, Json]] = field(default_factory=list)
    _albums: int = 0

    def call(self, method: str, form: Form) -> Any:  # noqa: ANN401 (a result of the API)
        found = getattr(self, f"do_{method.lower()}", None)
        if found is None:
            raise ApiError(404, "Not Found: method not found")
        return found(form)

    def do_getme(self, form: Form) -> Json:
        return self.world.bot

    def do_getchat(self, form: Form) -> Json:
        return self._found(form).to_full_json()

    def do_getchatmember(self, form: Form) -> Json:
        chat = self._found(form)
        if int(form["user_id"]) != self.world.bot["id"]:
            raise ApiError(400, "Bad Request: user not found")
        return self.world.standing(chat.bot)

    def do_sendmessage(self, form: Form) -> Json:
        chat = self._chat(form)
        text, entities = _read(str(form.get("text", "")), form, "entities", MAX_TEXT, "message is too long")
        return self._put(chat, form, text=text, entities=entities)

    def do_sendphoto(self, form: Form) -> Json:
        return self._file(form, "photo")

    def do_senddocument(self, form: Form) -> Json:
        return self._file(form, "document")

    def do_sendvoice(self, form: Form) -> Json:
        if self._chat(form).voice_forbidden:
            raise ApiError(400, "Bad Request: VOICE_MESSAGES_FORBIDDEN")
        return self._file(form, "voice")

    def do_sendaudio(self, form: Form) -> Json:
        return self._file(form, "audio")

    def do_sendvideo(self, form: Form) -> Json:
        return self._file(form, "video")

    def do_sendanimation(self, form: Form) -> Json:
        return self._file(form, "animation")

    def do_sendmediagroup(self, form: Form) -> list[Json]:
        """Told apart first, so that all of it arrives or nothing."""
        items = json.loads(str(form.get("media", "[]")))
        if not 2 <= len(items) <= MAX_ALBUM:
            raise ApiError(400, "Bad Request: wrong number of media in the group")
        kinds = {one["type"] for one in items}
        if not kinds <= {"photo", "video", "audio", "document"}:
            raise ApiError(400, "Bad Request: type of the media can't be used in an album")
        if len(kinds) > 1 and kinds != {"photo", "video"}:
            raise ApiError(400, "Bad Request: document can't be mixed with other media types")
        if form.get("reply_markup"):
            raise ApiError(400, "Bad Request: an album has no buttons")
        chat = self._chat(form)
        told = [self._content(self._of_album(form, one), one["type"]) for one in items]
        self._albums += 1
        named = f"album{self._albums}"
        return [self._put(chat, form, media_group_id=named, **content) for content in told]

    def _of_album(self, form: Form, item: Json) -> Form:
        """One of an album's files, as if it were sent alone."""
        upload = form.get(str(item["media"]).removeprefix("attach://"))
        said = {key: item[key] for key in ("caption", "parse_mode") if key in item}
        return {item["type"]: upload, **said}

    def do_editmessagetext(self, form: Form) -> Json:
        message = self._own(form, "edit")
        if "text" not in message:
            raise ApiError(400, "Bad Request: there is no text in the message to edit")
        text, entities = _read(str(form.get("text", "")), form, "entities", MAX_TEXT, "message is too long")
        return self._change(message, form, text=text, entities=entities)

    def do_editmessagecaption(self, form: Form) -> Json:
        message = self._own(form, "edit")
        caption, entities = _read(
            str(form.get("caption", "")), form, "caption_entities", MAX_CAPTION, "message caption is too long"
        )
        return self._change(message, form, caption=caption, caption_entities=entities)

    def do_deletemessage(self, form: Form) -> bool:
        message = self._own(form, "delete")
        del self.world.chats[message["chat"]["id"]].messages[message["message_id"]]
        self.world.happened()
        return True

    def do_setmessagereaction(self, form: Form) -> bool:
        chat = self._chat(form)
        message = chat.messages.get(int(form["message_id"]))
        if message is None:
            raise ApiError(400, "Bad Request: message to react not found")
        emojis = [one["emoji"] for one in json.loads(form.get("reaction") or "[]")]
        if len(emojis) > 1 or not set(emojis) <= REACTIONS:
            raise ApiError(400, "Bad Request: REACTION_INVALID")
        message.setdefault("_reactions", {})[self.world.bot["id"]] = emojis
        self.world.happened()
        return True

    def do_sendchataction(self, form: Form) -> bool:
        chat = self._chat(form)
        thread = _number(form.get("message_thread_id"))
        if thread is not None and thread not in chat.topics:
            raise ApiError(400, "Bad Request: message thread not found")
        chat.typing.append(thread)
        self.world.happened()
        return True

    def do_answercallbackquery(self, form: Form) -> bool:
        self.world.answered.append(str(form["callback_query_id"]))
        self.world.happened()
        return True

    def do_setmycommands(self, form: Form) -> bool:
        commands = json.loads(form["commands"])
        if len(commands) > self.max_commands:
            raise ApiError(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
        for one in commands:
            if not re.fullmatch(r"[a-z0-9_]{1,32}", one["command"]):
                raise ApiError(400, "Bad Request: BOT_COMMAND_INVALID")
            if not 1 <= len(one["description"]) <= 256:
                raise ApiError(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
        self.world.commands = commands
        self.world.happened()
        return True

    def do_deletemycommands(self, form: Form) -> bool:
        self.world.commands = []
        return True

    def do_getfile(self, form: Form) -> Json:
        file_id = str(form["file_id"])
        if file_id not in self.world.files:
            raise ApiError(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
        path, data = self.world.files[file_id]
        if len(data) > MAX_FETCH:
            raise ApiError(400, "Bad Request: file is too big")
        return {
            "file_id": file_id,
            "file_unique_id": f"u-{file_id}",
            "file_size": len(data),
            "file_path": path,
        }

    def _file(self, form: Form, kind: str) -> Json:
        return self._put(self._chat(form), form, **self._content(form, kind))

    def _content(self, form: Form, kind: str) -> Json:
        upload = form.get(kind)
        if not isinstance(upload, Upload):
            raise ApiError(400, f"Bad Request: there is no {kind} in the request")
        if not upload.data:
            raise ApiError(400, "Bad Request: file must be non-empty")
        if kind == "photo" and (len(upload.data) > 10_000_000 or upload.data.startswith(b"wide")):
            raise ApiError(400, "Bad Request: PHOTO_INVALID_DIMENSIONS")
        told = self.world.file(upload.data, f"{kind}s/{upload.name}")
        more: Json = {"file_name": upload.name}
        if kind in ("video", "animation"):
            more |= {"width": 1, "height": 1}
        if kind in ("video", "animation", "voice", "audio"):
            more |= {"duration": 1}
        file: Any = [told | {"width": 9, "height": 9}] if kind == "photo" else told | more
        said: Json = {}
        if form.get("caption"):
            caption, entities = _read(
                str(form["caption"]), form, "caption_entities", MAX_CAPTION, "message caption is too long"
            )
            said = {"caption": caption, "caption_entities": entities}
        return {kind: file, **said}

    def _put(self, chat: Chat, form: Form, **content: Any) -> Json:  # noqa: ANN401
        thread = _number(form.get("message_thread_id"))
        if thread is not None and (thread not in chat.topics or (chat.forum and thread == 1)):
            raise ApiError(400, "Bad Request: message thread not found")
        if thread is None and chat.forum:
            thread = 1
        if thread in chat.closed and chat.bot != "administrator":
            raise ApiError(400, "Bad Request: TOPIC_CLOSED")
        answers = self._answered(chat, form)
        markup = _keyboard(form)
        content |= {"reply_markup": markup} if markup else {}
        message = self.world.put(chat, thread=thread, answers=answers, **content)
        message["_silent"] = form.get("disable_notification") == "true"
        message["_preview"] = '"is_disabled": true' not in str(form.get("link_preview_options", ""))
        return shown_to_bots(message)

    def _answered(self, chat: Chat, form: Form) -> int | None:
        if not form.get("reply_parameters"):
            return None
        told = json.loads(form["reply_parameters"])
        if told["message_id"] in chat.messages:
            return int(told["message_id"])
        if told.get("allow_sending_without_reply"):
            return None
        raise ApiError(400, "Bad Request: message to be replied not found")

    def _change(self, message: Json, form: Form, **content: Any) -> Json:  # noqa: ANN401
        markup = _keyboard(form)
        if markup == message.get("reply_markup") and all(
            message.get(key, []) == value for key, value in content.items()
        ):
            raise ApiError(
                400,
                "Bad Request: message is not modified: specified new message content and reply markup are "
                "exactly the same as a current content and reply markup of the message",
            )
        message.pop("reply_markup", None)
        message.update(content | ({"reply_markup": markup} if markup else {}), edit_date=self.world.time)
        self.world.happened()
        return shown_to_bots(message)

    def _found(self, form: Form) -> Chat:
        """The chat, whatever may be done in it."""
        given = str(form.get("chat_id", ""))
        chat = self.world.chats.get(int(given)) if re.fullmatch(r"-?\d+", given) else None
        if chat is None:
            raise ApiError(400, "Bad Request: chat not found")
        if chat.moved_to is not None:
            raise ApiError(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=chat.moved_to,
            )
        return chat

    def _chat(self, form: Form) -> Chat:
        """The chat, if the bot may write there."""
        chat = self._found(form)
        if chat.type == "private":
            if not chat.started:
                raise ApiError(403, "Forbidden: bot can't initiate conversation with a user")
            if chat.bot == "kicked":
                raise ApiError(403, "Forbidden: bot was blocked by the user")
        elif chat.bot == "kicked":
            raise ApiError(403, "Forbidden: bot was kicked from the supergroup chat")
        elif chat.bot == "left":
            raise ApiError(403, "Forbidden: bot is not a member of the supergroup chat")
        elif chat.bot == "restricted" or (chat.bot == "member" and "can_send_messages" in chat.denied):
            raise ApiError(400, "Bad Request: not enough rights to send text messages to the chat")
        return chat

    def _own(self, form: Form, verb: str) -> Json:
        message = self._chat(form).messages.get(int(form["message_id"]))
        if message is None:
            raise ApiError(400, f"Bad Request: message to {verb} not found")
        if message["from"]["id"] != self.world.bot["id"]:
            raise ApiError(400, f"Bad Request: message can't be {verb}ed".replace("deleteed", "deleted"))
        return message


def _read(text: str, form: Form, named: str, longest: int, too_long: str) -> tuple[str, list[Json]]:
    if form.get("parse_mode") == "HTML":
        try:
            shown, found = parse(text)
        except CannotParse as error:
            raise ApiError(400, f"Bad Request: {error}") from error
        entities = [
            {"type": one.type, "offset": one.offset, "length": one.length}
            | ({"url": one.url} if one.url else {})
            | ({"language": one.language} if one.language else {})
            for one in found
        ]
    elif "parse_mode" in form:
        raise ApiError(400, "Bad Request: unsupported parse_mode")
    else:
        shown, entities = text, json.loads(form.get(named) or "[]")
    if not shown.strip():
        raise ApiError(400, "Bad Request: message text is empty")
    if units(shown) > longest:
        raise ApiError(400, f"Bad Request: {too_long}")
    return shown, entities


def _keyboard(form: Form) -> Json | None:
    if not form.get("reply_markup"):
        return None
    markup: Json = json.loads(form["reply_markup"])
    for row in markup["inline_keyboard"]:
        for one in row:
            if not 1 <= len(one.get("callback_data", "").encode()) <= MAX_BUTTON_BYTES:
                raise ApiError(400, "Bad Request: BUTTON_DATA_INVALID")
            if not one["text"].strip():
                raise ApiError(400, "Bad Request: text buttons can't be empty")
    return markup if markup["inline_keyboard"] else None


def _number(value: object) -> int | None:
    return None if value in (None, "") else int(str(value))
