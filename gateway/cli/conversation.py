"""The work of clawd chat: one message, lines from a pipe, or a conversation at the keyboard."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import typer

from gateway.cli.backend import Backend, connected
from gateway.cli.ending import FAILURE, INTERRUPTED
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.cli.prompt import Keyboard
from gateway.cli.screen import Screen
from gateway.config import Config
from gateway.routing import api_session
from gateway.views import ChatReply, Refused, reply_json
from sessions.key import BadSessionKey, SessionKey

HELP = """\
Write and press Enter; Alt+Enter begins a new line.
Ctrl-C stops a running answer, Ctrl-D or /quit leaves. The conversation goes on where it was next time."""
MAX_STDIN_CHARS = 4_000_000


def converse(
    place: Place, message: str | None, *, session: str | None, agent: str | None, as_json: bool
) -> int:
    """The exit code. Raises ConfigError, HomeError, AlreadyRunning, WorkspaceError, Refused."""
    config = place.config()
    if message == "-":
        message = sys.stdin.read(MAX_STDIN_CHARS)
    try:
        key = api_session(agent or config.agents.default_id, session)
    except BadSessionKey as error:
        raise Refused(f"{error}.", code="bad_session", status=400) from error
    chat = Chat(key=key, session=session, agent=agent, config=config, color=place.color)
    return asyncio.run(_converse(place, chat, message, as_json=as_json))


async def _converse(place: Place, chat: "Chat", message: str | None, *, as_json: bool) -> int:
    async with connected(place, chat.config) as backend:
        if message is not None:
            return await chat.once(backend, message, as_json=as_json)
        if sys.stdin.isatty() and sys.stdout.isatty():
            keyboard = Keyboard(place.home.path / "chat_history")
            chat.greet()
            return await chat.loop(backend, keyboard.messages())
        return await chat.loop(backend, _piped())


async def _piped() -> AsyncIterator[str]:
    """Each line of stdin is a message."""
    while line := await asyncio.to_thread(sys.stdin.readline, MAX_STDIN_CHARS):
        yield line.rstrip("\n")


class Chat:
    """A conversation with one session."""

    def __init__(
        self, *, key: SessionKey, session: str | None, agent: str | None, config: Config, color: bool
    ) -> None:
        self.config = config
        self._key = key
        self._session = session
        self._agent = agent
        self._out = console(color=color)
        self._err = console(color=color, stderr=True)

    def greet(self) -> None:
        self._out.print(f"clawd, {self._key}. /help says what the keys do.", style="dim")

    async def once(self, backend: Backend, text: str, *, as_json: bool) -> int:
        """One message. Raises Refused."""
        reply = await self._turn(backend, text, quiet=as_json)
        if reply is None:
            return INTERRUPTED
        if as_json:
            print_json(reply_json(reply))
        return 0

    async def loop(self, backend: Backend, messages: AsyncIterator[str]) -> int:
        """Answer every message; what is refused is told, and the conversation goes on.

        Exit code 1 when the last message was refused, so that a script notices.
        """
        code = 0
        async for text in messages:
            word = text.strip()
            if not word:
                continue
            if word in ("/quit", "/exit"):
                break
            if word == "/help":
                self._out.print(HELP, style="dim")
            try:
                await self._turn(backend, text, quiet=False)
                code = 0
            except Refused as refused:
                self._err.print(clean(str(refused)), style="red", soft_wrap=True)
                code = FAILURE
        return code

    async def _turn(self, backend: Backend, text: str, *, quiet: bool) -> ChatReply | None:
        """The answer, shown unless `quiet`; None when the person stopped it. Raises Refused."""
        text = text.encode("utf-8", errors="replace").decode()
        if quiet or not self._out.is_terminal:
            reply = await self._stoppable(backend, text, None)
            if reply and not quiet:
                typer.echo(clean(reply.reply))
            return reply
        with Screen(self._out, self.config.channels.console) as screen:
            reply = await self._stoppable(backend, text, screen)
            if reply:
                screen.end(reply.reply)
        if reply is None:
            self._out.print("stopped", style="dim")
        return reply

    async def _stoppable(self, backend: Backend, text: str, screen: Screen | None) -> ChatReply | None:
        """A first Ctrl-C asks for the turn's end, a second one no longer waits for it."""
        turn = asyncio.ensure_future(
            backend.chat(
                agent=self._agent,
                session=self._session,
                text=text,
                on_event=screen.on_event if screen else None,
            )
        )
        stops: list[asyncio.Task[bool]] = []

        def interrupt() -> None:
            if stops:
                turn.cancel()
            stops.append(asyncio.ensure_future(_stop(backend, self._key)))

        with on_interrupt(interrupt):
            try:
                return await turn
            except asyncio.CancelledError:
                if not stops:
                    raise
                return None
            except Refused as refused:
                if refused.code == "stopped" and stops:
                    return None
                raise
            finally:
                await asyncio.gather(*stops)


async def _stop(backend: Backend, key: SessionKey) -> bool:
    try:
        return await backend.stop(key)
    except Refused:
        return False


@contextmanager
def on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C calls `act` instead of ending the program."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, act)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
