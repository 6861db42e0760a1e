"""Turns that callers of the HTTP surface begin: heard live by everyone, begun once, awaited or not."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from agents.turn import OnEvent, TurnEvent
from gateway.http.api import GatewayApi
from gateway.http.hub import Hub
from gateway.http.stream import BROKEN
from gateway.routing import api_session
from gateway.views import OWNER, Beside, ChatReply, Refused
from sessions.key import BadSessionKey, SessionKey

logger = logging.getLogger("clawd.http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    run: str
    key: SessionKey


@dataclass(slots=True, kw_only=True)
class Recent:
    """Runs by the key that their caller gave them: the same key within `seconds` is the same run. The `most`
    latest are remembered."""

    seconds: float = 300
    most: int = 1_000
    _known: OrderedDict[str, tuple[float, Begun]] = field(default_factory=OrderedDict)

    def get(self, key: str, now: float) -> Begun | None:
        at, begun = self._known.get(key, (now - self.seconds, None))
        return begun if now - at < self.seconds else None

    def add(self, key: str, begun: Begun, now: float) -> None:
        self._known[key] = (now, begun)
        self._known.move_to_end(key)
        while len(self._known) > self.most:
            self._known.popitem(last=False)


class Talk:
    """A gateway whose turns the hub hears of. `now` is a clock that only goes forward."""

    def __init__(
        self, gateway: GatewayApi, hub: Hub, *, new_id: Callable[[], str], now: Callable[[], float]
    ) -> None:
        self._gateway = gateway
        self._hub = hub
        self._new_id = new_id
        self._now = now
        self._recent = Recent()
        self._tasks: set[asyncio.Task[ChatReply]] = set()

    def key_of(self, agent: str | None, session: str | None) -> SessionKey:
        """The session that a caller means. Raises Refused, also for an agent that does not exist."""
        agents = self._gateway.agents()
        if agent is not None and agent not in agents:
            raise Refused(
                f"There is no agent {agent!r}. The agents are: {', '.join(agents)}.",
                code="unknown_agent",
                status=404,
            )
        try:
            return api_session(agent or self._gateway.default_agent, session)
        except BadSessionKey as error:
            raise Refused(f"{error}.", code="bad_session", status=400) from error

    async def chat(
        self,
        *,
        agent: str | None,
        session: str | None,
        text: str,
        on_event: OnEvent | None = None,
        beside: Beside = OWNER,
        run: str | None = None,
    ) -> ChatReply:
        """As the gateway's; `run` is what listeners know the turn by. Raises Refused."""
        begun = Begun(run=run or self._new_id(), key=self.key_of(agent, session))
        task = asyncio.create_task(self._heard(begun, text, on_event or _nobody, beside))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def next_run(self) -> "Numbered":
        """The same, for one turn whose id is known before it begins."""
        return Numbered(talk=self, run=self._new_id())

    def begin(
        self, *, agent: str | None, session: str | None, text: str, beside: Beside = OWNER, once: str = ""
    ) -> Begun:
        """A turn that the caller does not wait for. The same `once` is the same turn. Raises Refused."""
        self.check_open()
        known = self._recent.get(once, self._now()) if once else None
        if known is not None:
            return known
        begun = Begun(run=self._new_id(), key=self.key_of(agent, session))
        if once:
            self._recent.add(once, begun, self._now())
        task = asyncio.create_task(self._heard(begun, text, _nobody, beside))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        task.add_done_callback(lambda done: _tell_failure(begun, done))
        return begun

    def check_open(self) -> None:
        """Raises Refused while no new turn can be taken."""
        if self._gateway.draining:
            raise Refused(
                "The gateway is stopping and takes nothing new. Send it again when it runs again.",
                code="shutting_down",
                status=503,
            )
        if not self._gateway.ready:
            raise Refused(
                "The gateway is still starting. Send it again in a moment.", code="starting", status=503
            )

    def _ended(self, task: asyncio.Task[ChatReply]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen, for a caller that has gone away

    async def _heard(self, begun: Begun, text: str, on_event: OnEvent, beside: Beside) -> ChatReply:
        def tell(event: TurnEvent) -> None:
            self._hub.event(begun.key, begun.run, event)
            on_event(event)

        self._hub.begun(begun.key, begun.run, text)
        key = begun.key
        try:
            reply = await self._gateway.chat(
                agent=key.agent, session=_name(key), text=text, on_event=tell, beside=beside
            )
        except Refused as refused:
            self._hub.failed(key, begun.run, refused)
            raise
        except Exception:
            self._hub.failed(key, begun.run, BROKEN)
            raise
        finally:
            self._hub.over(begun.run)
        self._hub.done(reply, begun.run)
        return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    talk: Talk
    run: str

    async def chat(
        self,
        *,
        agent: str | None,
        session: str | None,
        text: str,
        on_event: OnEvent | None = None,
        beside: Beside = OWNER,
    ) -> ChatReply:
        """As Talk's. Raises Refused."""
        return await self.talk.chat(
            agent=agent, session=session, text=text, on_event=on_event, beside=beside, run=self.run
        )


def _name(key: SessionKey) -> str | None:
    """What the gateway's `chat` calls this session."""
    if key.kind == "main" and not key.thread:
        return None
    plain = key.kind == "api" and not key.thread and key.peer != "main"
    return key.peer if plain and not key.peer.startswith("agent:") else str(key)


def _tell_failure(begun: Begun, task: asyncio.Task[ChatReply]) -> None:
    """Nobody waits for this turn, so that the log says how it failed."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, Refused):
        logger.warning("run %s of %s: %s", begun.run, begun.key, error)
    elif error is not None:
        logger.error("run %s of %s failed unexpectedly", begun.run, begun.key, exc_info=error)


def _nobody(_: object) -> None:
    """Listen to nothing."""
