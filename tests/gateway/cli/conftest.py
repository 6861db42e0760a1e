"""A home of its own, and the command line called in this process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.cli import main
from gateway.home import Home

KEYWORDS_ONLY = "memory: {search: {provider: none}}\n"


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


Clawd = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home without a model of meaning, so that nothing heavy is started; nobody's keys."""
    for name in ("CLAWD_HOME", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    (path / "clawd.yaml").write_text(KEYWORDS_ONLY, encoding="utf-8")
    return Home(path)


@pytest.fixture
def clawd(home: Home, capsys: pytest.CaptureFixture[str]) -> Clawd:
    """Runs `clawd --home HOME …`."""

    def run(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["--home", str(home.path), *arguments])
        told = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else int(code is not None), told.out, told.err)

    return run
