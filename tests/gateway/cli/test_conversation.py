"""gateway/cli/conversation.py: a conversation with a backend that is told what to say."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from agents.model.provider import TextDelta
from agents.turn import OnEvent
from gateway.cli.backend import Progress
from gateway.cli.conversation import Chat
from gateway.cli.prompt import Keyboard
from gateway.config import Config
from gateway.home import Home
from gateway.views import ChatReply, Refused
from memory.hybrid import SearchResult
from sessions.key import SessionKey
from sessions.messages import Json, JsonObject, Usage

KEY = SessionKey(agent="main", kind="main")


@dataclass
class Backend:
    """Answers with the text itself; `hang` waits until it is stopped, `refuse` is refused."""

    heard: list[str] = field(default_factory=list)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply:
        self.heard.append(text)
        if text == "refuse":
            raise Refused("The provider refused the key.", code="model_auth", status=502)
        if text == "hang":
            asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
            await self.stopped.wait()
            raise Refused("Stopped.", code="stopped", status=409)
        if on_event:
            on_event(TextDelta(text=f"you said {text}"))
        return ChatReply(
            reply=f"you said {text}", key=KEY, session_id="s", usage=Usage(), calls=(), model="fake/one"
        )

    async def stop(self, key: SessionKey) -> bool:
        assert key == KEY
        self.stopped.set()
        return True

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult:
        raise NotImplementedError

    async def memory_sync(self, *, agent: str | None, force: bool, progress: Progress | None) -> Json:
        raise NotImplementedError

    async def memory_status(self, *, agent: str | None, deep: bool) -> JsonObject:
        raise NotImplementedError


def chat() -> Chat:
    return Chat(key=KEY, session=None, agent=None, config=Config(), color=False)


async def said(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        yield text


async def test_every_message_is_answered_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    backend = Backend()

    assert await chat().loop(backend, said("one", "", "  ", "two")) == 0
    assert backend.heard == ["one", "two"]
    assert capsys.readouterr().out == "you said one\nyou said two\n"


@pytest.mark.parametrize("word", ["/quit", "/exit", " /quit "])
async def test_quit_leaves(word: str) -> None:
    backend = Backend()

    assert await chat().loop(backend, said("one", word, "two")) == 0
    assert backend.heard == ["one"]


async def test_help_tells_the_keys_and_then_what_clawd_can_be_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    backend = Backend()
    await chat().loop(backend, said("/help"))

    assert backend.heard == ["/help"]
    assert "Ctrl-D" in capsys.readouterr().out


@pytest.mark.parametrize(("texts", "code"), [(("refuse", "one"), 0), (("one", "refuse"), 1)], ids=str)
async def test_what_is_refused_is_told_and_the_conversation_goes_on(
    texts: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = Backend()

    assert await chat().loop(backend, said(*texts)) == code
    told = capsys.readouterr()
    assert "The provider refused the key." in told.err
    assert "you said one" in told.out


async def test_ctrl_c_stops_the_turn_and_the_conversation_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    backend = Backend()

    assert await chat().loop(backend, said("hang", "one")) == 0
    assert backend.stopped.is_set()
    assert "you said one" in capsys.readouterr().out


async def test_ctrl_c_ends_a_single_message_with_130() -> None:
    assert await chat().once(Backend(), "hang", as_json=False) == 130


async def test_the_handler_of_ctrl_c_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    await chat().once(Backend(), "one", as_json=False)

    assert signal.getsignal(signal.SIGINT) is before


async def test_half_of_a_surrogate_pair_does_not_stop_a_message() -> None:
    backend = Backend()
    await chat().once(backend, "caf\udce9", as_json=False)

    assert backend.heard == ["caf?"]


async def typed(home: Home, keys: str) -> list[str]:
    with create_pipe_input() as source:
        source.send_text(keys)
        keyboard = Keyboard(home.path / "chat_history", source=source, target=DummyOutput())
        return [text async for text in keyboard.messages()]


async def test_enter_sends_alt_enter_begins_a_line_and_ctrl_d_leaves(home: Home) -> None:
    assert await typed(home, "one\rtwo\x1b\rlines\r\x04") == ["one", "two\nlines"]


async def test_pasted_lines_are_one_message(home: Home) -> None:
    assert await typed(home, "\x1b[200~a\nb\x1b[201~\r\x04") == ["a\nb"]


async def test_ctrl_c_empties_the_line(home: Home) -> None:
    assert await typed(home, "oops\x03fine\r\x04") == ["fine"]


async def test_the_history_is_closed_to_others_and_there_the_next_time(home: Home) -> None:
    await typed(home, "one\r\x04")

    assert (home.path / "chat_history").stat().st_mode & 0o777 == 0o600
    assert await typed(home, "\x1b[A\r\x04") == ["one"]
