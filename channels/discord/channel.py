"""One Discord bot as a channel."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp
from discord import Client, DiscordException, LoginFailure

from channels.channel import ChannelFailed, Deliver, FetchError, Health, SendError, Traits
from channels.discord.answers import Answers
from channels.discord.delivering import Delivering
from channels.discord.errors import explained
from channels.discord.fatal import bad_token
from channels.discord.fetching import fetched
from channels.discord.hearing import Ground, Hearing
from channels.discord.line import Line, use_api
from channels.discord.me import content_problem
from channels.discord.menu import Menu
from channels.discord.missed import Missed
from channels.discord.rooms import Rooms
from channels.discord.seen import Seen
from channels.discord.sending import MAX_FILES, MAX_TEXT, album_of
from channels.discord.status import Evidence, Status
from channels.discord.threads import Threads
from channels.discord.timing import Timing
from channels.message import Address, Attachment, OutboundMessage
from channels.platforms import DiscordAccount

TRAITS = Traits(
    markup="discord",
    max_text=MAX_TEXT,
    max_caption=MAX_TEXT,
    can_edit=True,
    has_nonce=True,
    has_choices=True,
    edit_seconds=1.2,
    typing_seconds=8,
    block_chars=1_500,
    soft_lines=17,
    max_file_bytes=10_000_000,
    album_files=MAX_FILES,
    album_of=album_of,
)

logger = logging.getLogger("clawd.discord")


class DiscordChannel:
    """`folder` is where what must survive is kept (`discord/` in it). `commands` are names and descriptions
    of slash commands; `jitter` gives a factor near 1. Nothing happens before `run`."""

    name = "discord"
    traits = TRAITS

    def __init__(
        self,
        settings: DiscordAccount,
        *,
        account: str,
        token: str,
        folder: Path,
        commands: Sequence[tuple[str, str]],
        clock: Callable[[], datetime],
        jitter: Callable[[], float] = lambda: 1.0,
        timing: Timing | None = None,
    ) -> None:
        self.account = account
        self._settings = settings
        self._token = token
        self._clock = clock
        self._jitter = jitter
        self._timing = timing or Timing()
        self._folder = folder / "discord"
        self._menu = Menu(self._folder / f"commands-{account}", commands if settings.slash_commands else ())
        in_servers = settings.group_policy == "open" or bool(settings.guilds)
        self._evidence = Evidence(standing=content_problem(settings.intents, account) if in_servers else "")
        self._threads = Threads()
        self._answers = Answers(clock, thinking=self._timing.thinking)
        self._out = Delivering(
            client=self._connected,
            rooms=Rooms(self._threads, self._evidence),
            answers=self._answers,
            evidence=self._evidence,
            suppress_embeds=settings.suppress_embeds,
            seconds=self._timing.answer,
        )
        self._line: Line | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing: asyncio.Task[None] | None = None

    @property
    def health(self) -> Health:
        return self._evidence.health()

    def status(self) -> Status:
        return self._evidence.status(self._clock())

    async def run(self, deliver: Deliver) -> None:
        """Until cancelled. Raises ChannelFailed."""
        self._evidence.starting()
        use_api(self._settings.api_base_url)
        seen = Seen(self._folder / f"seen-{self.account}.json")
        ears = self.ears(seen, deliver)
        try:
            line, gateway = await self._introduced(ears, seen)
            self._spawn(self._saving(seen))
            self._spawn(self._offered(line))
            await line.listen(gateway)
        except ChannelFailed as error:
            self._evidence.failed(str(error))
            raise
        finally:
            self._evidence.stopped()
            await self._end(ears, seen)

    def ears(self, seen: Seen, deliver: Deliver) -> Hearing:
        ground = Ground(
            settings=self._settings,
            account=self.account,
            timing=self._timing,
            clock=self._clock,
            jitter=self._jitter,
            evidence=self._evidence,
            seen=seen,
            threads=self._threads,
            answers=self._answers,
            is_sent=self._out.sent.has,
        )
        ears = Hearing(ground, deliver)
        ears.catching = Missed(ground, ears)
        return ears

    def line(self, ears: Hearing) -> Line:
        """A connection that is not logged in."""
        return Line(
            self._settings,
            account=self.account,
            ears=ears,
            evidence=self._evidence,
            timing=self._timing,
            clock=self._clock,
            jitter=self._jitter,
        )

    async def send(self, message: OutboundMessage) -> str:
        return await self._out.send(message)

    async def edit(self, message: OutboundMessage, message_id: str) -> None:
        await self._out.edit(message, message_id)

    async def delete(self, address: Address, message_id: str) -> None:
        await self._out.delete(address, message_id)

    async def react(self, address: Address, message_id: str, emoji: str | None) -> None:
        await self._out.react(address, message_id, emoji)

    async def typing(self, address: Address) -> None:
        await self._out.typing(address)

    async def fetch(self, attachment: Attachment, into: Path, *, max_bytes: int) -> None:
        if self._line is None:
            raise FetchError("Discord is not connected, so that the file cannot be fetched")
        seconds, api = self._timing.answer, self._settings.api_base_url
        await fetched(self._line, attachment.ref, into, api=api, max_bytes=max_bytes, seconds=seconds)

    def _connected(self) -> Client:
        if self._line is None:
            raise SendError("Discord is not connected", retryable=True)
        return self._line

    async def _introduced(self, ears: Hearing, seen: Seen) -> tuple[Line, str]:
        """A line that is logged in, and where the gateway is. Raises ChannelFailed for a bad token."""
        failures = 0
        while True:
            line = self.line(ears)
            try:
                gateway = await self._login(line)
            except (DiscordException, aiohttp.ClientError, OSError, TypeError, KeyError) as error:
                await line.end()
                self._explain(error, failures)
            except asyncio.CancelledError:
                await line.end()
                raise
            else:
                self._line = line
                me = ears.meet(line)
                await asyncio.to_thread(seen.load, me.id, self._evidence.now(self._clock()))
                self._evidence.met(me)
                return line, gateway
            await asyncio.sleep(self._timing.wait(failures) * self._jitter())
            failures += 1

    def _explain(self, error: Exception, failures: int) -> None:
        """Why logging in failed. Raises ChannelFailed for a bad token: no other try makes sense then."""
        if isinstance(error, LoginFailure):
            raise ChannelFailed(bad_token(self.account)) from error
        said = explained(error)
        if isinstance(error, TypeError | KeyError):
            where = f"channels.discord.accounts.{self.account}.api_base_url"
            said = f"{self._settings.api_base_url} does not answer as Discord does: check {where}"
        self._evidence.trouble(said)
        if failures in (0, 10):
            logger.warning("account %s: %s; trying again", self.account, said)

    async def _login(self, line: Line) -> str:
        """Raises what the library raises."""
        async with asyncio.timeout(self._timing.answer):
            await line.login(self._token)
            if self._settings.gateway_url is not None:
                return self._settings.gateway_url
            _, gateway, _ = await line.http.get_bot_gateway()
            return gateway

    async def _offered(self, line: Line) -> None:
        application = line.application_id
        if application is not None:
            self._evidence.problem("commands", await self._menu.offer(line, application))

    async def _saving(self, seen: Seen) -> None:
        while True:
            await asyncio.sleep(self._timing.saved)
            await self._save(seen)

    async def _save(self, seen: Seen) -> None:
        """One after the other; a thread that writes cannot be called back."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
        if not seen.changed:
            return
        self._writing = asyncio.create_task(asyncio.to_thread(seen.save, seen.text()))
        try:
            await asyncio.shield(self._writing)
        except OSError as error:
            seen.changed = True
            self._evidence.problem("seen", f"{seen.path} cannot be written: {error.strerror or error}")
        else:
            self._evidence.problem("seen", "")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="discord")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end(self, ears: Hearing, seen: Seen) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await ears.close()
        await self._answers.close()
        await self._save(seen)
        line, self._line = self._line, None
        if line is not None:
            await line.end()
