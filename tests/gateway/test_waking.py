"""A webhook that wakes the owner's agent: content from outside, told now or with the next message."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agents.conversation import Conversation
from agents.settings import ToolsSettings
from agents.tools.tool import ToolOutput
from agents.turn import Turn
from gateway.errands import TRIES
from gateway.http.wiring import outside
from gateway.lanes import Lanes
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import JsonObject, Text, User
from tests.fakes.front import street
from tests.fakes.house import house
from tests.fakes.protocols import Calls, FakeTool, Hangs, Says, call

FRAMED = "[outside] The parcel has come. [/outside]"


async def test_now_begins_a_turn_whose_answer_goes_to_where_the_owner_spoke_last(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hello"), Says("Your parcel has come.")) as home, street(home) as scene:
        await scene.say("hi")
        await scene.quiet()
        await scene.front.waking.wake(FRAMED, True)
        await scene.quiet()
        assert scene.channel.texts == ["hello", "Your parcel has come."]
        message = home.model.requests[-1].messages[-1]
        assert isinstance(message, User)
        assert FRAMED in message.envelope


async def test_a_silence_and_an_owner_who_was_not_seen_are_left_in_peace(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hello"), Says("NO_REPLY")) as home, street(home) as scene:
        await scene.front.waking.wake(FRAMED, True)
        await scene.quiet()
        await scene.say("hi")
        await scene.quiet()
        assert scene.channel.texts == []


async def test_later_is_told_with_the_next_message_once(tmp_path: Path) -> None:
    async with house(tmp_path, Says("one"), Says("two")) as home, street(home) as scene:
        await scene.front.waking.wake(FRAMED, False)
        assert home.model.requests == []
        for _ in range(2):
            await scene.say("hi")
            await scene.quiet()
        told = [message for message in home.model.requests[-1].messages if isinstance(message, User)]
        assert [FRAMED in message.envelope for message in told] == [True, False]


async def test_what_it_asks_for_needs_the_owners_word(tmp_path: Path) -> None:
    script = (Calls((call("exec", {"argv": ["touch", "pwned"]}),)), Says("I was asked to run something."))
    async with house(tmp_path, *script, tools=ToolsSettings()) as home, street(home) as scene:
        await scene.front.waking.wake(FRAMED, True)
        await scene.quiet()
        assert not (home.workspace / "pwned").exists()
        result = home.model.requests[-1].messages[-1]
        told = "".join(part.text for part in result.parts if isinstance(part, Text))
        assert "approv" in told.lower()


class Asks(FakeTool):
    """Remembers what had come in from outside."""

    taints: list[tuple[str, ...]]

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput:
        self.taints = [turn.taint.sources]
        return await super().run(arguments, turn)


async def test_a_turn_that_was_told_of_it_stays_marked_over_a_kill(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs()) as home, street(home) as scene:
        await scene.front.waking.wake(outside("wake", "The parcel has come.", "abc123"), False)
        await scene.say("hi")
        await home.model.hanging.wait()
    asks, script = Asks(), (Calls((call("look"),)), Says("done"))
    async with house(tmp_path, *script, extra_tools=[asks], first_session=2) as home, street(home) as scene:
        await scene.quiet()
        assert scene.channel.texts == ["done"]
        assert asks.taints == [("webhook wake",)]


@pytest.mark.parametrize("begun", [False, True], ids=["accepted", "begun"])
async def test_what_was_accepted_is_looked_at_after_a_kill_and_told_where_the_owner_wrote(
    tmp_path: Path, *, begun: bool
) -> None:
    async with house(tmp_path, Says("hello"), Hangs()) as home, street(home) as scene:
        await scene.say("hi")
        await scene.quiet()
        if begun:
            await scene.front.waking.wake(FRAMED, True)
            await home.model.hanging.wait()
        else:
            home.gateway.lanes.submit = lost  # type: ignore[method-assign, assignment]
            await scene.front.waking.wake(FRAMED, True)
    async with house(tmp_path, Says("Your parcel has come."), first_session=9) as home, street(home) as scene:
        await scene.quiet()
        assert scene.channel.texts == ["Your parcel has come."]
        told = [one for one in home.model.requests[-1].messages if isinstance(one, User)]
        assert [FRAMED in one.envelope for one in told] == [False, True]
    async with house(tmp_path, first_session=10) as home, street(home) as scene:
        await scene.quiet()
        assert scene.channel.texts == []


async def test_what_should_have_been_looked_at_long_ago_is_told_with_the_next_message(tmp_path: Path) -> None:
    async with house(tmp_path) as home, street(home) as scene:
        home.gateway.lanes.submit = lost  # type: ignore[method-assign, assignment]
        await scene.front.waking.wake(FRAMED, True)
    async with house(tmp_path, Says("one"), first_session=2) as home:
        home.clock.now += timedelta(hours=1, seconds=1)
        async with street(home) as scene:
            await scene.quiet()
            assert home.model.requests == []
            await scene.say("hi")
            await scene.quiet()
        message = home.model.requests[-1].messages[-1]
        assert isinstance(message, User)
        assert FRAMED in message.envelope


async def test_later_is_told_once_over_restarts(tmp_path: Path) -> None:
    async with house(tmp_path) as home, street(home) as scene:
        await scene.front.waking.wake(FRAMED, False)
    told = []
    for number in (2, 3):
        async with house(tmp_path, Says("one"), first_session=number) as home, street(home) as scene:
            await scene.say("hi", id=f"message {number}")
            await scene.quiet()
            message = home.model.requests[-1].messages[-1]
            assert isinstance(message, User)
            told.append(FRAMED in message.envelope)
    assert told == [True, False]


async def test_what_a_turn_could_not_write_down_is_told_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    async with house(tmp_path, Says("one")) as home, street(home) as scene:
        await scene.front.waking.wake(FRAMED, False)
        with monkeypatch.context() as disk:
            disk.setattr(Conversation, "record_and", full)
            await scene.say("hi")
            await scene.quiet()
        assert [one.kind for one in scene.front.journals.errands.waiting("next")] == ["next"]
        await scene.say("hi")
        await scene.quiet()
        message = home.model.requests[-1].messages[-1]
        assert isinstance(message, User)
        assert FRAMED in message.envelope
        assert scene.front.journals.errands.waiting("next") == []


async def test_what_was_told_late_is_not_told_again_after_a_kill(tmp_path: Path) -> None:
    async def killed(_: str) -> None:
        """Nothing is written any more."""

    hour = timedelta(hours=1, seconds=1)
    async with house(tmp_path) as home, street(home) as scene:
        home.gateway.lanes.submit = lost  # type: ignore[method-assign, assignment]
        await scene.front.waking.wake(FRAMED, True)
    async with house(tmp_path, Hangs(), first_session=2) as home:
        home.clock.now += hour
        async with street(home) as scene:
            await scene.say("hi", id="one")
            await home.model.hanging.wait()
            scene.front.journals.errands.done = killed  # type: ignore[method-assign, assignment]
    async with house(tmp_path, Says("one"), Says("two"), first_session=3) as home:
        home.clock.now += hour
        async with street(home) as scene:
            await scene.quiet()
            await scene.say("ho", id="two")
            await scene.quiet()
            assert scene.front.journals.errands.waiting("look", "next") == []
        told = [one for one in home.model.requests[-1].messages if isinstance(one, User)]
        assert [FRAMED in one.envelope for one in told] == [True, False]


async def test_one_that_is_stopped_before_it_is_looked_at_has_had_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(tmp_path, Hangs()) as home, street(home) as scene:
        home.gateway.lanes = scene.front.waking._lanes = Lanes(1)
        other = asyncio.create_task(home.gateway.chat(agent=None, session="work", text="hi"))
        await home.model.hanging.wait()
        await scene.front.waking.wake(FRAMED, True)
        assert home.gateway.stop(SessionKey(agent="main", kind="main"))
        async with asyncio.timeout(10):
            while scene.front.journals.errands.waiting("look"):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert "stopped before" in caplog.text
        home.gateway.stop(SessionKey(agent="main", kind="api", peer="work"))
        with pytest.raises(Refused, match="Stopped"):
            await other


@pytest.mark.parametrize(("tries", "turns"), [(TRIES - 1, 1), (TRIES, 0)])
async def test_one_that_ended_every_process_is_given_up(tmp_path: Path, *, tries: int, turns: int) -> None:
    async with house(tmp_path, Hangs()) as home, street(home) as scene:
        await scene.front.waking.wake(FRAMED, True)
        await home.model.hanging.wait()
        [errand] = scene.front.journals.errands.waiting("look")
        for number in range(tries):
            await scene.front.journals.errands.tried(replace(errand, tries=number))
    async with house(tmp_path, Says("one"), first_session=2) as home, street(home) as scene:
        await scene.quiet()
        assert len(home.model.requests) == turns
        assert scene.front.journals.errands.waiting("look") == []


def lost(*_: object, **__: object) -> asyncio.Future[None]:
    """What is queued here is never made: the process is killed before."""
    return asyncio.get_running_loop().create_future()
