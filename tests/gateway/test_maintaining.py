"""MEMORY.md is looked after by night: only when there is something to do, and with everything kept."""

import json
import stat
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents.model.provider import AuthFailed, Unreachable
from agents.runtime import AgentRuntime
from gateway.maintaining import Histories, Maintenance
from memory.settings import MaintenanceSettings
from sessions.key import SessionKey
from sessions.messages import ToolResult, text_of
from tests.fakes.house import House, house
from tests.fakes.protocols import Calls, Fails, Says, Step, call

NIGHT = datetime(2026, 5, 2, 1, 30, tzinfo=UTC)  # 02:30 in Lisbon
READ = Calls((call("read", {"path": "MEMORY.md"}),))
ADD = Calls((call("write", {"path": "MEMORY.md", "content": "- Ana sails.\n", "mode": "overwrite"}),))
OLD = "- Ana rows.\n"


@asynccontextmanager
async def kept(folder: Path, *script: Step, **settings: object) -> AsyncIterator[tuple[House, Maintenance]]:
    """A house by night, with a note of the day before."""
    async with house(folder, *script) as scene:
        histories = Histories.open(scene.home.maintenance_file)
        with ThreadPoolExecutor(1) as executor:
            scene.clock.now = NIGHT
            (scene.workspace / "MEMORY.md").write_text(OLD)
            (scene.workspace / "memory" / "2026-05-01.md").write_text("# 2026-05-01\n\nAna sails now.\n")
            yield (
                scene,
                Maintenance(
                    roster=scene.roster,
                    lifecycle=scene.gateway.lifecycle,
                    settings=lambda _: MaintenanceSettings.model_validate(settings),
                    histories=histories,
                    backups=scene.home.backups,
                    clock=scene.clock,
                    executor=executor,
                ),
            )
            await scene.gateway.lanes.drain(5)
        histories.close()


async def night(scene: House, maintenance: Maintenance) -> None:
    await maintenance.sweep()
    await scene.gateway.lanes.drain(10)


def memory(scene: House) -> str:
    return (scene.workspace / "MEMORY.md").read_text()


def results(scene: House) -> list[str]:
    return [text_of(m.parts) for m in scene.model.requests[-1].messages if isinstance(m, ToolResult)]


async def test_notes_are_distilled_with_a_backup_and_an_entry_in_the_days_note(tmp_path: Path) -> None:
    async with kept(tmp_path, READ, ADD, Says("NO_REPLY")) as (scene, maintenance):
        await night(scene, maintenance)

        assert memory(scene) == "- Ana sails.\n"
        (backup,) = scene.home.backups.glob("*/MEMORY.md")
        assert backup.read_text() == OLD
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600
        entry = (scene.workspace / "memory" / "2026-05-02.md").read_text()
        assert "## 02:30 - memory maintenance" in entry
        assert "1 lines added, 1 removed" in entry
        assert "- removed: - Ana rows." in entry
        assert str(backup) in entry
        asked = text_of(scene.model.requests[0].messages[-1].parts)
        assert "Ana sails now." in asked


async def test_its_use_is_told_apart_and_it_has_a_session_of_its_own_that_says_nothing(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path, READ, ADD, Says("NO_REPLY")) as (scene, maintenance):
        await night(scene, maintenance)
        rows = (await scene.gateway.usage(by="origin", since=None)).rows
        key = SessionKey(agent="main", kind="api", peer="maintenance 2026-05-02")

        assert [(row.name, row.answers) for row in rows] == [("maintenance", 3)]
        assert (await scene.gateway.session(key)).messages == ()


async def test_nothing_is_asked_when_no_note_has_changed_since(tmp_path: Path) -> None:
    async with kept(tmp_path, READ, ADD, Says("NO_REPLY")) as (scene, maintenance):
        await night(scene, maintenance)
        for _ in range(5):
            scene.clock.now += timedelta(days=1)
            await night(scene, maintenance)

        assert len(scene.model.requests) == 3


async def test_a_changed_note_waits_for_the_third_night_and_is_asked_about_alone(tmp_path: Path) -> None:
    async with kept(tmp_path, Says("NO_REPLY"), Says("NO_REPLY")) as (scene, maintenance):
        await night(scene, maintenance)
        (scene.workspace / "memory" / "2026-05-02.md").write_text("# 2026-05-02\n\nA new boat.\n")
        asked = []
        for _ in range(3):
            scene.clock.now += timedelta(days=1)
            await night(scene, maintenance)
            asked.append(len(scene.model.requests))

        assert asked == [1, 1, 2]
        text = text_of(scene.model.requests[-1].messages[-1].parts)
        assert "A new boat." in text
        assert "Ana sails now." not in text


