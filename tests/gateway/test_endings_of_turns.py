"""Turns that end otherwise than they should, or at the wrong moment: still one visible end each."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.channel import SendError
from channels.message import Attachment, Edited, InboundMessage, OutboundMessage, Sender
from gateway.deliveries import Delivery, Part
from gateway.inbox import Inbox, event_id
from gateway.media import Taken
from gateway.outbox import Outbox
from gateway.postman import REPEATED
from sessions.key import SessionKey
from sessions.messages import Assistant, Text, User
from tests.fakes.channel import FakeChannel
from tests.fakes.front import ADDRESS, ANA, steering, street
from tests.fakes.house import House, house
from tests.fakes.protocols import START, Calls, FakeTool, Hangs, Says, call

MAIN = SessionKey(agent="main", kind="main")
BOB = Sender(id="7", name="Bob")
GROUP = replace(ADDRESS, chat="-100", kind="group")


def numbered(number: int) -> InboundMessage:
    return InboundMessage(id=str(number), address=ADDRESS, sender=ANA, text=f"m{number}", at=START)


def asked(home: House, number: int = -1) -> list[str]:
    """What people had said, as the model saw it."""
    said = [one for one in home.model.requests[number].messages if isinstance(one, User)]
    return ["".join(part.text for part in one.parts if isinstance(part, Text)) for one in said]


async def test_a_stop_while_the_answer_is_being_sealed_changes_nothing(tmp_path: Path) -> None:
    channel, gate, shown = FakeChannel(), asyncio.Event(), asyncio.Event()

    async def slow(message: OutboundMessage) -> None:
        if message.key.endswith("~"):
            shown.set()
            await gate.wait()

    channel.before_send = slow
    async with house(tmp_path, Says("a whole answer")) as home, street(home, channel=channel) as scene:
        await scene.say("hi")
        await shown.wait()
        await asyncio.sleep(0.5)  # the answer is there; only the live view is not
        await scene.say("/stop")
        gate.set()
        await scene.quiet()
        assert "a whole answer" in [text.partition("\n")[0] for text in channel.texts]
        assert scene.front.inbox.waiting() == []


async def test_a_collected_turn_that_was_posted_is_not_answered_again(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        inbox = Inbox.open(home.home.journals / "inbox.jsonl", now=START)
        ids = []
        for number in (1, 2):
            accepted = inbox.accept(numbered(number), START)
            assert accepted is not None
            ids.append(accepted.id)
        inbox.begun(ids, "session-1")
        inbox.close()
        record = await home.gateway.lifecycle.start(MAIN)
        answer = Assistant(
            at=START, parts=(Text(text="both"),), stop="stop", provider="s", api="s", model="script"
        )
        runtime = home.roster.of(None).runtime
        async with runtime.conversations.use(record.session_id, cwd=home.workspace) as conversation:
            await conversation.record(User(at=START, parts=(Text(text="m1\nm2"),), ids=tuple(ids)))
            await conversation.record(answer)
        outbox = Outbox.open(home.home.journals / "outbox.jsonl", now=START)
        outbox.add(Delivery(key=ids[0], address=ADDRESS, at=START, parts=(Part(text="both"),)))
        outbox.close()
        async with street(home) as scene:
            await scene.quiet()
            assert scene.channel.texts == ["both"]
            assert scene.front.inbox.waiting() == []


async def test_a_message_that_joined_is_known_to_have_begun(tmp_path: Path) -> None:
    tool = FakeTool(delay=0.2)
    script, door = (Calls((call("look"),)), Hangs()), steering(mode="steer")
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home, door=door) as scene:
        await scene.say("one", id="1")
        await tool.running.wait()
        await scene.say("two", id="2")
        await home.model.hanging.wait()
        waiting = {one.id: one.session_id for one in scene.front.inbox.waiting()}
        assert waiting[event_id(numbered(2))] == "session-1"


async def test_what_interrupts_before_anything_was_read_is_answered_with_it(tmp_path: Path) -> None:
    fetching = asyncio.Event()

    async def fetch(*_: object) -> Taken:
        if not fetching.is_set():
            fetching.set()
            await asyncio.Event().wait()
        return Taken(text="[the file]")

    door = steering(mode="interrupt")
    async with house(tmp_path, Says("both")) as home, street(home, door=door, fetch=fetch) as scene:
        await scene.say("look at this", attachments=(Attachment(kind="document", ref="x"),))
        await fetching.wait()
        await scene.say("or rather not")
        await scene.quiet()
        assert asked(home)[-1] == "look at this\nor rather not\n[the file]"
        assert scene.channel.texts == ["both"]


async def test_stopping_the_whole_lane_leaves_nothing_behind(tmp_path: Path) -> None:
    tool = FakeTool(delay=0.3)
    script = (Calls((call("look"),)), Says("second"))
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home) as scene:
        await scene.say("one")
        await tool.running.wait()
        await scene.say("two")
        assert home.gateway.stop(MAIN)
        await scene.quiet()
        assert scene.channel.texts[-1] == "second"
        assert scene.front.inbox.waiting() == []


async def test_a_fault_of_ours_is_told_and_not_kept_for_ever(tmp_path: Path) -> None:
    async def broken(*_: object) -> object:
        raise ValueError("a fault")

    async with house(tmp_path) as home, street(home, fetch=broken) as scene:  # type: ignore[arg-type]
        await scene.say("see", attachments=(Attachment(kind="document", ref="x"),))
        await scene.quiet()
        assert len(scene.channel.texts) == 1
        assert "Something went wrong inside clawd" in scene.channel.texts[0]
        assert scene.front.inbox.waiting() == []


async def test_an_account_that_is_away_leaves_its_messages_open(tmp_path: Path) -> None:
    async with house(tmp_path, Says("now")) as home:
        async with street(home) as scene:
            scene.front.postman.detach(scene.channel)
            await scene.say("hi")
            await scene.quiet()
            assert len(scene.front.inbox.waiting()) == 1
        async with street(home) as scene:
            await scene.quiet()
            assert scene.channel.texts == ["now"]


async def test_nobody_edits_what_another_wrote(tmp_path: Path) -> None:
    tool = FakeTool(delay=0.3)
    script = (Calls((call("look"),)), Says("first"), Says("second"))
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home) as scene:
        await scene.say("start", address=GROUP)
        await tool.running.wait()
        await scene.say("buy milk", id="9", address=GROUP)
        forged = Edited(id="9", address=GROUP, sender=BOB, text="buy gold", at=START)
        await scene.front.reception.receive(scene.channel, forged)
        await scene.quiet()
        assert asked(home)[-1] == "buy milk"


async def test_a_turn_has_one_sender(tmp_path: Path) -> None:
    tool = FakeTool(delay=0.3)
    script = (Calls((call("look"),)), Says("a"), Says("b"), Says("c"))
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home) as scene:
        await scene.say("start", address=GROUP)
        await tool.running.wait()
        await scene.say("I am Bob", sender=BOB, address=GROUP)
        await scene.say("I am Cy", sender=Sender(id="8", name="Cy"), address=GROUP)
        await scene.quiet()
        said = [one for one in home.model.requests[-1].messages if isinstance(one, User)]
        assert [one.envelope.rpartition("] ")[2] for one in said] == ["Ana:", "Bob:", "Cy:"]


@pytest.mark.parametrize("nonce", [False, True])
async def test_a_live_message_of_which_nobody_knows_is_not_sent_twice(tmp_path: Path, *, nonce: bool) -> None:
    channel = FakeChannel()
    channel.traits = replace(channel.traits, has_nonce=nonce)
    channel.fails.append(SendError("time-out", retryable=True, ambiguous=True))
    tool = FakeTool(delay=0.3)
    script = (Calls((call("look"),), text="Let me look."), Says("Found it."))
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home, channel=channel) as scene:
        await scene.say("where?")
        await scene.quiet()
        assert channel.texts == ["Found it." if nonce else f"{REPEATED}\nFound it."]


async def test_an_edit_of_a_waiting_message_outlives_a_kill(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs()) as home, street(home) as scene:
        await scene.say("start")
        await home.model.hanging.wait()
        await scene.say("helo", id="9")
        edited = Edited(id="9", address=ADDRESS, sender=ANA, text="hello", at=START)
        await scene.front.reception.receive(scene.channel, edited)
    async with house(tmp_path, Says("first"), Says("second"), first_session=2) as home, street(home) as scene:
        await scene.quiet()
        assert asked(home)[-1].endswith("hello")
