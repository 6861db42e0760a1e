"""What is told of a token that is no good."""

import pytest
from telegram.error import InvalidToken

from channels.telegram.token import form_problem, refusal

WHERE = "channels.telegram.accounts.work"


@pytest.mark.parametrize("token", ["", " ", "1:a b", "1:a\n", "1:ä"])
def test_what_is_not_written_like_a_token_is_told(token: str) -> None:
    assert WHERE in form_problem(token, WHERE)


def test_a_token_is_written_like_this() -> None:
    assert form_problem("123456789:AAE-x_y", WHERE) == ""


def test_a_refusal_says_what_to_do_and_shows_no_token() -> None:
    error = InvalidToken("The token `1:secret` was rejected by the server.")
    told = refusal(error, WHERE, "https://api.telegram.org")
    assert "BotFather" in told
    assert "secret" not in told
    assert "api_base_url" in refusal(InvalidToken("Not Found"), WHERE, "http://127.0.0.1:8081")
