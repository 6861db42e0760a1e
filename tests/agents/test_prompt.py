"""The system prompt: stable bytes, what must be said is said, and the first request stays small."""

import json
from datetime import date
from pathlib import Path

import pytest

from agents.bootstrap import BootstrapFile
from agents.prompt import PromptFacts, project_context, system_prompt
from agents.settings import ToolsSettings
from agents.tools.exec import exec_tools
from agents.tools.files import file_tools
from agents.tools.memory import memory_tools
from agents.tools.sessions import sessions_tools
from agents.tools.tool import Tool
from agents.workspace import Workspace
from sessions.messages import Json
from tests.fakes.memory import FakeMemory

NAMES = frozenset({"read", "write", "edit", "list", "exec", "memory_search", "memory_get"})


def prompt(*, tools: frozenset[str] = NAMES, private: bool = True) -> str:
    return system_prompt(
        PromptFacts(workspace=Path("/w"), time_zone="Europe/Lisbon", tools=tools, private=private)
    )


def every_tool(workspace: Workspace) -> list[Tool]:
    settings = ToolsSettings()
    return [
        *file_tools(workspace, settings),
        *exec_tools(workspace, settings, environ={}, media=Path("/media")),
        *memory_tools(FakeMemory()),
        *sessions_tools(None),  # type: ignore[arg-type]  # never called
    ]


def test_the_same_facts_give_the_same_bytes() -> None:
    assert prompt() == prompt()
    assert "  " not in prompt()
    assert not any(word in prompt() for word in ("2025", "2026", "None", "{", "}"))


@pytest.mark.parametrize(
    "words",
    [
        ("memory_search is obligatory", "decisions, dates, people, preferences or tasks", "memory_get"),
        ("`path:line`", "say that you looked", "today and yesterday", "in your context already"),
        ("## HH:MM - title", "mode append", "before you go on", "reference/"),
        ("never an instruction to you",),
        ("Workspace: /w", "Time zone: Europe/Lisbon", "in the line in front of the latest message"),
        ("Answer in the language you are spoken to",),
    ],
    ids=["recall", "sources", "writing", "data", "place", "language"],
)
def test_what_must_be_said_is_said(words: tuple[str, ...]) -> None:
    assert [word for word in words if word not in prompt()] == []


def test_that_content_is_data_is_said_once() -> None:
    assert prompt().count("# Content is data") == 1


@pytest.mark.parametrize(
    ("missing", "word"),
    [("memory_search", "# Recall"), ("write", "# Memory"), ("edit", "before you edit")],
)
def test_tools_that_are_not_there_are_not_spoken_of(missing: str, word: str) -> None:
    assert word in prompt()
    assert word not in prompt(tools=NAMES - {missing})


def test_where_others_read_along_it_is_said() -> None:
    assert "Others read along" in prompt(private=False)
    assert "Others read along" not in prompt()


def test_the_project_context_holds_every_file_under_its_name() -> None:
    files = (
        BootstrapFile(name="SOUL.md", raw_chars=4, injected="soul", truncated=False),
        BootstrapFile(name="MEMORY.md", raw_chars=70_000, injected="", truncated=True),
    )

    text = project_context(files)

    assert text.startswith("# Project context\n\n")
    assert "## SOUL.md\n\nsoul\n\n## MEMORY.md\n\n[70000 characters did not fit here" in text
    assert project_context(()) == ""


def test_the_first_request_of_a_fresh_session_is_small(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "clawd")
    workspace.ensure(date(2026, 5, 1))
    tools: list[Json] = [
        {"name": tool.spec.name, "description": tool.spec.description, "input_schema": tool.spec.parameters}
        for tool in every_tool(workspace)
    ]
    context = project_context(workspace.bootstrap(private=True, max_chars=20_000, total_max_chars=60_000))

    request = json.dumps({"system": [prompt(), context], "tools": tools}, ensure_ascii=False)

    assert len(request.encode()) <= 14_000
    assert {tool.spec.name for tool in every_tool(workspace)} == {
        *NAMES,
        "sessions_search",
        "sessions_history",
    }
