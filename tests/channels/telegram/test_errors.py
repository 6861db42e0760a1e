"""What refusals mean: wait, send plain, give up with a word for a person, or nobody knows."""

import httpx
import pytest
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from channels.telegram.errors import is_unchanged, no_thread, pause_asked, send_error, wants_document

PARSE = 'Can\'t parse entities: unsupported start tag "x" at byte offset 3'


def caused(error: TelegramError, cause: Exception) -> TelegramError:
    error.__cause__ = cause
    return error


def test_markup_that_cannot_be_read_may_be_sent_plain() -> None:
    refused = send_error(BadRequest(PARSE))
    assert (refused.markup, refused.retryable, refused.gone) == (True, False, False)


@pytest.mark.parametrize("text", ["Message is too long", "Message caption is too long", "MESSAGE_TOO_LONG"])
def test_b45_what_is_too_long_is_not_sent_again(text: str) -> None:
    """B45"""
    refused = send_error(BadRequest(text))
    assert (refused.too_long, refused.retryable) == (True, False)


def test_a_limit_says_how_long_to_wait() -> None:
    refused = send_error(RetryAfter(7))
    assert (refused.retryable, refused.retry_after, refused.ambiguous) == (True, 7.0, False)
    assert pause_asked(RetryAfter(7)) == 7.0
    assert pause_asked(TimedOut()) == 0.0


@pytest.mark.parametrize(
    "cause", [httpx.ConnectError("x"), httpx.ConnectTimeout("x"), httpx.PoolTimeout("x")]
)
def test_what_never_left_can_be_sent_again(cause: Exception) -> None:
    refused = send_error(caused(NetworkError("x"), cause))
    assert (refused.retryable, refused.ambiguous) == (True, False)


@pytest.mark.parametrize(
    "cause",
    [httpx.ReadTimeout("x"), httpx.WriteTimeout("x"), httpx.ReadError("x"), httpx.RemoteProtocolError("x")],
)
def test_what_may_have_arrived_is_ambiguous(cause: Exception) -> None:
    assert send_error(caused(TimedOut(), cause)).ambiguous


def test_an_answer_that_is_no_json_leaves_a_doubt_unless_it_is_an_error() -> None:
    assert send_error(caused(TelegramError("Invalid server response"), ValueError("x"))).ambiguous
    page = caused(NetworkError("Bad Gateway (502). Parsing failed"), TelegramError("Invalid server response"))
    assert (send_error(page).retryable, send_error(page).ambiguous) == (True, False)


def test_a_client_that_ended_in_the_middle_leaves_a_doubt() -> None:
    error = caused(NetworkError("Unknown error in HTTP implementation"), RuntimeError("client is closed"))
    assert send_error(error).ambiguous


@pytest.mark.parametrize("text", ["Internal Server Error", "Bad Gateway", "Gateway Timeout (504)"])
def test_a_server_in_trouble_is_tried_again(text: str) -> None:
    refused = send_error(NetworkError(text))
    assert (refused.retryable, refused.ambiguous, refused.gone) == (True, False, False)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Forbidden("Forbidden: bot was blocked by the user"), "unblock"),
        (Forbidden("Forbidden: user is deactivated"), "no longer exists"),
        (Forbidden("Forbidden: bot was kicked from the supergroup chat"), "add it again"),
        (Forbidden("Forbidden: bot is not a member of the channel chat"), "add it again"),
        (Forbidden("Forbidden: bot can't initiate conversation with a user"), "press Start"),
        (Forbidden("Forbidden: bot can't send messages to bots"), "another bot"),
        (Forbidden("Forbidden: something new"), "may not write"),
        (BadRequest("Chat not found"), "pressed Start"),
        (BadRequest("Not enough rights to send text messages to the chat"), "admin"),
        (BadRequest("CHAT_WRITE_FORBIDDEN"), "admin"),
    ],
)
def test_a_chat_that_cannot_be_written_to_is_gone_and_says_what_to_do(
    error: TelegramError, said: str
) -> None:
    refused = send_error(error)
    assert (refused.gone, refused.retryable) == (True, False)
    assert said in str(refused)


def test_other_refusals_are_final_and_told() -> None:
    assert "BUTTON_DATA_INVALID" in str(send_error(BadRequest("BUTTON_DATA_INVALID")))
    assert not send_error(BadRequest("BUTTON_DATA_INVALID")).retryable
    assert "open it again" in str(send_error(BadRequest("TOPIC_CLOSED")))
    assert "50 MB" in str(send_error(NetworkError("Request Entity Too Large")))
    assert send_error(ChatMigrated(-5)).retryable


def test_a_token_that_is_no_longer_known_leaves_time_to_put_in_a_new_one() -> None:
    refused = send_error(InvalidToken("Unauthorized"))
    assert refused.retryable
    assert refused.retry_after is not None
    assert refused.retry_after >= 30


def test_signs_that_the_channel_mends_itself() -> None:
    assert is_unchanged(BadRequest("Message is not modified: specified new message content …"))
    assert not is_unchanged(BadRequest("Message to edit not found"))
    assert no_thread(BadRequest("Message thread not found"))
    assert wants_document(BadRequest("VOICE_MESSAGES_FORBIDDEN"))
    assert not wants_document(TimedOut())
