"""Entries on disk: the session format of the pi family, version 3."""

import json

import pytest
from hypothesis import given, settings

from sessions.codec import entry_json, entry_of, header_json, header_of, iso, version_of
from sessions.entries import (
    Body,
    BranchSummary,
    Compacted,
    Custom,
    CustomMessage,
    Entry,
    Header,
    ModelChanged,
    Said,
    Unknown,
)
from sessions.lines import BadLine, from_line, to_line
from sessions.messages import Image, JsonObject, Text
from tests.sessions.making import AT, HEADER, chain, user
from tests.sessions.strategies import entries


def read(stored: JsonObject) -> Body:
    return entry_of(stored, entry_id="1", parent_id=None, before=AT).body


@settings(max_examples=50, deadline=None)
@given(entries)
def test_every_kind_of_entry_survives_its_line(entry: Entry) -> None:
    stored = from_line(to_line(entry_json(entry)))

    assert entry_of(stored, entry_id=entry.id, parent_id=entry.parent_id, before=AT) == entry


@pytest.mark.parametrize("parent", [None, "/home/sam/old.jsonl"], ids=["new", "branched"])
def test_a_header_survives_its_line(parent: str | None) -> None:
    header = Header(id="s-1", at=AT, cwd="/work", parent=parent)

    stored = from_line(to_line(header_json(header)))

    assert header_of(stored) == header
    assert version_of(stored) == 3


def test_lines_are_written_as_the_family_writes_them() -> None:
    entry = chain([user("hello")])[0]

    assert json.dumps(header_json(HEADER)) == (
        '{"type": "session", "version": 3, "id": "11111111-2222-4333-8444-555555555555", '
        '"timestamp": "2026-05-01T08:00:00.000Z", "cwd": "/home/sam/workspace"}'
    )
    assert json.dumps(entry_json(entry)) == (
        '{"type": "message", "id": "00000001", "parentId": null, "timestamp": "2026-05-01T08:00:01.000Z", '
        '"message": {"role": "user", "content": [{"type": "text", "text": "hello"}], '
        '"timestamp": 1777622400000}}'
    )


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (
            Compacted(summary="s", first_kept_id="0000000a", tokens_before=9, details={"files": []}),
            {
                "type": "compaction",
                "summary": "s",
                "firstKeptEntryId": "0000000a",
                "tokensBefore": 9,
                "details": {"files": []},
            },
        ),
        (
            BranchSummary(from_id="root", summary="s"),
            {"type": "branch_summary", "fromId": "root", "summary": "s"},
        ),
        (
            ModelChanged(provider="anthropic", model="m"),
            {"type": "model_change", "provider": "anthropic", "modelId": "m"},
        ),
        (
            CustomMessage(kind="recall", parts=(Text(text="t"),), display=False),
            {
                "type": "custom_message",
                "customType": "recall",
                "content": [{"type": "text", "text": "t"}],
                "display": False,
            },
        ),
        (
            Custom(kind="clawd.context", data={"a": 1}),
            {"type": "custom", "customType": "clawd.context", "data": {"a": 1}},
        ),
        (
            Unknown(raw={"type": "label", "targetId": "00000001"}),
            {"type": "label", "targetId": "00000001"},
        ),
    ],
    ids=["compaction", "branch summary", "model change", "custom message", "custom", "unknown"],
)
def test_every_kind_has_the_fields_of_the_format(body: Body, fields: JsonObject) -> None:
    stored = entry_json(Entry(id="00000002", parent_id="00000001", at=AT, body=body))

    assert stored == {"id": "00000002", "parentId": "00000001", "timestamp": iso(AT), **fields}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            {"role": "bashExecution", "command": "ls", "output": "a\nb", "exitCode": 0},
            "Ran `ls`\n```\na\nb\n```",
        ),
        (
            {"role": "bashExecution", "command": "false", "output": "", "exitCode": 1},
            "Ran `false`\n(no output)\n(exit code 1)",
        ),
        (
            {"role": "bashExecution", "command": "top", "output": "x", "exitCode": None, "cancelled": True},
            "Ran `top`\n```\nx\n```\n(cancelled)",
        ),
        (
            {
                "role": "bashExecution",
                "command": "seq 9",
                "output": "1",
                "truncated": True,
                "fullOutputPath": "/tmp/all",  # noqa: S108 (a text in a transcript)
            },
            "Ran `seq 9`\n```\n1\n```\n(cut; all of it is in /tmp/all)",
        ),
    ],
    ids=["output", "failure", "cancelled", "cut"],
)
def test_a_command_run_beside_the_conversation_is_seen_by_the_model(message: JsonObject, text: str) -> None:
    assert read({"type": "message", "message": message}) == CustomMessage(
        kind="bashExecution", parts=(Text(text=text),), display=True
    )


