"""Files of people, from Discord's server to a path."""

from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import httpx
from discord import Client, DiscordException

from channels.channel import FetchError
from channels.discord.errors import explained
from channels.storing import store

HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
_STALE = (401, 403, 404, 410)


def ref_of(chat: int, message: int, file: int, url: str) -> str:
    """All that is needed to find a file again. Discord's addresses last for a day, the rest for ever."""
    return f"{chat}/{message}/{file} {url}"


async def fetched(client: Client, ref: str, into: Path, *, api: str, max_bytes: int, seconds: float) -> None:
    """The file at `into` (0600), whole; nothing there when it fails. Raises FetchError.

    `api` is the address of the API, whose host may hold files as well.
    """
    place, _, url = ref.partition(" ")
    hosts = HOSTS | {urlsplit(api).hostname or ""}
    timeout = httpx.Timeout(seconds, connect=seconds)
    try:
        async with httpx.AsyncClient(timeout=timeout) as browser:
            status = await _download(browser, _checked(url, hosts), into, max_bytes)
            if status in _STALE:
                fresh = await _fresh(client, place)
                status = await _download(browser, _checked(fresh, hosts), into, max_bytes)
    except httpx.HTTPError as error:
        raise FetchError(f"the file could not be fetched from Discord ({type(error).__name__})") from error
    except OSError as error:
        raise FetchError(f"the file could not be stored: {error.strerror or error}") from error
    if status != httpx.codes.OK:
        raise FetchError(f"Discord did not give the file out (HTTP {status})")


def _checked(url: str, hosts: frozenset[str]) -> str:
    """Raises FetchError for an address that is not Discord's."""
    if not url.startswith(("http://", "https://")) or urlsplit(url).hostname not in hosts:
        raise FetchError("the file is not on Discord's server")
    return url


async def _fresh(client: Client, place: str) -> str:
    """The file's address as it is now. Raises FetchError."""
    try:
        chat, message, file = (int(part) for part in place.split("/"))
        found = await client.get_partial_messageable(chat).fetch_message(message)
    except ValueError as error:
        raise FetchError("that is no file of Discord's") from error
    except (DiscordException, aiohttp.ClientError, OSError) as error:
        raise FetchError(f"Discord no longer has the file ({explained(error)})") from error
    url = next((one.url for one in found.attachments if one.id == file), None)
    if url is None:
        raise FetchError("the file is no longer in its message")
    return url


async def _download(browser: httpx.AsyncClient, url: str, into: Path, max_bytes: int) -> int:
    """The status; the file is there when it is 200."""
    async with browser.stream("GET", url) as answer:
        if answer.status_code == httpx.codes.OK:
            await store(answer.aiter_bytes(65_536), into, max_bytes=max_bytes)
        return answer.status_code
