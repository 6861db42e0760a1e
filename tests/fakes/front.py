"""A house with a door to the street: a channel in memory, its journals on disk, everybody let in."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from agents.turn import Trust
from channels.account import LiveMode, TypingMode
from channels.channel import Channel
from channels.message import Address, ChatChanged, Edited, InboundMessage, Reaction, Sender
from gateway.admission import Admission
from gateway.answering import Fetch
from gateway.errands import Errands
from gateway.front import Front, Journals, Limits, front
from gateway.inbox import Inbox
from gateway.mailbox import QueueSettings
from gateway.media import Taken
from gateway.media.sending import Outgoing
from gateway.outbox import Outbox
from gateway.owner_places import OwnerPlaces
from gateway.postman import Pace
from gateway.preferences import Preferences
from gateway.writing import Writer
from sessions.key import SessionKey
from tests.fakes.channel import FakeChannel
from tests.fakes.house import House

ADDRESS = Address(channel="telegram", account="default", chat="42", kind="direct")
ANA = Sender(id="42", name="Ana")


@dataclass(slots=True)
class OpenDoor:
    """Admits all but `strangers` (who get a code once) and `ignored`; the person 42 is the owner."""

    queue: QueueSettings = QueueSettings()  # noqa: RUF009 (frozen)
    strangers: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    invited: set[str] = field(default_factory=set)
    owners: list[Address] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    live_view: LiveMode = "edit"
    typing: TypingMode = "instant"
    ack: str | None = None
    prompt: str | None = None

    def judge(self, message: InboundMessage, *, command: bool) -> Admission:
        sender = message.sender.id
        group = message.address.kind == "group"
        key = SessionKey(
            agent="main",
            kind=message.address.kind if group or sender != "42" else "main",
            channel=message.address.channel if group or sender != "42" else "",
            peer=message.address.chat if group else "" if sender == "42" else sender,
        )
        kind = "pairing" if sender in self.strangers else "ignored" if sender in self.ignored else "admitted"
        return Admission(
            kind=kind,  # type: ignore[arg-type]
            rule="test",
            key=key,
            trust="owner" if sender == "42" else "known",
            label=message.sender.name if group else "",
            ack=self.ack,
            live_view=self.live_view,
            typing=self.typing,
            queue=self.queue,
        )

    def knows(self, address: Address, sender: Sender) -> Trust | None:
        return None if sender.id in self.strangers | self.ignored else "owner"

    def hears(self, reaction: Reaction) -> bool:
        return True

    def corrected(self, event: Edited) -> None:
        """Nothing is kept here."""

    async def moved(self, event: ChatChanged) -> None:
        """Nothing is kept here."""

    def announcements(self, message: InboundMessage) -> list[tuple[Address, str]]:
        return [(ADDRESS, f"{message.sender.name} asks to be let in.")]

    def owner_chats(self) -> list[Address]:
        return self.owners

    def context(self, message: InboundMessage) -> str:
        told, self.notes = "\n".join(self.notes), []
        return told

    def system_prompt(self, address: Address, sender: Sender) -> str | None:
        return self.prompt

    def note(self, address: Address, text: str) -> None:
        self.notes.append(text)

    async def invite(self, message: InboundMessage) -> str | None:
        if message.sender.id in self.invited:
            return None
        self.invited.add(message.sender.id)
        return "Your code is ABCD2345."


async def no_files(channel: Channel, message: InboundMessage) -> Taken:
    return Taken(text=f"[{len(message.attachments)} files]")


@dataclass(slots=True)
class Street:
    """`say` is a person speaking: it returns when the message is accepted."""

    house: House
    front: Front
    channel: FakeChannel
    door: OpenDoor
    preferences: Preferences
    count: int = 0

    async def say(self, text: str, *, id: str | None = None, **more: object) -> None:  # noqa: A002
        self.count += 1
        chosen = {
            "id": id or str(self.count),
            "address": ADDRESS,
            "sender": ANA,
            "text": text,
            "at": self.house.clock(),
        } | more
        await self.front.reception.receive(self.channel, InboundMessage(**chosen))  # type: ignore[arg-type]

    async def quiet(self) -> None:
        """Until nothing is queued, running or being sent."""
        await self.front.reception.settled()
        while self.house.gateway.lanes.running:
            await self.house.gateway.lanes.drain(30)
            await self.front.reception.settled()
        await self.front.postman.settled()


@asynccontextmanager
async def street(
    house: House,
    *,
    channel: FakeChannel | None = None,
    door: OpenDoor | None = None,
    stuck_seconds: float = 60,
    fetch: Fetch = no_files,
    outgoing: Outgoing | None = None,
    replay: bool = True,
) -> AsyncIterator[Street]:
    channel, door = channel or FakeChannel(), door or OpenDoor()
    folder = house.home.journals
    inbox = Inbox.open(folder / "inbox.jsonl", now=house.clock())
    outbox = Outbox.open(folder / "outbox.jsonl", now=house.clock())
    preferences = Preferences.open(folder / "preferences.jsonl")
    with ThreadPoolExecutor(1) as executor:
        errands = Errands.open(folder / "errands.jsonl", clock=house.clock, executor=executor)
        places = OwnerPlaces.open(
            folder / "places.jsonl",
            trusted=lambda address, sender: door.knows(address, sender) == "owner",
            executor=executor,
        )
        made = front(
            house.gateway,
            door=door,
            journals=Journals(inbox=inbox, outbox=outbox, errands=errands, places=places),
            pace=Pace(max_age=timedelta(hours=1), jitter=lambda: 1.0),
            writer=Writer(["sesame-opens-the-door"]),
            fetch=fetch,
            outgoing=outgoing or Outgoing(),
            executor=executor,
            preferences=preferences,
            limits=Limits(replay_age=timedelta(hours=1), stuck_seconds=stuck_seconds),
        )
        made.postman.attach(channel)
        scene = Street(house=house, front=made, channel=channel, door=door, preferences=preferences)
        if replay:
            await made.take_up()
        yield scene
        house.gateway.draining = True
        await house.gateway.lanes.drain(0)
        await made.postman.drain(0)
        inbox.close()
        outbox.close()
        errands.close()
        places.close()
        preferences.close()


def steering(**changes: object) -> OpenDoor:
    """A door whose queues work as said."""
    return OpenDoor(queue=replace(QueueSettings(), **changes))  # type: ignore[arg-type]
