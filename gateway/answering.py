"""A turn of a channel's session: shown while it runs, joined by what comes meanwhile, ended for all."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agents.model.provider import TextDelta
from agents.recovery import left_of
from agents.silent import audible
from agents.turn import OnEvent, Retrying, ToolStarted, TurnEvent
from channels.channel import Channel
from channels.message import InboundMessage
from gateway.admission import Admission, Door
from gateway.ends import Ends
from gateway.inbox import End
from gateway.live import OnShown
from gateway.mailbox import Item, Mailbox, text_of
from gateway.media import Taken
from gateway.postman import Postman
from gateway.preferences import Verbosity
from gateway.presence import presence
from gateway.turns import Asked, Turns
from gateway.views import Refused
from gateway.writing import Writer
from sessions.entries import Entry
from sessions.key import SessionKey
from sessions.messages import Assistant, Image, Text, User

Cause: TypeAlias = Literal["stop", "interrupt", "stuck"]
Fetch: TypeAlias = Callable[[Channel, InboundMessage], Awaitable[Taken]]
Entries: TypeAlias = Callable[[SessionKey, str], Awaitable[Sequence[Entry]]]
"""The transcript of a key's session of that id; empty when it is not the current one. Raises Refused."""

WORDLESS = "[a message without words]"

logger = logging.getLogger("clawd.gateway")


@dataclass(slots=True)
class Running:
    """A turn under way; `items` grows as messages join it, `cause` is set by whoever ends it, `text` is what
    its present answer has said so far."""

    items: list[Item]
    cause: Cause | None = None
    text: str = ""
    over: bool = False
    hears: list[OnEvent] = field(default_factory=list)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.items)

    def hear(self, event: TurnEvent) -> None:
        match event:
            case TextDelta():
                self.text = event.text if self.over else self.text + event.text
                self.over = False
            case ToolStarted():
                self.over = True
            case Retrying():
                self.text = ""
        for listener in self.hears:
            listener(event)


class Answering:
    """Runs in the session's lane. `stuck_seconds` is how long a turn may give no sign of life; `draining`
    tells that clawd shuts down: a turn that is ended then is taken up by the next start."""

    def __init__(
        self,
        *,
        turns: Turns,
        ends: Ends,
        door: Door,
        postman: Postman,
        writer: Writer,
        fetch: Fetch,
        verbose: Callable[[SessionKey], Verbosity],
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
        self._verbose = verbose
        self._entries = entries
        self._stop = stop
        self._draining = draining
        self._stuck_seconds = stuck_seconds
        self._running: dict[SessionKey, Running] = {}

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
            await self._tell(Running(items=[item]), admission, _recorded(left.answer), again=left.ids)

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
        running = Running(items=list(items))
        channel = self._postman.channel(items[0].message.address)
        if channel is None:
            await self._ends.tell(items[0], admission, "", "dropped", ids=running.ids)
            return
        self._running[admission.key] = running
        try:
            asked = await self._asked(channel, running, admission, box, text=text, again=bool(again))
            await self._run(channel, asked, running, admission, again)
        except OSError as error:
            logger.critical("a turn cannot be written down (%s); it is made after a restart", error)
        finally:
            if self._running.get(admission.key) is running:
                del self._running[admission.key]

    async def _asked(
        self,
        channel: Channel,
        running: Running,
        admission: Admission,
        box: Mailbox,
        *,
        text: str | None,
        again: bool,
    ) -> Asked:
        first = running.items[0]
        begun = running.ids

        async def steering() -> Sequence[User]:
            return await self._joined(channel, running, admission, box)

        return Asked(
            key=admission.key,
            parts=() if again else await self._parts(channel, running.items, text),
            sender=first.message.sender.id,
            trust=admission.trust,
            label=admission.label,
            context="" if again else self._door.context(first.message),
            ids=begun,
            steering=steering,
            on_begin=lambda session_id: self._ends.begun(begun, session_id),
            again=again,
        )

    async def _run(
        self, channel: Channel, asked: Asked, running: Running, admission: Admission, again: tuple[str, ...]
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
                on_shown=self._shown(running.items[0]),
                ids=self._ends.shown_ids(running.items[0]),
                verbose=self._verbose(admission.key),
            ) as hear:
                running.hears.append(hear)
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
        ids = (*running.ids, *again)
        end: End = "silent" if said is None else "answered"
        await self._ends.tell(running.items[0], admission, said or "", end, ids=ids)

    async def _refused(
        self, refused: Refused, running: Running, admission: Admission, again: tuple[str, ...]
    ) -> None:
        first, ids = running.items[0], (*running.ids, *again)
        if refused.code != "stopped":
            await self._ends.tell(first, admission, f"⚠️ {refused}", "failed", ids=ids)
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
        asked = Asked(
            key=admission.key,
            parts=await self._parts(channel, items, None),
            label=admission.label,
            ids=tuple(item.id for item in items),
        )
        running.items += items
        return (self._turns.user(asked),)

    async def _parts(
        self, channel: Channel, items: Sequence[Item], text: str | None
    ) -> tuple[Text | Image, ...]:
        words = text_of(items) if text is None else text
        taken = [await self._fetch(channel, item.message) for item in items if item.message.attachments]
        told = "\n".join(part for part in (words, *[one.text for one in taken]) if part.strip())
        return (Text(text=told or WORDLESS), *[image for one in taken for image in one.images])

    def _shown(self, item: Item) -> OnShown:
        async def shown(message_id: str | None) -> None:
            await self._ends.shown(item, message_id)

        return shown


def _recorded(answer: Assistant) -> str:
    """What is told of an answer that was recorded and not delivered."""
    if answer.stop == "error":
        return f"⚠️ {answer.error or 'The model failed.'}"
    return answer.text.strip() or "(The model gave an empty answer. Ask again, or in other words.)"
