"""memory_search and memory_get: compact answers, and trouble told as an answer."""

import json
from dataclasses import replace

import pytest

from agents.tools.memory import ABOUT, Citations, _hit, memory_tools
from agents.tools.tool import ToolError
from memory.hybrid import SearchHit
from memory.reading import NoteText
from sessions.messages import JsonObject, text_of
from tests.fakes.memory import FakeMemory
from tests.fakes.protocols import turn

TURN = turn()
HIT = SearchHit(
    path="memory/2026-05-01.md",
    start_line=3,
    end_line=5,
    score=0.81234,
    vector_score=0.7,
    text_score=0.9,
    snippet='## 09:00 - Reunião\n\n"às dez"',
    source="memory",
)


async def call(memory: FakeMemory, name: str, arguments: JsonObject) -> str:
    tools = {tool.spec.name: tool for tool in memory_tools(memory)}
    return text_of((await tools[name].run(arguments, TURN)).parts)


async def test_a_search_answers_with_compact_json() -> None:
    memory = FakeMemory(hits=(HIT,), warning="words only")

    text = await call(memory, "memory_search", {"query": "reunião", "max_results": 3, "min_score": 0})

    assert json.loads(text) == {
        "results": [
            {
                "path": "memory/2026-05-01.md",
                "start_line": 3,
                "end_line": 5,
                "score": 0.81,
                "source": "memory",
                "citation": "memory/2026-05-01.md#L3-L5",
                "snippet": HIT.snippet,
            }
        ],
        "mode": "keyword",
        "about": ABOUT,
        "warning": "words only",
    }
    assert "Reunião" in text
    assert '": ' not in text
    assert memory.asked == [("reunião", 3, 0)]


async def test_what_is_not_said_is_left_to_the_settings() -> None:
    memory = FakeMemory()

    answer = json.loads(await call(memory, "memory_search", {"query": "x"}))
    assert answer["results"] == []
    assert answer["mode"] == "keyword"
    assert "Searched 12 notes by words" in answer["nothing"]
    assert memory.asked == [("x", None, None)]


@pytest.mark.parametrize(
    ("citations", "key", "cited"),
    [
        ("auto", "agent:main:main", True),
        ("auto", "agent:main:telegram:direct:42", True),
        ("auto", "agent:main:telegram:group:-7", False),
        ("on", "agent:main:telegram:group:-7", True),
        ("off", "agent:main:main", False),
    ],
)
async def test_a_result_has_a_citation_where_the_settings_want_it(
    citations: Citations, key: str, *, cited: bool
) -> None:
    search = memory_tools(FakeMemory(hits=(HIT,)), citations=citations)[0]
    found = json.loads(text_of((await search.run({"query": "x"}, turn(key=key, trust="owner"))).parts))
    assert ("citation" in found["results"][0]) is cited


def test_a_citation_of_one_line_names_one() -> None:
    assert _hit(replace(HIT, end_line=3), cited=True)["citation"] == "memory/2026-05-01.md#L3"


async def test_weak_results_are_marked_as_such() -> None:
    answer = json.loads(await call(FakeMemory(hits=(HIT,), relaxed=True), "memory_search", {"query": "x"}))
    assert answer["relaxed"] is True
    assert "minimum" in answer["weak"]


async def test_an_unavailable_memory_is_an_answer_that_says_what_to_do() -> None:
    memory = FakeMemory(unavailable="The embedding service is down.")

    answer = json.loads(await call(memory, "memory_search", {"query": "x"}))

    assert answer["results"] == []
    assert answer["unavailable"] is True
    assert answer["error"] == "The embedding service is down."
    assert "clawd memory status" in answer["action"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": ""},
        {"query": "x", "max_results": 0},
        {"query": "x", "max_results": 51},
        {"query": "x", "min_score": 1.1},
    ],
    ids=["none", "empty", "no results", "too many", "score"],
)
async def test_wrong_arguments_are_explained(arguments: JsonObject) -> None:
    with pytest.raises(ToolError, match=r"memory_search was called with wrong arguments .* It takes query"):
        await call(FakeMemory(), "memory_search", arguments)


