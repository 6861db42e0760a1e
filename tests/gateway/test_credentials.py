"""gateway/credentials.py."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.config import ConfigError, GatewaySettings
from gateway.credentials import gateway_token, known_token
from gateway.home import Home, HomeError

TOKEN = "abc-0123456789abcdef"
CASE = json.loads((Path(__file__).parents[1] / "cases" / "B64-tokens.json").read_text(encoding="utf-8"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def put(home: Home, text: str, mode: int = 0o600) -> None:
    home.token_file.parent.mkdir(parents=True, exist_ok=True)
    home.token_file.write_text(text, encoding="utf-8")
    home.token_file.chmod(mode)


def never() -> str:
    raise AssertionError("no token was to be made")


def test_a_missing_token_is_made_once_and_closed_to_others(home: Home) -> None:
    assert gateway_token(home, GatewaySettings(), make=lambda: TOKEN) == TOKEN
    assert gateway_token(home, GatewaySettings(), make=never) == TOKEN
    assert home.token_file.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in home.token_file.parent.iterdir()] == ["gateway.token"]


def test_a_token_of_the_settings_wins_and_no_file_is_made(home: Home) -> None:
    settings = GatewaySettings(token=SecretStr("x" * 20))

    assert gateway_token(home, settings, make=never) == "x" * 20
    assert not home.token_file.exists()


def test_a_token_that_another_process_made_meanwhile_is_kept(home: Home) -> None:
    def make() -> str:
        put(home, "other-0123456789abcdef\n")
        return TOKEN

    assert gateway_token(home, GatewaySettings(), make=make) == "other-0123456789abcdef"


def test_nothing_is_made_where_only_a_known_token_is_wanted(home: Home) -> None:
    assert known_token(home, GatewaySettings()) is None
    assert not home.token_file.parent.exists()


def test_the_last_newline_is_stripped(home: Home) -> None:
    """B64"""
    row = CASE["requests"][0]
    put(home, row["configured"])

    assert known_token(home, GatewaySettings()) == row["presented"]


@pytest.mark.parametrize("text", [*CASE["refuse_to_start"], "short-15-chars!", "with a blank in it"])
def test_what_is_no_secret_is_refused_with_a_reason(home: Home, text: str) -> None:
    """B64"""
    put(home, f"{text}\n")
    with pytest.raises(ConfigError, match="the token in it") as caught:
        known_token(home, GatewaySettings())

    assert str(home.token_file) in str(caught.value)
    assert not text.strip() or text not in str(caught.value)


def test_a_file_that_others_can_read_is_closed_with_a_warning(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    put(home, TOKEN, mode=0o644)

    assert known_token(home, GatewaySettings()) == TOKEN
    assert home.token_file.stat().st_mode & 0o777 == 0o600
    assert "mode 644" in caplog.text
    assert TOKEN not in caplog.text


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError, match="cannot be"):
        gateway_token(Home(tmp_path / "file"), GatewaySettings(), make=lambda: TOKEN)
