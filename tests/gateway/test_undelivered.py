"""The owner is told of what was given up: once an hour, elsewhere, and never of the telling itself."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.channel import Channel, SendError
from channels.message import Address, Sender
from gateway.deliveries import Delivery, Part
from gateway.owner_places import OwnerPlaces
from gateway.undelivered import Undelivered
from gateway.writing import Writer
from sessions.journal import Journal
from sessions.key import SessionKey
from tests.fakes.channel import FakeChannel
from tests.fakes.front import ADDRESS, ANA, OpenDoor, street
from tests.fakes.house import house
from tests.fakes.protocols import FakeClock, Says

MAIN = SessionKey(agent="main", kind="main")
HERE = Address(channel="telegram", account="default", chat="-100", kind="group")
OWN = replace(HERE, chat="42", kind="direct")
ELSEWHERE = Address(channel="discord", account="default", chat="9", kind="direct")


def dead(key: str, address: Address = HERE) -> Delivery:
    return Delivery(key=key, address=address, at=FakeClock().now, parts=(Part(text="the answer"),))


@dataclass(slots=True)
class Desk:
    """What is posted, and whether the outbox has known it before."""

    places: Sequence[Address] = (OWN, ELSEWHERE)
    there: Sequence[Address] = (OWN, ELSEWHERE)
    clock: FakeClock = field(default_factory=FakeClock)
    posted: list[Delivery] = field(default_factory=list)
    fresh: bool = True

    def told(self) -> Undelivered:
        return Undelivered(
            places=lambda: self.places,
            channel=self._channel,
            post=self._post,
            writer=Writer(["a-secret-word"]),
            clock=self.clock,
        )

    def _channel(self, address: Address) -> Channel | None:
        return FakeChannel() if address in self.there else None

    async def _post(self, delivery: Delivery) -> bool:
        if self.fresh:
            self.posted.append(delivery)
        return self.fresh

    @property
    def texts(self) -> list[str]:
        return [delivery.parts[0].plain for delivery in self.posted]


async def test_one_short_message_elsewhere_says_what_to_do() -> None:
    desk = Desk()
    await desk.told().gave_up(dead("a"), "the bot was blocked, a-secret-word")
    (notice,) = desk.posted
    assert notice.address == ELSEWHERE
    assert "could not be delivered on telegram. It: the bot was blocked, [redacted]" in desk.texts[0]
    assert "clawd outbox" in desk.texts[0]
    assert "the answer" not in desk.texts[0]


async def test_at_most_one_an_hour_for_an_account_with_a_count() -> None:
    desk = Desk()
    told = desk.told()
    for key in "abc":
        await told.gave_up(dead(key), f"away {key}")
    other = replace(HERE, account="second")
    await told.gave_up(dead("d", other), "away")
    assert len(desk.posted) == 2
    assert "telegram (second)" in desk.texts[1]
    desk.clock.now += timedelta(minutes=59)
    await told.tell()
    assert len(desk.posted) == 2
    desk.clock.now += timedelta(minutes=1)
    await told.tell()
    await told.tell()
    assert len(desk.posted) == 3
    assert "2 messages of mine" in desk.texts[2]
    assert "The last one: away c" in desk.texts[2]
    assert len({one.key for one in desk.posted}) == 3


async def test_after_a_restart_in_the_same_hour_it_waits_and_counts() -> None:
    desk = Desk(fresh=False)
    told = desk.told()
    await told.gave_up(dead("a"), "away")
    desk.fresh = True
    desk.clock.now += timedelta(hours=1)
    await told.gave_up(dead("b"), "away")
    assert "2 messages of mine" in desk.texts[0]


@pytest.mark.parametrize(
    ("places", "there", "expected"),
    [
        ((OWN,), (OWN,), OWN),  # another chat of the same account, when there is no other
        ((OWN, ELSEWHERE), (OWN,), OWN),  # the other is not there now
        ((HERE,), (HERE,), None),  # never the chat that was given up
        ((), (), None),
    ],
)
async def test_where_the_owner_can_still_be_reached(
    places: Sequence[Address], there: Sequence[Address], expected: Address | None
) -> None:
    desk = Desk(places=places, there=there)
    await desk.told().gave_up(dead("a"), "gone")
    assert [one.address for one in desk.posted] == ([expected] if expected else [])


async def test_a_dead_letter_of_the_notice_is_only_logged() -> None:
    desk = Desk()
    told = desk.told()
    await told.gave_up(dead("a"), "gone")
    desk.clock.now += timedelta(hours=2)
    await told.gave_up(desk.posted[0], "gone as well")
    await told.tell()
    assert len(desk.posted) == 1


def anybody(_: Address, __: Sender) -> bool:
    """All owners are owners still."""
    return True


async def test_the_chats_of_the_owner_are_known_latest_first_and_not_without_end() -> None:
    places = OwnerPlaces(trusted=anybody, most=2)
    for number in range(3):
        key = replace(MAIN, thread=str(number))
        await places.note(key, replace(OWN, thread=str(number)), ANA)
    await places.note(replace(MAIN, thread="1"), replace(OWN, thread="1"), ANA)
    await places.note(replace(MAIN, thread="2"), HERE, ANA)
    assert places.last(replace(MAIN, thread="0")) is None
    assert places.last(replace(MAIN, thread="2")) == HERE
    assert [one.thread for one in places.private()] == ["1"]


async def test_the_chats_of_the_owner_are_known_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "places.jsonl"
    with ThreadPoolExecutor(1) as executor:
        places = OwnerPlaces.open(path, trusted=anybody, executor=executor)
        for _ in range(3):
            await places.note(MAIN, OWN, ANA)
            await places.note(replace(MAIN, thread="2"), HERE, ANA)
            await places.note(replace(MAIN, thread="2"), HERE, ANA)
        places.close()
        assert path.read_text().count("\n") == 6
        path.write_text('{"key": "nonsense"}\n{"key": "agent:main:main", "address": 7}\n' + path.read_text())
        again = OwnerPlaces.open(path, trusted=anybody, executor=executor)
        assert (again.last(MAIN), again.last(replace(MAIN, thread="2"))) == (OWN, HERE)
        assert again.private() == places.private()
        again.close()


async def test_who_is_no_owner_any_more_is_told_nothing() -> None:
    owners = {ANA.id, "7"}
    places = OwnerPlaces(trusted=lambda _, sender: sender.id in owners)
    await places.note(MAIN, OWN, ANA)
    await places.note(replace(MAIN, thread="2"), OWN, replace(ANA, id="7"))
    owners.remove(ANA.id)
    assert places.last(MAIN) is None
    assert places.last(replace(MAIN, thread="2")) == OWN
    assert places.private() == [OWN]


async def test_a_journal_of_places_is_made_short_again(tmp_path: Path) -> None:
    path = tmp_path / "places.jsonl"
    with ThreadPoolExecutor(1) as executor:
        for _ in range(2):
            places = OwnerPlaces(Journal.open(path), trusted=anybody, executor=executor, most=2)
            for number in range(6):
                await places.note(replace(MAIN, thread=str(number)), replace(OWN, thread=str(number)), ANA)
            places.close()
        assert path.read_text().count("\n") == 8


async def test_a_journal_of_places_stays_short_while_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.owner_places.MOST_LINES", 10)
    path, other = tmp_path / "places.jsonl", replace(MAIN, thread="2")
    with ThreadPoolExecutor(1) as executor:
        places = OwnerPlaces.open(path, trusted=anybody, executor=executor)
        for _ in range(40):
            await places.note(MAIN, OWN, ANA)
            await places.note(other, HERE, ANA)
        places.close()
        assert path.read_text().count("\n") <= 11
        again = OwnerPlaces.open(path, trusted=anybody, executor=executor)
        assert (again.last(MAIN), again.last(other)) == (OWN, HERE)
        again.close()


async def test_a_group_that_is_gone_is_told_where_the_owner_writes(tmp_path: Path) -> None:
    channel = FakeChannel()
    async with (
        house(tmp_path, Says("hello"), Says("to the group")) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.say("hi")
        await scene.quiet()

        async def gone(message: object) -> None:
            if getattr(message, "address") == HERE:  # noqa: B009
                raise SendError("there is no such chat", gone=True)

        channel.before_send = gone
        await scene.say("to all", address=HERE)
        await scene.quiet()
        assert channel.texts[0] == "hello"
        assert "could not be delivered on telegram" in channel.texts[1]
        assert channel.bubbles[1].message.address == ADDRESS
        assert len(scene.front.outbox.dead_letters()) == 1


async def test_the_owner_s_own_chat_is_found_without_a_word_of_theirs(tmp_path: Path) -> None:
    channel, door = FakeChannel(), OpenDoor(owners=[OWN])
    async with house(tmp_path) as home, street(home, channel=channel, door=door) as scene:
        channel.fails.append(SendError("there is no such chat", gone=True))
        await scene.front.postman.post(replace(dead("a"), at=home.clock()))
        await scene.quiet()
        assert [one.message.address for one in channel.bubbles] == [OWN]