def test_a_command_that_was_kept_from_the_model_stays_unknown() -> None:
    message: JsonObject = {"role": "bashExecution", "command": "env", "excludeFromContext": True}

    assert read({"type": "message", "message": message}) == Unknown(
        raw={"type": "message", "message": message}
    )


@pytest.mark.parametrize("role", ["custom", "hookMessage"])
def test_messages_of_extensions_are_custom_messages_in_every_version(role: str) -> None:
    message: JsonObject = {"role": role, "customType": "hint", "content": "look", "display": True}

    assert read({"type": "message", "message": message}) == CustomMessage(
        kind="hint", parts=(Text(text="look"),), display=True
    )


@pytest.mark.parametrize(
    "stored",
    [
        {"type": "message"},
        {"type": "message", "message": "hello"},
        {"type": "message", "message": {"role": "system", "content": "be kind"}},
        {"type": "message", "message": {"role": "user"}},
        {"type": "message", "message": {"role": "toolResult", "content": []}},
        {"type": "compaction"},
        {"type": "model_change", "provider": 3},
        {"type": "custom", "customType": "x", "data": [1]},
        {"type": "custom_message", "customType": "x"},
        {"type": "session", "version": 3},
        {"type": "thinking_level_change", "thinkingLevel": "low"},
    ],
    ids=lambda stored: json.dumps(stored)[:50],
)
def test_what_is_not_understood_is_unknown_and_whole(stored: JsonObject) -> None:
    assert read({**stored, "id": "1", "parentId": None, "timestamp": iso(AT)}) == Unknown(raw=stored)


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        ("2026-05-01T10:00:00.000+02:00", "2026-05-01T08:00:00.000Z"),
        ("2026-05-01T08:00:00", "2026-05-01T08:00:00.000Z"),
        ("yesterday", iso(AT)),
        ("0001-01-01T00:00:00+14:00", iso(AT)),
        (1777622400, iso(AT)),
        (None, iso(AT)),
    ],
    ids=["offset", "no offset", "words", "before the calendar", "number", "null"],
)
def test_a_time_that_cannot_be_read_is_the_one_before_it(timestamp: str | int | None, expected: str) -> None:
    entry = entry_of({"type": "x", "timestamp": timestamp}, entry_id="1", parent_id=None, before=AT)

    assert iso(entry.at) == expected


@pytest.mark.parametrize(
    "stored",
    [{}, {"type": "message", "id": "1"}, {"type": "session"}, {"type": "session", "id": ""}],
    ids=["empty", "entry", "no id", "empty id"],
)
def test_a_header_needs_its_type_and_an_id(stored: JsonObject) -> None:
    with pytest.raises(BadLine):
        header_of(stored)


def test_images_of_a_custom_message_are_kept() -> None:
    content: JsonObject = {"type": "image", "data": "aGk=", "mimeType": "image/png"}

    body = read({"type": "custom_message", "customType": "x", "content": [content, {"type": "audio"}]})

    assert body == CustomMessage(kind="x", parts=(Image(data="aGk=", mime_type="image/png"),), display=False)


def test_content_may_be_a_string() -> None:
    body = read({"type": "message", "message": {"role": "user", "content": "hi"}})

    assert isinstance(body, Said)
    assert body.message == user("hi")
