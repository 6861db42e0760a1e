"""Everything between a channel and a turn, put together."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta

from agents.clock import Clock
from gateway.admission import Door
from gateway.answering import Answering, Fetch
from gateway.asking_owner import AskedInChat
from gateway.closing import Closing
from gateway.ends import Ends
from gateway.errands import Errands
from gateway.gateway import Gateway
from gateway.heard_turns import HeardTurns
from gateway.inbox import Inbox
from gateway.media.sending import Outgoing
from gateway.outbox import Outbox
from gateway.owner_places import OwnerPlaces
from gateway.postman import Pace, Postman
from gateway.preferences import Preferences
from gateway.reception import Reception
from gateway.showing import Showing
from gateway.undelivered import Undelivered
from gateway.waking import Waking
from gateway.work import Work
from gateway.writing import Writer
from sessions.entries import Entry
from sessions.key import SessionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Journals:
    """What was accepted, what is to be delivered, what nobody waits for, and where the owner is."""

    inbox: Inbox
    outbox: Outbox
    errands: Errands
    places: OwnerPlaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """`reception` takes what channels hear, `postman` sends what they show, `undelivered` tells the owner
    what it gave up."""

    reception: Reception
    postman: Postman
    work: Work
    journals: Journals
    turns: HeardTurns
    waking: Waking
    undelivered: Undelivered

    async def take_up(self) -> None:
        """What an earlier process left is in its lanes when this returns; to be called before any channel
        runs."""
        await self.reception.replay()
        await self.waking.take_up()

    @property
    def inbox(self) -> Inbox:
        return self.journals.inbox

    @property
    def outbox(self) -> Outbox:
        return self.journals.outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`replay_age`: how old a message of before a restart may be; `stuck_seconds`: how long a turn may give
    no sign of life."""

    replay_age: timedelta
    stuck_seconds: float


def front(
    gateway: Gateway,
    *,
    door: Door,
    journals: Journals,
    pace: Pace,
    writer: Writer,
    fetch: Fetch,
    outgoing: Outgoing,
    executor: Executor,
    limits: Limits,
    preferences: Preferences,
) -> Front:
    """`executor` has one thread, which alone writes the journals."""
    inbox, outbox, clock, turns = journals.inbox, journals.outbox, gateway.clock, HeardTurns(gateway.turns)
    postman = Postman(outbox=outbox, executor=executor, clock=clock, pace=pace)
    ends = Ends(inbox=inbox, outbox=outbox, postman=postman, writer=writer, clock=clock, executor=executor)
    places = journals.places
    answering = _answering(
        gateway,
        ends,
        postman,
        door,
        writer,
        turns=turns,
        fetch=fetch,
        out=outgoing,
        chosen=preferences,
        places=places,
        stuck=limits.stuck_seconds,
    )
    work = _work(gateway, ends, answering, preferences, clock)
    reception = _reception(
        gateway, ends, postman, door, work=work, writer=writer, inbox=inbox, executor=executor, limits=limits
    )
    return Front(
        reception=reception,
        postman=postman,
        work=work,
        journals=journals,
        turns=turns,
        waking=_waking(gateway, journals, turns, postman, writer=writer, limits=limits),
        undelivered=_undelivered(door, places, postman, writer, clock),
    )


def _reception(
    gateway: Gateway,
    ends: Ends,
    postman: Postman,
    door: Door,
    *,
    work: Work,
    writer: Writer,
    inbox: Inbox,
    executor: Executor,
    limits: Limits,
) -> Reception:
    return Reception(
        inbox=inbox,
        ends=ends,
        postman=postman,
        door=door,
        commands=gateway.commands,
        work=work,
        writer=writer,
        clock=gateway.clock,
        executor=executor,
        max_age=limits.replay_age,
        draining=lambda: gateway.draining,
    )


def _work(gateway: Gateway, ends: Ends, answering: Answering, preferences: Preferences, clock: Clock) -> Work:
    return Work(
        answering=answering,
        ends=ends,
        commands=gateway.commands,
        lanes=gateway.lanes,
        clock=clock,
        preferences=preferences,
        draining=lambda: gateway.draining,
    )


def _answering(
    gateway: Gateway,
    ends: Ends,
    postman: Postman,
    door: Door,
    writer: Writer,
    *,
    turns: HeardTurns,
    fetch: Fetch,
    out: Outgoing,
    chosen: Preferences,
    places: OwnerPlaces,
    stuck: float,
) -> Answering:
    async def entries(key: SessionKey, session_id: str) -> Sequence[Entry]:
        record = gateway.record(key)
        return await gateway.entries(key) if record and record.session_id == session_id else ()

    return Answering(
        turns=turns,
        ends=ends,
        door=door,
        postman=postman,
        showing=Showing(ends=ends, writer=writer, verbose=lambda key: chosen.of(key).verbose),
        closing=Closing(
            ends=ends,
            outgoing=out,
            entries=entries,
            draining=lambda: gateway.draining,
            stuck_seconds=stuck,
        ),
        fetch=fetch,
        outgoing=out,
        approving=AskedInChat(
            approvals=gateway.approvals, postman=postman, writer=writer, clock=gateway.clock
        ),
        entries=entries,
        stop=gateway.stop,
        places=places,
        stuck_seconds=stuck,
    )


def _waking(
    gateway: Gateway,
    journals: Journals,
    turns: HeardTurns,
    postman: Postman,
    *,
    writer: Writer,
    limits: Limits,
) -> Waking:
    return Waking(
        agent=lambda: gateway.default_agent,
        turns=turns,
        lanes=gateway.lanes,
        postman=postman,
        writer=writer,
        errands=journals.errands,
        entries=gateway.entries,
        where=journals.places.last,
        new_id=gateway.new_id,
        draining=lambda: gateway.draining,
        max_age=limits.replay_age,
    )


def _undelivered(
    door: Door, places: OwnerPlaces, postman: Postman, writer: Writer, clock: Clock
) -> Undelivered:
    told = Undelivered(
        places=lambda: (*places.private(), *door.owner_chats()),
        channel=postman.channel,
        post=postman.post,
        writer=writer,
        clock=clock,
    )
    postman.listen(told.gave_up)
    return told
