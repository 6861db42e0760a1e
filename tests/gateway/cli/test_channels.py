"""clawd channels and clawd outbox, as processes of their own, against servers with the platforms' rules."""

import asyncio
import json
import os
import pty
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from channels.message import Address
from gateway.deliveries import Delivery, Part
from gateway.home import Home
from gateway.outbox import Outbox
from tests.e2e.running import PATIENCE, ROOT, Running, environment, running, until
from tests.fakes.httpserver import served
from tests.fakes.telegram import TOKEN, TelegramServer, telegram_server
from tests.fakes.telegram_world import ANNA, BEN, GROUP
from tests.gateway.cli.conftest import KEYWORDS_ONLY
from tests.gateway.strategies import AT

OTHER = TOKEN[:-1] + "X"
pytestmark = pytest.mark.slow
DISCORD_TOKEN = "MTExMTExMTExMTExMTExMTEx.GaBcDe.a-token-of-discord-as-it-looks-like_0"


@dataclass(frozen=True, slots=True)
class Told:
    code: int
    out: str


@dataclass(slots=True)
class Command:
    """A command under way: what it has printed so far, and what a person types."""

    process: asyncio.subprocess.Process
    said: str = ""

    async def until(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.said:
                assert self.process.stdout is not None
                more = await self.process.stdout.read(4096)
                assert more, self.said
                self.said += more.decode()

    async def type(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        await self.process.stdin.drain()

    async def end(self) -> Told:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            self.said += (await self.process.stdout.read()).decode()
            return Told(await self.process.wait(), self.said)


async def begun(home: Home, *words: str) -> Command:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gateway", "--home", str(home.path), *words,
        env=environment(home.path.parent), cwd=ROOT, stdin=pipe, stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    return Command(process)


async def clawd(home: Home, *words: str, text: str = "") -> Told:
    command = await begun(home, *words)
    await command.type(text)
    return await command.end()


async def shown_code(command: Command) -> str:
    """That which makes its sender the owner."""
    await command.until("Ctrl-C skips this.")
    return command.said.partition("this message: ")[2].split()[0]


def add(server: TelegramServer, *words: str) -> list[str]:
    return ["channels", "add", "telegram", "--api-base-url", server.url, *words]


def unchanged(home: Home) -> bool:
    return home.config_file.read_text() == KEYWORDS_ONLY and not [*home.path.glob("credentials/*")]


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with telegram_server() as server:
        yield server


@asynccontextmanager
async def with_bot(home: Home, server: TelegramServer, **more: object) -> AsyncIterator[Running]:
    """A gateway whose bot is that of the server."""
    account = {"token": TOKEN, "api_base_url": server.url, **more}
    config: dict[str, object] = {
        "memory": {"search": {"provider": "none"}},
        "channels": {"telegram": {"accounts": {"default": account, "off": {"enabled": False}}}},
    }
    async with running(home.path, config) as daemon:
        await until(lambda: server.polls > 0)
        yield daemon


# adding


async def test_a_bot_is_added_with_its_owner_and_every_comment_stays(
    home: Home, server: TelegramServer
) -> None:
    text = "# mine\nmemory: {search: {provider: none}}  # no model\n\n# the end\n"
    home.config_file.write_text(text)
    command = await begun(home, *add(server))
    await command.type(f"{TOKEN}\n")
    server.world.say(ANNA, f"/start {await shown_code(command)}")

    done = await command.end()

    assert done.code == 0, done.out
    assert "@clawd_test_bot" in done.out
    assert "The code came from Anna (@anna_a), id 1001." in done.out
    assert "telegram:1001 is an owner" in done.out
    assert "gateway run" in done.out
    assert TOKEN not in done.out
    file = home.path / "credentials" / "telegram-default.token"
    assert file.read_text() == f"{TOKEN}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    new = home.config_file.read_text()
    assert new.startswith("# mine\nmemory: {search: {provider: none}}  # no model\nchannels:\n")
    assert new.endswith("\n\n# the end\n")
    assert TOKEN not in new
    assert home.config_file.stat().st_mode & 0o777 == 0o600
    assert [one.read_text() for one in home.backups.glob("*/clawd.yaml")] == [text]
    shown = await clawd(home, "config", "show", "--json")
    channels = json.loads(shown.out)["channels"]
    assert channels["owners"] == ["telegram:1001"]
    assert channels["telegram"]["accounts"]["default"]["token_file"] == str(file)


async def test_only_who_sends_the_code_becomes_the_owner(home: Home, server: TelegramServer) -> None:
    """Whoever else writes meanwhile does not, and what they wrote waits for the gateway."""
    server.world.say(BEN, "who is this?", user=BEN)
    command = await begun(home, *add(server))
    await command.type(f"{TOKEN}\n")
    code = await shown_code(command)
    assert f"https://t.me/clawd_test_bot?start={code}" in command.said
    for text in ("it is me", "/start", f"/start {code[:-1]}", f"/start {code} please", f"my code is {code}"):
        server.world.say(BEN, text, user=BEN)
    server.world.say(GROUP, f"/start {code}", user=BEN)
    asked = server.count("getUpdates")
    await until(lambda: server.count("getUpdates") >= asked + 2)
    assert command.process.returncode is None
    server.world.say(ANNA, f" {code[:4].lower()} {code[4:]} ")
    waiting = len(server.world.updates)

    done = await command.end()

    assert done.code == 0, done.out
    assert "telegram:1001 is an owner" in done.out
    assert "1002" not in done.out
    assert len(server.world.updates) == waiting, "what they wrote is still there for the gateway"
    assert all(not form.get("offset") for form in server.forms("getUpdates"))
    assert code not in home.config_file.read_text()


async def test_a_new_code_each_time(home: Home, server: TelegramServer) -> None:
    codes = set()
    for _ in range(2):
        command = await begun(home, *add(server))
        await command.type(f"{TOKEN}\n")
        codes.add(await shown_code(command))
        command.process.kill()
        await command.end()
    assert len(codes) == 2


async def test_too_many_waiting_messages_are_told(home: Home, server: TelegramServer) -> None:
    for number in range(100):
        server.world.say(BEN, str(number), user=BEN)

    done = await clawd(home, *add(server), text=f"{TOKEN}\n")

    assert done.code == 0, done.out
    assert "Name yourself with --owner ID" in done.out
    assert "Nobody is named as its owner" in done.out
    assert "owners" not in home.config_file.read_text()


async def test_control_c_skips_the_owner_and_the_bot_is_added(home: Home, server: TelegramServer) -> None:
    command = await begun(home, *add(server))
    await command.type(f"{TOKEN}\n")
    await command.until("Ctrl-C skips this.")
    await until(lambda: server.count("getUpdates") >= 1)
    command.process.send_signal(signal.SIGINT)

    done = await command.end()

    assert done.code == 0, done.out
    assert "Skipped." in done.out
    assert "pairing approve CODE --owner" in done.out
    assert "token_file: credentials/telegram-default.token" in home.config_file.read_text()
    assert "owners" not in home.config_file.read_text()


async def test_every_answer_may_be_an_option(home: Home, server: TelegramServer, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(f"  {TOKEN}\n\n")
    words = add(server, "--account", "work", "--token-file", str(tmp_path / "t"), "--owner", "1001", "--yes")

    done = await clawd(home, *words)

    assert done.code == 0, done.out
    assert (home.path / "credentials" / "telegram-work.token").read_text() == f"{TOKEN}\n"
    assert server.count("getUpdates") == 0
    assert json.loads((await clawd(home, "channels", "list", "--json")).out)["channels"] == [
        {
            "channel": "telegram",
            "account": "work",
            "enabled": True,
            "dm_policy": "pairing",
            "group_policy": "allowlist",
            "token": "credentials/telegram-work.token",
        }
    ]


async def test_a_token_is_hidden_while_it_is_typed(home: Home, server: TelegramServer) -> None:
    above, below = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gateway", "--home", str(home.path), *add(server, "--yes", "--owner", "1001"),
        env=environment(home.path.parent), cwd=ROOT, stdin=below, stdout=below, stderr=below,
        start_new_session=True,
    )  # fmt: skip
    os.close(below)

    def read() -> str:
        said = b""
        while b"not shown while you type" not in said:
            said += os.read(above, 4096)
        os.write(above, f"{TOKEN}\n".encode())
        try:
            while more := os.read(above, 4096):
                said += more
        except OSError:  # the other end is closed
            pass
        return said.decode()

    said = await asyncio.wait_for(asyncio.to_thread(read), PATIENCE)
    os.close(above)

    assert await process.wait() == 0, said
    assert TOKEN not in said
    assert "telegram:1001 is an owner" in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{OTHER}\n", "Telegram does not accept this token"),
        ("hello\n", "not what a token of Telegram looks like"),
        ("", "No token was given"),
    ],
)
async def test_a_token_that_is_not_good_changes_nothing(
    home: Home, server: TelegramServer, text: str, told: str
) -> None:
    done = await clawd(home, *add(server), text=text)

    assert (done.code, told in done.out) == (1, True), done.out
    assert OTHER not in done.out
    assert unchanged(home)