async def test_lines_come_under_their_numbers() -> None:
    note = NoteText(path="MEMORY.md", from_line=2, end_line=3, text="two\nthree", next_from=4)
    memory = FakeMemory(notes={"MEMORY.md": note})

    text = await call(memory, "memory_get", {"path": "MEMORY.md", "from_line": 2, "lines": 2})

    assert text == "[MEMORY.md: lines 2-3; next: from_line=4]\ntwo\nthree"
    assert memory.asked == [("MEMORY.md", 2, 2, 12_000)]


async def test_a_note_that_does_not_exist_is_no_error() -> None:
    memory = FakeMemory(
        notes={"memory/x.md": NoteText(path="memory/x.md", from_line=1, end_line=0, text="", next_from=None)}
    )

    assert await call(memory, "memory_get", {"path": "memory/x.md"}) == "[memory/x.md: nothing there]"


async def test_a_path_that_is_no_memory_is_refused() -> None:
    with pytest.raises(ToolError, match="is no memory file"):
        await call(FakeMemory(), "memory_get", {"path": "/etc/passwd"})


async def test_a_memory_file_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ToolError, match="no permission"):
        await call(FakeMemory(unavailable="no permission"), "memory_get", {"path": "MEMORY.md"})


def test_searching_is_stated_as_obligatory() -> None:
    spec = memory_tools(FakeMemory())[0].spec

    assert "Obligatory before answering" in spec.description


OPEN = replace(HIT, path="memory/open.md")
SECRET = replace(HIT, path="MEMORY.md")


@pytest.mark.parametrize(
    ("key", "trust", "seen"),
    [
        ("agent:main:main", "owner", ["MEMORY.md", "memory/open.md"]),
        ("agent:main:main", "guest", ["memory/open.md"]),
        ("agent:main:telegram:group:-7", "owner", ["memory/open.md"]),
        ("agent:main:telegram:direct:42", "guest", ["memory/open.md"]),
    ],
    ids=["owner", "guest in a private session", "owner in a group", "guest"],
)
async def test_the_memory_file_is_for_the_owner_alone(key: str, trust: str, seen: list[str]) -> None:
    note = NoteText(path="MEMORY.md", from_line=1, end_line=1, text="secret", next_from=None)
    memory = FakeMemory(hits=(SECRET, OPEN), notes={"MEMORY.md": note, "./MEMORY.md": note})
    tools = {tool.spec.name: tool for tool in memory_tools(memory)}
    asking = turn(key=key, trust=trust)

    found = json.loads(text_of((await tools["memory_search"].run({"query": "x"}, asking)).parts))

    assert [hit["path"] for hit in found["results"]] == seen
    for path in note.path, "./MEMORY.md":
        if "MEMORY.md" in seen:
            assert "secret" in text_of((await tools["memory_get"].run({"path": path}, asking)).parts)
        else:
            with pytest.raises(ToolError, match="Not a memory file"):
                await tools["memory_get"].run({"path": path}, asking)


async def test_whose_memory_it_is_is_said_and_can_be_asked_for() -> None:
    memory = FakeMemory(hits=(replace(OPEN, agent="b"),))
    one, both = memory_tools(memory)[1], memory_tools(memory, others=("b",))[1]

    found = json.loads(await call(memory, "memory_search", {"query": "x"}))

    assert found["results"][0]["agent"] == "b"
    assert "agent" not in json.dumps(one.spec.parameters)
    assert "agent" in json.dumps(both.spec.parameters)


async def test_a_conversation_is_read_with_another_tool() -> None:
    with pytest.raises(ToolError, match="sessions_history"):
        await call(FakeMemory(), "memory_get", {"path": "sessions/s-1.jsonl"})
