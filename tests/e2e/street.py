"""A platform of our own on loopback: it tells an event until it is acknowledged, and shows what it is sent.

One JSON object a line, both ways. Server to channel: `event` (with a number, told again to every new
connection until acknowledged), `answer`. Channel to server: `ack`, `send`, `edit`, `delete`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Shown:
    """A message that stands in a chat. `key` without its live mark."""

    id: str
    key: str
    part: int
    chat: str
    text: str
    live: bool


@dataclass(slots=True)
class StreetServer:
    """`on_change` is called for each line that arrives; the event of a key in `awaited` is set when its first
    message does."""

    events: dict[int, dict[str, object]] = field(default_factory=dict)
    acked: set[int] = field(default_factory=set)
    shown: dict[str, Shown] = field(default_factory=dict)
    files: int = 0
    told: int = 0
    port: int = 0
    on_change: Callable[[], None] = lambda: None
    awaited: dict[str, asyncio.Event] = field(default_factory=dict)
    _numbers: int = 0
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def say(self, event: dict[str, object]) -> int:
        """A person sends something; the number of the event."""
        number = len(self.events) + self.told + 1
        self.events[number] = event
        for writer in self._writers:
            _write(writer, {"type": "event", "number": number, "event": event})
        return number

    def forget(self) -> None:
        """What was acknowledged is not told again to anybody."""
        self.told += len(self.acked)
        for number in self.acked:
            del self.events[number]
        self.acked.clear()

    def of(self, key: str) -> list[Shown]:
        """What stands in the chats for that delivery, in the order of its parts."""
        return sorted((one for one in self.shown.values() if one.key == key), key=lambda one: one.part)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers = [writer]
        for number, event in self.events.items():
            if number not in self.acked:
                _write(writer, {"type": "event", "number": number, "event": event})
        try:
            while line := await reader.readline():
                self._take(json.loads(line), writer)
        except (ConnectionError, json.JSONDecodeError):
            pass
        except asyncio.CancelledError:
            return
        finally:
            writer.close()

    def _take(self, line: dict[str, object], writer: asyncio.StreamWriter) -> None:
        match line:
            case {"type": "ack", "number": int(number)}:
                self.acked.add(number)
            case {"type": "send", "ask": ask, "message": dict(message)}:
                self._numbers += 1
                message_id = f"b{self._numbers}"
                self.shown[message_id] = shown = _shown(message_id, message)
                if shown.key in self.awaited:
                    self.awaited[shown.key].set()
                self.files += len(message.get("files", ()))
                _write(writer, {"type": "answer", "ask": ask, "id": message_id})
            case {"type": "edit", "ask": ask, "id": str(message_id), "message": dict(message)}:
                there = message_id in self.shown
                if there:
                    self.shown[message_id] = _shown(message_id, message)
                _write(writer, {"type": "answer", "ask": ask, "id": message_id if there else ""})
            case {"type": "delete", "ask": ask, "id": str(message_id)}:
                self.shown.pop(message_id, None)
                _write(writer, {"type": "answer", "ask": ask, "id": message_id})
        self.on_change()


def _shown(message_id: str, message: dict[str, object]) -> Shown:
    key = str(message["key"])
    return Shown(
        id=message_id,
        key=key.rstrip("~"),
        part=int(str(message["part"])),
        chat=str(message["chat"]),
        text=str(message["text"]),
        live=key.endswith("~"),
    )


def _write(writer: asyncio.StreamWriter, line: dict[str, object]) -> None:
    if not writer.is_closing():
        writer.write(json.dumps(line).encode() + b"\n")


@asynccontextmanager
async def street_server() -> AsyncIterator[StreetServer]:
    server = StreetServer()
    listening = await asyncio.start_server(server.connected, "127.0.0.1", 0, limit=1 << 24)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
