"""HTTP to an embedding server: JSON in, JSON out, every failure a Fault."""

import asyncio
import json
from collections.abc import Iterable, Mapping

import httpx

from memory.embed.faults import BadAnswer, Fault, Passing, Refused, fault_of, without
from memory.embed.wire import Json

_LARGEST = 512 * 1024 * 1024
_CONNECT_SECONDS = 10.0
_INLINE = 64 * 1024


class Link:
    """Requests to one server. `headers` go with each; `secrets` never come back in an error.

    Redirections are not followed: they would carry the key along. A server of the own network is asked
    without the environment's proxy. Time limits are the caller's (asyncio.timeout); only connecting has one
    here.
    """

    def __init__(
        self, address: str, *, headers: Mapping[str, str], secrets: Iterable[str], proxied: bool = True
    ) -> None:
        self.address = address.rstrip("/")
        self._secrets = tuple(secrets)
        self._client = httpx.AsyncClient(
            headers={"user-agent": "clawd", **headers},
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=proxied,
            limits=httpx.Limits(max_connections=32, max_keepalive_connections=8),
        )

    async def post(self, path: str, body: Json, *, headers: Mapping[str, str] | None = None) -> Json:
        """The JSON that answers this JSON. Raises Fault."""
        content = json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        return await as_json(await self.send("POST", path, content=content, headers=sent))

    async def get(self, path: str, *, headers: Mapping[str, str] | None = None) -> Json:
        return await as_json(await self.send("GET", path, headers=headers))

    async def send(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The body of a good answer; `path` may be a whole address. Raises Fault."""
        address = path if "://" in path else self.address + path
        try:
            async with self._client.stream(method, address, content=content, headers=headers) as response:
                body = await _read(response)
        except httpx.UnsupportedProtocol as error:
            raise Refused(f"cannot be asked: {self._told(error)}", cause="address") from error
        except httpx.TimeoutException as error:
            raise Passing("cannot be reached: no connection in time") from error
        except httpx.TransportError as error:
            raise Passing(f"cannot be reached: {self._told(error)}") from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError) as error:
            raise Refused(f"cannot be asked: {self._told(error)}", cause="address") from error
        if response.is_success:
            return body
        text = without(body.decode("utf-8", "replace"), self._secrets)
        raise fault_of(response.status_code, response.headers, text)

    async def aclose(self) -> None:
        await self._client.aclose()

    def _told(self, error: Exception) -> str:
        return without(str(error) or type(error).__name__, self._secrets)[:200]


async def as_json(body: bytes) -> Json:
    """The JSON in an answer, read in a thread when there is much of it. Raises BadAnswer."""
    try:
        found: Json = json.loads(body) if len(body) < _INLINE else await asyncio.to_thread(json.loads, body)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("it is no JSON") from error
    return found


async def _read(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > _LARGEST:
            raise _endless()
        parts.append(part)
    return b"".join(parts)


def _endless() -> Fault:
    return BadAnswer(f"it is larger than {_LARGEST // 1024 // 1024} MB")
