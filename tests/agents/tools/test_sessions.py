"""sessions_search and sessions_history: compact answers within bounds, each with where it was said."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.archive import History
from agents.recollection import Piece
from agents.tools.sessions import HISTORY_CHARS, present, sessions_tools
from agents.tools.tool import ToolError
from agents.visibility import Visibility
from sessions.key import SessionKey
from sessions.messages import JsonObject, text_of
from tests.agents.talks import Talked, talked
from tests.fakes.protocols import turn
from tests.sessions.making import AT

GROUP = "agent:main:telegram:group:-7"


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talked]:
    async with talked(tmp_path) as scene:
        scene.say("s-1", "when does the kestrel ship?", "On Friday.")
        scene.say("g-1", "a kestrel for all", key=GROUP)
        yield scene


async def call(
    talk: Talked,
    name: str,
    arguments: JsonObject,
    *,
    key: str = "agent:main:main",
    trust: str = "owner",
    visibility: Visibility = "agent",
) -> str:
    tools = {tool.spec.name: tool for tool in sessions_tools(talk.archive(visibility))}
    return text_of((await tools[name].run(arguments, turn(key=key, trust=trust))).parts)


async def test_a_search_says_where_and_when(talk: Talked) -> None:
    text = await call(talk, "sessions_search", {"query": "kestrel ship"})

    assert json.loads(text) == {
        "results": [
            {
                "session": "agent:main:main",
                "id": "s-1",
                "at": "2026-05-01 08:00",
                "role": "user",
                "line": 2,
                "snippet": "when does the kestrel ship?",
            }
        ]
    }
    assert '": ' not in text


async def test_some_of_the_words_are_marked(talk: Talked) -> None:
    found = json.loads(await call(talk, "sessions_search", {"query": "kestrel zebra"}))

    assert len(found["results"]) == 2
    assert "some" in found["partial"]


async def test_a_history_is_lines_under_one_that_names_it(talk: Talked) -> None:
    text = await call(talk, "sessions_history", {"session": "agent:main:main"})

    assert text == (
        "[agent:main:main, s-1: lines 2-3]\n"
        "2 2026-05-01 08:00 user: when does the kestrel ship?\n"
        "3 2026-05-01 08:00 assistant: On Friday."
    )
    last = await call(talk, "sessions_history", {"session": "s-1", "limit": 1})
    assert last.startswith("[agent:main:main, s-1: lines 3-3; 1 earlier]\n3 ")


@pytest.mark.parametrize(
    ("key", "trust"),
    [(GROUP, "owner"), (GROUP, "guest"), ("agent:main:main", "guest")],
    ids=["owner in a group", "guest in a group", "guest in a private session"],
)
async def test_where_others_read_along_the_owners_talks_stay_closed(
    talk: Talked, key: str, trust: str
) -> None:
    found = json.loads(await call(talk, "sessions_search", {"query": "kestrel"}, key=key, trust=trust))

    assert [one["id"] for one in found["results"]] == ["g-1"]
    for session in ("s-1", "agent:main:main"):
        with pytest.raises(ToolError, match="can be seen from here"):
            await call(talk, "sessions_history", {"session": session}, key=key, trust=trust)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sessions_search", {"query": ""}),
        ("sessions_search", {"query": "x", "limit": 26}),
        ("sessions_history", {}),
        ("sessions_history", {"session": "s-1", "limit": 101}),
        ("sessions_history", {"session": "s-1", "line": 0}),
    ],
)
async def test_wrong_arguments_are_explained(talk: Talked, name: str, arguments: JsonObject) -> None:
    with pytest.raises(ToolError, match=f"{name} was called with wrong arguments"):
        await call(talk, name, arguments)


def history(count: int, size: int) -> History:
    pieces = tuple(Piece(line=line, at=AT, role="user", text="x" * size) for line in range(2, count + 2))
    return History(key=SessionKey(agent="main", kind="main"), session="s", pieces=pieces, earlier=0, later=0)


@pytest.mark.parametrize(
    ("around", "first", "last"), [(None, 95, 101), (50, 47, 53), (2, 2, 8), (101, 95, 101)]
)
def test_a_history_stays_within_bounds_and_keeps_what_is_near(
    around: int | None, first: int, last: int
) -> None:
    text = present(history(100, 1_600), time_zone="UTC", around=around)

    head, *rows = text.splitlines()
    assert len(text) <= HISTORY_CHARS + len(head) + 1
    assert head.startswith(f"[agent:main:main, s: lines {first}-{last}")
    assert len(rows) == 7
    assert (f"; {first - 2} earlier" in head) is (first > 2)
    assert (f"; {101 - last} later" in head) is (last < 101)


def test_a_text_that_is_too_long_is_cut_and_says_so() -> None:
    text = present(history(1, 50_000), time_zone="UTC", around=None)

    assert text.endswith("x… [48000 more characters]")


def test_nothing_said_is_said() -> None:
    empty = History(key=None, session="s", pieces=(), earlier=0, later=0)

    assert present(empty, time_zone="UTC", around=None) == "[s: nothing was said]"


def test_the_tools_are_described_in_few_words(tmp_path: Path) -> None:
    specs = [
        {"name": "x", "description": tool.spec.description, "input_schema": tool.spec.parameters}
        for tool in sessions_tools(None)  # type: ignore[arg-type]  # never called
    ]

    assert len(json.dumps(specs).encode()) <= 1_200
