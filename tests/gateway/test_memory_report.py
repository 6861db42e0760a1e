"""How an index is told of, to programs and to people."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.memory_report import first_time_lines, status_json, status_lines
from memory.embed.embedder import FellBack
from memory.files import FileProblem
from memory.status import IndexStatus

STATUS = IndexStatus(
    workspace=Path("/ws"),
    database=Path("/home/main.sqlite"),
    bytes=3 * 1_048_576,
    files=1_200,
    chunks=7_000,
    waiting=0,
    provider="local",
    model="usem3",
    version="1",
    dims=512,
    vector_problem=None,
    failed=(FileProblem(path="memory/big.md", reason="it is too large"),),
    warnings=(),
    on_disk=1_200,
    made_with="local/usem3 1, 512",
    cache_entries=7_000,
    cache_limit=50_000,
    watcher="watching",
    watched_folders=3,
)


def told(status: IndexStatus) -> dict[str, str]:
    return dict(status_lines(status_json(status)))


def test_the_json_holds_every_field_as_plain_values() -> None:
    data = json.loads(json.dumps(status_json(STATUS)))
    assert data["failed"] == [{"path": "memory/big.md", "reason": "it is too large"}]
    assert (data["files"], data["files_on_disk"], data["probe"], data["fallback"]) == (1200, 1200, None, None)


@pytest.mark.parametrize(
    ("status", "name", "text"),
    [
        (STATUS, "Notes", "1,200 indexed, 1,200 on disk"),
        (replace(STATUS, outdated=2), "Notes", "2 to be read"),
        (replace(STATUS, waiting=5), "Passages", "5 wait for the model"),
        (replace(STATUS, rebuilding=True), "Passages", "made anew"),
        (replace(STATUS, provider="none"), "Model", "words alone"),
        (replace(STATUS, vector_problem="no sqlite-vec"), "Search", "by words alone: no sqlite-vec"),
        (replace(STATUS, made_with=None), "Search", "no passage has a vector"),
        (STATUS, "Search", "local/usem3 1, 512"),
        (
            replace(STATUS, fallback=FellBack(from_="openai", to="local", reason="down")),
            "Model",
            "local answers",
        ),
        (STATUS, "Changes", "watched in 3 folders"),
        (replace(STATUS, watcher="polling"), "Changes", "every few seconds"),
        (replace(STATUS, watcher="off"), "Changes", "at each search"),
        (replace(STATUS, probe="", probe_seconds=0.5), "Asked just now", "answered in 0.50 s"),
        (replace(STATUS, probe="it is down"), "Asked just now", "it is down"),
        (replace(STATUS, documents=4), "Conversations", "4 indexed"),
        (replace(STATUS, extra_paths=("~/notes",)), "Sources", "memory, ~/notes"),
        (STATUS, "Index", "/home/main.sqlite (3.0 MB)"),
    ],
)
def test_the_lines_say_what_holds(status: IndexStatus, name: str, text: str) -> None:
    assert text in told(status)[name]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (STATUS, "nothing is fetched"),
        (replace(STATUS, version="not installed"), "pip install"),
        (replace(STATUS, provider="none"), "words alone"),
        (replace(STATUS, provider="openai", model="m"), "sent to openai (m)"),
    ],
)
def test_before_the_first_indexing_the_owner_is_told_what_is_loaded(status: IndexStatus, text: str) -> None:
    first = replace(status, files=0, made_with=None)
    head, what = first_time_lines(status_json(first))
    assert "1,200 notes" in head
    assert text in what
    assert list(first_time_lines(status_json(status))) == []
