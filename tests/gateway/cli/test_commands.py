"""The commands, for real, in a home of their own, without a model and without a network."""

import json
from pathlib import Path

import pytest

from gateway.home import Home
from gateway.lock import HomeLock
from tests.gateway.cli.conftest import Clawd


def test_init_makes_what_is_missing_and_says_what_comes_next(clawd: Clawd, home: Home) -> None:
    home.config_file.unlink()

    done = clawd("init")

    assert done.code == 0
    assert f"{home.path}/workspace  (new)" in done.out
    assert f"clawd --home {home.path} chat" in done.out
    assert home.token_file.stat().st_mode & 0o777 == 0o600
    assert (home.path / "workspace" / "AGENTS.md").exists()
    assert not home.config_file.exists()
    assert home.token_file.read_text().strip() not in done.out


def test_init_twice_changes_nothing(clawd: Clawd, home: Home) -> None:
    clawd("init")
    before = {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file()}

    done = clawd("init")

    assert "nothing was changed" in done.out
    assert {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file()} == before


def test_init_writes_the_workspace_that_it_is_told(clawd: Clawd, home: Home, tmp_path: Path) -> None:
    home.config_file.unlink()

    done = clawd("init", "--workspace", str(tmp_path / "my ${notes}"), "--json")
    shown = json.loads(clawd("config", "show", "--json").out)

    report = json.loads(done.out)
    assert report["workspace"] == str(tmp_path / "my ${notes}")
    assert str(home.config_file) in report["created"]
    assert shown["agents"]["defaults"]["workspace"] == report["workspace"]
    assert (tmp_path / "my ${notes}" / "SOUL.md").exists()
    assert home.config_file.stat().st_mode & 0o777 == 0o600
    assert clawd("init", "--workspace", str(tmp_path / "my ${notes}")).code == 0


def test_init_never_overwrites_the_settings(clawd: Clawd, home: Home, tmp_path: Path) -> None:
    before = home.config_file.read_bytes()

    done = clawd("init", "--workspace", str(tmp_path / "other"))

    assert done.code == 1
    assert "overwrites nothing" in done.err
    assert home.config_file.read_bytes() == before
    assert not (tmp_path / "other").exists()


def test_a_workspace_that_cannot_be_made_is_told(clawd: Clawd, home: Home, tmp_path: Path) -> None:
    home.config_file.unlink()
    (tmp_path / "file").write_text("")

    done = clawd("init", "--workspace", str(tmp_path / "file"))

    assert done.code == 1
    assert str(tmp_path / "file") in done.err
    assert "Traceback" not in done.err


def test_what_is_told_is_found_again_and_shown_in_the_session(clawd: Clawd) -> None:
    told = clawd("chat", "-m", "remember that the boiler man comes on Friday")
    asked = json.loads(clawd("chat", "-m", "when does the boiler man come?", "--json").out)
    listed = json.loads(clawd("sessions", "list", "--json").out)
    shown = json.loads(clawd("sessions", "show", "agent:main:main", "--json").out)

    assert told.code == 0
    assert "memory/" in told.out
    assert "boiler man" in asked["reply"]
    assert set(asked) >= {"reply", "session_key", "session_id", "usage", "tool_calls"}
    assert asked["tool_calls"][0]["name"] == "memory_search"
    assert [one["key"] for one in listed["sessions"]] == ["agent:main:main"]
    assert listed["sessions"][0]["session_id"] == asked["session_id"]
    assert shown["messages"][0]["text"] == "remember that the boiler man comes on Friday"
    assert "you, " in clawd("sessions", "show", "agent:main:main").out
    assert "agent:main:main" in clawd("sessions", "list").out


def test_a_named_session_is_one_of_its_own(clawd: Clawd) -> None:
    reply = json.loads(clawd("chat", "-m", "hello", "--session", "Trip: Porto", "--json").out)

    assert reply["session_key"] == "agent:main:api:Trip%3A Porto"


