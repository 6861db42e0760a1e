"""A turn of a channel's session: shown while it runs, joined by what comes meanwhile, ended for all."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias

from agents.recovery import left_of
from agents.silent import audible
from agents.tools.approval import Approve
from channels.channel import Channel
from channels.message import Address, InboundMessage
from gateway.admission import Admission, Door
from gateway.ends import Ends
from gateway.heard_turns import HeardTurns
from gateway.inbox import End
from gateway.mailbox import Item, Mailbox, text_of
from gateway.media import Taken
from gateway.media.sending import Outgoing, Sending
from gateway.postman import Postman
from gateway.preferences import Verbosity
from gateway.presence import presence
from gateway.running import Cause, Running, recorded
from gateway.turns import Asked
from gateway.views import Refused
from gateway.writing import Writer
from sessions.entries import Entry
from sessions.key import SessionKey
from sessions.messages import Image, Text, User

Fetch: TypeAlias = Callable[[Channel, InboundMessage], Awaitable[Taken]]
Entries: TypeAlias = Callable[[SessionKey, str], Awaitable[Sequence[Entry]]]
"""The transcript of a key's session of that id; empty when it is not the current one. Raises Refused."""
Approving: TypeAlias = Callable[[SessionKey, Channel, Item], Approve]
"""How the owner is asked in the chat that an item came from."""

WORDLESS = "[a message without words]"

logger = logging.getLogger("clawd.gateway")


