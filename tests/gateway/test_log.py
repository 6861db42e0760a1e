"""Logs: readable for people, JSON for programs, without secrets in either."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway import log

SECRET = "s3cret-of-the-owner"


@pytest.fixture
def clean() -> Iterator[None]:
    root = logging.getLogger()
    kept, level = list(root.handlers), root.level
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = kept
    root.setLevel(level)


@pytest.mark.usefixtures("clean")
def test_a_secret_reaches_neither_screen_nor_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.set_up(tmp_path, level="info", secrets=(SECRET,))
    logger = logging.getLogger("clawd.test")

    try:
        int(f"wrong key {SECRET}")
    except ValueError:
        logger.exception("the key %s was refused", SECRET)

    screen, file = capsys.readouterr().err, (tmp_path / "clawd.log").read_text(encoding="utf-8")
    assert SECRET not in screen + file
    assert "error clawd.test: the key" in screen
    line = json.loads(file)
    assert (line["level"], line["part"]) == ("error", "clawd.test")
    assert "ValueError" in line["error"]
    assert (tmp_path / "clawd.log").stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("clean")
def test_a_secret_that_is_learned_later_is_kept_out_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets: list[str] = []
    log.set_up(tmp_path, level="info", secrets=secrets)
    secrets.append(SECRET)

    logging.getLogger("clawd.test").info("the key %s is new", SECRET)

    assert SECRET not in capsys.readouterr().err + (tmp_path / "clawd.log").read_text(encoding="utf-8")


@pytest.mark.usefixtures("clean")
def test_less_than_the_level_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.set_up(tmp_path, level="warning", secrets=())

    logging.getLogger("clawd.test").info("nobody needs this")
    logging.getLogger("clawd.test").warning("somebody needs this")

    assert "nobody" not in (told := capsys.readouterr().err)
    assert "somebody" in told


@pytest.mark.usefixtures("clean")
def test_a_folder_that_cannot_be_written_leaves_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")

    log.set_up(tmp_path / "file", level="info", secrets=())
    logging.getLogger("clawd.test").info("still told")

    told = capsys.readouterr().err
    assert "no log file in" in told
    assert "still told" in told
