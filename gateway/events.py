"""Events of platforms as JSON, and back: what the journals hold of them."""

import logging
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import PurePath

from pydantic import TypeAdapter, ValidationError

from channels.message import ChatChanged, Edited, Inbound, InboundMessage, Pressed, Reaction
from sessions.messages import Json, JsonObject

logger = logging.getLogger("clawd.inbox")


class EventCodec:
    """Each event is `{"kind": …, "event": {…}}`, its fields as the dataclass names them."""

    def __init__(self) -> None:
        self._kinds: Mapping[str, TypeAdapter[Inbound]] = {
            "message": TypeAdapter(InboundMessage),
            "edited": TypeAdapter(Edited),
            "reaction": TypeAdapter(Reaction),
            "pressed": TypeAdapter(Pressed),
            "chat": TypeAdapter(ChatChanged),
        }

    def to_json(self, event: Inbound) -> JsonObject:
        return {"kind": kind_of(event), "event": plain_json(asdict(event))}

    def of_json(self, line: JsonObject) -> Inbound | None:
        """None, with a warning, for an event of another version that cannot be read any more."""
        adapter = self._kinds.get(str(line.get("kind")))
        if adapter is None:
            return None
        try:
            return adapter.validate_python(line.get("event"))
        except ValidationError as error:
            count = error.error_count()
            logger.warning("an accepted event of kind %s cannot be read (%d faults)", line.get("kind"), count)
            return None


def kind_of(event: Inbound) -> str:
    match event:
        case InboundMessage():
            return "message"
        case Edited():
            return "edited"
        case Reaction():
            return "reaction"
        case Pressed():
            return "pressed"
        case ChatChanged():
            return "chat"


def plain_json(fields: Mapping[str, object]) -> JsonObject:
    """The fields of a dataclass as JSON: times in ISO 8601, paths as text."""
    return {name: _plain(inner) for name, inner in fields.items()}


def _plain(value: object) -> Json:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case PurePath():
            return str(value)
        case tuple() | list():
            return [_plain(inner) for inner in value]
        case dict():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case _:
            raise TypeError(f"{type(value).__name__} is no part of an event")
