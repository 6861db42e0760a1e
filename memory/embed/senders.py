"""What stands between a wire and the network: plain HTTP, and GitHub Copilot's exchange of tokens."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from memory.embed.embedder import Kind
from memory.embed.faults import BadAnswer, Refused
from memory.embed.link import Link
from memory.embed.wire import Json, Wire, member

COPILOT_TOKENS = "https://api.github.com/copilot_internal/v2/token"
COPILOT_ADDRESS = "https://api.individual.githubcopilot.com"
# The service answers to editors only, and wants to know which one asks. None of this is documented by
# GitHub; it is what public clients send. memory.search.headers replaces each of them.
COPILOT_HEADERS: Mapping[str, str] = {
    "Editor-Version": "clawd/1.0",
    "Editor-Plugin-Version": "clawd/1.0",
    "Copilot-Integration-Id": "vscode-chat",
    "X-GitHub-Api-Version": "2025-04-01",
}
_TOKEN_SECONDS = 1_200.0
_EARLIER = 60.0


class HttpSender:
    """Implements Sender: one POST a batch."""

    def __init__(self, link: Link, wire: Wire) -> None:
        self.link = link
        self.wire = wire

    async def send(self, texts: Sequence[str], kind: Kind) -> list[Json]:
        ask = self.wire.ask(texts, kind)
        return self.wire.answer(await self.link.post(ask.path, ask.body), len(texts))

    async def aclose(self) -> None:
        await self.link.aclose()


class CopilotSender:
    """Implements Sender: exchanges the GitHub token for one of some minutes, and asks with that.

    The answer to the exchange names the address, unless `address` is given. A refused token is exchanged
    once more. Short-lived tokens are kept in memory alone.
    """

    def __init__(
        self,
        link: Link,
        wire: Wire,
        *,
        github_token: str,
        address: str | None = None,
        token_address: str = COPILOT_TOKENS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._wire = wire
        self._github_token = github_token
        self._address = address
        self._token_address = token_address
        self._now = now
        self._exchanging = asyncio.Lock()
        self._token: tuple[str, str, float] | None = None

    async def send(self, texts: Sequence[str], kind: Kind) -> list[Json]:
        token, address = await self._fresh_token()
        try:
            return await self._ask(texts, kind, token, address)
        except Refused as refusal:
            if refusal.cause != "key":
                raise
        async with self._exchanging:
            if self._token is not None and self._token[0] == token:
                self._token = None
        token, address = await self._fresh_token()
        return await self._ask(texts, kind, token, address)

    async def aclose(self) -> None:
        await self._link.aclose()

    async def _ask(self, texts: Sequence[str], kind: Kind, token: str, address: str) -> list[Json]:
        ask = self._wire.ask(texts, kind)
        headers = {"authorization": f"Bearer {token}"}
        body = await self._link.post(address + ask.path, ask.body, headers=headers)
        return self._wire.answer(body, len(texts))

    async def _fresh_token(self) -> tuple[str, str]:
        async with self._exchanging:
            if self._token is None or self._now() >= self._token[2]:
                self._token = await self._exchange()
            return self._token[0], self._token[1]

    async def _exchange(self) -> tuple[str, str, float]:
        headers = {"authorization": f"token {self._github_token}", "accept": "application/json"}
        body = await self._link.get(self._token_address, headers=headers)
        token, seconds = member(body, "token"), member(body, "refresh_in")
        api = member(member(body, "endpoints"), "api")
        if not isinstance(token, str) or not token:
            raise BadAnswer("there is no token in what GitHub gave for the key")
        address = self._address or (
            api if isinstance(api, str) and api.startswith("https://") else COPILOT_ADDRESS
        )
        life = float(seconds) if isinstance(seconds, int | float) else _TOKEN_SECONDS
        return token, address.rstrip("/"), self._now() + max(life - _EARLIER, 0.0)