async def test_without_a_network_nothing_changes(home: Home, server: TelegramServer) -> None:
    await server.down()

    done = await clawd(home, *add(server), text=f"{TOKEN}\n")

    assert (done.code, "127.0.0.1 cannot be reached" in done.out) == (1, True), done.out
    assert TOKEN not in done.out
    assert unchanged(home)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--account", "../x"], "--account must be"),
        (["--owner", "@anna"], "is no id of Telegram"),
        (["--api-base-url", "nowhere"], "must be an address"),
    ],
)
async def test_options_are_checked_before_anything_is_written(
    home: Home, server: TelegramServer, words: list[str], told: str
) -> None:
    done = await clawd(home, *add(server, *words), text=f"{TOKEN}\n")

    assert (done.code, told in done.out) == (1, True), done.out
    assert unchanged(home)


async def test_an_account_that_is_there_is_kept_and_login_gives_it_another_token(
    home: Home, server: TelegramServer
) -> None:
    account = f'{{token: "{OTHER}", api_base_url: "{server.url}"}}'
    text = f"channels: {{telegram: {{accounts: {{default: {account}}}}}}} # x\n"
    home.config_file.write_text(text)

    refused = await clawd(home, *add(server), text=f"{TOKEN}\n")
    done = await clawd(home, "channels", "login", "telegram", "--yes", text=f"{TOKEN}\n")

    assert (refused.code, "is there already" in refused.out) == (1, True), refused.out
    assert done.code == 0, done.out
    new = home.config_file.read_text()
    assert "default: {token_file: credentials/telegram-default.token, api_base_url" in new
    assert new.endswith("# x\n")
    assert OTHER not in new


