"""What is told of each account, and trying one out."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from channels.channel import Channel, ChannelFailed, Deliver, Health, SendError
from channels.message import Inbound
from channels.settings import ChannelsSettings
from gateway.channel_view import TEST_TEXT, ChannelDesk
from gateway.outbox import Outbox
from gateway.postman import Pace, Postman
from gateway.supervisor import Supervisor
from gateway.views import Refused
from sessions.messages import JsonObject
from tests.fakes.channel import FakeChannel
from tests.fakes.protocols import FakeClock

SETTINGS = ChannelsSettings.model_validate(
    {"telegram": {"accounts": {"default": {}, "off": {"enabled": False}, "broken": {}, "new": {}}}}
)
SECRET = "123456789:AAEtelegram-token-that-nobody-sees"


@dataclass(slots=True)
class Known(FakeChannel):
    """Says of itself what it is told to."""

    told: Health = field(default_factory=lambda: Health(connected=False))

    @property
    def health(self) -> Health:
        return self.told


class Broken(FakeChannel):
    async def run(self, deliver: Deliver) -> None:
        raise ChannelFailed(f"no such bot: {SECRET}")


@asynccontextmanager
async def desk(folder: Path, channel: FakeChannel) -> AsyncIterator[ChannelDesk]:
    clock, numbers = FakeClock(), count(1)
    outbox = Outbox.open(folder / "outbox.jsonl", now=clock())

    async def receive(_: Channel, __: Inbound) -> None:
        """Nobody speaks here."""

    with ThreadPoolExecutor(1) as executor:
        pace = Pace(max_age=timedelta(hours=1), jitter=lambda: 1.0)
        postman = Postman(outbox=outbox, executor=executor, clock=clock, pace=pace)
        street = Supervisor(receive=receive, postman=postman, clock=clock, jitter=lambda: 1.0)
        street.add(("telegram", "default"), lambda: channel)
        street.add(("telegram", "broken"), lambda: Broken(account="broken"))
        task = asyncio.create_task(street.run())
        made = ChannelDesk(
            street=street,
            postman=postman,
            outbox=outbox,
            settings=lambda: SETTINGS,
            clock=clock,
            new_id=lambda: str(next(numbers)),
        )
        async with asyncio.timeout(30):
            while made.one("telegram", "broken")["state"] != "failed":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield made
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await postman.drain(0)
    outbox.close()


def rows(made: ChannelDesk) -> dict[str, JsonObject]:
    return {str(row["account"]): row for row in made.listed()}


async def test_each_account_is_told_from_evidence(tmp_path: Path) -> None:
    channel = Known()
    async with desk(tmp_path, channel) as made:
        channel.told = Health(
            connected=True,
            alive_at=made.clock() - timedelta(seconds=4),
            name="@bot",
            problems=("privacy mode is on",),
        )
        told = rows(made)

    assert list(told) == ["broken", "default", "new", "off"]
    well = told["default"]
    assert (well["state"], well["connected"], well["name"], well["age_seconds"]) == (
        "running",
        True,
        "@bot",
        4,
    )
    assert (well["alive_at"], well["problems"]) == ("2026-05-01T07:59:56.000Z", ["privacy mode is on"])
    assert (told["off"]["state"], told["off"]["error"]) == ("disabled", None)
    assert (told["new"]["state"], told["new"]["connected"]) == ("absent", False)
    assert told["broken"]["state"] == "failed"
    assert "no such bot" in str(told["broken"]["error"])
    assert SECRET not in str(told)


async def test_one_is_started_again_and_the_unknown_refused(tmp_path: Path) -> None:
    async with desk(tmp_path, Known()) as made:
        assert (await made.restart("telegram", "default"))["account"] == "default"
        for account, code in (("nobody", "unknown_account"), ("off", "not_running")):
            with pytest.raises(Refused) as told:
                await made.restart("telegram", account)
            assert told.value.code == code


async def test_a_test_message_is_sent_or_the_reason_told(tmp_path: Path) -> None:
    channel = Known()
    async with desk(tmp_path, channel) as made:
        sent = await made.try_out("telegram", "default", "42")
        channel.fails.append(SendError("the person has blocked the bot", gone=True))
        dead = await made.try_out("telegram", "default", "-43")
        with pytest.raises(Refused):
            await made.try_out("telegram", "new", "42")

    assert channel.texts == [TEST_TEXT]
    assert sent == {"key": "test:1", "state": "sent", "why": None}
    assert dead == {"key": "test:2", "state": "dead", "why": "the person has blocked the bot"}
