"""agents/archive.py: conversations searched and read, within what the caller may see."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.archive import ArchiveRefused
from agents.visibility import Caller, Visibility
from sessions.key import SessionKey
from tests.agents.talks import Talked, talked
from tests.sessions.making import assistant, call, result

MAIN, WORK = "agent:main:main", "agent:main:api:work"
GROUP, OTHER = "agent:main:telegram:group:-7", "agent:main:telegram:group:-8"
GUEST = "agent:main:telegram:direct:42"


def caller(key: str, *, private: bool | None = None) -> Caller:
    parsed = SessionKey.parse(key)
    return Caller(key=parsed, private=parsed.private if private is None else private)


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talked]:
    """One session of each kind, each with the same word; of the main one, an earlier session too."""
    async with talked(tmp_path) as scene:
        scene.say("main-1", "kestrel earlier", key=MAIN)
        scene.say("main-2", "kestrel now", key=MAIN)
        scene.say("work-1", "kestrel work", key=WORK)
        scene.say("group-1", "kestrel group", key=GROUP)
        scene.say("group-2", "kestrel other group", key=OTHER)
        scene.say("guest-1", "kestrel guest", key=GUEST)
        scene.say("lost-1", "kestrel of unknown key", key="")
        yield scene


async def seen(
    talk: Talked, who: Caller | None, visibility: Visibility, session: str | None = None
) -> set[str]:
    archive = talk.archive(visibility)
    found = await archive.search("kestrel", caller=who, limit=100, session=session)
    return {one.session for one in found.found}


@pytest.mark.parametrize(
    ("who", "visibility", "expected"),
    [
        (caller(MAIN), "self", {"main-1", "main-2"}),
        (caller(MAIN), "tree", {"main-1", "main-2"}),
        (
            caller(MAIN),
            "agent",
            {"main-1", "main-2", "work-1", "group-1", "group-2", "guest-1", "lost-1"},
        ),
        (caller(GROUP), "tree", {"group-1"}),
        (caller(GROUP), "agent", {"group-1", "group-2"}),
        (caller(GUEST), "agent", {"guest-1", "group-1", "group-2"}),
        (caller(MAIN, private=False), "agent", {"group-1", "group-2"}),
        (None, "self", {"main-1", "main-2", "work-1", "group-1", "group-2", "guest-1", "lost-1"}),
    ],
    ids=[
        "main self",
        "main tree",
        "main agent",
        "group tree",
        "group agent",
        "guest",
        "guest in main",
        "owner",
    ],
)
async def test_a_search_stays_within_what_may_be_seen(
    talk: Talked, who: Caller | None, visibility: Visibility, expected: set[str]
) -> None:
    assert await seen(talk, who, visibility) == expected


@pytest.mark.parametrize(
    ("session", "expected"), [(MAIN, {"main-1", "main-2"}), ("main-1", {"main-1"}), ("lost-1", {"lost-1"})]
)
async def test_one_session_by_key_or_by_id(talk: Talked, session: str, expected: set[str]) -> None:
    assert await seen(talk, caller(MAIN), "agent", session) == expected


@pytest.mark.parametrize("session", [MAIN, "main-1", "guest-1", "lost-1", GUEST])
@pytest.mark.parametrize("visibility", ["self", "tree", "agent"])
async def test_a_group_is_told_nothing_of_private_talks(
    talk: Talked, session: str, visibility: Visibility
) -> None:
    archive = talk.archive(visibility)

    with pytest.raises(ArchiveRefused) as found:
        await archive.history(session, caller=caller(GROUP), limit=5)
    with pytest.raises(ArchiveRefused):
        await archive.search("kestrel", caller=caller(GROUP), limit=5, session=session)
    with pytest.raises(ArchiveRefused) as missing:
        await archive.history("no-such", caller=caller(GROUP), limit=5)

    assert str(found.value).replace(session, "no-such") == str(missing.value)


@pytest.mark.parametrize("session", ["../registry", "..", "main-1/../main-2", "", "a\0b", "x" * 300])
async def test_an_id_is_a_name_and_no_path(talk: Talked, session: str) -> None:
    with pytest.raises(ArchiveRefused):
        await talk.archive().history(session, caller=None, limit=5)


async def test_paths_of_an_index_are_seen_by_the_same_rule(talk: Talked) -> None:
    paths = ["MEMORY.md", "memory/x.md", "sessions/main-1.jsonl", "sessions/group-1.jsonl"]
    archive = talk.archive("agent")

    assert list(filter(archive.visible(caller(MAIN)), paths)) == paths
    assert list(filter(archive.visible(caller(GROUP)), paths)) == ["memory/x.md", "sessions/group-1.jsonl"]


async def lines(talk: Talked, **wanted: int | bool | None) -> tuple[list[int], int, int]:
    archive = talk.archive()
    history = await archive.history(
        "long",
        caller=None,
        limit=int(wanted.get("limit") or 3),
        line=wanted.get("line"),
        tools=bool(wanted.get("tools")),
    )
    return [one.line for one in history.pieces], history.earlier, history.later


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (None, ([10, 11, 12], 8, 0)),
        (1, ([2, 3, 4], 0, 8)),
        (2, ([2, 3, 4], 0, 8)),
        (7, ([6, 7, 8], 4, 4)),
        (12, ([10, 11, 12], 8, 0)),
        (999, ([10, 11, 12], 8, 0)),
    ],
)
async def test_a_history_is_the_end_or_around_a_line(
    talk: Talked, line: int | None, shown: tuple[list[int], int, int]
) -> None:
    talk.say("long", *[f"text {number}" for number in range(11)])

    assert await lines(talk, line=line) == shown


async def test_calls_and_results_come_only_when_asked_for(talk: Talked) -> None:
    talk.say(
        "long", "look", assistant("I look.", call("A")), result("A", "sk-abcdefgh12345678 " + "x" * 2_000)
    )

    plain = await talk.archive().history("long", caller=None, limit=9)
    whole = await talk.archive().history("long", caller=None, limit=9, tools=True)

    assert [(one.line, one.role) for one in plain.pieces] == [(2, "user"), (3, "assistant")]
    assert [(one.line, one.role) for one in whole.pieces] == [
        (2, "user"),
        (3, "assistant"),
        (3, "call"),
        (4, "result"),
    ]
    assert whole.pieces[2].text == 'read {"path": "notes.md"}'
    assert whole.pieces[3].text.startswith("read: [redacted] xxx")
    assert whole.pieces[3].text.endswith("more characters]")
