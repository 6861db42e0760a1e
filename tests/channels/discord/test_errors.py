"""What Discord's refusals mean for whoever wanted to send, by the codes of its documentation."""

from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from discord import DiscordServerError, Forbidden, HTTPException, NotFound, RateLimited

from channels.discord.errors import explained, not_heard, send_error
from channels.discord.fatal import fatal_close


def refused(
    status: int, code: int, text: str = "No", *, headers: dict[str, str] | None = None
) -> HTTPException:
    answer: Any = SimpleNamespace(status=status, reason="No", headers=headers or {})
    kind = {403: Forbidden, 404: NotFound}.get(status, DiscordServerError if status >= 500 else HTTPException)
    return kind(answer, {"code": code, "message": text})


@pytest.mark.parametrize(
    ("status", "code", "gone", "said"),
    [
        (404, 10003, True, "no such channel"),
        (404, 10008, False, "no such message"),
        (404, 10013, True, "no such user"),
        (403, 50001, True, "View Channel"),
        (403, 50007, True, "privacy settings"),
        (403, 50278, True, "shares no server"),
        (403, 50013, True, "Send Messages"),
        (400, 50083, False, "archived"),
        (400, 160005, False, "locked"),
        (413, 40005, False, "too large"),
        (400, 50035, False, "Discord refused it"),
    ],
)
def test_a_refusal_is_final_and_says_what_to_do(status: int, code: int, gone: bool, said: str) -> None:
    error = send_error(refused(status, code))
    assert (error.retryable, error.ambiguous, error.gone) == (False, False, gone)
    assert said in str(error)


def test_the_missing_permissions_are_named_where_they_are_known() -> None:
    assert "give its role Attach Files in" in str(send_error(refused(403, 50013), missing="Attach Files"))


def test_a_text_that_is_too_long_is_told_apart() -> None:
    text = "Invalid Form Body\nIn content: Must be 2000 or fewer in length."
    assert send_error(refused(400, 50035, text)).too_long
    assert not send_error(refused(400, 50035, "Invalid Form Body\nIn nonce: no")).too_long


@pytest.mark.parametrize(("header", "seconds"), [("7.5", 7.5), ("x", 5), ("nan", 5), ("-1", 5), (None, 5)])
def test_a_pause_that_is_asked_for_is_kept(header: str | None, seconds: float) -> None:
    error = send_error(refused(429, 0, headers={"Retry-After": header} if header else {}))
    assert (error.retryable, error.retry_after, error.ambiguous) == (True, seconds, False)
    assert send_error(RateLimited(40)).retry_after == 40


@pytest.mark.parametrize("status", [500, 502, 503, 524])
def test_trouble_may_have_been_obeyed(status: int) -> None:
    error = send_error(refused(status, 0))
    assert (error.retryable, error.ambiguous) == (True, True)


def test_a_token_that_is_not_known_is_waited_for() -> None:
    assert send_error(refused(401, 0)).retry_after == 60


def test_what_was_not_heard_may_have_arrived_unless_nobody_was_there() -> None:
    key: Any = SimpleNamespace(host="x", port=1, ssl=False, is_ssl=False)
    assert not not_heard(aiohttp.ClientConnectorError(key, OSError(111, "refused"))).ambiguous
    assert not_heard(aiohttp.ServerDisconnectedError()).ambiguous
    assert not_heard(TimeoutError()).ambiguous
    assert explained(TimeoutError()) == "Discord did not answer in time"
    assert explained(ConnectionResetError()) == "Discord cannot be reached (ConnectionResetError)"


@pytest.mark.parametrize("code", [None, 1000, 1006, 4000, 4001, 4007, 4008, 4009])
def test_most_closes_are_no_end(code: int | None) -> None:
    assert fatal_close(code, "default", []) is None


@pytest.mark.parametrize("code", [4004, 4010, 4011, 4012, 4013, 4014])
def test_b55_some_closes_are(code: int) -> None:
    """B55: and say which account, and what to do."""
    said = fatal_close(code, "work", [("members", "Server Members Intent")])
    assert said is not None
    assert "channels.discord.accounts.work" in said
    assert ("Server Members Intent" in said) == (code == 4014)
