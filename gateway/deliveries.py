"""One visible end on its way to a chat, as a value and as a line of the outbox."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from channels.message import Address, Choice, OutboundFile
from gateway.events import plain_json
from sessions.messages import Json, JsonObject

State: TypeAlias = Literal["live", "waiting", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One message: `text` in the channel's markup, `plain` without any; `files` go with it."""

    text: str
    plain: str = ""
    files: tuple[OutboundFile, ...] = ()
    choices: tuple[tuple[Choice, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One visible end, in parts. `sent` are the platform's ids of those that arrived, in order (empty for
    one of which that is unknown); `doubtful` says that sending the next one had begun.

    `shown` are the ids of messages that already stand in the chat (the live view), which become the first
    parts. The turn of a delivery that is `live` is still under way: its parts are the blocks that are ready.
    `said` is what these have told of the text that the model is saying; of one that it has ended, nothing.
    """

    key: str
    address: Address
    at: datetime
    parts: tuple[Part, ...] = ()
    reply_to: str | None = None
    sent: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    doubtful: bool = False
    said: str = ""
    state: State = "waiting"
    why: str = ""

    @property
    def editable(self) -> int:
        """How many of the messages that stand in the chat become parts: no text can become a file."""
        texts = sum(1 for _ in takewhile(lambda part: not part.files, self.parts))
        return min(texts, len(self.shown))

    @property
    def whole(self) -> bool:
        return len(self.sent) >= len(self.parts)

    @property
    def in_blocks(self) -> bool:
        """Whether some of it was made ready before its turn had ended."""
        return bool(self.parts or self.said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """How a live delivery grows: by `parts`, which tell `said` of what the model says. With `anew` it has
    begun to say it again; with `closes` it has said all of it."""

    parts: tuple[Part, ...] = ()
    said: str = ""
    anew: bool = False
    closes: bool = False

    def of(self, delivery: Delivery) -> Delivery:
        said = "" if self.closes else self.said if self.anew else delivery.said + self.said
        return replace(delivery, parts=(*delivery.parts, *self.parts), said=said)


class DeliveryCodec:
    """A delivery is an object of its fields, times in ISO 8601."""

    def __init__(self) -> None:
        self._deliveries = TypeAdapter(Delivery)
        self._addresses = TypeAdapter(Address)
        self._grown = TypeAdapter(Grown)

    def to_json(self, delivery: Delivery) -> JsonObject:
        return plain_json(asdict(delivery))

    def of_json(self, line: JsonObject) -> Delivery | None:
        """None for a line that holds no delivery."""
        try:
            return self._deliveries.validate_python({k: v for k, v in line.items() if k != "type"})
        except ValidationError:
            return None

    def grown_json(self, grown: Grown) -> JsonObject:
        return plain_json(asdict(grown))

    def grown_of(self, line: JsonObject) -> Grown | None:
        try:
            return self._grown.validate_python({k: v for k, v in line.items() if k not in ("type", "key")})
        except ValidationError:
            return None

    def address_json(self, address: Address) -> JsonObject:
        return plain_json(asdict(address))

    def address_of(self, stored: Json) -> Address | None:
        try:
            return self._addresses.validate_python(stored)
        except ValidationError:
            return None
