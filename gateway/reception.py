"""Where a message comes in: admitted, on disk, queued for its session; and found again after a restart."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from agents.clock import Clock
from agents.conversation import in_thread
from channels.channel import Channel
from channels.message import ChatChanged, Edited, Inbound, InboundMessage, Pressed, Reaction
from gateway.admission import Admission, Door
from gateway.commands.obey import Commands
from gateway.deliveries import Delivery
from gateway.ends import Ends
from gateway.inbox import Accepted, Inbox, event_id
from gateway.mailbox import Item
from gateway.postman import Postman
from gateway.presence import courteous
from gateway.work import Work
from gateway.writing import Writer

PRESS = "press "
T = TypeVar("T")

logger = logging.getLogger("clawd.gateway")


class Reception:
    """`receive` returns when the event is on disk, or is known to be nobody's; what follows happens by
    itself. `max_age` is how old a message may be that an earlier process left."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        ends: Ends,
        postman: Postman,
        door: Door,
        commands: Commands,
        work: Work,
        writer: Writer,
        clock: Clock,
        executor: Executor,
        max_age: timedelta,
        draining: Callable[[], bool],
    ) -> None:
        self._inbox = inbox
        self._ends = ends
        self._postman = postman
        self._door = door
        self._commands = commands
        self._work = work
        self._writer = writer
        self._clock = clock
        self._executor = executor
        self._max_age = max_age
        self._draining = draining
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, channel: Channel, event: Inbound) -> None:
        """Raises OSError when it could not be written down: the platform must tell it again."""
        match event:
            case InboundMessage():
                await self._message(channel, event)
            case Pressed() if self._door.knows(event.address, event.sender):
                await self._message(channel, _as_message(event))
            case Edited() if self._door.knows(event.address, event.sender):
                await self._edited(event)
            case Reaction(added=True) if self._door.hears(event):
                name = event.sender.name or event.sender.id
                whose = "one of your messages" if event.own else f"message {event.message_id}"
                self._door.note(event.address, f"{name} reacted with {event.emoji} to {whose}")
            case ChatChanged():
                what = event.gone or f"moved to {event.moved_to}"
                logger.warning("%s: a chat has changed: %s", event.address.channel, what)
                if event.moved_to:
                    await self._door.moved(event)
            case _:
                return

    async def replay(self) -> int:
        """Take up what an earlier process left, before any channel runs; how many messages those are."""
        now = self._clock()
        self._postman.replay()
        left = self._inbox.waiting()
        for accepted in left:
            if isinstance(accepted.event, InboundMessage) and not self._postman.posted(accepted.id):
                await self._resume(accepted, accepted.event, now)
            else:
                await self._ends.done([accepted.id], "answered")
        return len(left)

    async def settled(self) -> None:
        """Until nothing that was received is on its way to its queue, or done beside it."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._work.settled()

    async def _message(self, channel: Channel, message: InboundMessage) -> None:
        typed = self._commands.form(message.text)
        admission = self._door.judge(message, command=typed is not None)
        if admission.kind == "ignored":
            return
        if admission.kind == "pairing":
            await self._invite(channel, message)
            return
        accepted = await self._journal(lambda: self._inbox.accept(message, self._clock()))
        if accepted is None or self._draining():
            return  # the next start takes up what comes while clawd shuts down
        item = self._item(accepted, message, admission)
        if typed is not None and typed.command.control:
            self._work.control(item)
        else:
            self._spawn(self._taken(channel, item, self._work.put(item)))

    async def _edited(self, event: Edited) -> None:
        """What still waits has its new text, also after a restart; what is kept as context has it too."""
        if self._work.edited(event):
            await self._journal(lambda: self._inbox.edited(event))
        else:
            self._door.corrected(event)

    async def _taken(self, channel: Channel, item: Item, unread: Sequence[Item]) -> None:
        for one in unread:
            await self._work.drop(one)
        if item.admission.ack:
            await courteous(channel.react(item.message.address, item.message.id, item.admission.ack))

    def _item(self, accepted: Accepted, message: InboundMessage, admission: Admission) -> Item:
        return Item(
            id=accepted.id,
            message=message,
            admission=admission,
            at=accepted.at,
            typed=self._commands.form(message.text),
            pressed=message.id.startswith(PRESS),
        )

    async def _invite(self, channel: Channel, message: InboundMessage) -> None:
        text = await self._door.invite(message)
        if text is None:
            return
        delivery = Delivery(
            key=event_id(message),
            address=message.address,
            at=self._clock(),
            parts=self._writer.parts(text, channel.traits),
        )
        await self._postman.post(delivery)
        for number, (address, told) in enumerate(self._door.announcements(message)):
            announced = replace(
                delivery,
                key=f"{delivery.key} owner {number}",
                address=address,
                parts=self._writer.parts(told, channel.traits),
            )
            await self._postman.post(announced)

    async def _resume(self, accepted: Accepted, message: InboundMessage, now: datetime) -> None:
        typed = self._commands.form(message.text)
        admission = self._door.judge(message, command=typed is not None)
        item = self._item(accepted, message, admission)
        if admission.kind != "admitted":
            logger.warning("a message of before the restart is left: %s no longer admits it", admission.rule)
            await self._ends.done([accepted.id], "dropped")
        elif now - accepted.at > self._max_age:
            await self._work.expire(item)
        else:
            await self._work.resume(item, accepted.session_id)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="receive")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _journal(self, write: Callable[[], T]) -> T:
        return await in_thread(self._executor, write)


def _as_message(event: Pressed) -> InboundMessage:
    """A button is as good as the text that its choice stands for."""
    return InboundMessage(
        id=f"{PRESS}{event.id}",
        address=event.address,
        sender=event.sender,
        text=event.data,
        at=event.at,
    )
