"""What other processes do in tests; started with `spawned`, because a lock or a kill needs a real one."""

import errno
import itertools
import multiprocessing
import resource
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from sessions.entries import Said
from sessions.journal import Journal
from sessions.transcript import Transcript
from tests.sessions.making import AT, HEADER, LIMIT, user


def spawned(target: Callable[..., None], *arguments: object) -> BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments)
    process.start()
    return process


def append_numbers(path: Path, writer: str, count: int) -> None:
    journal = Journal.open(path)
    for number in range(count):
        journal.append({"writer": writer, "number": number, "filler": "x" * (number % 700)})


def say_numbers(path: Path, writer: str, count: int) -> None:
    transcript = Transcript.open(path, max_line_bytes=LIMIT)
    for number in range(count):
        transcript.append(Said(message=user(f"{writer} {number}")), AT)


def say_without_end(path: Path) -> None:
    transcript = Transcript.open(path, max_line_bytes=LIMIT)
    for number in itertools.count():
        transcript.append(Said(message=user(f"{number} " + "é" * 20_000)), AT)


def compact_often(path: Path, times: int) -> None:
    journal = Journal.open(path)
    for _ in range(times):
        journal.compact(lambda objects: objects)


def create_on_a_full_disk(path: Path) -> None:
    """Leaves with 0 when a file that cannot hold its header is refused."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        Transcript.create(path, HEADER)
    except OSError as error:
        sys.exit(0 if error.errno == errno.EFBIG else 1)
    sys.exit(1)


def write_over_the_limit(path: Path, room: int) -> None:
    """Leaves with 0 when a write that hits the file-size limit is refused and leaves nothing behind."""
    transcript = Transcript.open(path, max_line_bytes=LIMIT)
    size = path.stat().st_size
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, hard))
    try:
        transcript.append(Said(message=user("too much " * 1000)), AT)
    except OSError as error:
        refused = error.errno == errno.EFBIG
    else:
        refused = False
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    untouched = path.stat().st_size == size and len(transcript.entries) == 1
    transcript.append(Said(message=user("after")), AT)
    sys.exit(0 if refused and untouched else 1)
