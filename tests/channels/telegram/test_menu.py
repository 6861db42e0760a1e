"""The menu of commands: within Telegram's limits, and told only when it changes."""

import ssl
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.telegram.connection import Line, Server
from channels.telegram.menu import MAX_COMMANDS, MAX_TOTAL, Menu, fitted, offered
from tests.channels.telegram.wired import COMMANDS, FAST
from tests.fakes.telegram import TOKEN, TelegramServer, telegram_server

texts = st.text(max_size=300)


@given(
    st.lists(
        st.tuples(st.one_of(st.from_regex(r"[a-z0-9_]{1,33}", fullmatch=True), texts), texts), max_size=130
    )
)
def test_whatever_is_offered_fits(commands: list[tuple[str, str]]) -> None:
    kept = fitted(commands)
    assert len(kept) <= MAX_COMMANDS
    assert len({name for name, _ in kept}) == len(kept)
    assert all(1 <= len(text) <= 256 and 1 <= len(name) <= 32 for name, text in kept)
    assert sum(len(name) + len(text) for name, text in kept) <= MAX_TOTAL


def test_the_first_hundred_stay_and_bad_names_go() -> None:
    kept = fitted([("Bad Name", "x"), *((f"c{n}", "does") for n in range(120))])
    assert [name for name, _ in kept] == [f"c{n}" for n in range(100)]


def test_long_descriptions_are_shortened_together() -> None:
    kept = fitted([(f"c{n}", "word " * 50) for n in range(100)] + [])
    assert all(text.endswith("…") for _, text in kept)
    assert fitted([("new", "  begin\n anew ")]) == [("new", "begin anew")]
    assert fitted([("new", "")]) == [("new", "new")]


async def register(server: TelegramServer, folder: Path, commands: tuple[tuple[str, str], ...]) -> bool:
    line = Line(Server(base_url=server.url, token=TOKEN), FAST, pool=2)
    try:
        return await Menu(folder / "commands-default", commands).register(line.bot, 1)
    finally:
        await line.close()


async def test_a_menu_is_registered_only_when_it_changed(tmp_path: Path) -> None:
    async with telegram_server() as server:
        assert await register(server, tmp_path, COMMANDS)
        assert not await register(server, tmp_path, COMMANDS)
        assert server.count("setMyCommands") == 1
        assert [one["command"] for one in server.world.commands] == ["new", "status"]
        assert await register(server, tmp_path, COMMANDS[:1])
        assert await register(server, tmp_path, ())
        assert server.world.commands == []


def test_a_server_never_shows_its_token_and_checks_certificates() -> None:
    server = Server(base_url="https://example.org", token=TOKEN)
    assert TOKEN not in repr(server)
    assert isinstance(server.verify, ssl.SSLContext)
    assert server.verify.verify_mode is ssl.CERT_REQUIRED
    assert server.verify is server.verify


async def test_too_many_for_telegram_are_fewer_the_next_time(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.methods.max_commands = 80
        await register(server, tmp_path, tuple((f"c{n}", "does") for n in range(100)))
        assert 70 <= len(server.world.commands) <= 80
        assert server.world.commands[0]["command"] == "c0"


async def test_a_refused_menu_is_only_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with telegram_server() as server:
        server.knobs.refuse("setMyCommands", 500, "Internal Server Error")
        line = Line(Server(base_url=server.url, token=TOKEN), FAST, pool=2)
        await offered(Menu(tmp_path / "c", COMMANDS), line.bot, 1)
        await line.close()
        assert "menu" in caplog.text
        assert not (tmp_path / "c").exists()
