"""What commands about channels say, without any of them running."""

import asyncio
import io
from dataclasses import replace
from datetime import timedelta

import pytest
from rich.console import Console

from channels.platforms import IntentsSettings
from gateway.cli import channel_owner
from gateway.cli.channel_asking import Bot, Person
from gateway.cli.channel_discord import invitation, missing
from gateway.cli.channel_gateway import ago, rows_of
from gateway.cli.channel_platforms import platform_of
from gateway.cli.channel_telegram import proves
from gateway.cli.channel_writing import Entry, entered
from gateway.views import Refused


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s ago"),
        (4, "4 s ago"),
        (119, "119 s ago"),
        (120, "2 min ago"),
        (7_199, "119 min ago"),
        (7_200, "2 h ago"),
        (172_799, "47 h ago"),
        (172_800, "2 d ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds: int, said: str) -> None:
    assert ago(timedelta(seconds=seconds)) == said


def test_an_intent_is_on_for_large_and_for_small_bots() -> None:
    asked = IntentsSettings(message_content=True, members=True, presences=False)

    assert [one.split(" is not")[0] for one in missing(0, asked)] == [
        "Message Content Intent",
        "Server Members Intent",
    ]
    assert missing(1 << 18 | 1 << 14, asked) == missing(1 << 19 | 1 << 15, asked) == []


def test_an_invitation_asks_for_what_is_needed_and_not_for_administrator() -> None:
    permissions = int(invitation("99").rpartition("=")[2])

    assert permissions & (1 << 11)
    assert permissions & (1 << 38)
    assert not permissions & (1 << 3)


@pytest.mark.parametrize(
    ("channel", "token", "good"),
    [
        ("telegram", "123456789:AAEabcdefghijklmnopqrstuvwxyz0123456", True),
        ("telegram", "123456789", False),
        ("telegram", "123456789:AAEabcdefghijklmnopqrstuvwxyz 0123456", False),
        ("discord", "MTEyMjMzNDQ1NTY2Nzc4ODk5.GaBcDe.abcdefghijklmnopqrstuvwxyz-_0123456789a", True),
        ("discord", "clawd#1234 and-more-of-it", False),
    ],
)
def test_a_token_is_known_by_its_shape(channel: str, token: str, *, good: bool) -> None:
    assert platform_of(channel).accepts(token) is good


@pytest.mark.parametrize(
    ("said", "good"),
    [
        ("K7QM2XPD", True),
        ("/start K7QM2XPD", True),
        ("/START k7qm2xpd", True),
        (" k7qm 2xpd\n", True),
        ("", False),
        ("/start", False),
        ("K7QM2XP", False),
        ("K7QM2XPDA", False),
        ("/stop K7QM2XPD", False),
        ("K7QM2XPE", False),
        ("the code is K7QM2XPD", False),
        ("Ⓚ7QM2XPD\ud800", False),
    ],
)
def test_only_the_whole_code_proves_an_owner(said: str, *, good: bool) -> None:
    assert proves(said, "K7QM2XPD") is good


def test_a_code_that_nobody_sends_makes_nobody_an_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(server: str, token: str, code: str) -> Person:
        return await asyncio.Event().wait()  # type: ignore[return-value]

    monkeypatch.setattr(channel_owner, "MINUTES", 0)
    said = io.StringIO()
    platform = replace(platform_of("telegram"), claimant=nobody)
    owner = channel_owner.owner_of(
        Console(file=said),
        platform,
        Bot(id="1", name="@b", start="https://t.me/b?start="),
        named=None,
        known=[],
        server="",
        token="",
        yes=False,
    )
    assert owner is None
    assert "Nobody sent the code" in said.getvalue()


def test_an_answer_that_is_no_list_is_refused() -> None:
    with pytest.raises(Refused):
        rows_of({"channels": 1})


def test_an_account_is_entered_where_an_empty_one_stands() -> None:
    entry = Entry(channel="telegram", account="default", token="t", server="http://s", owner="telegram:1")
    text = "channels: {telegram: {accounts: {default: {}}}} # mine\n"

    assert entered(text, entry, "credentials/t.token") == (
        "channels: {telegram: {accounts: {default: {token_file: credentials/t.token, "
        'api_base_url: "http://s"}}}, owners: ["telegram:1"]} # mine\n'
    )
    again = entered(entered(text, entry, "credentials/t.token"), entry, "credentials/t.token")
    assert again == entered(text, entry, "credentials/t.token")
