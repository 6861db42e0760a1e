"""The ledger: a line for each answer, written in the background, and never in a turn's way."""

import asyncio
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agents.model.provider import Overloaded
from agents.settings import ModelsSettings
from gateway.budget import Budget, BudgetSpent
from gateway.media.hearing import Charge
from gateway.usage import Ledger, since_of
from gateway.usage_report import usage_report
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import Assistant, Cost, StopReason, Text, Usage
from tests.fakes.house import house
from tests.fakes.protocols import START, Calls, Fails, FakeClock, Hangs, Says, call

KEY = SessionKey(agent="main", kind="main")
LISBON = ZoneInfo("Europe/Lisbon")


def priced(dollars: float) -> Usage:
    cost = Cost(input=dollars, output=0, cache_read=0, cache_write=0, total=dollars)
    return Usage(input=10, output=5, cost=cost)


def answer(at: datetime = START, *, dollars: float = 0.5, stop: StopReason = "stop") -> Assistant:
    return Assistant(
        at=at,
        parts=(Text(text="x"),),
        stop=stop,
        provider="anthropic",
        api="a",
        model="m",
        usage=priced(dollars),
    )


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


def opened(folder: Path, executor: ThreadPoolExecutor, clock: FakeClock, limit: float | None = 10) -> Ledger:
    settings = ModelsSettings(daily_budget_usd=limit)
    return Ledger.open(folder, settings, executor=executor, clock=clock, zone=LISBON)


def settle(executor: ThreadPoolExecutor) -> None:
    executor.submit(int).result()


def test_months_have_files_of_their_own_and_are_read_together(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    ledger = opened(tmp_path, executor, FakeClock(), None)
    for days in (0, 40):
        ledger.note(answer(START + timedelta(days=days)), "turn", KEY, "s-1")
    settle(executor)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["usage-2026-05.jsonl", "usage-2026-06.jsonl"]
    assert [line.at for line in ledger.lines()] == [START, START + timedelta(days=40)]
    assert len(ledger.lines(since_of(date(2026, 6, 3), LISBON))) == 1
    assert (tmp_path / "usage-2026-05.jsonl").stat().st_mode & 0o777 == 0o600
    ledger.close()


def test_a_transcription_is_a_line_and_one_of_unknown_price_says_so(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    ledger = opened(tmp_path, executor, FakeClock(), 10)
    for cost in (0.009, None):
        ledger.heard(Charge(model="openai/whisper-1", usage=Usage(), cost=cost))
    settle(executor)

    report = usage_report(ledger.lines(), by="origin", since=None, zone=LISBON)
    (row,) = report.rows
    assert (row.name, row.answers, row.cost, row.unpriced) == ("transcription", 2, 0.009, 1)
    assert ledger.budget is not None
    assert (ledger.budget.spent, ledger.budget.unpriced) == (0.009, 1)
    ledger.close()
    again = opened(tmp_path, executor, FakeClock(), 10)
    assert again.budget is not None
    assert (again.budget.spent, again.budget.unpriced) == (0.009, 1)


def test_a_failed_append_is_a_warning_in_the_log(
    tmp_path: Path, executor: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "usage-2026-05.jsonl").mkdir()
    ledger = opened(tmp_path, executor, FakeClock(), None)
    with caplog.at_level(logging.WARNING):
        ledger.note(answer(), "turn", KEY, "s-1")
        settle(executor)

    assert "was not recorded in usage-2026-05.jsonl" in caplog.text


def test_after_the_executors_end_nothing_is_raised(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(1) as executor:
        ledger = opened(tmp_path, executor, FakeClock(), None)
    ledger.note(answer(), "turn", KEY, "s-1")

    assert "was not recorded" in caplog.text


def test_a_restart_knows_what_was_spent_today_and_that_it_warned(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    clock = FakeClock()
    first = opened(tmp_path, executor, clock)
    first.note(answer(START - timedelta(days=1), dollars=5), "turn", KEY, "s-1")
    assert first.warning() is None
    first.note(answer(dollars=9), "turn", KEY, "s-1")
    assert first.warning()
    settle(executor)
    first.close()

    second = opened(tmp_path, executor, clock)

    assert second.budget is not None
    assert second.budget.spent == 9
    assert second.warning() is None
    second.check()
    second.note(answer(dollars=1), "turn", KEY, "s-1")
    with pytest.raises(BudgetSpent):
        second.check()
    clock.now += timedelta(days=1)
    second.check()
    settle(executor)
    second.close()


async def test_each_answer_of_a_turn_is_a_line_and_a_failed_one_is_none(tmp_path: Path) -> None:
    script = (Calls((call("list", {}),)), Says("two"), Fails(Overloaded("busy.")), Says("three"))
    async with house(tmp_path, *script) as scene:
        await scene.gateway.chat(agent=None, session="work", text="a")
        with pytest.raises(Refused, match="busy"):
            await scene.gateway.chat(agent=None, session="work", text="b")
        await scene.gateway.chat(agent=None, session=None, text="c")
        report = await scene.gateway.usage(by="session", since=None)
    lines = (tmp_path / "home/journals/usage-2026-05.jsonl").read_text().splitlines()
    stored = [json.loads(line) for line in lines]

    assert [(row.name, row.answers) for row in report.rows] == [
        ("agent:main:api:work", 2),
        ("agent:main:main", 1),
    ]
    assert stored[0] == {
        "type": "answer",
        "at": "2026-05-01T08:00:00.000Z",
        "agent": "main",
        "session": "agent:main:api:work",
        "sessionId": "session-1",
        "model": "scripted/script",
        "origin": "turn",
        "input": 10,
        "output": 5,
        "cacheRead": 0,
        "cacheWrite": 0,
        "costUsd": None,
    }


async def test_a_spent_budget_refuses_before_anything_is_recorded_or_asked(tmp_path: Path) -> None:
    budget = Budget(limit=1, warn=0.5, zone=LISBON)
    async with house(tmp_path, Says("dear"), budget=budget) as scene:
        scene.model.usage = priced(1.0)
        heard: list[object] = []
        first = await scene.gateway.chat(agent=None, session=None, text="a", on_event=heard.append)
        before = scene.transcript("session-1")
        with pytest.raises(Refused, match="budget") as refused:
            await scene.gateway.chat(agent=None, session=None, text="b")

        assert first.reply.startswith("dear\n\n⚠ $1.00 of today's $1.00")
        assert "⚠" in str(heard[-1])
        assert (refused.value.code, refused.value.status) == ("budget", 402)
        assert scene.transcript("session-1") == before
        assert len(scene.model.requests) == 1


async def test_a_budget_that_ends_within_a_turn_stops_the_next_call(tmp_path: Path) -> None:
    budget = Budget(limit=1, warn=0.5, zone=LISBON)
    async with house(tmp_path, Calls((call("list", {}),)), Says("never"), budget=budget) as scene:
        scene.model.usage = priced(2.0)
        with pytest.raises(Refused, match="budget"):
            await scene.gateway.chat(agent=None, session=None, text="a")

        assert len(scene.model.requests) == 1
        budget.limit = 100
        assert (await scene.gateway.chat(agent=None, session=None, text="b")).reply == "never"


async def test_a_stopped_answer_is_no_line(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs()) as scene:
        turn = asyncio.create_task(scene.gateway.chat(agent=None, session=None, text="a"))
        await scene.model.hanging.wait()
        assert scene.gateway.stop(KEY)
        with pytest.raises(Refused):
            await turn

        assert (await scene.gateway.usage(by="day", since=None)).rows == ()
