"""What waits for the owner's word, and what the owner has let through for good."""

import asyncio
import logging
import shlex
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from agents.clock import Clock
from agents.conversation import in_thread
from agents.model.provider import TextDelta
from agents.tools.approval import ApprovalRequest, Approve, Decision, Remembered, shown
from agents.turn import OnEvent
from channels.channel import SendError
from channels.message import Address, Choice
from gateway.approvals_file import Kept, KeptFile
from gateway.commands.table import Who
from gateway.deliveries import Delivery, Part
from gateway.views import Refused
from sessions.codec import iso
from sessions.key import SessionKey

MAX_PENDING = 32
_FENCE = "```"

Show: TypeAlias = Callable[["Pending"], Awaitable[None]]
"""Shows a request in its conversation, and returns when it can be seen there. What it raises denies it."""
Ending: TypeAlias = Literal["once", "always", "deny", "timeout", "gone"]
"""What became of a request; gone: it could not be shown, or its turn has ended."""

logger = logging.getLogger("clawd.approvals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """One request that waits, `until` then. `text` is Markdown and whole; `choices` are its buttons."""

    id: str
    key: SessionKey
    request: ApprovalRequest
    until: datetime
    decided: "asyncio.Future[Decision]" = field(compare=False, repr=False)

    @property
    def text(self) -> str:
        request = self.request
        where = f"In {request.cwd}" if request.cwd else ""
        how = "in the sandbox" if request.boxed else ""
        variables = f"with {', '.join(request.env)}" if request.env else ""
        facts = ", ".join(one for one in (where, how, variables) if one)
        always = f" `/approve {self.id} always`: {kept_text(request.remember)}." if request.remember else ""
        lines = (
            f"🔐 **{request.tool}** needs the owner's approval ({self.id}), asked by {request.sender}.",
            request.why,
            fenced(request.what),
            f"{facts}." if facts else "",
            f"`/approve {self.id}`: once.{always} `/deny {self.id}`: no.",
            f"Without an answer it is denied after {request.seconds:g} s.",
        )
        return "\n".join(line for line in lines if line)

    @property
    def decision(self) -> Decision | None:
        """What was decided, if anything was."""
        done = self.decided.done() and not self.decided.cancelled()
        return self.decided.result() if done else None

    @property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        once = Choice(label="Approve", data=f"/approve {self.id} once", style="good")
        always = Choice(label="Always", data=f"/approve {self.id} always")
        deny = Choice(label="Deny", data=f"/deny {self.id}", style="bad")
        return ((once, *((always,) if self.request.remember else ()), deny),)


class Approvals:
    """`new_id` gives a short name that cannot be guessed. Requests are in memory: a restart denies them.
    What is kept for good is in a journal."""

    def __init__(
        self, file: Path, *, clock: Clock, new_id: Callable[[], str], executor: Executor, write: bool = True
    ) -> None:
        self._kept = KeptFile(file, create=write)
        self._clock = clock
        self._new_id = new_id
        self._executor = executor
        self._pending: dict[str, Pending] = {}
        self._asked: Callable[[Pending], None] = _nobody
        self._over: Callable[[Pending, Ending], None] = _nobody

    def listen(self, *, asked: Callable[[Pending], None], over: Callable[[Pending, Ending], None]) -> None:
        """From now on these hear of every request: that it waits, and what became of it."""
        self._asked, self._over = asked, over

    def close(self) -> None:
        self._kept.close()

    def remembered(self, agent: str) -> Sequence[Remembered]:
        """What the agent may run without asking again."""
        return [one.what for one in self._kept.all() if one.agent == agent]

    def pending(self) -> list[Pending]:
        """What waits, oldest first."""
        return list(self._pending.values())

    def kept(self) -> Sequence[Kept]:
        """What runs unasked, oldest first."""
        return self._kept.all()

    async def ask(self, key: SessionKey, request: ApprovalRequest, *, show: Show) -> Decision:
        """Show the request and wait for the owner's word on it, for its time and not longer."""
        if len(self._pending) >= MAX_PENDING:
            return Decision(kind="deny", reason="too much waits for approval already")
        pending = self._new(key, request)
        self._asked(pending)
        ending: Ending = "gone"
        reason = ""
        try:
            async with asyncio.timeout(request.seconds):
                await show(pending)
                await pending.decided
        except TimeoutError:
            ending, reason = "timeout", f"the owner did not answer within {request.seconds:g} s"
        except (OSError, Refused, SendError) as error:
            logger.warning("a request of %s could not be shown: %s", key, error)
            reason = "the request for approval could not be shown to anybody"
        finally:
            self._pending.pop(pending.id, None)
            decided = pending.decision
            self._over(pending, decided.kind if decided else ending)
        if decided is None:
            logger.info("a request of %s was denied: %s", key, reason)
        return decided or Decision(kind="deny", reason=reason)

    def _new(self, key: SessionKey, request: ApprovalRequest) -> Pending:
        made = Pending(
            id=self._free_id(),
            key=key,
            request=request,
            until=self._clock() + timedelta(seconds=request.seconds),
            decided=asyncio.get_running_loop().create_future(),
        )
        self._pending[made.id] = made
        return made

    async def decide(self, id: str, decision: Decision, who: Who) -> str:  # noqa: A002 (as people call it)
        """What was done, for the person who decided. Raises Refused, and OSError when `always` cannot be
        written down: nothing is decided then. What is kept stays, also when the time was up meanwhile."""
        if who != "owner":
            raise Refused("Only the owner may approve.", code="not_allowed", status=403)
        pending = self._waiting(id)
        remember = pending.request.remember
        said = f"{'Approved' if decision.granted else 'Denied'} {id}."
        if decision.kind == "always" and remember is None:
            decision = Decision(kind="once")
            said = f"Approved {id}, once: this is no command that could be kept for good."
        elif decision.kind == "always" and remember is not None:
            said = await self._keep(pending, remember)
        self._waiting(id).decided.set_result(decision)
        logger.info("a request of %s: %s", pending.key, decision.kind)
        return said

    def _waiting(self, id: str) -> Pending:  # noqa: A002
        pending = self._pending.get(id)
        if pending is None or pending.decided.done():
            raise Refused(
                f"Nothing waits under {id!r}: it was decided, its time was up, or clawd was restarted. "
                "/approve alone lists what waits.",
                code="unknown_approval",
                status=404,
            )
        return pending

    async def _keep(self, pending: Pending, what: Remembered) -> str:
        kept = Kept(id=self._free_id(), agent=pending.key.agent, what=what, at=iso(self._clock()))
        await in_thread(self._executor, lambda: self._kept.add(kept))
        return f"Approved {pending.id}, and from now on: {kept_text(what)}. `/deny {kept.id}` ends that."

    async def approve(self, key: SessionKey, rest: str) -> str:
        """/approve: of the owner alone, who was checked before. Raises Refused."""
        del key
        words = rest.split()
        if not words:
            return self._listed()
        kind = words[1].lower() if len(words) > 1 else "once"
        if len(words) > 2 or kind not in ("once", "always"):
            raise Refused("/approve ID [once|always]", code="bad_argument", status=400)
        decided = Decision(kind="always" if kind == "always" else "once")
        return await self.settle(words[0], decided)

    async def settle(self, id: str, decision: Decision) -> str:  # noqa: A002
        """As decide, by the owner. Raises Refused."""
        return await self._told(self.decide(id, decision, "owner"))

    async def forget(self, id: str) -> str:  # noqa: A002
        """End what was kept for good. Raises Refused."""
        if all(one.id != id for one in self._kept.all()):
            raise Refused(
                f"Nothing is kept for good under {id!r}. /approve alone lists what is.",
                code="unknown_approval",
                status=404,
            )
        return await self._told(self._forget(id))

    async def deny(self, key: SessionKey, rest: str) -> str:
        """/deny: a request, or what was kept for good. Raises Refused."""
        del key
        words = rest.split()
        if len(words) != 1:
            raise Refused("/deny ID: /approve alone lists what there is.", code="bad_argument", status=400)
        if any(one.id == words[0] for one in self._kept.all()):
            return await self.forget(words[0])
        return await self.settle(words[0], Decision(kind="deny"))

    async def _forget(self, id: str) -> str:  # noqa: A002
        await in_thread(self._executor, lambda: self._kept.remove(id, self._clock()))
        return f"{id} is asked again from now on."

    async def _told(self, work: Awaitable[str]) -> str:
        try:
            return await work
        except OSError as error:
            raise Refused(
                f"It cannot be written down ({error.strerror or error}), so nothing was changed.",
                code="storage",
                status=500,
            ) from error

    def _listed(self) -> str:
        waiting = [f"- `{one.id}` {one.request.tool} in {one.key}: {_line(one)}" for one in self.pending()]
        kept = [f"- `{one.id}` {one.agent}: {kept_text(one.what)}" for one in self._kept.all()]
        first = ["**Waiting for you**", *waiting] if waiting else ["Nothing waits for approval."]
        return "\n".join([*first, *(["", "**Kept for good** (`/deny ID` ends it)", *kept] if kept else [])])

    def _free_id(self) -> str:
        taken = {*self._pending, *(one.id for one in self._kept.all())}
        while (made := self._new_id()) in taken:
            pass
        return made


def asked_in_text(approvals: Approvals, key: SessionKey, on_event: OnEvent) -> Approve:
    """Asks where an answer is read as it is made: the request is a piece of its text."""

    async def show(pending: Pending) -> None:
        on_event(TextDelta(text=f"\n\n{pending.text}\n\n"))

    return partial(approvals.ask, key, show=show)


def posted(
    pending: Pending, address: Address, *, at: datetime, parts: Sequence[Part], reply_to: str | None = None
) -> Delivery:
    """The request as a message of its own, with buttons; `parts` are its text, written for the channel."""
    *before, last = parts
    return Delivery(
        key=f"approval-{pending.key.agent}-{at:%Y%m%dT%H%M%S%f}-{pending.id}",
        address=address,
        at=at,
        parts=(*before, replace(last, choices=pending.choices)),
        reply_to=reply_to,
    )


def kept_text(what: Remembered | None) -> str:
    """What `always` means for it."""
    if what is None:
        return ""
    if what.program:
        return f"`{what.program}` runs unasked, whatever its arguments"
    return f"`{shown(shlex.join(what.words)).replace('`', chr(39))}` runs unasked, exactly so"


def fenced(text: str) -> str:
    """The text as a block that nothing in it can end."""
    fence = _FENCE
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _nobody(*_: object) -> None:
    """Nobody listens."""


def _line(pending: Pending) -> str:
    first = pending.request.what.splitlines()[0] if pending.request.what else ""
    return f"`{first[:120].replace('`', chr(39))}`"