async def test_another_program_that_polls_is_told_and_the_bot_added(
    home: Home, server: TelegramServer
) -> None:
    server.webhook = {"url": "https://example.org"}

    done = await clawd(home, *add(server), text=f"{TOKEN}\n")

    assert done.code == 0, done.out
    assert "Another program receives this bot's messages" in done.out
    assert "token_file" in home.config_file.read_text()


async def test_a_configuration_that_would_be_wrong_leaves_no_token_behind(
    home: Home, server: TelegramServer
) -> None:
    home.config_file.write_text("base: &b {}\nchannels: *b\n")

    done = await clawd(home, *add(server, "--yes"), text=f"{TOKEN}\n")

    assert done.code == 78, done.out
    assert not [*home.path.glob("credentials/*")]


@pytest.mark.parametrize(
    ("channel", "told"), [("whatsapp", "cannot log in to WhatsApp yet"), ("slack", "no channel 'slack'")]
)
async def test_what_is_not_there_yet_is_told(home: Home, channel: str, told: str) -> None:
    for verb in ("add", "login", "test"):
        done = await clawd(home, "channels", verb, channel)
        assert (done.code, told in done.out) == (1, True), done.out


# Discord


def discord(*, flags: int, team: bool = False) -> FastAPI:
    app = FastAPI()

    def told(request: Request, body: dict[str, Any]) -> Response:
        if request.headers.get("authorization") != f"Bot {DISCORD_TOKEN}":
            return JSONResponse({"message": "401: Unauthorized", "code": 0}, status_code=401)
        return JSONResponse(body)

    @app.get("/users/@me")
    async def user(request: Request) -> Response:
        return told(request, {"id": "77", "username": "clawd", "bot": True})

    @app.get("/applications/@me")
    async def application(request: Request) -> Response:
        owner = {"id": "5001", "username": "anna"}
        body = {
            "id": "99",
            "flags": flags,
            "owner": owner,
            "team": {"owner_user_id": "6001"} if team else None,
        }
        return told(request, body)

    return app


