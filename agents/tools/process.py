"""One child process and all that it starts: it ends when it should, and with the gateway."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

GRACE = 2.0
LAST_OUTPUT = 1.0

# Its standard input is a pipe that only the gateway holds open: when the gateway dies, however it dies,
# the pipe ends and a watcher ends the whole group. The command itself reads /dev/null.
_LIFELINE = 'exec 3<&0 </dev/null; (read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec 3<&-; exec "$@"'


class Child:
    """A running command in a group of its own. `output` is its standard output and error, in order."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: asyncio.StreamReader) -> None:
        self._process = process
        self.output = output

    async def exited(self) -> int:
        """Wait for the command and tell its exit code (minus the signal that ended it).

        What else runs in its group is ended before the command is reaped, so that the group's number
        cannot have passed to another.
        """
        delay = 0.001
        while self._running():
            await asyncio.sleep(delay)
            delay = min(delay * 1.5, 0.05)
        self._signal(signal.SIGKILL)
        return self._process.wait()

    async def end(self) -> None:
        """End the whole group: politely, and after a moment for certain."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.returncode is not None:
                return
            self._signal(number)
            try:
                async with asyncio.timeout(GRACE):
                    await self.exited()
            except TimeoutError:
                continue
            except asyncio.CancelledError:
                self._signal(signal.SIGKILL)
                raise

    def _running(self) -> bool:
        if self._process.returncode is not None:
            return False
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, flags) is None

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies only
            os.killpg(self._process.pid, number)


@asynccontextmanager
async def started(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> AsyncIterator[Child]:
    """A child running `argv`; whatever happens, its group has ended when the block is left.

    Raises OSError when it cannot be started. A program that does not exist ends with exit code 127.
    """
    process, printed, lifeline = _spawn(argv, cwd, env)
    reader = asyncio.StreamReader(limit=1 << 16)
    child = Child(process, reader)
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(printed, "rb", buffering=0)
        )
        try:
            yield child
        finally:
            transport.close()
    finally:
        try:
            await child.end()
        finally:
            os.close(lifeline)


def _spawn(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> "tuple[subprocess.Popen[bytes], int, int]":
    """The process, the end of the pipe that it prints to, and its lifeline."""
    lifeline_in, lifeline = os.pipe()
    printed, printed_in = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603 (running what the agent asks for is this tool's purpose)
            ["/bin/sh", "-c", _LIFELINE, "sh", *argv],
            stdin=lifeline_in,
            stdout=printed_in,
            stderr=printed_in,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
    except BaseException:
        os.close(lifeline)
        os.close(printed)
        raise
    finally:
        os.close(lifeline_in)
        os.close(printed_in)
    return process, printed, lifeline
