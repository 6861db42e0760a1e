"""Prompts of quiet sessions are kept warm: when, how often, and what ends it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agents.model.prices import Price
from agents.model.provider import CacheTtl, Overloaded
from agents.model.spelling import Spelling
from agents.turn import Turn
from gateway.budget import Budget
from gateway.commands.showing import warm_text
from sessions.key import SessionKey
from sessions.messages import Cost, Usage
from sessions.settings import KeepWarmSettings, SessionsSettings
from sessions.warmth import Warmed, warmings
from tests.agents.test_warming import CLAUDE, WIRE
from tests.fakes.house import House, house
from tests.fakes.protocols import Fails, FakeClock, Hangs, Says, Step

MAIN = SessionKey(agent="main", kind="main")
COST = Cost(input=0, output=0, cache_read=0.002, cache_write=0, total=0.002)
USAGE = Usage(input=1, output=1, cache_read=10_000, cost=COST)


@dataclass(slots=True)
class Alarm:
    """Sleep that ends when it is rung; the clock has moved by then. `late` moves it further."""

    asked: list[float] = field(default_factory=list)
    clock: FakeClock = field(default_factory=FakeClock)
    late: timedelta = timedelta(0)
    _rung: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._rung.acquire()
        self.clock.now += timedelta(seconds=seconds) + self.late

    def ring(self) -> None:
        self._rung.release()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 (a test)
            await asyncio.sleep(0.005)


@asynccontextmanager
async def quiet(
    folder: Path,
    *script: Step,
    price: Price | None = CLAUDE,
    ttl: CacheTtl = "5m",
    spelling: Spelling | None = WIRE,
    budget: Budget | None = None,
    saves: bool = False,
    **keep_warm: object,
) -> AsyncIterator[tuple[House, Alarm]]:
    """A house whose sessions are kept warm, after "hello" was answered; `saves`: a silent turn follows."""
    settings = SessionsSettings.model_validate(
        {
            "keep_warm": {"enabled": True, "times": 3, **keep_warm},
            "start_notes": {"enabled": False},
            "compaction": {"flush": {"enabled": saves, "transcript_bytes": 1}},
            "note": {"slug": "time"},
        }
    )
    alarm = Alarm()
    steps: tuple[Step, ...] = (Says("Hello."), *script)
    async with house(
        folder,
        *steps,
        sessions=settings,
        spelling=spelling,
        price=price,
        sleep=alarm,
        cache_ttl=ttl,
        budget=budget,
    ) as scene:
        alarm.clock, scene.model.usage = scene.clock, USAGE
        await scene.gateway.chat(agent=None, session=None, text="hello")
        yield scene, alarm


async def kept(scene: House) -> list[Warmed]:
    return warmings(await scene.gateway.entries(MAIN))


@pytest.mark.parametrize(("ttl", "due"), [("5m", 255), ("1h", 3_555)])
async def test_the_cache_is_renewed_shortly_before_it_ends(tmp_path: Path, ttl: CacheTtl, due: float) -> None:
    async with quiet(tmp_path, Says("x"), Says("x"), ttl=ttl) as (scene, alarm):
        await until(lambda: alarm.asked == [due])
        assert len(scene.model.requests) == 1
        alarm.ring()
        await until(lambda: alarm.asked == [due, due])

        first, again = scene.model.requests
        assert again.max_tokens == 1
        assert again.messages == first.messages
        assert (await kept(scene))[0].cost == 0.002


async def test_so_long_before_as_the_settings_say(tmp_path: Path) -> None:
    async with quiet(tmp_path, before_seconds=60) as (_, alarm):
        await until(lambda: alarm.asked == [240])


async def test_it_is_renewed_so_often_and_no_more(tmp_path: Path) -> None:
    async with quiet(tmp_path, Says("x"), Says("x"), times=2) as (scene, alarm):
        for number in (1, 2):
            await until(lambda number=number: len(alarm.asked) == number)  # type: ignore[misc]  # a default argument in a lambda
            alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(await kept(scene)) == 2
        assert len(scene.model.requests) == 3


async def test_a_message_begins_the_count_anew(tmp_path: Path) -> None:
    async with quiet(tmp_path, Says("x"), Says("Yes."), Says("x"), times=1) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)
        await scene.gateway.chat(agent=None, session=None, text="and now?")
        await until(lambda: len(alarm.asked) == 2)
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(await kept(scene)) == 2


async def test_a_message_before_it_is_due_takes_its_place(tmp_path: Path) -> None:
    async with quiet(tmp_path, Says("Yes."), times=1) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        await scene.gateway.chat(agent=None, session=None, text="and now?")
        await until(lambda: len(alarm.asked) == 2)

        assert scene.gateway.warmer.waiting == 1
        assert [request.max_tokens > 1 for request in scene.model.requests] == [True, True]


async def test_a_message_interrupts_it(tmp_path: Path) -> None:
    async with quiet(tmp_path, Hangs(), Says("Yes.")) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        alarm.ring()
        await asyncio.wait_for(scene.model.hanging.wait(), 20)

        reply = await scene.gateway.chat(agent=None, session=None, text="and now?")

        assert reply.reply == "Yes."
        assert await kept(scene) == []
        await until(lambda: len(alarm.asked) == 2)


async def test_it_begins_when_what_follows_an_answer_is_done(tmp_path: Path) -> None:
    async with quiet(tmp_path, Says("NO_REPLY"), Says("x"), saves=True, times=1) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        assert len(scene.model.requests) == 2
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        _, silent, again = scene.model.requests
        assert again.messages == silent.messages


async def test_an_error_ends_it_and_is_told(tmp_path: Path) -> None:
    async with quiet(tmp_path, Fails(Overloaded("Busy. Try again."))) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(scene.model.requests) == 2
        assert "not kept warm now: Busy." in (await scene.gateway.obey(MAIN, "/status"))


@pytest.mark.parametrize(
    ("price", "why"),
    [(None, "nobody knows what"), (Price(input=1, output=1, cache_read=1, cache_write=1), "cost more than")],
    ids=["unknown", "not worth it"],
)
async def test_what_saves_nothing_is_not_asked_and_told(
    tmp_path: Path, price: Price | None, why: str
) -> None:
    async with quiet(tmp_path, price=price) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(scene.model.requests) == 1
        assert why in (await scene.gateway.obey(MAIN, "/status"))


async def test_a_spent_budget_ends_it(tmp_path: Path) -> None:
    budget = Budget(limit=0.002, warn=1.0, zone=ZoneInfo("UTC"))
    async with quiet(tmp_path, Says("x"), budget=budget) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(scene.model.requests) == 1
        assert "budget" in scene.gateway.warmer.why(MAIN)


async def test_a_machine_that_slept_too_long_asks_nothing(tmp_path: Path) -> None:
    async with quiet(tmp_path) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        alarm.late = timedelta(minutes=10)
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(scene.model.requests) == 1


async def test_a_reset_ends_it(tmp_path: Path) -> None:
    async with quiet(tmp_path) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        await scene.gateway.obey(MAIN, "/new")

        assert scene.gateway.warmer.waiting == 0
        assert len(scene.model.requests) == 1


async def test_nothing_begins_while_clawd_shuts_down(tmp_path: Path) -> None:
    async with quiet(tmp_path) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        scene.gateway.draining = True
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(scene.model.requests) == 1


async def test_closing_ends_all_timers(tmp_path: Path) -> None:
    async with quiet(tmp_path) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        scene.gateway.warmer.close()

        assert scene.gateway.warmer.waiting == 0


async def test_off_there_is_no_timer_and_no_request(tmp_path: Path) -> None:
    assert not KeepWarmSettings().enabled
    async with quiet(tmp_path, enabled=False) as (scene, alarm):
        assert scene.gateway.warmer.waiting == 0
        for _ in range(20):
            await asyncio.sleep(0)

        assert alarm.asked == []
        assert len(scene.model.requests) == 1
        assert "Cache" not in (await scene.gateway.obey(MAIN, "/status"))


async def test_sessions_that_others_read_are_not_kept_warm(tmp_path: Path) -> None:
    async with quiet(tmp_path) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        group = SessionKey.parse("agent:main:telegram:group:-100")
        scene.gateway.warmer.answered(
            Turn(
                key=group,
                session_id="s",
                sender="x",
                trust="group",
                at=scene.clock(),
                time_zone="UTC",
            )
        )

        assert scene.gateway.warmer.waiting == 1  # the main session's


async def test_a_model_without_such_a_cache_is_never_asked(tmp_path: Path) -> None:
    async with quiet(tmp_path, spelling=None) as (scene, alarm):
        await until(lambda: len(alarm.asked) == 1)
        alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        assert len(scene.model.requests) == 1


async def test_the_price_is_shown(tmp_path: Path) -> None:
    async with quiet(tmp_path, Says("x"), Says("x"), times=2) as (scene, alarm):
        for number in (1, 2):
            await until(lambda number=number: len(alarm.asked) == number)  # type: ignore[misc]  # as above
            alarm.ring()
        await until(lambda: scene.gateway.warmer.waiting == 0)

        status = await scene.gateway.obey(MAIN, "/status")
        usage = await scene.gateway.obey(MAIN, "/usage")

    assert "kept warm 2 times today, $0.0040; a cold start would have cost $0.0250" in status
    assert "keep_warm: 2 answers, 20,002 tokens (100% cached) → 2, $0.0040" in usage


def test_one_line_says_what_keeping_warm_cost() -> None:
    one = Warmed(at=datetime(2026, 5, 1, tzinfo=UTC), cost=0.012, cold=0.12)

    assert warm_text([], "") == ""
    assert warm_text([one], "") == "kept warm once today, $0.0120; a cold start would have cost $0.12"
    assert warm_text([], "it is too dear") == "not kept warm now: it is too dear"


@pytest.mark.parametrize("wrong", [{"times": 0}, {"times": 21}, {"before_seconds": 4}, {"every": "5m"}])
def test_settings_have_bounds(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        KeepWarmSettings.model_validate(wrong)
