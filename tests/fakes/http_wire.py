"""As much HTTP/1.1 as a fake vendor needs: requests with a length, answers with a length or in chunks."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """Header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Answer:
    """Writes one answer on a connection. After `gone()` the connection is not used again."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.closed = False

    async def send(
        self, status: int, body: bytes, content_type: str, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self._head(status, content_type, (*headers, ("content-length", str(len(body)))))
        self._writer.write(body)
        await self._writer.drain()

    def start(self, status: int, content_type: str) -> None:
        self._head(status, content_type, (("transfer-encoding", "chunked"), ("cache-control", "no-cache")))

    async def write(self, data: bytes) -> None:
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await self._writer.drain()

    async def end(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def cut(self) -> None:
        """Close at once, in the middle of whatever was being said."""
        self.closed = True
        self._writer.close()

    async def gone(self) -> None:
        """Returns when the client has closed its side."""
        self.closed = True
        await self._reader.read()

    def _head(self, status: int, content_type: str, headers: tuple[tuple[str, str], ...]) -> None:
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", f"content-type: {content_type}"]
        lines += [f"{name}: {value}" for name, value in headers]
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


Handler: TypeAlias = Callable[[HttpRequest, Answer], Awaitable[None]]


async def serve_connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handler
) -> None:
    """Answer requests one after the other until either side closes."""
    try:
        while (request := await _read(reader)) is not None:
            answer = Answer(reader, writer)
            await handle(request, answer)
            if answer.closed:
                break
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> HttpRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *rest = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in rest if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return HttpRequest(method=method, path=path.partition("?")[0], headers=headers, body=body)
