"""A turn of a channel's session: shown while it runs, joined by what comes meanwhile, ended for all."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TypeAlias

from agents.recovery import left_of
from agents.tools.approval import Approve
from channels.channel import Channel
from channels.message import InboundMessage
from gateway.admission import Door
from gateway.closing import Closing, Entries
from gateway.ends import Ends
from gateway.heard_turns import HeardTurns
from gateway.lanes import unbroken
from gateway.mailbox import Item, Mailbox, text_of
from gateway.media import Taken
from gateway.media.sending import Outgoing
from gateway.owner_places import OwnerPlaces
from gateway.postman import Postman
from gateway.running import Cause, Running
from gateway.showing import Showing
from gateway.turns import Asked
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import Image, Text, User

Fetch: TypeAlias = Callable[[Channel, InboundMessage], Awaitable[Taken]]
Approving: TypeAlias = Callable[[SessionKey, Channel, Item], Approve]
"""How the owner is asked in the chat that an item came from."""

WORDLESS = "[a message without words]"

logger = logging.getLogger("clawd.gateway")


class Answering:
    """Runs in the session's lane. `stuck_seconds` is how long a turn may give no sign of life."""

    def __init__(
        self,
        *,
        turns: HeardTurns,
        ends: Ends,
        door: Door,
        postman: Postman,
        showing: Showing,
        closing: Closing,
        fetch: Fetch,
        outgoing: Outgoing,
        approving: Approving,
        entries: Entries,
        stop: Callable[[SessionKey], bool],
        places: OwnerPlaces,
        stuck_seconds: float,
    ) -> None:
        self._turns = turns
        self._ends = ends
        self._door = door
        self._postman = postman
        self._showing = showing
        self._closing = closing
        self._fetch = fetch
        self._outgoing = outgoing
        self._approving = approving
        self._entries = entries
        self._stop = stop
        self._places = places
        self._stuck_seconds = stuck_seconds
        self._running: dict[SessionKey, Running] = {}

    def end(self, key: SessionKey, cause: Cause) -> bool:
        """End the session's running turn; False when none runs."""
        running = self._running.get(key)
        if running is None or running.cause is not None:
            return running is not None
        running.cause = cause
        return self._stop(key)

    async def again(self, item: Item, box: Mailbox, session_id: str) -> None:
        """Take up a turn that an earlier process began."""
        if not self._ends.open(item.id):
            return
        try:
            left = left_of(await self._entries(item.admission.key, session_id), item.id)
        except Refused as refused:
            await self._ends.tell(item, f"⚠️ {refused}", "failed")
            return
        if any(self._postman.posted(one) for one in left.ids):
            await self._ends.done((item.id, *left.ids), "joined")  # answered as another's turn
        elif not left.recorded:
            await self.answer([item], box)
        elif left.answer is None:
            await self._ends.caught_up(item, left)
            await self.answer([item], box, again=left.ids)
        else:
            await self._ends.caught_up(item, left)
            running = Running(items=[item], session_id=session_id, again=left.ids)
            await self._closing.recorded(running, left.answer)

    async def answer(
        self,
        items: Sequence[Item],
        box: Mailbox,
        *,
        text: str | None = None,
        again: tuple[str, ...] = (),
    ) -> None:
        """Answer the items as one message. `text` stands in for theirs; `again` are the ids of a turn whose
        message is in the transcript already. Without their account, they wait for the next start."""
        running, admission = Running(items=list(items), again=again), items[0].admission
        channel = self._postman.channel(items[0].message.address)
        if channel is None:
            logger.error("%s is not there now; a message waits", items[0].message.address.channel)
            return
        self._running[admission.key] = running
        try:
            if admission.trust == "owner":
                await self._places.note(admission.key, items[0].message.address, items[0].message.sender)
            with self._outgoing.opened(admission.key, channel.traits.max_file_bytes) as running.slot:
                await self._run(channel, running, box, text=text)
        except OSError as error:
            logger.critical("a turn cannot be written down (%s); it is made after a restart", error)
        finally:
            if self._running.get(admission.key) is running:
                del self._running[admission.key]

    async def _run(self, channel: Channel, running: Running, box: Mailbox, *, text: str | None) -> None:
        """The turn, which may be stopped, and then its end, which may not."""
        async with AsyncExitStack() as stack:
            try:
                running.hears.append(await stack.enter_async_context(self._showing.of(channel, running)))
                asked = await self._asked(channel, running, box, text=text)
                reply = await self._while_alive(running, asked)
            except asyncio.CancelledError:
                ending = self._closing.stopped(running, box)
            except Refused as refused:
                ending = self._closing.refused(running, refused, box)
            else:
                ending = self._closing.told(running, reply)
            await unbroken(_both(stack.aclose(), ending))

    async def _asked(self, channel: Channel, running: Running, box: Mailbox, *, text: str | None) -> Asked:
        first, ids = running.items[0], running.ids

        async def steering() -> Sequence[User]:
            return await self._joined(channel, running, box)

        async def begun(session_id: str) -> None:
            running.session_id = session_id
            await self._ends.begun(ids, session_id)

        return Asked(
            key=first.admission.key,
            parts=() if running.again else await self._parts(channel, running, running.items, text),
            sender=first.message.sender.id,
            trust=first.admission.trust,
            label=first.admission.label,
            context=self._context(running),
            ids=ids,
            steering=steering,
            taint=running.taint,
            approve=self._approving(first.admission.key, channel, first),
            on_begin=begun,
            again=bool(running.again),
        )

    def _context(self, running: Running) -> str:
        """What stands before the message; others' words make the turn one with content from outside."""
        message, key = running.items[0].message, running.items[0].admission.key
        told = "" if running.again else self._door.context(message)
        others = message.address.kind == "group" or message.asides
        if (told or running.again) and (others or (message.quoted is not None and not message.quoted.own)):
            running.taint.note("what others said in the chat")
        if running.again and message.attachments:
            running.taint.note("files of the message")
        prompt = self._door.system_prompt(message.address, message.sender)
        if prompt and not running.again and self._turns.is_new(key):
            told = f"[About this chat, from the owner: {prompt}]\n{told}".rstrip()
        return told

    async def _while_alive(self, running: Running, asked: Asked) -> str:
        """The turn's reply; a turn that gives no sign of life is ended. Raises Refused."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._stuck_seconds) as limit:
            running.hears.append(lambda _: limit.reschedule(loop.time() + self._stuck_seconds))
            try:
                return (await self._turns.answer(asked, running.hear)).reply
            except Refused:
                if limit.expired():
                    running.cause = "stuck"
                raise
            finally:
                running.hears.clear()

    async def _joined(self, channel: Channel, running: Running, box: Mailbox) -> Sequence[User]:
        """What has come for the running turn, as it stands in the transcript."""
        items = [item for item in box.join(running.items[0]) if self._ends.open(item.id)]
        if not items:
            return ()
        running.items += items
        ids = tuple(item.id for item in items)
        await self._ends.begun(ids, running.session_id)
        admission = items[0].admission
        parts = await self._parts(channel, running, items, None)
        return (self._turns.user(Asked(key=admission.key, parts=parts, label=admission.label, ids=ids)),)

    async def _parts(
        self, channel: Channel, running: Running, items: Sequence[Item], text: str | None
    ) -> tuple[Text | Image, ...]:
        words = text_of(items) if text is None else text
        taken = [await self._fetch(channel, item.message) for item in items if item.message.attachments]
        running.took(taken)
        told = "\n".join(part for part in (words, *[one.text for one in taken]) if part.strip())
        return (Text(text=told or WORDLESS), *[image for one in taken for image in one.images])


async def _both(first: Awaitable[None], then: Awaitable[None]) -> None:
    await first
    await then