def test_a_message_may_come_from_a_pipe(
    clawd: Clawd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text("remember that the key hangs behind the door\n")
    with (tmp_path / "in").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert clawd("chat", "-m", "-").code == 0

    assert "behind the door" in clawd("memory", "search", "key door").out


def test_lines_of_a_pipe_are_messages_and_a_refused_one_shows_in_the_exit_code(
    clawd: Clawd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text(f"remember that the tap drips\n\n{'x' * 200_001}\n")
    with (tmp_path / "in").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        done = clawd("chat")

    assert done.code == 1
    assert "memory/" in done.out
    assert "200,001 characters" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chat", "-m", "  "), "empty"),
        (("chat", "-m", "x" * 200_001), "200,001 characters"),
        (("chat", "-m", "hi", "--agent", "nobody"), "no agent 'nobody'"),
        (("memory", "get", "../clawd.yaml"), "Not a memory file"),
        (("sessions", "show", "agent:main:api:none"), "no session"),
        (("sessions", "show", "nonsense"), "no session key"),
        (("memory", "search", "x", "--agent", "nobody"), "no agent 'nobody'"),
        (("memory", "status", "--agent", "nobody"), "no agent 'nobody'"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else "",
)
def test_what_is_refused_ends_with_1_and_a_reason(
    clawd: Clawd, arguments: tuple[str, ...], said: str
) -> None:
    done = clawd(*arguments)

    assert done.code == 1
    assert said in done.err
    assert "Traceback" not in done.err


def test_memory_commands_work_on_the_files(clawd: Clawd, home: Home) -> None:
    clawd("init")
    note = home.path / "workspace" / "memory" / "garden.md"
    note.write_text("# Garden\n\nThe tomatoes want water every evening.\n")

    report = json.loads(clawd("memory", "index", "--json").out)
    found = json.loads(clawd("memory", "search", "tomatoes", "water", "--json").out)
    shown = clawd("memory", "search", "tomatoes")
    lines = clawd("memory", "get", "memory/garden.md", "--from-line", "3", "--lines", "1")

    assert report["files"] == 2
    assert found["results"][0]["path"] == "memory/garden.md"
    assert found["mode"] == "keyword"
    assert "memory/garden.md:1-3" in shown.out
    assert "\u2588" in shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80
    assert lines.out == "The tomatoes want water every evening.\n"
    assert json.loads(clawd("memory", "get", "memory/garden.md", "--json").out)["from_line"] == 1
    assert "2 indexed, 2 on disk" in clawd("memory", "status").out
    assert json.loads(clawd("memory", "status", "--json").out)["files"] == 2
    assert "Nothing found" in clawd("memory", "search", "xylophone").out
    assert clawd("memory", "index", "--force").code == 0


def test_reading_works_while_another_process_holds_the_home_and_writing_says_who(
    clawd: Clawd, home: Home
) -> None:
    clawd("init")
    with HomeLock(home.lock_file):
        assert clawd("sessions", "list").code == 0
        assert clawd("memory", "search", "x").code == 0
        assert clawd("models").code == 0
        done = clawd("chat", "-m", "hi")

    assert done.code == 1
    assert "already running" in done.err
    assert "pid " in done.err


def test_models_are_listed_with_the_reason_why_not(clawd: Clawd) -> None:
    rows = json.loads(clawd("models", "--json").out)["models"]
    usable = [row["name"] for row in rows if row["usable"]]

    assert usable == ["offline/notes"]
    assert "ANTHROPIC_API_KEY" in clawd("models").out


def test_the_dashboard_needs_a_token_and_says_that_nothing_runs(clawd: Clawd, home: Home) -> None:
    before = clawd("dashboard")
    clawd("init")
    after = clawd("dashboard")

    assert before.code == 1
    assert "clawd init" in before.err
    assert after.out == f"http://127.0.0.1:18789/#token={home.token_file.read_text()}"
    assert "No gateway runs" in after.err
    assert json.loads(clawd("dashboard", "--json").out)["running"] is False


@pytest.mark.parametrize(
    ("settings", "warns"),
    [
        ("{}", False),
        ("{mode: {known: ask}}", True),
        ("{sandbox: all}", True),
        ('{mode: {known: ask}, sandbox: "off"}', False),
        ("{enabled: false, sandbox: all}", False),
    ],
)
def test_config_check_says_when_commands_would_lack_their_sandbox(
    clawd: Clawd, home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: str, warns: bool
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    home.path.mkdir(exist_ok=True)
    home.config_file.write_text(f"agents: {{defaults: {{tools: {{exec: {settings}}}}}}}\n")

    done = clawd("config", "check")

    assert done.code == 0
    assert ("commands that need the sandbox will not run: bubblewrap" in done.out) is warns


def test_config_check_tells_programs_too(clawd: Clawd, home: Home) -> None:
    assert json.loads(clawd("config", "check", "--json").out)["ok"] is True
    assert "is right" in clawd("config", "check").out
    home.config_file.write_text("gateway: {prt: 1}\n")

    done = clawd("config", "check", "--json")

    assert done.code == 78
    assert json.loads(done.out)["problems"] == [
        {"path": "gateway.prt", "message": "is not a key; did you mean port?", "line": 1}
    ]


def test_config_show_hides_secrets_and_tells_where_values_come_from(
    clawd: Clawd, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "hunter2-hunter2")
    (home.path / "token").write_text("abc-0123456789abcdef\n")
    home.config_file.write_text(
        "gateway:\n  port: 18000\n  token_file: token\n"
        "models: {providers: {anthropic: {api_key: '${MY_KEY}'}}}\n"
    )

    text, data = clawd("config", "show"), json.loads(clawd("config", "show", "--json").out)

    assert "hunter2" not in text.out + json.dumps(data)
    assert "abc-0123" not in text.out + json.dumps(data)
    assert "  port: 18000  # line 2" in text.out
    assert f'  token: "(set)"  # {home.path}/token' in text.out
    assert 'api_key: "(set)"  # line 4, ${MY_KEY}' in text.out
    assert data["models"]["providers"]["anthropic"]["api_key"] == "(set)"


def test_config_path_and_example(clawd: Clawd, home: Home) -> None:
    assert clawd("config", "path").out == f"{home.config_file}\n"
    assert json.loads(clawd("config", "path", "--json").out)["exists"] is True
    assert "gateway:\n" in clawd("config", "example").out
    assert "| `port` |" in clawd("config", "example", "--markdown").out


def test_what_was_said_is_found_by_its_exact_words(clawd: Clawd) -> None:
    clawd("chat", "-m", "the boiler man is called João")

    found = json.loads(clawd("sessions", "search", "joao", "boiler", "--json").out)
    shown = clawd("sessions", "search", "joao")
    nothing = clawd("sessions", "search", "zebra")

    hit = found["results"][0]
    assert (hit["session_key"], hit["role"]) == ("agent:main:main", "user")
    assert "called João" in hit["snippet"]
    assert hit["line"] > 1
    assert found["partial"] is False
    assert "agent:main:main, line" in shown.out
    assert "Nothing found" in nothing.out
