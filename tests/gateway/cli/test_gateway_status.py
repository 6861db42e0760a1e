"""clawd gateway status: what a running gateway says of itself, for a person."""

from gateway.cli.gateway_status import lines
from sessions.messages import JsonObject

STATUS: JsonObject = {
    "ready": True,
    "draining": False,
    "version": "1.2.3",
    "turns": 2,
    "agents": ["main", "work"],
    "config": {"reloaded_at": None, "applied": [], "needs_restart": [], "problem": None, "notice": None},
}


def test_a_gateway_whose_file_is_as_at_the_start_has_little_to_say() -> None:
    assert lines(STATUS) == ["clawd 1.2.3: ready, 2 turns", "agents: main, work"]


def test_everything_that_there_is_to_say_is_said() -> None:
    config: JsonObject = {
        "reloaded_at": "2026-05-01T09:00:00.123456+00:00",
        "applied": ["agents.list"],
        "needs_restart": ["gateway.port"],
        "problem": "clawd.yaml has a problem",
        "notice": "it started with the last good one",
    }

    told = lines({**STATUS, "ready": False, "config": config, "outbox": {"waiting": 1, "dead": 0}})

    assert told == [
        "clawd 1.2.3: starting, 2 turns",
        "agents: main, work",
        "outbox: 1 on their way, 0 given up",
        "changed while it ran (2026-05-01 09:00:00 UTC): agents.list",
        "changed, and needs a restart: gateway.port",
        "⚠ it started with the last good one",
        "⚠ What held before goes on; clawd.yaml cannot be used: clawd.yaml has a problem",
    ]


def test_one_that_ends_says_so_and_an_older_one_is_understood() -> None:
    assert lines({**STATUS, "draining": True, "config": None})[0] == "clawd 1.2.3: stopping, 2 turns"
