"""The composition root: where workspaces are, who shares what, and an orderly end."""

import asyncio
import os
from pathlib import Path

import pytest

from gateway.build import built, opened
from gateway.config import Config
from gateway.home import Home
from gateway.http.hub import Hub
from gateway.http.talk import Talk
from gateway.lock import AlreadyRunning, is_locked
from gateway.views import Refused
from gateway.whereabouts import workspace_of


def config(tmp_path: Path, **sections: object) -> Config:
    search = {"search": {"provider": "none"}}
    return Config.model_validate({"models": {"default": "offline/notes"}, "memory": search, **sections})


async def test_a_gateway_is_built_from_nothing_and_remembers(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with opened(config(tmp_path), home) as gateway:
        told = await gateway.chat(agent=None, session=None, text="remember that tea is green")
        asked = await gateway.chat(agent=None, session=None, text="is the tea green?")

    assert told.calls[0].name == "write"
    assert "tea is green" in asked.reply
    assert not is_locked(home.lock_file)
    for path in home.path.rglob("*"):
        if "workspace" not in path.parts:
            assert path.stat().st_mode & 0o077 == 0, path


async def test_what_is_cut_off_by_an_end_without_a_signal_waits_for_the_next_start(tmp_path: Path) -> None:
    """As a part that crashes ends it."""
    found = config(tmp_path, gateway={"drain_seconds": 0})
    home, going = Home(tmp_path / "home"), asyncio.Event()

    async def hang(*_: object) -> None:
        going.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise Refused("Stopped.", code="stopped", status=409) from error

    async with built(found, home) as parts:
        assert parts.frontage is not None
        parts.gateway.turns.answer = hang  # type: ignore[method-assign, assignment]
        parts.gateway.ready, errands = True, parts.frontage.front.journals.errands
        talk = Talk(parts.gateway, Hub(), new_id=lambda: "run-1", errands=errands)
        await talk.begin(agent=None, session="work", text="hi")
        await asyncio.wait_for(going.wait(), 10)
    async with built(found, home) as parts:
        assert parts.frontage is not None
        assert [one.id for one in parts.frontage.front.journals.errands.waiting("ask")] == ["run-1"]


async def test_each_agent_has_a_workspace_and_an_index_of_its_own(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    agents = {"list": [{"id": "main", "default": True}, {"id": "work"}]}
    async with opened(config(tmp_path, agents=agents), home) as gateway:
        await gateway.chat(agent="work", session=None, text="remember that the budget is 40")

        here = await gateway.memory_search("budget", agent="work", max_results=None, min_score=None)
        there = await gateway.memory_search("budget", agent="main", max_results=None, min_score=None)

    assert len(here.hits) == 1
    assert there.hits == ()
    assert (home.path / "workspace-work" / "memory").is_dir()
    assert home.memory_database("work").exists()


async def test_a_second_writer_is_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with built(config(tmp_path), home):
        with pytest.raises(AlreadyRunning):
            async with built(config(tmp_path), home):
                pass
        async with opened(config(tmp_path), home, write=False) as reader:
            assert reader.sessions() == []


@pytest.mark.parametrize(
    ("settings", "agent", "expected"),
    [
        ({}, "main", "home/workspace"),
        ({"list": [{"id": "a", "default": True}, {"id": "b"}]}, "b", "home/workspace-b"),
        ({"defaults": {"workspace": "/srv/notes"}}, "main", "/srv/notes"),
        ({"list": [{"id": "a", "workspace": "/srv/a"}]}, "a", "/srv/a"),
    ],
    ids=["of the home", "of another agent", "of the defaults", "its own"],
)
def test_where_a_workspace_is(tmp_path: Path, settings: dict[str, object], agent: str, expected: str) -> None:
    made = config(tmp_path, agents=settings)
    resolved = made.agents.resolve(agent)
    assert resolved

    assert workspace_of(made, Home(tmp_path / "home"), resolved) == tmp_path / expected


def test_the_usual_home_has_its_workspace_beside_it() -> None:
    home = Home(Path.home() / ".clawd")

    assert home.default_workspace("main", main=True) == Path.home() / "clawd"
    assert home.default_workspace("work", main=False) == Path.home() / "clawd-work"


async def test_the_sweep_deletes_old_files_of_messages(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    old = home.media / "inbound" / "old.txt"
    old.parent.mkdir(parents=True)
    old.touch()
    os.utime(old, (1_000_000_000, 1_000_000_000))
    async with built(Config(), home, environ={}) as parts:
        await parts.sweep()
    assert not old.exists()


async def test_an_agent_can_send_files(tmp_path: Path) -> None:
    async with built(Config(), Home(tmp_path / "home"), environ={}) as parts:
        agent = parts.gateway._roster.of(None)
        assert "send_file" in agent.runtime._tools
