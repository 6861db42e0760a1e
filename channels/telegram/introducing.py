"""A bot before it is set up: whether its token is good, and who its owner is."""

import asyncio
import re

from telegram import Update
from telegram.error import Conflict, InvalidToken, TelegramError

from channels.channel import ChannelFailed
from channels.message import InboundMessage, Sender
from channels.telegram.connection import Line, Server
from channels.telegram.errors import send_error
from channels.telegram.me import Me, me_of
from channels.telegram.receiving import to_inbound
from channels.telegram.timing import Timing

_TOKEN = re.compile(r"[A-Za-z0-9_:.-]+")
_MOST = 100
_FULL = (
    "a hundred messages wait at this bot already, and more cannot be seen before they are read: start the "
    "gateway, write to the bot, and use `clawd pairing approve CODE --owner`"
)
_BUSY = (
    "another program uses this bot right now, perhaps a running gateway: stop it for a moment, or use "
    "`clawd pairing approve CODE --owner` instead"
)


def form_problem(token: str, where: str) -> str:
    """What is wrong with how a token is written; empty when nothing is. `where` names its setting."""
    if _TOKEN.fullmatch(token):
        return ""
    return (
        f"the token of {where} is not written like one (a number, a colon, letters and digits, no blanks): "
        "copy it again from BotFather (/mybots, your bot, API Token)"
    )


def refusal(error: InvalidToken, where: str, base_url: str) -> str:
    """A token that the server does not know, for a person. The error's own text may hold the token."""
    if "not found" in error.message.lower() and "api.telegram.org" not in base_url:
        return f"{base_url} knows no such bot: check {where}.api_base_url and the token"
    return (
        f"Telegram does not accept the token of {where}: it is mistyped, revoked, or its bot was deleted. "
        "Get it from BotFather (/mybots, your bot, API Token) and put it into token, token_file or "
        "TELEGRAM_BOT_TOKEN"
    )


class Introduction:
    """Asks Telegram about a bot that is not running. To be closed."""

    def __init__(self, base_url: str, token: str, *, account: str, timing: Timing | None = None) -> None:
        self._base_url = base_url
        self._token = token
        self._account = account
        self._timing = timing or Timing()
        server = Server(base_url=base_url, token=token)
        self._line = Line(server, self._timing, pool=2, polls=True)

    async def me(self) -> Me:
        """Raises ChannelFailed, with a text that says what to do."""
        where = f"channels.telegram.accounts.{self._account}"
        if problem := form_problem(self._token, where):
            raise ChannelFailed(problem)
        try:
            return me_of(await self._line.bot.get_me(), self._account)
        except InvalidToken as error:
            raise ChannelFailed(refusal(error, where, self._base_url)) from error
        except TelegramError as error:
            raise ChannelFailed(str(send_error(error))) from error

    async def who_says(self, code: str, me: Me, *, seconds: float) -> Sender | None:
        """The person who writes `code` directly to the bot; None when nobody does in time.

        It is a code because anybody may write to a bot, also before its owner does. Nothing is confirmed to
        Telegram: the gateway hears all of it afterwards. Raises ChannelFailed.
        """
        loop = asyncio.get_running_loop()
        end, waiting = loop.time() + seconds, 0
        while (left := end - loop.time()) > 0:
            if waiting:  # what is not confirmed is told again at once
                await asyncio.sleep(min(left, self._timing.first_wait))
            updates = await self._updates(0 if waiting else min(left, self._timing.poll))
            for update in updates:
                if sender := _who(update, code, me):
                    return sender
            waiting = len(updates)
            if waiting >= _MOST:
                raise ChannelFailed(_FULL)
        return None

    async def close(self) -> None:
        await self._line.close()

    async def _updates(self, seconds: float) -> tuple[Update, ...]:
        """The oldest hundred that wait. Raises ChannelFailed."""
        try:
            await self._line.bot.delete_webhook()
            return await self._line.bot.get_updates(timeout=int(seconds), limit=_MOST)
        except Conflict as error:
            raise ChannelFailed(_BUSY) from error
        except TelegramError as error:
            raise ChannelFailed(str(send_error(error))) from error


def _who(update: Update, code: str, me: Me) -> Sender | None:
    """The sender of a direct message that is the code."""
    if update.message is None:
        return None
    for event in to_inbound(update, me, now=update.message.date):
        if isinstance(event, InboundMessage) and event.address.kind == "direct":
            said = event.text.strip().removeprefix("/start").strip()
            return event.sender if said == code else None
    return None
