"""clawd pairing, clawd access explain and clawd route explain."""

import json
import os

import pytest

from agents.clock import system_clock
from gateway.home import Home
from gateway.lock import HomeLock
from gateway.pairing import PairingStore
from tests.gateway.cli.conftest import KEYWORDS_ONLY, Clawd

CONFIG = """\
agents:
  list: [{id: main, default: true}, {id: work}]
  bindings: [{agent: work, channel: telegram, chat: -100}]
channels:
  owners: ["telegram:1"]
  telegram:
    accounts:
      default: {allow_from: [2, "@bob"], groups: {-100: {allow_from: [3], require_mention: false}}}
      second: {dm_policy: disabled}
  discord: {accounts: {only: {guilds: {9: {roles: [31], channels: {500: {}}}}}}}
"""


@pytest.fixture(autouse=True)
def _configured(home: Home) -> None:
    home.config_file.write_text(KEYWORDS_ONLY + CONFIG, encoding="utf-8")


def asked(home: Home, sender: str = "5") -> str:
    """The code of a stranger who wrote to the gateway."""
    store = PairingStore.open(home.pairing_file, clock=system_clock, random=os.urandom)
    code = store.request("telegram", "default", sender, "Ana \x1b[31m")
    store.close()
    assert code is not None
    return code


def test_a_stranger_is_listed_approved_and_revoked(clawd: Clawd, home: Home) -> None:
    assert "Nobody waits" in clawd("pairing", "list").out
    code = asked(home)
    listed = clawd("pairing", "list").out
    assert "telegram" in listed
    assert code not in listed
    assert "\x1b" not in listed

    approved = clawd("pairing", "approve", code.lower())

    assert approved.code == 0
    assert "(5) may write to clawd on telegram, account default." in approved.out
    assert json.loads(clawd("pairing", "list", "--json").out)["approved"][0]["sender"] == "5"
    assert "let in" in clawd("pairing", "list").out
    assert "may no longer write" in clawd("pairing", "revoke", "telegram", "tg:5").out
    again = clawd("pairing", "revoke", "telegram", "5")
    assert (again.code, "Nobody with the id 5" in again.err) == (1, True)


def test_the_first_owner_may_come_from_a_pairing(clawd: Clawd, home: Home) -> None:
    home.config_file.write_text("channels: {telegram: {accounts: {default: {}}}}\n", encoding="utf-8")
    hint = clawd("pairing", "approve", asked(home)).out
    owner = clawd("pairing", "approve", asked(home, "6"), "--owner").out

    assert 'add "telegram:5" to channels.owners' in hint
    assert "an owner of this clawd" in owner
    assert json.loads(clawd("access", "explain", "telegram", "6", "--json").out)["standing"] == "owner"
    assert json.loads(clawd("access", "explain", "telegram", "5", "--json").out)["standing"] == "known"


def test_a_request_is_denied_by_its_id(clawd: Clawd, home: Home) -> None:
    asked(home)
    number = json.loads(clawd("pairing", "list", "--json").out)["pending"][0]["id"]

    assert "was not let in" in clawd("pairing", "deny", number).out
    assert json.loads(clawd("pairing", "list", "--json").out)["pending"] == []


def test_a_wrong_code_is_no_way_in(clawd: Clawd) -> None:
    done = clawd("pairing", "approve", "WRONGXYZ")

    assert done.code == 1
    assert "No stranger waits with this code" in done.err


def test_a_broken_store_is_told_with_what_to_do(clawd: Clawd, home: Home) -> None:
    asked(home)
    with home.pairing_file.open("a") as file:
        file.write("broken\n")

    listed = clawd("pairing", "list")

    assert listed.code == 1
    assert "line 2" in listed.err
    assert "Mend" in listed.err
    assert "cannot be read" in json.loads(clawd("pairing", "list", "--json").out)["problem"]


def test_another_process_that_holds_the_home_is_named(clawd: Clawd, home: Home) -> None:
    code = asked(home)
    with HomeLock(home.lock_file):
        done = clawd("pairing", "approve", code)

    assert done.code == 1
    assert "already running" in done.err