@pytest.mark.parametrize(("team", "owner"), [(False, "discord:5001"), (True, "discord:6001")])
async def test_a_discord_bot_brings_its_owner_and_an_invitation(
    home: Home, *, team: bool, owner: str
) -> None:
    async with served(discord(flags=1 << 19, team=team)) as port:
        url = f"http://127.0.0.1:{port}"
        words = ["channels", "add", "discord", "--api-base-url", url]
        done = await clawd(home, *words, text=f"{DISCORD_TOKEN}\ny\n")
        tried = await clawd(home, "channels", "test", "discord", "--json")

    assert done.code == 0, done.out
    assert DISCORD_TOKEN not in done.out
    assert (
        "oauth2/authorize?client_id=99&scope=bot+applications.commands&permissions=309237763136" in done.out
    )
    assert f"{owner} is an owner" in done.out
    assert json.loads(tried.out)["problems"] == []


async def test_intents_that_are_not_switched_on_are_told(home: Home) -> None:
    async with served(discord(flags=0)) as port:
        words = ["channels", "add", "discord", "--api-base-url", f"http://127.0.0.1:{port}", "--yes"]
        wrong = await clawd(home, *words, text=f"{DISCORD_TOKEN}x\n")
        done = await clawd(home, *words, text=f"{DISCORD_TOKEN}\n")
        tried = await clawd(home, "channels", "test", "discord")

    assert (wrong.code, "Discord does not accept this token" in wrong.out) == (1, True), wrong.out
    assert "Message Content Intent is not switched on" in done.out
    assert (tried.code, "Message Content Intent is not switched on" in tried.out) == (1, True)


# without a gateway


async def test_without_a_gateway_what_is_configured_is_shown(home: Home) -> None:
    home.config_file.write_text("channels: {telegram: {accounts: {default: {}, off: {enabled: false}}}}\n")

    status = await clawd(home, "channels", "status")
    as_json = await clawd(home, "channels", "status", "--json")
    listed = await clawd(home, "channels", "list")

    assert (status.code, "No gateway runs" in status.out, "telegram" in status.out) == (1, True, True)
    assert as_json.code == 1
    assert json.loads(as_json.out)["running"] is False
    assert listed.code == 0
    assert "none" in listed.out
    for words in (["restart", "telegram"], ["test", "telegram"]):
        done = await clawd(home, "channels", *words)
        assert done.code == 1
        assert ("No gateway runs" in done.out) or ("has no token" in done.out)


async def test_the_outbox_is_read_without_a_gateway_and_not_changed(home: Home) -> None:
    home.ensure()
    empty = await clawd(home, "outbox")
    box = Outbox.open(home.outbox_file, now=AT)
    address = Address(channel="telegram", account="default", chat="42", kind="direct")
    waits = Delivery(key="k1", address=address, at=AT, parts=(Part(text="secret words"),))
    box.add(waits)
    box.add(replace(waits, key="k2"))
    box.dead("k2", "the person has blocked the bot", AT)
    box.close()
    before = home.outbox_file.read_bytes()

    listed = await clawd(home, "outbox", "list")
    as_json = json.loads((await clawd(home, "outbox", "--json")).out)
    retried = await clawd(home, "outbox", "retry", "k2")

    assert "Nothing waits" in empty.out
    assert "k1" in listed.out
    assert "the person has blocked the bot" in listed.out
    assert "secret words" not in listed.out
    assert [one["key"] for one in as_json["waiting"] + as_json["dead"]] == ["k1", "k2"]
    assert as_json["running"] is False
    assert (retried.code, "No gateway runs" in retried.out) == (1, True)
    assert home.outbox_file.read_bytes() == before


