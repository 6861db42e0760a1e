"""What waits for each session, and when it is its turn."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary

from agents.clock import Clock
from channels.message import Edited
from gateway.answering import Answering
from gateway.commands.obey import Commands, FirstText
from gateway.commands.table import Typed
from gateway.ends import Ends, who_of
from gateway.inbox import End
from gateway.lanes import Lanes
from gateway.mailbox import Item, Mailbox
from gateway.preferences import Preferences
from gateway.views import Refused
from sessions.key import SessionKey

BROKEN = "Something went wrong inside clawd. The log says what it was."
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
        draining: Callable[[], bool],
    ) -> None:
        self._answering = answering
        self._ends = ends
        self._commands = commands
        self._lanes = lanes
        self._clock = clock
        self._preferences = preferences
        self._draining = draining
        # As long as anything waits, is taken or runs, its task holds the box; then it is gone.
        self._boxes: WeakValueDictionary[SessionKey, Mailbox] = WeakValueDictionary()
        self._timers: dict[SessionKey, asyncio.Task[None]] = {}
        self._beside: set[asyncio.Task[None]] = set()

    def put(self, item: Item) -> list[Item]:
        """Queue it; its turn begins when it is its time. Those that are not going to be read because of it
        are to be given to `drop`."""
        key, box = item.admission.key, self._box(item)
        unread = box.put(item)
        if box.settings.mode == "interrupt" and item.typed is None:
            self._answering.end(key, "interrupt")
        self._go_on(key, box)
        return unread

    def control(self, item: Item) -> None:
        """Obey a control command at once, whatever runs in its session."""
        task = asyncio.create_task(self.obey(item), name="control")
        self._hold(task)
        task.add_done_callback(partial(self._ended, [item]))

    async def settled(self) -> None:
        """Until nothing is done beside the lanes."""
        while self._beside:
            await asyncio.wait(self._beside)

    async def obey(self, item: Item) -> None:
        """Obey a command."""
        if item.typed is None:
            return
        try:
            self._commands.check(item.typed, who=who_of(item))
            await self._ends.begun([item.id], COMMAND)
            said = await self._said(item, item.typed)
        except Refused as refused:
            await self._ends.tell(item, str(refused), "failed")
        except OSError as error:
            logger.critical("a command cannot be written down (%s); it is obeyed after a restart", error)
        else:
            if isinstance(said, FirstText):
                await self._answering.answer([item], self._box(item), text=said.text)
            elif item.typed.command.name != RESTART:  # its end is told by the next start
                await self._ends.tell(item, said, "obeyed")

    async def _said(self, item: Item, typed: Typed) -> str | FirstText:
        key = item.admission.key
        if typed.command.name == "stop" and self._answering.end(key, "stop"):
            return "Stopped."
        return await self._commands.obey(typed, key, who=who_of(item))

    def edited(self, event: Edited) -> bool:
        """Whether the message still waited, and now has its new text."""
        return any(box.change(event) for box in list(self._boxes.values()))

    async def resume(self, item: Item, session_id: str) -> None:
        """Take up a message of an earlier process, in its session's lane."""
        if session_id == COMMAND and item.typed is not None and item.typed.command.name == RESTART:
            await self._ends.tell(item, "clawd was restarted and runs again.", "obeyed")
        elif session_id == COMMAND:
            text = "⚠️ clawd was restarted while it obeyed this. See whether it was done, then send it again."
            await self._ends.tell(item, text, "failed")
        elif session_id:
            work = partial(self._answering.again, item, self._box(item), session_id)
            task = self._lanes.submit(item.admission.key, work)
            task.add_done_callback(partial(self._ended, [item]))
        else:
            for unread in self.put(item):
                await self.drop(unread)

    async def expire(self, item: Item) -> None:
        hours = (self._clock() - item.at).total_seconds() / 3600
        text = f"⚠️ clawd stopped before it read this, {hours:.1f} h ago. Send it again if it still matters."
        await self._ends.tell(item, text, "expired")

    async def drop(self, item: Item) -> None:
        """It is not read, and its sender hears so."""
        most = item.admission.queue.most
        text = f"⚠️ More than {most} messages are waiting; this was not read. Send it again later."
        await self._ends.tell(item, text, "dropped")

    @property
    def waiting(self) -> int:
        """Messages that no turn has taken yet."""
        return sum(len(box.items) for box in list(self._boxes.values()))

    @property
    def sessions(self) -> int:
        """Sessions in which anything waits or is done."""
        return len(self._boxes)

    def _box(self, item: Item) -> Mailbox:
        """Its queue, as the settings and the person want it now."""
        queue, key = item.admission.queue, item.admission.key
        box = self._boxes.setdefault(key, Mailbox(settings=queue))
        chosen = self._preferences.of(key).queue
        box.settings = replace(queue, mode=chosen) if chosen else queue
        return box

    def _go_on(self, key: SessionKey, box: Mailbox) -> None:
        """See to it that what waits is taken: now, or when nobody has written for a moment."""
        if timer := self._timers.pop(key, None):
            timer.cancel()
        wait = (box.ready_at - self._clock()).total_seconds() if box.ready_at else 0
        if wait > 0:
            self._timers[key] = asyncio.create_task(self._later(key, box, wait), name="debounce")
            return
        taken: list[Item] = []
        task = self._lanes.submit(key, partial(self._next, box, taken))
        task.add_done_callback(partial(self._ended, taken))
        task.add_done_callback(lambda _: self._look_again(key, box))

    async def _later(self, key: SessionKey, box: Mailbox, seconds: float) -> None:
        await asyncio.sleep(seconds)
        del self._timers[key]
        self._go_on(key, box)

    async def _next(self, box: Mailbox, taken: list[Item]) -> None:
        """The session's next turn, if something waits and nobody is still writing."""
        if box.ready_at is not None and box.ready_at > self._clock():
            return
        taken += [item for item in box.take() if self._ends.open(item.id)]
        if taken and taken[0].typed is not None:
            await self.obey(taken[0])
        elif taken:
            await self._answering.answer(taken, box)

    def _look_again(self, key: SessionKey, box: Mailbox) -> None:
        """Nothing is left behind by a turn that was stopped before it began, or that left some waiting."""
        if box.items and key not in self._timers and not self._draining():
            self._go_on(key, box)

    def _ended(self, items: Sequence[Item], task: "asyncio.Task[None]") -> None:
        """What ended otherwise than it should is told too; a shutdown leaves it to the next start."""
        if not items or self._draining():
            return
        end: End
        if task.cancelled():
            text, end = "Stopped before it was done.", "stopped"
        elif error := task.exception():
            if not isinstance(error, Refused):
                logger.critical("a command failed unexpectedly", exc_info=error)
            text, end = f"⚠️ {error if isinstance(error, Refused) else BROKEN}", "failed"
        else:
            return
        ids = [item.id for item in items]
        self._hold(asyncio.create_task(self._ends.tell(items[0], text, end, ids=ids)))

    def _hold(self, task: "asyncio.Task[None]") -> None:
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