@pytest.mark.parametrize(
    ("arguments", "kind", "standing", "rule"),
    [
        (["telegram", "1"], "admitted", "owner", "channels.owners"),
        (["telegram", "tg:2"], "admitted", "known", "channels.telegram.accounts.default.allow_from"),
        (["telegram", "5"], "pairing", "unknown", "channels.telegram.accounts.default.dm_policy"),
        (
            ["telegram", "2", "--account", "second"],
            "ignored",
            "unknown",
            "channels.telegram.accounts.second.dm_policy",
        ),
        (
            ["telegram", "3", "--group", "-100"],
            "admitted",
            "group",
            'channels.telegram.accounts.default.groups."-100".allow_from',
        ),
        (
            ["telegram", "3", "--group", "-101"],
            "ignored",
            "unknown",
            "channels.telegram.accounts.default.groups",
        ),
        (
            ["discord", "5", "--group", "700", "--parent", "500", "--space", "9", "--role", "31"],
            "admitted",
            "group",
            'channels.discord.accounts.only.guilds."9".roles',
        ),
    ],
)
def test_access_is_explained(clawd: Clawd, arguments: list[str], kind: str, standing: str, rule: str) -> None:
    told = json.loads(clawd("access", "explain", *arguments, "--json").out)

    assert (told["kind"], told["standing"], told["rule"]) == (kind, standing, rule)
    assert told["steps"][-1]["rule"] == rule
    assert f"Decided by {rule}: {told['said']}." in clawd("access", "explain", *arguments).out


def test_what_is_kept_and_what_is_answered_is_told(clawd: Clawd) -> None:
    listed = clawd("access", "explain", "telegram", "3", "--group", "-100").out
    stranger = clawd("access", "explain", "telegram", "5", "--group", "-100").out

    assert "every message is answered" in listed
    assert "kept as context" in stranger


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["slack", "5"], "No account of 'slack'"),
        (["telegram", "@bob"], "no id of telegram"),
        (["telegram", "*"], "no id of telegram"),
        (["telegram", "5", "--account", "third"], "Its accounts are: default, second."),
    ],
)
def test_what_cannot_be_explained_is_told(clawd: Clawd, arguments: list[str], told: str) -> None:
    for noun in ("access", "route"):
        done = clawd(noun, "explain", *arguments)
        assert (done.code, told in done.err) == (1, True)


def test_routes_are_explained(clawd: Clawd) -> None:
    group = json.loads(clawd("route", "explain", "telegram", "3", "--group", "-100", "--json").out)
    owner = json.loads(clawd("route", "explain", "telegram", "1", "--json").out)

    assert (group["agent"], group["agent_rule"]) == ("work", "agents.bindings[0]")
    assert group["session"] == "agent:work:telegram:group:-100"
    assert (owner["session"], owner["session_rule"]) == ("agent:main:main", "sessions.dm_scope: main")
    assert "agents.bindings[0]" in clawd("route", "explain", "telegram", "3", "--group", "-100").out
    assert "is a stranger" in clawd("route", "explain", "telegram", "5").out


def test_an_entry_that_matches_nobody_is_told_by_config_check(clawd: Clawd) -> None:
    assert "'@bob' is no id of Telegram and matches nobody" in clawd("config", "check").out
    assert len(json.loads(clawd("config", "check", "--json").out)["warnings"]) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agents: {bindings: [{agent: ghost, channel: telegram}]}\n", "'ghost', which is no agent of list"),
        (
            "agents: {bindings: [{agent: main, channel: telegram, thread: 7}]}\n",
            "thread is given without the chat",
        ),
        (
            "agents: {bindings: [{agent: main, channel: discord, roles: [7]}]}\n",
            "roles are given without the space",
        ),
        (
            "channels: {telegram: {accounts: {default: {groups: {-1: {agent: ghost}}}}}}\n",
            "channels.telegram.accounts.default.groups.\"-1\".agent is 'ghost', which is no agent",
        ),
        (
            "sessions: {identity_links: {ana: [telegram:1], bo: [telegram:1]}}\n",
            "names telegram:1 more than once",
        ),
        ('sessions: {identity_links: {"5": [telegram:1]}}\n', "identity_links"),
        ("sessions: {dm_scope: per_person}\n", "per_channel_peer"),
        ("channels: {telegram: {accounts: {default: {dm_policy: open}}}}\n", "needs allow_from"),
        (
            "channels: {telegram: {accounts: {default: {dm_policy: invite}}}}\n",
            "pairing, allowlist, open, disabled",
        ),
        ("channels: {telegram: {accounts: {default: {token: undefined, token_file: t}}}}\n", "keep one"),
    ],
)
def test_settings_of_people_and_routes_are_checked(clawd: Clawd, home: Home, text: str, told: str) -> None:
    home.config_file.write_text(text, encoding="utf-8")

    done = clawd("config", "check")

    assert done.code == 78
    assert told in done.err


def test_a_token_may_lie_in_a_file(clawd: Clawd, home: Home) -> None:
    (home.path / "bot.token").write_text("123:from-a-file\n", encoding="utf-8")
    text = "channels: {telegram: {accounts: {default: {token_file: bot.token}}}}\n"
    home.config_file.write_text(text, encoding="utf-8")

    shown = clawd("config", "show")

    assert shown.code == 0
    assert "from-a-file" not in shown.out
