"""What Telegram's refusals mean for whoever wanted to send."""

import warnings
from datetime import timedelta

import httpx
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter, TelegramError

from channels.channel import SendError

_TOKEN_PAUSE = 60.0
_MARKUP = ("can't parse", "can't find end", "unsupported start tag", "unsupported parse", "entity_")
_TOO_LONG = ("message is too long", "message_too_long", "caption is too long", "text is too long")
_NO_CHAT = (
    "chat not found",
    "peer_id_invalid",
    "user not found",
    "chat_id_invalid",
    "group chat was deactivated",
)
_NO_RIGHT = (
    "not enough rights to send text",
    "not enough rights to send messages",
    "have no rights to send",
    "need administrator rights",
    "chat_write_forbidden",
    "chat_restricted",
    "user_banned_in_channel",
)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def send_error(error: TelegramError) -> SendError:
    """A failed request as what the gateway does next."""
    if isinstance(error, BadRequest):
        return _bad_request(error.message, error.message.lower())
    cause = error.__cause__
    if cause is not None and not isinstance(cause, TelegramError):  # that: an error page without JSON
        return _not_heard(cause)
    match error:
        case RetryAfter():
            refused = SendError("Telegram asks to wait", retryable=True, retry_after=pause_asked(error))
        case Forbidden():
            refused = SendError(_forbidden(error.message.lower()), gone=True)
        case InvalidToken():
            said = "Telegram does not know the bot's token"
            refused = SendError(said, retryable=True, retry_after=_TOKEN_PAUSE)
        case ChatMigrated():
            refused = SendError("the group has moved to another id", retryable=True)
        case _ if "entity too large" in error.message.lower() or "(413)" in error.message:
            refused = SendError("the file is too large for Telegram (50 MB for bots)")
        case _:
            refused = SendError(f"Telegram has trouble: {error.message[:200]}", retryable=True)
    return refused


def _bad_request(text: str, low: str) -> SendError:
    if any(one in low for one in _MARKUP):
        return SendError(text, markup=True)
    if any(one in low for one in _TOO_LONG):
        return SendError(text, too_long=True)
    if any(one in low for one in _NO_CHAT):
        return SendError(
            f"Telegram finds no such chat ({text}): the person has not pressed Start in the chat with the "
            "bot, the bot is not in the group, or the id is wrong",
            gone=True,
        )
    if any(one in low for one in _NO_RIGHT):
        return SendError(
            f"the bot may not write there ({text}): an admin of the group can allow it, or make it an admin",
            gone=True,
        )
    if "topic_closed" in low or "topic_deleted" in low:
        return SendError(f"the topic is closed or deleted ({text}): an admin can open it again")
    return SendError(f"Telegram refused it: {text}")


def _forbidden(low: str) -> str:
    if "blocked" in low:
        return "the person has blocked the bot; they can unblock it in its chat, and write to it once"
    if "deactivated" in low:
        return "the person's account no longer exists"
    if "kicked" in low or "not a member" in low:
        return "the bot is not in the group any more; somebody can add it again"
    if "initiate" in low:
        return "a bot cannot write first: the person has to press Start in the chat with it"
    if "to bots" in low:
        return "a bot cannot write to another bot"
    return f"the bot may not write there ({low})"


def _not_heard(cause: BaseException) -> SendError:
    kind = type(cause).__name__
    if isinstance(cause, _NEVER_SENT):
        return SendError(f"Telegram cannot be reached ({kind})", retryable=True)
    return SendError(f"Telegram's answer did not come ({kind})", retryable=True, ambiguous=True)


def seconds_of(value: float | timedelta) -> float:
    return value.total_seconds() if isinstance(value, timedelta) else float(value)


def pause_asked(error: TelegramError) -> float:
    """How long Telegram asks to wait; 0 when it does not."""
    if not isinstance(error, RetryAfter):
        return 0.0
    with warnings.catch_warnings():  # the library is about to change the type, both are read here
        warnings.simplefilter("ignore")
        return seconds_of(error.retry_after)


def is_unchanged(error: TelegramError) -> bool:
    """An edit that changes nothing has succeeded."""
    return isinstance(error, BadRequest) and "not modified" in error.message.lower()


def is_closed(error: TelegramError) -> bool:
    """The topic is, for whoever does not manage topics."""
    return isinstance(error, BadRequest) and "topic_closed" in error.message.lower()


def no_thread(error: TelegramError) -> bool:
    return isinstance(error, BadRequest) and "thread not found" in error.message.lower()


def wants_document(error: TelegramError) -> bool:
    """The file can be sent, but not as a picture or voice note."""
    low = error.message.lower()
    signs = (
        "voice_messages_forbidden",
        "photo_invalid",
        "image_process_failed",
        "photo_save",
        "wrong type of",
    )
    return isinstance(error, BadRequest | Forbidden) and any(one in low for one in signs)
