"""What Discord's refusals mean for whoever wanted to send, or to connect."""

import math

import aiohttp
from discord import DiscordException, HTTPException, RateLimited

from channels.channel import SendError

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What the library raises over an event or a message that is not as it expects."""

_TOKEN_PAUSE = 60.0
_NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_INTERACTION = 10003, 10008, 10062
NO_ACCESS, NO_DMS, NO_PERMISSION, HAS_THREAD = 50001, 50007, 50013, 160004

_GONE = {
    UNKNOWN_CHANNEL: "Discord knows no such channel: it was deleted, or the id is wrong",
    10004: "Discord knows no such server for this bot: invite the bot to it again",
    10013: "Discord knows no such user: the id is wrong, or the account was deleted",
    NO_ACCESS: (
        "the bot cannot see that channel: give its role View Channel there, or add it to the private thread"
    ),
    NO_DMS: (
        "the person takes no direct messages from the bot: they can allow direct messages in the privacy "
        "settings of a server they share with it, unblock it, and write to it once"
    ),
    50278: "the bot shares no server with the person any more, so that it cannot write to them directly",
}
_REFUSED = {
    UNKNOWN_MESSAGE: "Discord knows no such message any more",
    40005: "the file is too large for Discord (10 MB for bots, more in boosted servers)",
    50005: "only the author of a message can change it",
    50006: "there is nothing to send",
    50008: "that is no channel in which text can be sent",
    50068: "that kind of message cannot be answered",
    160005: "the thread is locked: a moderator can open it again",
    50083: "the thread is archived: somebody can open it again",
}


def send_error(error: DiscordException, *, missing: str = "") -> SendError:
    """A failed request as what the gateway does next. `missing` names the permissions that are known to be
    missing there."""
    if isinstance(error, RateLimited):
        return SendError("Discord asks to wait", retryable=True, retry_after=error.retry_after)
    if not isinstance(error, HTTPException):
        return SendError(f"Discord has trouble: {error}", retryable=True)
    if error.status == 429:
        return SendError("Discord asks to wait", retryable=True, retry_after=_asked(error))
    if error.status == 401:
        said = "Discord does not know the bot's token"
        return SendError(said, retryable=True, retry_after=_TOKEN_PAUSE)
    if error.status >= 500:
        return SendError(f"Discord has trouble (HTTP {error.status})", retryable=True, ambiguous=True)
    return _refused(error, missing)


def _refused(error: HTTPException, missing: str) -> SendError:
    code, text = error.code, error.text
    if code in _GONE:
        return SendError(_GONE[code], gone=True)
    if code in _REFUSED:
        return SendError(_REFUSED[code])
    if code == NO_PERMISSION:
        needed = missing or "View Channel, Send Messages, Send Messages in Threads, Attach Files"
        said = f"the bot may not do that there: give its role {needed} in the channel's settings"
        return SendError(said, gone=True)
    if code == 50035 and ("or fewer in length" in text or "2000" in text):
        return SendError(text, too_long=True)
    return SendError(f"Discord refused it: {text or f'HTTP {error.status}'}")


def _asked(error: HTTPException) -> float:
    """Seconds that a 429 asks for; 5 where it does not say."""
    try:
        seconds = float(error.response.headers.get("Retry-After", "5"))
    except ValueError:
        return 5.0
    return seconds if math.isfinite(seconds) and seconds >= 0 else 5.0


def not_heard(error: aiohttp.ClientError | OSError) -> SendError:
    """A request without an answer. A nonce guards what is sent again."""
    kind = type(error).__name__
    if isinstance(error, _NOT_SENT):
        return SendError(f"Discord cannot be reached ({kind})", retryable=True)
    return SendError(f"Discord's answer did not come ({kind})", retryable=True, ambiguous=True)


def explained(error: BaseException) -> str:
    """For a person who looks why there is no connection."""
    if isinstance(error, TimeoutError):
        return "Discord did not answer in time"
    if isinstance(error, DiscordException):
        return str(send_error(error)) if isinstance(error, HTTPException) else str(error)
    return f"Discord cannot be reached ({type(error).__name__})"