class Answering:
    """Runs in the session's lane. `stuck_seconds` is how long a turn may give no sign of life; `draining`
    tells that clawd shuts down: a turn that is ended then is taken up by the next start. `last` is where the
    owner spoke last in a session."""

    def __init__(
        self,
        *,
        turns: HeardTurns,
        ends: Ends,
        door: Door,
        postman: Postman,
        writer: Writer,
        fetch: Fetch,
        outgoing: Outgoing,
        verbose: Callable[[SessionKey], Verbosity],
        approving: Approving,
        entries: Entries,
        stop: Callable[[SessionKey], bool],
        draining: Callable[[], bool],
        stuck_seconds: float,
    ) -> None:
        self._turns = turns
        self._ends = ends
        self._door = door
        self._postman = postman
        self._writer = writer
        self._fetch = fetch
        self._outgoing = outgoing
        self._verbose = verbose
        self._approving = approving
        self._entries = entries
        self._stop = stop
        self._draining = draining
        self._stuck_seconds = stuck_seconds
        self._running: dict[SessionKey, Running] = {}
        self.last: dict[SessionKey, Address] = {}

    def end(self, key: SessionKey, cause: Cause) -> bool:
        """End the session's running turn; False when none runs."""
        running = self._running.get(key)
        if running is None or running.cause is not None:
            return running is not None
        running.cause = cause
        return self._stop(key)

    async def again(self, item: Item, admission: Admission, box: Mailbox, session_id: str) -> None:
        """Take up a turn that an earlier process began."""
        if not self._ends.open(item.id):
            return
        try:
            left = left_of(await self._entries(admission.key, session_id), item.id)
        except Refused as refused:
            await self._ends.tell(item, admission, f"⚠️ {refused}", "failed")
            return
        if not left.recorded:
            await self.answer([item], admission, box)
        elif left.answer is None:
            await self.answer([item], admission, box, again=left.ids)
        else:
            running = Running(items=[item], session_id=session_id, again=True)
            await self._tell(running, admission, recorded(left.answer), again=left.ids)

    async def answer(
        self,
        items: Sequence[Item],
        admission: Admission,
        box: Mailbox,
        *,
        text: str | None = None,
        again: tuple[str, ...] = (),
    ) -> None:
        """Answer the items as one message. `text` stands in for theirs; `again` are the ids of a turn whose
        message is in the transcript already."""
        running = Running(items=list(items), again=bool(again))
        channel = self._postman.channel(items[0].message.address)
        if channel is None:
            await self._ends.tell(items[0], admission, "", "dropped", ids=running.ids)
            return
        self._running[admission.key] = running
        if admission.trust == "owner":
            self.last[admission.key] = items[0].message.address
        try:
            with self._outgoing.opened(admission.key, channel.traits.max_file_bytes) as running.slot:
                await self._run(channel, running, admission, box, text=text, again=again)
        except OSError as error:
            logger.critical("a turn cannot be written down (%s); it is made after a restart", error)
        finally:
            if self._running.get(admission.key) is running:
                del self._running[admission.key]

    async def _asked(
        self, channel: Channel, running: Running, admission: Admission, box: Mailbox, *, text: str | None
    ) -> Asked:
        """Raises Refused when it is stopped while files are fetched."""
        first = running.items[0]
        ids = running.ids

        async def steering() -> Sequence[User]:
            return await self._joined(channel, running, admission, box)

        async def begun(session_id: str) -> None:
            running.session_id = session_id
            await self._ends.begun(ids, session_id)

        try:
            parts = () if running.again else await self._parts(channel, running, running.items, text)
        except asyncio.CancelledError as error:
            raise Refused("Stopped.", code="stopped", status=409) from error
        if running.again and first.message.attachments:
            running.taint.note("files of the message")
        return Asked(
            key=admission.key,
            parts=parts,
            sender=first.message.sender.id,
            trust=admission.trust,
            label=admission.label,
            context="" if running.again else self._context(running, admission),
            ids=ids,
            steering=steering,
            taint=running.taint,
            approve=self._approving(admission.key, channel, first),
            on_begin=begun,
            again=running.again,
        )

    def _context(self, running: Running, admission: Admission) -> str:
        """What stands before the message; others' words make the turn one with content from outside."""
        message = running.items[0].message
        told = self._door.context(message)
        others = message.address.kind == "group" or message.asides
        if told and (others or (message.quoted is not None and not message.quoted.own)):
            running.taint.note("what others said in the chat")
        prompt = self._door.system_prompt(message.address, message.sender)
        if prompt and self._turns.is_new(admission.key):
            told = f"[About this chat, from the owner: {prompt}]\n{told}".rstrip()
        return told

    async def _run(
        self,
        channel: Channel,
        running: Running,
        admission: Admission,
        box: Mailbox,
        *,
        text: str | None,
        again: tuple[str, ...],
    ) -> None:
        try:
            async with presence(
                channel,
                running.items[0].message.address,
                key=running.items[0].id,
                reply_to=self._ends.reply_to(running.items[0]),
                types=admission.types,
                shows=admission.shows and not self._ends.doubtful(running.items[0]),
                pieces=self._writer.growing(channel.traits),
                on_shown=partial(self._ends.shown, running.items[0]),
                ids=self._ends.shown_ids(running.items[0]),
                verbose=self._verbose(admission.key),
            ) as hear:
                running.hears.append(hear)
                asked = await self._asked(channel, running, admission, box, text=text)
                reply = await self._while_alive(running, asked)
        except Refused as refused:
            await self._refused(refused, running, admission, again)
        else:
            await self._tell(running, admission, reply, again=again)

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

    async def _tell(
        self, running: Running, admission: Admission, text: str, *, again: tuple[str, ...]
    ) -> None:
        said = audible(text)
        sends = await self._sends(running, admission)
        end: End = "answered" if said is not None or sends or running.told else "silent"
        await self._ends.tell(
            running.items[0],
            admission,
            running.noted(said or ""),
            end,
            ids=(*running.ids, *again),
            sends=sends,
        )

    async def _sends(self, running: Running, admission: Admission) -> Sequence[Sending]:
        """The files that go out with the answer, as the transcript has them."""
        if not running.may_send:
            return ()
        try:
            entries = await self._entries(admission.key, running.session_id)
        except Refused as refused:
            logger.error("files of an answer are not sent: %s", refused)  # noqa: TRY400 (the text says it)
            return ()
        return await asyncio.to_thread(self._outgoing.of, entries, running.items[0].id)

    async def _refused(
        self, refused: Refused, running: Running, admission: Admission, again: tuple[str, ...]
    ) -> None:
        first, ids = running.items[0], (*running.ids, *again)
        if refused.code != "stopped":
            text = running.noted(f"⚠️ {refused}")
            sends = await self._sends(running, admission)
            await self._ends.tell(first, admission, text, "failed", ids=ids, sends=sends)
            return
        match running.cause:
            case None if self._draining():
                return
            case "stuck":
                text = (
                    f"⚠️ I stopped: for {self._stuck_seconds / 60:.0f} minutes there was no sign of life from "
                    "the model or a tool. Send it again, or begin afresh with /new."
                )
                await self._ends.tell(first, admission, text, "failed", ids=ids)
            case "interrupt":
                await self._ends.tell(first, admission, "", "joined", ids=ids)
            case _:
                said = audible(running.text) or ""
                text = f"{said.rstrip()}\n\n*(stopped)*" if said.strip() else ""
                await self._ends.tell(first, admission, text, "stopped", ids=ids)

    async def _joined(
        self, channel: Channel, running: Running, admission: Admission, box: Mailbox
    ) -> Sequence[User]:
        """What has come for the running turn, as it stands in the transcript."""
        items = box.join(running.items[0])
        if not items:
            return ()
        running.items += items
        asked = Asked(
            key=admission.key,
            parts=await self._parts(channel, running, items, None),
            label=admission.label,
            ids=tuple(item.id for item in items),
        )
        return (self._turns.user(asked),)

    async def _parts(
        self, channel: Channel, running: Running, items: Sequence[Item], text: str | None
    ) -> tuple[Text | Image, ...]:
        words = text_of(items) if text is None else text
        taken = [await self._fetch(channel, item.message) for item in items if item.message.attachments]
        running.took(taken)
        told = "\n".join(part for part in (words, *[one.text for one in taken]) if part.strip())
        return (Text(text=told or WORDLESS), *[image for one in taken for image in one.images])
