"""Asking Telegram for updates, again and again: nothing is confirmed to it that was not accepted here."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from telegram import Bot, Update
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from channels.channel import ChannelFailed
from channels.telegram.connection import Line
from channels.telegram.errors import pause_asked, send_error
from channels.telegram.intake import Accepted, Intake
from channels.telegram.me import ALLOWED_UPDATES
from channels.telegram.offset import STALE, OffsetFile, Watermark
from channels.telegram.status import Evidence
from channels.telegram.timing import Timing

logger = logging.getLogger("clawd.telegram")


class Polling:
    """`line` is for getUpdates alone: only its answers count as a sign of life. The first one is not waited
    for, so that the status soon has one."""

    def __init__(
        self,
        *,
        line: Line,
        intake: Intake,
        offsets: OffsetFile,
        evidence: Evidence,
        timing: Timing,
        clock: Callable[[], datetime],
        jitter: Callable[[], float],
    ) -> None:
        self._line = line
        self._intake = intake
        self._offsets = offsets
        self._evidence = evidence
        self._timing = timing
        self._clock = clock
        self._jitter = jitter
        self._mark = Watermark(None)
        self._saved: int | None = None
        self._last_at, self._confirmed = clock(), False
        self._heard, self._answered = 0.0, False
        self._refused: BaseException | None = None

    async def run(self) -> None:
        """Until cancelled. Raises ChannelFailed when the token is no longer good."""
        self._saved = await asyncio.to_thread(self._offsets.load, self._clock())
        self._mark = Watermark(self._saved)
        loop, failures = asyncio.get_running_loop(), 0
        self._heard = loop.time()
        while True:
            try:
                await self._round()
                self._raise_refused()
            except (TelegramError, TimeoutError, OSError) as error:
                await self._after(error, failures)
                failures += 1
            else:
                failures = 0

    async def _round(self) -> None:
        """One poll and what it brought, accepted. Raises TelegramError, TimeoutError, and what delivering
        raises."""
        updates = await self._line.within(self._timing.silence, self._ask)
        self._heard, self._answered = asyncio.get_running_loop().time(), True
        self._evidence.alive(self._clock())
        self._confirmed = not updates
        for update in sorted(updates, key=lambda one: one.update_id):
            await self._take(update)
        await self._save()
        self._heard = asyncio.get_running_loop().time()
        if self._intake.busy:
            await asyncio.sleep(self._timing.hurried)

    async def _ask(self, bot: Bot) -> Sequence[Update]:
        if self._confirmed and self._clock() - self._last_at > STALE:
            self._mark.restart()
        low = self._mark.low
        offset = None if low is None else low + 1
        seconds = 0 if self._intake.busy or not self._answered else self._timing.poll
        return await bot.get_updates(offset=offset, timeout=seconds, allowed_updates=ALLOWED_UPDATES)

    async def _take(self, update: Update) -> None:
        number = update.update_id
        if self._mark.knows(number):
            return
        self._mark.begin(number)
        try:
            accepted = await self._intake.put(update)
        except BaseException:
            self._mark.forget(number)
            raise
        self._last_at = self._clock()
        if accepted.done():
            self._settled(number, accepted)
        else:
            accepted.add_done_callback(partial(self._settled, number))

    def _settled(self, number: int, accepted: Accepted) -> None:
        if accepted.cancelled() or (error := accepted.exception()) is not None:
            self._mark.forget(number)
            self._refused = None if accepted.cancelled() else error
        else:
            self._mark.done(number)

    def _raise_refused(self) -> None:
        """What the gateway raised for an album."""
        refused, self._refused = self._refused, None
        if refused is not None:
            raise refused

    async def _save(self) -> None:
        """A disk that fails here costs nothing but that updates may be told again after a restart."""
        low = self._mark.low
        if low is None or low == self._saved:
            return
        try:
            await asyncio.to_thread(self._offsets.save, low, self._clock())
        except OSError as error:
            logger.warning("%s cannot be written: %s", self._offsets.path, error)
            self._evidence.unsaved(f"{self._offsets.path} cannot be written: {error.strerror or error}")
        else:
            self._saved = low
            self._evidence.unsaved("")

    async def _after(self, error: Exception, failures: int) -> None:
        """Write down what failed, mend what can be mended, wait. Raises ChannelFailed."""
        if isinstance(error, InvalidToken) and "unauthorized" in error.message.lower():
            raise ChannelFailed(
                "Telegram no longer accepts the bot's token: it was revoked or the bot deleted. Get a "
                "new one from BotFather (/mybots, API Token) and put it into the configuration"
            ) from error
        said = explained(error)
        self._evidence.trouble(said)
        if failures in (0, 10):
            logger.warning("%s; trying again", said)
        silent = asyncio.get_running_loop().time() - self._heard
        if isinstance(error, TimeoutError) or silent > self._timing.silence:
            logger.warning("no poll has ended for %.0f s; all connections are made anew", silent)
            await self._line.close()
            self._heard = asyncio.get_running_loop().time()
        if isinstance(error, Conflict) and "webhook" in error.message.lower():
            await self._without_webhook()
        asked = pause_asked(error) if isinstance(error, TelegramError) else 0.0
        await asyncio.sleep(max(self._timing.wait(failures) * self._jitter(), asked))

    async def _without_webhook(self) -> None:
        try:
            await self._line.bot.delete_webhook()
        except TelegramError as error:
            logger.warning("the webhook could not be taken away: %s", error)


def explained(error: Exception) -> str:
    """A failure on the way in, for a person."""
    match error:
        case Conflict() if "webhook" in error.message.lower():
            return "a webhook is set for this bot, so that it cannot be polled; it is taken away"
        case Conflict():
            return (
                "another program polls with the same token (another clawd, an old one that still runs, or a "
                "second account with this token): stop it, or make a bot of its own for it"
            )
        case RetryAfter():
            return "Telegram asks to wait"
        case TelegramError():
            return str(send_error(error))
        case OSError() if not isinstance(error, TimeoutError):
            return f"messages cannot be written down: {error}"
        case _:
            return f"Telegram does not answer: {error}"
