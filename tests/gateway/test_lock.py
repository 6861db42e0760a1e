"""One gateway a home, for as long as it lives and no longer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.lock import AlreadyRunning, HomeLock, holder, is_locked

HOLD = """
import sys, time
from pathlib import Path
from gateway.lock import HomeLock
with HomeLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_one_is_refused_and_told_the_pid_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "lock"

    with HomeLock(path), pytest.raises(AlreadyRunning, match=f"pid {os.getpid()}") as caught, HomeLock(path):
        pass

    assert caught.value.pid == os.getpid()


def test_a_lock_is_free_again_after_its_end(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with HomeLock(path):
        assert is_locked(path)

    assert not is_locked(path)
    with HomeLock(path):
        assert holder(path) == os.getpid()


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(AlreadyRunning, match=f"pid {other.pid}"), HomeLock(path):
            pass
        other.kill()
        other.wait()

        with HomeLock(path):
            assert holder(path) == os.getpid()


def test_a_lock_that_was_never_taken_is_free(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "lock")
    assert holder(tmp_path / "lock") is None
