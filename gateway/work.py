"""What waits for each session, and when it is its turn."""

import asyncio
import logging
from dataclasses import replace
from functools import partial

from agents.clock import Clock
from channels.message import Edited
from gateway.admission import Admission
from gateway.answering import Answering
from gateway.commands.obey import Commands, FirstText
from gateway.commands.table import Typed
from gateway.ends import Ends, who_of
from gateway.lanes import Lanes
from gateway.mailbox import Item, Mailbox
from gateway.preferences import Preferences
from gateway.views import Refused
from sessions.key import SessionKey

RESTART = "restart"
COMMAND = "command"
"""Stands in the inbox for a session's id: the message was a command, and was being obeyed."""

logger = logging.getLogger("clawd.gateway")


class Work:
    """One queue for each session that has something waiting. Whatever happens, an item has one end; only a
    gateway that is shutting down leaves it to the next start."""

    def __init__(
        self,
        *,
        answering: Answering,
        ends: Ends,
        commands: Commands,
        lanes: Lanes,
        clock: Clock,
        preferences: Preferences,
    ) -> None:
        self._answering = answering
        self._ends = ends
        self._commands = commands
        self._lanes = lanes
        self._clock = clock
        self._preferences = preferences
        self._boxes: dict[SessionKey, Mailbox] = {}
        self._admissions: dict[str, Admission] = {}
        self._timers: set[asyncio.Task[None]] = set()

    def put(self, item: Item, admission: Admission) -> list[Item]:
        """Queue it; its turn begins when it is its time. Those that are not going to be read because of it
        are to be given to `drop`."""
        key, box = admission.key, self._box(admission)
        self._admissions[item.id] = admission
        unread = box.put(item)
        if box.settings.mode == "interrupt" and item.typed is None:
            self._answering.end(key, "interrupt")
        wait = (box.ready_at - self._clock()).total_seconds() if box.ready_at else 0
        if wait > 0:
            timer = asyncio.create_task(self._later(key, wait), name="debounce")
            self._timers.add(timer)
            timer.add_done_callback(self._timers.discard)
        else:
            self._lanes.submit(key, partial(self._next, key))
        return unread

    async def obey(self, item: Item, admission: Admission) -> None:
        """Obey a command. A control command comes here at once, whatever runs in its session."""
        if item.typed is None:
            return
        try:
            self._commands.check(item.typed, who=who_of(admission))
            await self._ends.begun([item.id], COMMAND)
            said = await self._said(item.typed, admission)
        except Refused as refused:
            await self._ends.tell(item, admission, str(refused), "failed")
        except OSError as error:
            logger.critical("a command cannot be written down (%s); it is obeyed after a restart", error)
        else:
            if isinstance(said, FirstText):
                await self._answering.answer([item], admission, self._box(admission), text=said.text)
            elif item.typed.command.name != RESTART:  # its end is told by the next start
                await self._ends.tell(item, admission, said, "obeyed")

    async def _said(self, typed: Typed, admission: Admission) -> str | FirstText:
        if typed.command.name == "stop" and self._answering.end(admission.key, "stop"):
            return "Stopped."
        return await self._commands.obey(typed, admission.key, who=who_of(admission))

    def edited(self, event: Edited) -> bool:
        """Whether the message still waited, and now has its new text."""
        return any(box.change(event.id, event.address, event.text) for box in self._boxes.values())

    async def resume(self, item: Item, admission: Admission, session_id: str) -> None:
        """Take up a message of an earlier process, in its session's lane."""
        if session_id == COMMAND and item.typed is not None and item.typed.command.name == RESTART:
            await self._ends.tell(item, admission, "clawd was restarted and runs again.", "obeyed")
        elif session_id == COMMAND:
            text = "⚠️ clawd was restarted while it obeyed this. See whether it was done, then send it again."
            await self._ends.tell(item, admission, text, "failed")
        elif session_id:
            work = partial(self._answering.again, item, admission, self._box(admission), session_id)
            self._lanes.submit(admission.key, work)
        else:
            for unread in self.put(item, admission):
                await self.drop(unread)

    async def expire(self, item: Item, admission: Admission) -> None:
        hours = (self._clock() - item.at).total_seconds() / 3600
        text = f"⚠️ clawd stopped before it read this, {hours:.1f} h ago. Send it again if it still matters."
        await self._ends.tell(item, admission, text, "expired")

    @property
    def waiting(self) -> int:
        """Messages that no turn has taken yet."""
        return sum(len(box.items) for box in self._boxes.values())

    def _box(self, admission: Admission) -> Mailbox:
        """Its queue, as the settings and the person want it now."""
        box = self._boxes.setdefault(admission.key, Mailbox(settings=admission.queue))
        chosen = self._preferences.of(admission.key).queue
        box.settings = replace(admission.queue, mode=chosen) if chosen else admission.queue
        return box

    async def _later(self, key: SessionKey, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._lanes.submit(key, partial(self._next, key))

    async def _next(self, key: SessionKey) -> None:
        """The session's next turn, if something waits and nobody is still writing."""
        box = self._boxes.get(key)
        if box is None or (box.ready_at is not None and box.ready_at > self._clock()):
            return
        items = box.take()
        admissions = [self._admissions.pop(item.id) for item in items]
        if not items:
            return
        if items[0].typed is not None:
            await self.obey(items[0], admissions[0])
        else:
            await self._answering.answer(items, admissions[0], box)

    async def drop(self, item: Item) -> None:
        """It is not read, and its sender hears so."""
        admission = self._admissions.pop(item.id)
        cap = self._box(admission).settings.cap
        text = f"⚠️ More than {cap} messages are waiting; this was not read. Send it again later."
        await self._ends.tell(item, admission, text, "dropped")
