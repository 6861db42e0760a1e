"""Turns that nobody waits for: made once, and taken up after a stop."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest

from agents.turn import OnEvent
from gateway.errands import TRIES, Errand, Errands
from gateway.http.hub import Hub
from gateway.http.talk import Talk
from gateway.views import Refused
from sessions.entries import Entry, Said
from sessions.key import SessionKey
from sessions.messages import Assistant, Message, Text, User, text_of
from tests.fakes.front import street
from tests.fakes.gateway import FakeGateway, echo
from tests.fakes.house import house
from tests.fakes.protocols import START, FakeClock, Hangs, Says

KEY = SessionKey(agent="main", kind="api", peer="hook-ci")
MAX_AGE = timedelta(hours=1)

Before = Literal["nothing", "message", "answer"]


class Desk:
    """Talk over a gateway whose transcript an earlier process left."""

    def __init__(self, before: Before = "nothing") -> None:
        self.gateway, self.clock = FakeGateway(), FakeClock()
        self.errands = Errands(clock=self.clock)
        self.before = before
        self.talk = Talk(self.gateway, Hub(), new_id=lambda: "run-1", errands=self.errands, max_age=MAX_AGE)

    async def entries(self, _: SessionKey) -> Sequence[Entry]:
        asked = User(at=START, parts=(Text(text="hi"),), ids=("run-1",))
        said = Assistant(at=START, parts=(Text(text="hello"),), api="a", provider="p", model="m", stop="stop")
        both: tuple[Message, ...] = (asked, said)
        there = both[: ("nothing", "message", "answer").index(self.before)]
        return [
            Entry(id=str(at), parent_id=None, at=START, body=Said(message=one))
            for at, one in enumerate(there)
        ]

    async def left(self, *, tries: int = 0) -> None:
        """An earlier process took it on."""
        await self.errands.accept(
            Errand(
                id="run-1",
                kind="ask",
                key=KEY,
                text="the build failed",
                at=self.clock(),
                sender="webhook ci",
                trust="known",
                source="webhook ci",
                tries=tries,
            )
        )

    async def quiet(self) -> None:
        async with asyncio.timeout(10):
            while self.errands.waiting("ask"):  # noqa: ASYNC110
                await asyncio.sleep(0.001)

    @property
    def again(self) -> list[tuple[bool, tuple[str, ...]]]:
        return [(one.again, one.outside) for one in self.gateway.beside]


@pytest.mark.parametrize(
    ("before", "made"),
    [
        ("nothing", [(False, ("webhook ci",))]),
        ("message", [(True, ("webhook ci",))]),
        ("answer", []),
    ],
)
async def test_what_a_killed_process_left_is_made_to_its_end(
    before: Before, made: list[tuple[bool, tuple[str, ...]]]
) -> None:
    desk = Desk(before)
    await desk.left()
    await desk.talk.take_up(desk.entries)

    assert desk.again == made  # before anything that comes now
    await desk.quiet()
    assert desk.again == made


@pytest.mark.parametrize(("before", "turns"), [("nothing", 0), ("message", 1)])
async def test_after_a_long_stop_only_what_had_begun_is_made(before: Before, turns: int) -> None:
    desk = Desk(before)
    await desk.left()
    desk.clock.now += MAX_AGE + timedelta(seconds=1)
    await desk.talk.take_up(desk.entries)
    await desk.quiet()

    assert len(desk.gateway.beside) == turns


async def test_a_stop_of_the_gateway_leaves_it_for_the_next_start() -> None:
    desk, begun = Desk(), asyncio.Event()

    async def answer(text: str, on_event: OnEvent) -> str:
        begun.set()
        await asyncio.sleep(60)
        return await echo(text, on_event)

    desk.gateway.answer = answer
    await desk.talk.begin(agent=None, session=None, text="hi", once="key")
    await asyncio.wait_for(begun.wait(), 10)
    desk.gateway.draining = True
    for task in desk.gateway.running.values():
        task.cancel()
    await asyncio.gather(*desk.gateway.running.values(), return_exceptions=True)
    await asyncio.sleep(0.01)

    assert [one.text for one in desk.errands.waiting("ask")] == ["hi"]


@pytest.mark.parametrize("failure", [Refused("no", code="model", status=502), RuntimeError("bug")])
async def test_a_turn_that_failed_has_had_its_end(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk()

    async def answer(_: str, __: OnEvent) -> str:
        raise failure

    desk.gateway.answer = answer
    await desk.talk.begin(agent=None, session=None, text="hi")
    await desk.quiet()

    assert str(failure) in caplog.text


@pytest.mark.parametrize(("tries", "turns"), [(TRIES - 1, 1), (TRIES, 0)])
async def test_a_turn_that_ended_every_process_is_given_up_and_the_log_says_so(
    tries: int, turns: int, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk("message")
    await desk.left(tries=tries)
    await desk.talk.take_up(desk.entries)
    await desk.quiet()

    assert len(desk.gateway.beside) == turns
    assert ("cut off 5 times" in caplog.text) == (turns == 0)


@pytest.mark.parametrize(("text", "turns"), [("/restart", 0), ("/stop", 0), ("/etc/hosts is odd", 1)])
async def test_a_command_is_not_obeyed_again_after_a_kill(
    text: str, turns: int, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk()
    await desk.errands.accept(Errand(id="run-1", kind="ask", key=KEY, text=text, at=desk.clock()))
    await desk.talk.take_up(desk.entries)
    await desk.quiet()

    assert len(desk.gateway.beside) == turns
    assert ("may have been obeyed" in caplog.text) == (turns == 0)


async def test_a_new_session_that_began_with_a_text_goes_on_with_it_after_a_kill(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs()) as home, street(home) as scene:
        home.gateway.ready, errands = True, scene.front.journals.errands
        talk = Talk(home.gateway, Hub(), new_id=lambda: "run-1", errands=errands)
        begun = await talk.begin(agent=None, session="work", text="/new hello")
        await home.model.hanging.wait()
        before = home.registry.get(begun.key)
    async with house(tmp_path, Says("hi"), first_session=9) as home, street(home) as scene:
        errands = scene.front.journals.errands
        talk = Talk(home.gateway, Hub(), new_id=lambda: "run-2", errands=errands)
        await talk.take_up(home.gateway.entries)
        async with asyncio.timeout(10):
            while errands.waiting("ask"):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        after = home.registry.get(begun.key)

        assert before is not None
        assert after is not None
        assert after.session_id == before.session_id
        told = [text_of(one.parts) for one in home.model.requests[-1].messages if isinstance(one, User)]
        assert told == ["hello"]


async def test_a_caller_that_goes_away_while_it_is_written_down_leaves_a_run_behind() -> None:
    class Slow(Errands):
        writing, go_on = asyncio.Event(), asyncio.Event()

        async def accept(self, errand: Errand) -> bool:
            accepted = await super().accept(errand)
            self.writing.set()
            await self.go_on.wait()
            return accepted

    desk, errands = Desk(), Slow()
    talk = Talk(desk.gateway, Hub(), new_id=lambda: "run-1", errands=errands)
    caller = asyncio.create_task(talk.begin(agent=None, session=None, text="hi"))
    await asyncio.wait_for(errands.writing.wait(), 10)
    caller.cancel()
    await asyncio.sleep(0)
    errands.go_on.set()
    await asyncio.wait([caller])
    async with asyncio.timeout(10):
        while errands.waiting("ask"):  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    assert len(desk.gateway.beside) == 1


async def test_a_full_disk_is_said_and_nothing_is_begun() -> None:
    class Full(Errands):
        async def accept(self, errand: Errand) -> bool:
            raise OSError(28, "No space left on device")

    desk = Desk()
    talk = Talk(desk.gateway, Hub(), new_id=lambda: "run-1", errands=Full())

    with pytest.raises(Refused, match="No space left"):
        await talk.begin(agent=None, session=None, text="hi")
    assert desk.gateway.beside == []
