"""One bot's connection to Discord: the library's client, with a patience and an honesty of our own.

The library's own loop waits up to seventeen minutes after failures, and has no time limit for being let in.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from discord import (
    AllowedMentions,
    Client,
    ConnectionClosed,
    DiscordException,
    Guild,
    Interaction,
    MemberCacheFlags,
    Message,
    RawMessageUpdateEvent,
    RawReactionActionEvent,
    RawThreadDeleteEvent,
    VoiceClient,
)
from discord.abc import GuildChannel
from discord.gateway import DiscordWebSocket, ReconnectWebSocket
from discord.http import Route
from discord.utils import MISSING
from yarl import URL

from channels.channel import ChannelFailed
from channels.discord.errors import UNREADABLE, explained
from channels.discord.fatal import fatal_close
from channels.discord.hearing import Hearing
from channels.discord.me import intents_of, refused_intents
from channels.discord.rights import CHANGES, Rights
from channels.discord.status import Evidence
from channels.discord.timing import Timing
from channels.platforms import DiscordAccount

logger = logging.getLogger("clawd.discord")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a connection that ended can be taken up again with."""

    id: str
    sequence: int | None
    gateway: URL


def use_api(base_url: str) -> None:
    """The library keeps the address of the API for the whole process; so does the configuration. And it
    warns of what voice chats need, which nobody asked for."""
    if base_url != Route.BASE:
        Route.BASE = base_url
    VoiceClient.warn_nacl = VoiceClient.warn_dave = False