async def test_what_was_done_is_known_after_a_restart(tmp_path: Path) -> None:
    async with kept(tmp_path, Says("NO_REPLY")) as (scene, maintenance):
        await night(scene, maintenance)
    async with kept(tmp_path) as (scene, maintenance):
        scene.clock.now += timedelta(days=3)
        await night(scene, maintenance)

        assert scene.model.requests == []


@pytest.mark.parametrize("hour", [0, 12])
async def test_nothing_is_asked_by_day(tmp_path: Path, hour: int) -> None:
    async with kept(tmp_path) as (scene, maintenance):
        scene.clock.now = NIGHT.replace(hour=hour)
        await night(scene, maintenance)

        assert scene.model.requests == []


async def test_without_a_usable_model_nothing_is_tried_and_nothing_used_up(tmp_path: Path) -> None:
    async with kept(tmp_path, Says("NO_REPLY")) as (scene, maintenance):
        scene.unusable = AuthFailed("no key")
        await night(scene, maintenance)
        scene.unusable, scene.model.name = None, "offline"
        await night(scene, maintenance)
        assert scene.model.requests == []
        assert not list(scene.home.backups.glob("*"))

        scene.model.name = "scripted"
        await night(scene, maintenance)
        assert len(scene.model.requests) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (
            "write",
            {"path": "USER.md", "content": "x", "mode": "overwrite"},
            "only read, and change MEMORY.md",
        ),
        ("edit", {"path": "memory/2026-05-01.md", "old_text": "Ana", "new_text": "x"}, "only read"),
        ("write", {"path": "MEMORY.md", "content": " \n", "mode": "overwrite"}, "would be empty"),
        ("write", {"path": "MEMORY.md", "content": "x", "mode": "overwrite"}, "Read MEMORY.md as it is now"),
    ],
    ids=["another file", "a daily note", "nothing left", "unread"],
)
async def test_it_may_change_that_file_alone_and_not_blindly(
    tmp_path: Path, tool: str, arguments: dict[str, str], told: str
) -> None:
    async with kept(tmp_path, Calls((call(tool, dict(arguments)),)), Says("NO_REPLY")) as (
        scene,
        maintenance,
    ):
        await night(scene, maintenance)

        assert told in results(scene)[-1]
        assert memory(scene) == OLD
        assert not (scene.workspace / "memory" / "2026-05-02.md").exists()


async def test_what_another_wrote_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    async with kept(tmp_path, READ, ADD, Says("NO_REPLY")) as (scene, maintenance):
        runtime: AgentRuntime = scene.roster.of("main").runtime
        answers = scene.model.script

        class Meddled(list[Step]):
            def pop(self, index: object = 0) -> Step:
                if len(self) == 2:
                    (runtime.workspace.root / "MEMORY.md").write_text("- The owner was here.\n")
                return super().pop(0)

        scene.model.script = Meddled(answers)
        await night(scene, maintenance)

        assert memory(scene) == "- The owner was here.\n"


async def test_a_failure_puts_the_file_back_and_is_tried_again_three_nights(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failing: list[Step] = [READ, ADD, Fails(Unreachable("the model is down"))]
    async with kept(tmp_path, *failing, *[Fails(Unreachable("down"))] * 2, Says("NO_REPLY")) as (
        scene,
        maintenance,
    ):
        asked = []
        await night(scene, maintenance)
        assert memory(scene) == OLD
        assert "tried again the next night: the model is down" in caplog.text
        for _ in range(6):
            asked.append(len(scene.model.requests))
            await night(scene, maintenance)
            scene.clock.now += timedelta(days=1)

        assert asked == [3, 3, 4, 5, 5, 5]
        assert len(scene.model.requests) == 6
        lines = [json.loads(line) for line in scene.home.maintenance_file.read_text().splitlines()]
        assert [line["type"] for line in lines] == ["begun", "failed"] * 3 + ["begun", "done"]


async def test_another_model_may_be_named_for_it(tmp_path: Path) -> None:
    async with kept(tmp_path, Says("NO_REPLY"), model="cheap/one") as (scene, maintenance):
        await night(scene, maintenance)

        assert [request.model for request in scene.model.requests] == ["cheap/one"]


def test_the_journal_keeps_the_last_time_that_was_done_of_each_agent(tmp_path: Path) -> None:
    path = tmp_path / "maintenance.jsonl"
    for _ in range(2):
        histories = Histories.open(path)
        histories.begun("main", NIGHT)
        histories.failed("main", NIGHT, "x")
        histories.close()
    again = Histories.open(path)

    assert again.of("main").tries == 2
    assert again.of("other").tried is None
    again.close()
