"""A lock between processes: shared by many, alone for one, and never for a file that was deleted."""

import os
import stat
from pathlib import Path

import pytest

from memory.filelock import FileLock, LockedElsewhere


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_many_share_and_one_is_alone(path: Path) -> None:
    one, two, three = (FileLock(path) for _ in range(3))
    with one.shared(), two.shared(seconds=0):
        with pytest.raises(LockedElsewhere), three.alone(seconds=0.02):
            pass
        assert not three.try_alone()
    with three.alone(seconds=0), pytest.raises(LockedElsewhere), one.shared(seconds=0.02):
        pass
    with one.shared(seconds=0):
        pass


def test_a_lock_taken_until_its_end_is_free_after_it(path: Path) -> None:
    one, two = FileLock(path), FileLock(path)
    assert one.try_alone()
    assert not two.try_alone()
    one.close()
    assert two.try_alone()
    two.close()
    two.close()


def test_a_deleted_lock_file_is_another_lock(path: Path) -> None:
    one, two = FileLock(path), FileLock(path)
    with one.shared():
        pass
    path.unlink()
    assert two.try_alone()
    with pytest.raises(LockedElsewhere), one.shared(seconds=0.02):
        pass


def test_the_file_is_the_owners_and_no_child_inherits_it(path: Path) -> None:
    lock = FileLock(path)
    with lock.shared():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert lock._descriptor is not None
        assert not os.get_inheritable(lock._descriptor)
