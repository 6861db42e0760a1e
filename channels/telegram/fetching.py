"""Files of people, from Telegram's server to a path."""

from pathlib import Path

import httpx
from telegram import Bot
from telegram.error import BadRequest, TelegramError

from channels.channel import FetchError
from channels.storing import store, too_large
from channels.telegram.errors import send_error

PUBLIC_LIMIT = "Telegram hands out files of up to 20 MB to bots"


async def fetched(bot: Bot, client: httpx.AsyncClient, ref: str, into: Path, *, max_bytes: int) -> None:
    """The file at `into` (0600), whole; nothing there when it fails. Raises FetchError."""
    url = await _url_of(bot, ref, max_bytes)
    try:
        async with client.stream("GET", url) as answer:
            if answer.status_code != httpx.codes.OK:
                raise FetchError(f"Telegram did not give the file out (HTTP {answer.status_code})")
            await store(answer.aiter_bytes(65_536), into, max_bytes=max_bytes)
    except httpx.HTTPError as error:
        raise FetchError(f"the file could not be fetched from Telegram ({type(error).__name__})") from error
    except OSError as error:
        raise FetchError(f"the file could not be stored: {error.strerror or error}") from error


async def _url_of(bot: Bot, ref: str, max_bytes: int) -> str:
    """It holds the token, and is for nobody to see."""
    try:
        file = await bot.get_file(ref)
    except BadRequest as error:
        if "too big" in error.message.lower():
            raise FetchError(f"the file is too large: {PUBLIC_LIMIT}") from error
        raise FetchError(f"Telegram no longer has the file ({error.message})") from error
    except TelegramError as error:
        raise FetchError(str(send_error(error))) from error
    if file.file_size is not None and file.file_size > max_bytes:
        raise FetchError(too_large(max_bytes))
    if not (file.file_path or "").startswith("http"):
        raise FetchError(
            "the Bot API server keeps the file where it cannot be fetched (it runs with --local)"
        )
    return file.file_path or ""
