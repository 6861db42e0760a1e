"""A child and all that it starts: ended in time, on a stop, and with the gateway."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from agents.tools.process import started

ENV = {"PATH": os.defpath}


async def gone(pid: int) -> bool:
    """Whether a process ends (a zombie that nobody reaps has ended) within three seconds."""
    for _ in range(60):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        await asyncio.sleep(0.05)
    return False


async def run(*argv: str, cwd: Path) -> tuple[int, bytes]:
    async with asyncio.timeout(20), started(argv, cwd=cwd, env=ENV) as child:
        code = await child.exited()
        return code, await child.output.read()


@pytest.mark.parametrize(
    ("script", "code", "output"),
    [
        ("echo out; echo err >&2; echo out", 0, b"out\nerr\nout\n"),
        ("exit 3", 3, b""),
        ("kill -KILL $$", -9, b""),
        ("cat; echo end", 0, b"end\n"),
    ],
    ids=["both streams in order", "code", "signal", "no input"],
)
async def test_a_command_ends_with_its_code_and_output(
    tmp_path: Path, script: str, code: int, output: bytes
) -> None:
    assert await run("/bin/sh", "-c", script, cwd=tmp_path) == (code, output)


async def test_a_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    code, output = await run("no-such-program", cwd=tmp_path)

    assert code == 127
    assert b"no-such-program" in output


async def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208

    with pytest.raises(FileNotFoundError):
        await run("true", cwd=tmp_path / "x")

    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


async def test_what_was_started_in_the_background_ends_with_the_command(tmp_path: Path) -> None:
    code, output = await run("/bin/sh", "-c", "sleep 60 & echo $!", cwd=tmp_path)

    assert code == 0
    assert await gone(int(output))


STUBBORN = "trap '' TERM; (trap '' TERM; sleep 60; sleep 60) & echo $! $$; sleep 60; sleep 60"


@pytest.mark.slow
async def test_a_group_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    begun = time.monotonic()
    async with started(["/bin/sh", "-c", STUBBORN], cwd=tmp_path, env=ENV) as child:
        pids = [int(word) for word in (await child.output.readline()).split()]
        await child.end()

    assert 1.5 < time.monotonic() - begun < 5
    assert [await gone(pid) for pid in pids] == [True, True]


async def test_leaving_the_block_early_ends_the_group(tmp_path: Path) -> None:
    script = "sleep 60 & echo $! $$; wait"
    pids: list[int] = []

    async def fail() -> None:
        async with started(["/bin/sh", "-c", script], cwd=tmp_path, env=ENV) as child:
            pids.extend(int(word) for word in (await child.output.readline()).split())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert [await gone(pid) for pid in pids] == [True, True]


async def test_a_request_to_end_lets_the_command_tidy_up(tmp_path: Path) -> None:
    script = "trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.05; done"

    async with started(["/bin/sh", "-c", script], cwd=tmp_path, env=ENV) as child:
        await child.output.readline()
        await child.end()
        assert (await child.output.read()).endswith(b"tidy\n")  # the shell may tell of its sleep first


GATEWAY = textwrap.dedent(
    """
    import asyncio, os, sys
    from pathlib import Path
    from agents.tools.process import started

    async def main():
        script = "(sleep 60; sleep 60) & echo $! $$; sleep 60; sleep 60"
        async with started(["/bin/sh", "-c", script], cwd=Path("/"), env={"PATH": os.defpath}) as child:
            print((await child.output.readline()).decode(), flush=True)
            await child.exited()

    asyncio.run(main())
    """
)


async def test_children_and_grandchildren_end_when_the_gateway_is_killed() -> None:
    with subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", GATEWAY], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]
    ) as gateway:
        assert gateway.stdout
        pids = [int(word) for word in (await asyncio.to_thread(gateway.stdout.readline)).split()]
        gateway.send_signal(signal.SIGKILL)

        assert len(pids) == 2
        assert [await gone(pid) for pid in pids] == [True, True]
