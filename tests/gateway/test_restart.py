"""What a kill leaves on disk, and what the next start makes of it: one visible end for each message."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from channels.message import InboundMessage, OutboundMessage
from gateway.deliveries import Delivery, Part
from gateway.inbox import Inbox, event_id
from gateway.outbox import Outbox
from gateway.postman import REPEATED
from sessions.key import SessionKey
from sessions.messages import Assistant, Message, StopReason, Text, ToolCall, User
from tests.fakes.front import ADDRESS, ANA, OpenDoor, Street, street
from tests.fakes.house import House, house
from tests.fakes.protocols import START, Says

MESSAGE = InboundMessage(id="1", address=ADDRESS, sender=ANA, text="what is new?", at=START)
MAIN = SessionKey(agent="main", kind="main")
ID = event_id(MESSAGE)
USER = User(at=START, parts=(Text(text="what is new?"),), envelope="[stamp]", ids=(ID,))
DELIVERY = Delivery(key=ID, address=ADDRESS, at=START, parts=(Part(text="one"), Part(text="two")))


def said(text: str, stop: StopReason = "stop", error: str | None = None) -> Assistant:
    return Assistant(
        at=START, parts=(Text(text=text),), stop=stop, provider="s", api="s", model="script", error=error
    )


CALL = Assistant(
    at=START,
    parts=(ToolCall(id="c1", name="exec", arguments={"command": "rm x"}),),
    stop="toolUse",
    provider="s",
    api="s",
    model="script",
)


async def left(home: House, *messages: Message, begun: bool = True) -> None:
    """An earlier process accepted the message, and got as far as these lines of its transcript."""
    inbox = Inbox.open(home.home.journals / "inbox.jsonl", now=START)
    inbox.accept(MESSAGE, START)
    if begun or messages:
        inbox.begun([ID], "session-1")
    inbox.close()
    if messages:
        agent = home.roster.of(None)
        record = await home.gateway.lifecycle.start(MAIN)
        async with agent.runtime.conversations.use(record.session_id, cwd=home.workspace) as conversation:
            for message in messages:
                await conversation.record(message)


@asynccontextmanager
async def restarted(home: House, **more: object) -> AsyncIterator[Street]:
    async with street(home, **more) as scene:  # type: ignore[arg-type]
        await scene.quiet()
        yield scene


async def test_accepted_and_no_more_is_answered(tmp_path: Path) -> None:
    async with house(tmp_path, Says("this")) as home:
        await left(home, begun=False)
        async with restarted(home) as scene:
            assert scene.channel.texts == ["this"]
            await scene.say("what is new?", id="1")
            await scene.quiet()
            assert scene.channel.texts == ["this"]


async def test_begun_and_not_written_is_answered(tmp_path: Path) -> None:
    async with house(tmp_path, Says("this")) as home:
        await left(home)
        async with restarted(home) as scene:
            assert scene.channel.texts == ["this"]


async def test_written_and_not_answered_is_not_written_again(tmp_path: Path) -> None:
    async with house(tmp_path, Says("this")) as home:
        await left(home, USER)
        async with restarted(home) as scene:
            assert scene.channel.texts == ["this"]
        request = home.model.requests[0]
        assert [message for message in request.messages if isinstance(message, User)] == [USER]


async def test_a_call_that_may_have_run_is_not_run_again(tmp_path: Path) -> None:
    async with house(tmp_path, Says("I do not know whether it ran.")) as home:
        await left(home, USER, CALL)
        async with restarted(home) as scene:
            assert scene.channel.texts == ["I do not know whether it ran."]
        told = [
            part.text
            for message in home.model.requests[0].messages
            for part in message.parts
            if isinstance(part, Text)
        ]
        assert any("may have run" in text for text in told)


async def test_an_answer_that_was_cut_off_is_asked_for_again(tmp_path: Path) -> None:
    async with house(tmp_path, Says("whole")) as home:
        await left(home, USER, said("ha", "aborted"))
        async with restarted(home) as scene:
            assert scene.channel.texts == ["whole"]
        assert isinstance(home.model.requests[0].messages[-1], User)


async def test_an_answer_that_is_written_is_delivered_and_not_asked_again(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        await left(home, USER, said("done"))
        async with restarted(home) as scene:
            assert scene.channel.texts == ["done"]
        assert home.model.requests == []


async def test_a_written_silence_stays_one_and_a_failure_is_told(tmp_path: Path) -> None:
    async with house(tmp_path / "a") as home:
        await left(home, USER, said("NO_REPLY"))
        async with restarted(home) as scene:
            assert scene.channel.texts == []
    async with house(tmp_path / "b") as home:
        await left(home, USER, said("", "error", "The key was refused."))
        async with restarted(home) as scene:
            assert scene.channel.texts == ["⚠️ The key was refused."]


@pytest.mark.parametrize(
    ("sent", "doubtful", "shows"),
    [
        (0, False, ["one", "two"]),
        (0, True, [f"{REPEATED}\none", "two"]),
        (1, False, ["two"]),
        (1, True, [f"{REPEATED}\ntwo"]),
        (2, False, []),
    ],
)
async def test_a_delivery_goes_on_where_it_was(
    tmp_path: Path, sent: int, doubtful: bool, shows: list[str]
) -> None:
    async with house(tmp_path) as home:
        await left(home, USER, said("one two"))
        outbox = Outbox.open(home.home.journals / "outbox.jsonl", now=START)
        outbox.add(DELIVERY)
        for _ in range(sent):
            outbox.sending(ID)
            outbox.sent(ID, "b0")
        if doubtful:
            outbox.sending(ID)
        outbox.close()
        async with restarted(home) as scene:
            assert scene.channel.texts == shows
            assert scene.front.inbox.waiting() == []
            assert scene.front.outbox.waiting() == []


async def test_a_live_message_of_before_is_edited_not_repeated(tmp_path: Path) -> None:
    async with house(tmp_path, Says("whole")) as home:
        await left(home, USER)
        outbox = Outbox.open(home.home.journals / "outbox.jsonl", now=START)
        outbox.showing(ID, ADDRESS, START)
        outbox.shown(ID, "b1")
        outbox.close()
        async with street(home, replay=False) as scene:
            await scene.channel.send(_live("who"))
            await scene.front.reception.replay()
            await scene.quiet()
            assert scene.channel.texts == ["whole"]
            assert scene.channel.sent == 1


async def test_what_is_too_old_is_told_so_and_not_answered(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        await left(home, begun=False)
        home.clock.now += timedelta(hours=1, seconds=1)
        async with restarted(home) as scene:
            assert len(scene.channel.texts) == 1
            assert "Send it again" in scene.channel.texts[0]
        assert home.model.requests == []


async def test_who_is_no_longer_admitted_is_not_answered(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        await left(home, begun=False)
        async with restarted(home, door=OpenDoor(ignored={"42"})) as scene:
            assert scene.channel.texts == []
            assert scene.front.inbox.waiting() == []


async def test_a_command_that_was_being_obeyed_is_not_obeyed_twice(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        inbox = Inbox.open(home.home.journals / "inbox.jsonl", now=START)
        accepted = inbox.accept(_command("/new"), START)
        assert accepted is not None
        inbox.begun([accepted.id], "command")
        inbox.close()
        async with restarted(home) as scene:
            assert len(scene.channel.texts) == 1
            assert "See whether it was done" in scene.channel.texts[0]


async def test_messages_are_taken_up_once_and_in_order(tmp_path: Path) -> None:
    async with house(tmp_path, Says("all three")) as home:
        inbox = Inbox.open(home.home.journals / "inbox.jsonl", now=START)
        for number in (1, 2, 3):
            inbox.accept(_numbered(number), START + timedelta(seconds=number))
        inbox.close()
        async with restarted(home) as scene:
            assert scene.channel.texts == ["all three"]
        text = home.model.requests[0].messages[-1].parts[0]
        assert isinstance(text, Text)
        assert text.text == "message 1\nmessage 2\nmessage 3"


def _live(text: str) -> OutboundMessage:
    return OutboundMessage(key=f"{ID}~", part=0, address=ADDRESS, text=text)


def _command(text: str) -> InboundMessage:
    return InboundMessage(id="9", address=ADDRESS, sender=ANA, text=text, at=START)


def _numbered(number: int) -> InboundMessage:
    return InboundMessage(id=str(number), address=ADDRESS, sender=ANA, text=f"message {number}", at=START)