class Line(Client):
    """Not logged in yet. `ears` hear what happens; an error in them ends nothing."""

    def __init__(
        self,
        settings: DiscordAccount,
        *,
        account: str,
        ears: Hearing,
        evidence: Evidence,
        timing: Timing,
        clock: Callable[[], datetime],
        jitter: Callable[[], float],
    ) -> None:
        super().__init__(
            intents=intents_of(settings.intents),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=MemberCacheFlags.none(),
            guild_ready_timeout=timing.guilds,
            heartbeat_timeout=timing.silence,
            max_ratelimit_timeout=30,
            allowed_mentions=AllowedMentions.none(),
            http_trace=self._tracing(),
        )
        self._request = self.http.request
        self.http.request = self._unlimited  # type: ignore[method-assign]
        self._settings = settings
        self._account = account
        self._ears = ears
        self._evidence = evidence
        self._timing = timing
        self._clock = clock
        self._jitter = jitter
        self._rights = Rights(settings, evidence)
        self._let_in = False

    async def _unlimited(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (the library's)
        """A request of the library. One that is given up while it waits for the end of a limit on the whole
        bot would leave all others waiting for that end."""
        try:
            return await self._request(*args, **kwargs)
        except asyncio.CancelledError:
            if (over := self.http._global_over) is not MISSING:  # noqa: SLF001 (there is no other way)
                over.set()
            raise

    async def listen(self, gateway: str) -> None:
        """Until cancelled. Raises ChannelFailed when Discord will not have us."""
        session: Session | None = None
        failures, why, loop = 0, "", asyncio.get_running_loop()
        while True:
            self._let_in, begun = False, loop.time()
            try:
                await self._live(URL(gateway), session)
            except ReconnectWebSocket as error:
                session = self._session() if error.resume else None
                why = "the connection ended" if error.resume else "the session ended"
            except ConnectionClosed as error:
                self._raise_fatal(error.code)
                session, why = None, f"Discord closed the connection (code {error.code})"
            except (DiscordException, aiohttp.ClientError, OSError) as error:
                session, why = self._session() or session, explained(error)
            steady = self._let_in and loop.time() - begun >= self._timing.steady
            failures = 0 if steady else failures + 1
            self._evidence.trouble(f"{why}; connecting again")
            if failures in (1, 10):
                logger.warning("account %s: %s; trying again", self._account, why)
            await asyncio.sleep(self._timing.wait(failures - 1) * self._jitter() if failures else 0)

    async def end(self) -> None:
        """Close what is open, or leave it to itself when that takes too long."""
        task = asyncio.ensure_future(self.close())
        done, _ = await asyncio.wait({task}, timeout=self._timing.teardown)
        if not done:
            task.cancel()
            await self.http.close()

    async def before_identify_hook(self, _: int | None, *, initial: bool = False) -> None:
        """Discord takes a new session every five seconds."""
        if not initial:
            await asyncio.sleep(self._timing.identify)

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (the library's)
        if self.is_closed():
            return
        if event == "socket_event_type":
            self._evidence.event(self._clock())
            if args[0] in ("READY", "RESUMED"):
                self._let_in = True
                self._evidence.let_in(resumed=args[0] == "RESUMED")
        if event in CHANGES and self.is_ready():
            self._rights.look(self, event, *args)
        super().dispatch(event, *args, **kwargs)

    async def on_ready(self) -> None:
        await self._ears.ready(self)

    async def on_guild_available(self, _: Guild) -> None:
        """A server that is told later than the others."""
        if self.is_ready():
            await self._ears.ready(self)

    async def on_message(self, message: Message) -> None:
        await self._ears.message(message)

    async def on_raw_message_edit(self, event: RawMessageUpdateEvent) -> None:
        await self._ears.edited(event.message)

    async def on_raw_reaction_add(self, event: RawReactionActionEvent) -> None:
        await self._ears.reaction(event)

    async def on_raw_reaction_remove(self, event: RawReactionActionEvent) -> None:
        await self._ears.reaction(event)

    async def on_interaction(self, event: "Interaction[Any]") -> None:
        await self._ears.interaction(event)

    async def on_guild_remove(self, guild: Guild) -> None:
        await self._ears.left(str(guild.id))

    async def on_guild_channel_delete(self, channel: GuildChannel) -> None:
        await self._ears.deleted(channel.id)

    async def on_raw_thread_delete(self, event: RawThreadDeleteEvent) -> None:
        await self._ears.deleted(event.thread_id)

    async def on_error(self, event_method: str, /, *_: Any, **__: Any) -> None:  # noqa: ANN401
        logger.exception(  # noqa: LOG004 (the library calls it where it has caught something)
            "account %s: an event (%s) was not handled", self._account, event_method
        )

    def _tracing(self) -> aiohttp.TraceConfig:
        trace = aiohttp.TraceConfig()
        trace.on_request_end.append(self._answered)
        return trace

    async def _answered(self, _: object, __: object, told: aiohttp.TraceRequestEndParams) -> None:
        """Discord dates its answers."""
        try:
            date = parsedate_to_datetime(told.response.headers.get("Date", ""))
        except ValueError:
            return
        if date.tzinfo is not None:
            self._evidence.dated(date, self._clock())

    async def _live(self, gateway: URL, session: Session | None) -> None:
        """One connection from its beginning to its end, which is always an error."""
        resumed: dict[str, Any] = {}
        if session is not None:
            gateway = session.gateway
            resumed = {"resume": True, "session": session.id, "sequence": session.sequence}
        else:
            self._ears.deaf()
        initial = self.ws is None
        connecting = DiscordWebSocket.from_client(self, gateway=gateway, initial=initial, **resumed)
        self.ws = await asyncio.wait_for(connecting, self._timing.hello + self._timing.identify)
        try:
            async with asyncio.timeout(self._timing.ready):
                while not self._let_in:
                    await self._event()
        except TimeoutError:
            await self.ws.close(code=4000)
            raise
        while True:
            await self._event()

    async def _event(self) -> None:
        """What the library cannot read is left out, and stands in the way of nothing that follows."""
        try:
            await self.ws.poll_event()
        except UNREADABLE:
            logger.exception("account %s: an event cannot be understood and is left out", self._account)
        self._evidence.alive(self._clock(), self.ws.latency)

    def _session(self) -> Session | None:
        """Of the last connection, where it came far enough."""
        if self.ws is None or not self.ws.session_id:  # type: ignore[redundant-expr]  # None before the first
            return None
        return Session(id=self.ws.session_id, sequence=self.ws.sequence, gateway=self.ws.gateway)

    def _raise_fatal(self, code: int) -> None:
        flags = self.application.flags if self.application else None
        intents = refused_intents(self._settings.intents, flags)
        why = fatal_close(code, self._account, intents)
        if why is not None:
            raise ChannelFailed(why)
