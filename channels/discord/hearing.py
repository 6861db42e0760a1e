"""What happens on Discord, on its way to the gateway: translated, in order chat by chat, until accepted."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

import aiohttp
from discord import (
    Client,
    DiscordException,
    Interaction,
    InteractionType,
    Message,
    RawReactionActionEvent,
)

from channels.channel import Deliver
from channels.discord.above import above
from channels.discord.answers import Answers, acknowledged
from channels.discord.errors import explained
from channels.discord.me import Me, me_of
from channels.discord.places import Place, Places, place_of
from channels.discord.receiving import to_command, to_edited, to_inbound, to_pressed, to_reaction
from channels.discord.seen import Seen
from channels.discord.status import Evidence
from channels.discord.threads import Threads
from channels.discord.timing import Timing
from channels.message import Address, Aside, ChatChanged, Inbound, InboundMessage
from channels.places import place_of as rules_of
from channels.platforms import DiscordAccount

logger = logging.getLogger("clawd.discord")


class Catching(Protocol):
    """What fetches messages that nobody heard when they came."""

    async def fetch(self, client: Client) -> None: ...


@dataclass(slots=True)
class _Turn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class Turns:
    """One after the other in a chat, chats side by side, in the order in which they asked."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}

    @asynccontextmanager
    async def of(self, chat: str) -> AsyncIterator[None]:
        turn = self._turns.setdefault(chat, _Turn())
        turn.waiting += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                self._turns.pop(chat, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a channel's parts share."""

    settings: DiscordAccount
    account: str
    timing: Timing
    clock: Callable[[], datetime]
    jitter: Callable[[], float]
    evidence: Evidence
    seen: Seen
    threads: Threads
    answers: Answers
    is_sent: Callable[[str], bool]


class Hearing:
    """`deliver` returns when an event is on disk; while the disk takes none, its chat waits."""

    def __init__(self, ground: Ground, deliver: Deliver) -> None:
        self._ground = ground
        self._deliver = deliver
        self.turns = Turns()
        self.catching: Catching | None = None
        self._me = Me(account=ground.account, id=0)
        self._client: Client | None = None
        self._places: Places | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def meet(self, client: Client) -> Me:
        """The client is logged in."""
        self._client = client
        self._me = me_of(client, self._ground.account)
        self._places = Places(client, self._me, seconds=self._ground.timing.look)
        return self._me

    def deaf(self) -> None:
        """From now until the next session nothing is told."""
        self._ground.seen.begin_gap()

    async def ready(self, client: Client) -> None:
        """A new session has begun."""
        if self.catching is not None:
            await self._counted(self.catching.fetch(client))

    async def message(self, message: Message) -> None:
        await self._counted(self._in_turn(str(message.channel.id), lambda: self.take(message)))

    async def edited(self, message: Message) -> None:
        await self._counted(self._in_turn(str(message.channel.id), lambda: self._edited(message)))

    async def reaction(self, event: RawReactionActionEvent) -> None:
        await self._counted(self._in_turn(str(event.channel_id), lambda: self._reaction(event)))

    async def interaction(self, event: "Interaction[Any]") -> None:
        await self._counted(self._interaction(event))

    async def left(self, space: str) -> None:
        """The bot is no longer in this server."""
        for chat in self._ground.seen.of_space(space):
            await self._counted(self._gone(chat, space, "the bot was removed from the server"))

    async def deleted(self, channel: int) -> None:
        if self._ground.seen.knows(str(channel)):
            await self._counted(self._gone(str(channel), "", "the channel was deleted"))

    async def close(self) -> None:
        """Stop where it is; what was not accepted is fetched by the next session."""
        self._closed = True
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def listens(self, room: object) -> bool:
        """Whether anything that is said there by somebody can be meant for us."""
        place = place_of(room, self._me)
        return place is not None and rules_of(place.address, self._ground.settings, {}).heard

    async def take(self, message: Message, *, missed: bool = False, asides: Sequence[Aside] = ()) -> None:
        """A message, while it is its chat's turn."""
        seen, place = self._ground.seen, await self._place(message)
        if place is None or seen.took(message.id):
            return
        chat = str(message.channel.id)
        try:
            await self._translated(message, place, missed=missed, asides=asides)
        except BaseException:
            seen.leave(chat, message.id, place.address.space)
            raise
        seen.accepted(chat, message.id, place.address.space)

    async def _translated(
        self, message: Message, place: Place, *, missed: bool, asides: Sequence[Aside]
    ) -> None:
        chat = str(message.channel.id)
        inbound = to_inbound(message, self._me, place, missed=missed, asides=asides)
        if inbound is None:
            return
        inbound = self._threaded(inbound, message, place)
        begins = inbound.address.thread == inbound.id
        if begins or not (self._ground.seen.knows(chat) or self._ground.threads.is_ours(chat)):
            higher = await above(message, place, self._me, seconds=self._ground.timing.look)
            inbound = replace(inbound, asides=(*higher, *inbound.asides))
        await self._accepted(inbound)

    async def _in_turn(self, chat: str, work: Callable[[], Awaitable[None]]) -> None:
        async with self.turns.of(chat):
            await work()

    async def _counted(self, work: Awaitable[None]) -> None:
        """The library does not end what it has begun; `close` does."""
        task = asyncio.current_task()
        if task is None or self._closed:
            asyncio.ensure_future(work).cancel()
            return
        self._tasks.add(task)
        try:
            await work
        finally:
            self._tasks.discard(task)

    async def _place(self, message: Message) -> Place | None:
        place = await self._places.of(message.channel) if self._places else None
        group = place is not None and place.address.kind == "group" and not place.address.space
        return None if group and not self._ground.settings.group_dms else place

    def _threaded(self, inbound: InboundMessage, message: Message, place: Place) -> InboundMessage:
        """With the thread that its answer begins, where that is set."""
        settings, threads = self._ground.settings, self._ground.threads
        if not (settings.auto_thread and place.threads):
            return inbound
        if not inbound.addressed and rules_of(place.address, settings, {}).require_mention:
            return inbound
        return replace(inbound, address=threads.begin(place.address, inbound.id, message.content))

    async def _edited(self, message: Message) -> None:
        place = await self._place(message)
        event = to_edited(message, self._me, place) if place else None
        if event is None:
            return
        if self._ground.threads.is_ours(event.id):
            where = event.address
            thread = replace(where, chat=event.id, thread=event.id, parent=where.chat)
            event = replace(event, address=thread)
        await self._accepted(event)

    async def _reaction(self, event: RawReactionActionEvent) -> None:
        if self._places is None:
            return
        place = await self._places.find(event.channel_id, event.guild_id)
        found = to_reaction(event, self._me, place, at=self._ground.clock())
        if found is not None:
            own = found.own or self._ground.is_sent(found.message_id)
            if not own and found.added and event.message_author_id is None:
                own = await self._looked_up(event)
            await self._accepted(replace(found, own=own))

    async def _looked_up(self, event: RawReactionActionEvent) -> bool:
        """Whether a message is ours that Discord names no author of, as it may."""
        room = self._client.get_partial_messageable(event.channel_id) if self._client else None
        if room is None or self._ground.settings.reactions != "own":
            return False
        try:
            async with asyncio.timeout(self._ground.timing.look):
                return (await room.fetch_message(event.message_id)).author.id == self._me.id
        except (DiscordException, aiohttp.ClientError, OSError) as error:
            logger.info("whose message it is could not be looked up: %s", explained(error))
            return False

    async def _interaction(self, event: "Interaction[Any]") -> None:
        """Discord hears of it before anything else is done."""
        if event.channel_id is None or self._places is None:
            return
        chat = str(event.channel_id)
        if event.type is InteractionType.application_command:
            await self._ground.answers.defer(event, chat, direct=event.guild_id is None)
        elif event.type is InteractionType.component:
            await acknowledged(event)
        async with self.turns.of(chat):
            place = await self._places.find(event.channel_id, event.guild_id)
            found = to_command(event, place) or to_pressed(event, place)
            if found is not None:
                await self._accepted(found)

    async def _gone(self, chat: str, space: str, why: str) -> None:
        address = Address(
            channel="discord", account=self._ground.account, chat=chat, kind="group", space=space
        )
        self._ground.seen.forget(chat)
        self._ground.evidence.lost(chat, why)
        at = self._ground.clock()
        await self._accepted(
            ChatChanged(id=f"gone-{chat}-{at:%Y%m%d%H%M%S}", address=address, at=at, gone=why)
        )

    async def _accepted(self, event: Inbound) -> None:
        """Only a disk that takes nothing is waited for."""
        ground, failures = self._ground, 0
        while True:
            try:
                await self._deliver(event)
            except OSError as error:
                said = f"a message could not be written down ({error.strerror or error}); tried again"
                ground.evidence.problem("disk", said)
                if failures in (0, 10):
                    logger.warning("account %s: %s", ground.account, said)
                await asyncio.sleep(ground.timing.wait(failures) * ground.jitter())
                failures += 1
            else:
                if failures:
                    ground.evidence.problem("disk", "")
                return
