"""clawd usage, clawd sessions context and clawd sessions replay, for real and without a network."""

import json

import pytest

from gateway.home import Home
from tests.gateway.cli.conftest import Clawd

LINE = {
    "type": "answer",
    "agent": "main",
    "session": "agent:main:main",
    "sessionId": "s",
    "model": "anthropic/m",
    "origin": "turn",
    "input": 100,
    "output": 20,
    "cacheRead": 900,
    "cacheWrite": 0,
}


@pytest.fixture
def ledger(home: Home) -> None:
    lines = [
        {**LINE, "at": "2026-05-01T12:00:00.000Z", "costUsd": 1.5},
        {**LINE, "at": "2026-05-02T12:00:00.000Z", "costUsd": 0.25, "origin": "flush"},
        {**LINE, "at": "2026-05-02T13:00:00.000Z", "costUsd": None, "model": "mine/x"},
    ]
    home.journals.mkdir(mode=0o700)
    path = home.journals / "usage-2026-05.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.usefixtures("ledger")
def test_usage_is_a_table_with_bars_and_says_what_nobody_knows(clawd: Clawd) -> None:
    done = clawd("usage", "--since", "2026-05-01")

    assert done.code == 0
    first, second = (line for line in done.out.splitlines() if line.startswith("2026-05-0"))
    assert "$1.50" in first
    assert "90%" in first
    assert "████████████" in first
    assert "$0.25 + ?" in second
    assert "1 answer has no known price" in done.out
    assert "░" in second
    assert "models.providers.<name>.models.<id>.price" in done.out


@pytest.mark.usefixtures("ledger")
def test_usage_as_json_sums_by_what_is_asked(clawd: Clawd) -> None:
    told = json.loads(clawd("usage", "--by", "origin", "--since", "2026-05-02", "--json").out)

    assert [(row["origin"], row["answers"]) for row in told["rows"]] == [("flush", 1), ("turn", 1)]
    assert told["total"]["cost_usd"] is None
    assert told["total"]["known_cost_usd"] == 0.25
    assert told["budget"] is None


def test_usage_of_nothing_says_so(clawd: Clawd) -> None:
    assert "No model was used since" in clawd("usage").out


@pytest.mark.parametrize("arguments", [("--by", "week"), ("--since", "monday")], ids=str)
def test_a_wrong_option_is_a_usage_error(clawd: Clawd, arguments: tuple[str, str]) -> None:
    assert clawd("usage", *arguments).code == 2


def test_a_budget_stands_below_the_table_and_in_the_json(clawd: Clawd, home: Home) -> None:
    text = home.config_file.read_text()
    home.config_file.write_text(f"{text}models: {{daily_budget_usd: 5}}\n")
    clawd("chat", "-m", "remember that tea is green")

    assert "Today $0.00 of $5.00" in clawd("usage").out
    assert json.loads(clawd("usage", "--json").out)["budget"] == {
        "daily_usd": 5.0,
        "spent_today_usd": 0.0,
        "unpriced": 0,
    }


def test_the_context_is_told_by_part_file_and_tool(clawd: Clawd) -> None:
    clawd("chat", "-m", "remember that tea is green")

    done = clawd("sessions", "context", "agent:main:main")
    told = json.loads(clawd("sessions", "context", "agent:main:main", "--json").out)

    assert done.code == 0
    for word in ("offline/notes", "system prompt", "tool results", "AGENTS.md", "whole", "memory_search"):
        assert word in done.out
    assert told["tokens"] == sum(part["tokens"] for part in told["parts"])
    assert {file["name"] for file in told["files"]} >= {"AGENTS.md", "SOUL.md"}


def test_requests_are_replayed_a_line_each_and_in_json_with_their_digest(clawd: Clawd) -> None:
    clawd("chat", "-m", "hello")
    clawd("chat", "-m", "remember that tea is green")

    lines = clawd("sessions", "replay", "agent:main:main").out.splitlines()
    first = clawd("sessions", "replay", "agent:main:main", "--turn", "1").out.splitlines()
    told = json.loads(clawd("sessions", "replay", "agent:main:main", "--call", "2", "--json").out)

    assert len(lines) == 2  # a call of a tool, and the words after it
    assert len(first) == 1
    assert json.loads(lines[1]) == told["requests"][0]["body"]
    assert told["requests"][0]["bytes"] == len(lines[1].encode())


@pytest.mark.parametrize("command", ["context", "replay"])
def test_no_session_no_report(clawd: Clawd, command: str) -> None:
    done = clawd("sessions", command, "agent:main:main")

    assert done.code == 1
    assert "There is no session agent:main:main" in done.err


def test_slash_commands_work_from_the_command_line(clawd: Clawd) -> None:
    done = clawd("chat", "-m", "/status")
    told = json.loads(clawd("chat", "-m", "/whoami", "--json").out)

    assert "not begun yet" in done.out
    assert told["reply"] == "You are the owner, in agent:main:main."
    assert "No conversation yet" in clawd("sessions", "list").out
