"""One visible end on its way to a chat, as a value and as a line of the outbox."""

from dataclasses import asdict, dataclass
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
    parts. A delivery that is `live` has nothing else yet: its turn is still under way.
    """

    key: str
    address: Address
    at: datetime
    parts: tuple[Part, ...] = ()
    reply_to: str | None = None
    sent: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    doubtful: bool = False
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


class DeliveryCodec:
    """A delivery is an object of its fields, times in ISO 8601."""

    def __init__(self) -> None:
        self._deliveries = TypeAdapter(Delivery)
        self._addresses = TypeAdapter(Address)

    def to_json(self, delivery: Delivery) -> JsonObject:
        return plain_json(asdict(delivery))

    def of_json(self, line: JsonObject) -> Delivery | None:
        """None for a line that holds no delivery."""
        try:
            return self._deliveries.validate_python({k: v for k, v in line.items() if k != "type"})
        except ValidationError:
            return None

    def address_json(self, address: Address) -> JsonObject:
        return plain_json(asdict(address))

    def address_of(self, stored: Json) -> Address | None:
        try:
            return self._addresses.validate_python(stored)
        except ValidationError:
            return None
