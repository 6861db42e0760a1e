"""What of a configuration holds without a restart: the table of docs/operations.md."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from gateway.config import Config
from gateway.config.changes import changes, differing, is_applied
from gateway.config.problems import Loc

TOKEN = "1234567:abcdefghijklmnopqrstuvwxyz-0123456789"


@pytest.mark.parametrize(
    "loc",
    [
        ("agents", "list"),
        ("agents", "bindings"),
        ("agents", "defaults", "tools", "exec", "mode", "owner"),
        ("models", "providers", "openai", "api_key"),
        ("models", "timeout_seconds"),
        ("memory", "search", "provider"),
        ("memory", "backend"),
        ("sessions", "reset", "daily_at"),
        ("sessions", "max_line_bytes"),
        ("gateway", "log_level"),
        ("gateway", "hooks", "token"),
        ("gateway", "media", "transcription", "provider"),
        ("channels", "console", "markdown"),
    ],
)
def test_this_holds_while_it_runs(loc: Loc) -> None:
    assert is_applied(loc)


def test_all_else_of_the_gateway_waits_for_a_restart() -> None:
    held = {"log_level", "hooks", "media"}
    names = {str(loc[1]) for loc in (("gateway", name) for name in type(Config().gateway).model_fields)}

    assert {name for name in names if not is_applied(("gateway", name))} == names - held
    assert {"host", "port", "token", "openai_api", "max_concurrent_turns"} <= names - held


def test_what_is_the_same_is_no_change() -> None:
    assert changes(Config(), Config()).nothing


def test_secrets_are_compared_and_never_told() -> None:
    def config(key: str) -> Config:
        return Config.model_validate({"models": {"providers": {"openai": {"api_key": key}}}})

    found = changes(config("key-one-0123456789"), config("key-two-0123456789"))

    assert found.applied == ("models.providers.openai.api_key",)
    assert changes(config("key-one-0123456789"), config("key-one-0123456789")).nothing
    assert "key-" not in repr(found)


def test_what_holds_for_all_channels_starts_no_account_anew() -> None:
    new = Config.model_validate({"channels": {"queue": {"mode": "steer"}}})

    found = changes(Config(), new)

    assert (found.channels, found.everyone, found.accounts) == (("channels.queue.mode",), True, frozenset())


def test_an_account_that_comes_or_goes_is_named() -> None:
    new = Config.model_validate({"channels": {"telegram": {"accounts": {"one": {"token": TOKEN}}}}})

    assert changes(Config(), new).accounts == {("telegram", "one")}
    assert changes(new, Config()).accounts == {("telegram", "one")}


@given(st.dictionaries(st.text("ab", max_size=2), st.integers(0, 2) | st.text("x", max_size=1), max_size=4))
def test_a_value_differs_from_itself_nowhere(value: dict[str, object]) -> None:
    assert list(differing(value, dict(value))) == []
    assert list(differing(value, value | {"new": SecretStr("x")})) == [("new",)]
