"""What talks and searches for a command: the running gateway over HTTP, or one opened in this process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeAlias

from agents.turn import OnEvent
from gateway.build import opened
from gateway.cli.output import report_json
from gateway.cli.place import Place
from gateway.client import GatewayClient
from gateway.config import Config
from gateway.credentials import known_token
from gateway.gateway import Gateway
from gateway.home import Home
from gateway.lock import holder, is_locked
from gateway.memory_report import status_json
from gateway.views import ChatReply
from memory.hybrid import SearchResult
from memory.orders import SyncProgress
from sessions.key import SessionKey
from sessions.messages import Json, JsonObject

Progress: TypeAlias = Callable[[SyncProgress], None]

STARTING_SECONDS = 3.0  # what a gateway that holds the lock gets to become ready


class Backend(Protocol):
    """Every verb raises Refused when it is refused."""

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply: ...

    async def stop(self, key: SessionKey) -> bool: ...

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult: ...

    async def memory_sync(self, *, agent: str | None, force: bool, progress: Progress | None) -> Json: ...

    async def memory_status(self, *, agent: str | None, deep: bool) -> JsonObject: ...


class Inside:
    """A gateway of this process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply:
        return await self._gateway.chat(agent=agent, session=session, text=text, on_event=on_event)

    async def stop(self, key: SessionKey) -> bool:
        return self._gateway.stop(key)

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult:
        return await self._gateway.memory_search(
            query, agent=agent, max_results=max_results, min_score=min_score
        )

    async def memory_sync(self, *, agent: str | None, force: bool, progress: Progress | None) -> Json:
        return report_json(await self._gateway.memory_sync(agent=agent, force=force, progress=progress))

    async def memory_status(self, *, agent: str | None, deep: bool) -> JsonObject:
        return status_json(await self._gateway.memory_status(agent=agent, deep=deep))


class Outside:
    """A gateway that runs elsewhere on this machine."""

    def __init__(self, client: GatewayClient) -> None:
        self._client = client

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply:
        return await self._client.chat(agent=agent, session=session, text=text, on_event=on_event)

    async def stop(self, key: SessionKey) -> bool:
        return await self._client.stop(key)

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult:
        return await self._client.memory_search(
            query, agent=agent, max_results=max_results, min_score=min_score
        )

    async def memory_sync(self, *, agent: str | None, force: bool, progress: Progress | None) -> Json:
        return await self._client.memory_sync(agent=agent, force=force, progress=progress)

    async def memory_status(self, *, agent: str | None, deep: bool) -> JsonObject:
        return await self._client.memory_status(agent=agent, deep=deep)


@asynccontextmanager
async def connected(place: Place, config: Config, *, write: bool = True) -> AsyncIterator[Backend]:
    """The running gateway when there is one that answers, else one in this process.

    With `write` it holds the home: raises AlreadyRunning when something else does and does not answer.
    """
    client = await running(place.home, config, patience=STARTING_SECONDS if write else 0)
    if client is not None:
        async with client:
            yield Outside(client)
        return
    async with opened(config, place.home, write=write) as gateway:
        yield Inside(gateway)


async def running(home: Home, config: Config, *, patience: float = 0) -> GatewayClient | None:
    """A client of the gateway that holds this home; None when there is none, or it does not answer.

    A gateway that is still starting gets `patience` seconds.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + patience
    while is_locked(home.lock_file):
        url, token = told_address(home), known_token(home, config.gateway)
        if url and token:
            client = GatewayClient(url, token)
            if await client.ready():
                return client
            await client.aclose()
        if loop.time() >= until:
            return None
        await asyncio.sleep(0.1)
    return None


def told_address(home: Home) -> str | None:
    """Where the process that holds the home says that it answers; None when it is no gateway, or not yet."""
    try:
        pid, url = home.address_file.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return None
    return url if pid == str(holder(home.lock_file)) else None