# with one


async def test_what_a_bot_may_not_do_in_its_groups_is_told(home: Home, server: TelegramServer) -> None:
    server.world.chats[GROUP].denied = {"can_send_messages"}
    async with with_bot(home, server, groups={str(GROUP): {}, "-1004711": {}}):
        await until(lambda: server.count("getChatMember") >= 2)
        server.world.say(ANNA, "hello")  # so that the first poll ends
        await _connected(home)
        status = await clawd(home, "channels", "status")
        tried = await clawd(home, "channels", "test", "telegram")

    for done in (status, tried):
        assert f'group "Friends" ({GROUP}): the bot may not write there' in done.out
        assert "group -1004711: Telegram" in done.out
        assert "privacy" not in done.out
    assert tried.code == 1


async def test_status_test_restart_and_outbox_go_through_the_running_gateway(
    home: Home, server: TelegramServer
) -> None:
    server.world.bot["can_read_all_group_messages"] = False
    async with with_bot(home, server, groups={"*": {}}):
        server.world.say(GROUP, "nobody is asked here", user=BEN)  # so that the first poll ends
        await _connected(home)
        status = await clawd(home, "channels", "status")
        tried = await clawd(home, "channels", "test", "telegram", "--to", str(ANNA))
        nobody = await clawd(home, "channels", "test", "telegram", "--to", "4242")
        dead = json.loads((await clawd(home, "outbox", "--json")).out)["dead"]
        retried = await clawd(home, "outbox", "retry", dead[0]["key"])
        unknown = await clawd(home, "outbox", "retry", "nothing")
        polls = server.count("getMe")
        again = await clawd(home, "channels", "restart", "telegram")
        off = await clawd(home, "channels", "restart", "telegram", "--account", "off")
        await until(lambda: server.count("getMe") > polls)

    assert status.code == 0, status.out
    assert "poll" in status.out
    assert "ago" in status.out
    assert "privacy mode is on" in status.out
    assert "disabled" in status.out
    assert tried.code == 1, "privacy mode is a problem where groups are heard"
    assert "a test message stands in the chat" in tried.out
    assert [one.text for one in server.world.from_bot(ANNA)] == [
        "This is a test message from clawd. All is well."
    ]
    assert "finds no such chat" in nobody.out
    assert (retried.code, again.code) == (0, 0)
    assert (unknown.code, off.code) == (1, 1)
    assert "does not run here" in off.out


async def test_a_bot_is_taken_in_while_the_gateway_runs_and_a_stranger_approved(
    home: Home, server: TelegramServer
) -> None:
    config: dict[str, object] = {"memory": {"search": {"provider": "none"}}}
    async with running(home.path, config):
        done = await clawd(home, *add(server, "--owner", "1001", "--yes"), text=f"{TOKEN}\n")
        server.world.chats[BEN].started = True
        server.world.say(BEN, "let me in", user=BEN)
        await server.world.until(lambda: bool(server.world.from_bot(BEN)), seconds=PATIENCE)
        pending = json.loads((await clawd(home, "pairing", "list", "--json")).out)["pending"]
        code = _code(server.world.from_bot(BEN)[0].text)
        approved = await clawd(home, "pairing", "approve", code)
        server.world.say(BEN, "and now?", user=BEN)
        await server.world.until(lambda: len(server.world.from_bot(BEN)) > 1, seconds=PATIENCE)

    assert done.code == 0, done.out
    assert "The running gateway has taken it in" in done.out
    assert [one["sender"] for one in pending] == ["1002"]
    assert approved.code == 0, approved.out
    assert "may write to clawd on telegram" in approved.out


async def _connected(home: Home) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            rows = json.loads((await clawd(home, "channels", "status", "--json")).out)["channels"]
            if any(row["alive_at"] for row in rows):
                return


def _code(text: str) -> str:
    letters: Callable[[str], bool] = lambda word: len(word) == 8 and word.isalnum() and word.isupper()  # noqa: E731
    return next(word for word in text.replace(":", " ").replace(".", " ").split() if letters(word))
