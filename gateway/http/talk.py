"""Turns that callers of the HTTP surface begin: heard live by everyone, begun once, awaited or not."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from agents.recovery import Left
from agents.turn import OnEvent, Trust, TurnEvent
from gateway.errands import TRIES, Entries, Errand, Errands, left_by
from gateway.http.api import GatewayApi
from gateway.http.hub import Hub
from gateway.http.stream import BROKEN
from gateway.lanes import unbroken
from gateway.refusals import refusal
from gateway.routing import api_session
from gateway.views import OWNER, Beside, ChatReply, Refused
from sessions.key import BadSessionKey, SessionKey

T = TypeVar("T")

logger = logging.getLogger("clawd.http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    run: str
    key: SessionKey


class Talk:
    """A gateway whose turns the hub hears of. What nobody waits for is one of the `errands` until it is done,
    or older than `max_age` after a stop."""

    def __init__(
        self,
        gateway: GatewayApi,
        hub: Hub,
        *,
        new_id: Callable[[], str],
        errands: Errands | None = None,
        max_age: timedelta = timedelta(hours=1),
    ) -> None:
        self._gateway = gateway
        self._hub = hub
        self._new_id = new_id
        self._errands = errands or Errands()
        self._max_age = max_age
        self._tasks: set[asyncio.Task[Any]] = set()

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
        return await asyncio.shield(self._begun(self._heard(begun, text, on_event or _nobody, beside)))

    def next_run(self) -> "Numbered":
        """The same, for one turn whose id is known before it begins."""
        return Numbered(talk=self, run=self._new_id())

    async def begin(
        self,
        *,
        agent: str | None,
        session: str | None,
        text: str,
        sender: str = "owner",
        trust: Trust = "owner",
        source: str = "",
        once: str = "",
    ) -> Begun:
        """A turn that the caller does not wait for, and that is made whatever happens to this process. The
        same `once` is the same turn of that session. Raises Refused."""
        self.check_open()
        key = self.key_of(agent, session)
        begun = Begun(run=self._errands.run_of(key, once) if once else self._new_id(), key=key)
        errand = Errand(
            id=begun.run,
            kind="ask",
            key=begun.key,
            text=text,
            at=self._errands.clock(),
            sender=sender,
            trust=trust,
            source=source,
        )
        try:
            if await unbroken(self._errands.accept(errand)):
                self._go(errand, again=False)
        except OSError as error:
            raise refusal(error) from error
        return begun

    async def take_up(self, entries: Entries) -> None:
        """What an earlier process had begun and not ended is in its lanes when this returns; to be called
        before anything new is taken."""
        for errand in self._errands.waiting("ask"):
            try:
                left = await left_by(errand, entries)
            except Refused as refused:
                logger.warning(
                    "run %s waits for a start that can read %s: %s", errand.id, errand.key, refused
                )
                continue
            why = "" if left.answer else await self._why_not(errand, left)
            if why:
                logger.warning("run %s of %s is not made: %s", errand.id, errand.key, why)
            if why or left.answer:
                await self._errands.done(errand.id)
            else:
                self._go(errand, again=left.recorded)
                await asyncio.sleep(0)  # until it stands in its lane

    async def _why_not(self, errand: Errand, left: Left) -> str:
        """Why it is not taken up; empty when it is."""
        if left.recorded:
            tried = await self._errands.tried(errand)
            return "" if tried else f"its turn was cut off {TRIES} times by the end of the process"
        if self._errands.clock() - errand.at > self._max_age:
            return "it is too old after a long stop"
        if errand.trust == "owner" and self._gateway.command_of(errand.text):
            return "it is a command, which may have been obeyed; send it again if it was not"
        return ""

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

    def _begun(self, work: Coroutine[None, None, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name="talk")
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen, for a caller that has gone away

    def _go(self, errand: Errand, *, again: bool) -> None:
        self._begun(self._run(errand, again=again))

    async def _run(self, errand: Errand, *, again: bool) -> None:
        """Nobody waits for this turn, so that the log says how it failed."""
        beside = Beside(
            sender=errand.sender,
            trust=errand.trust,
            outside=(errand.source,) if errand.source else (),
            ids=(errand.id,),
            again=again,
        )
        begun = Begun(run=errand.id, key=errand.key)
        try:
            await self._heard(begun, errand.text, _nobody, beside)
        except Refused as refused:
            if self._gateway.draining:
                return  # the next start takes it up
            logger.warning("run %s of %s: %s", begun.run, begun.key, refused)
        except Exception:
            logger.exception("run %s of %s failed unexpectedly", begun.run, begun.key)
            await self._errands.done(errand.id)
            raise
        await self._errands.done(errand.id)

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


def _nobody(_: object) -> None:
    """Listen to nothing."""
