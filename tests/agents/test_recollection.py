"""agents/recollection.py: what was said is kept, all else is left out, and lines stay those of the file."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.recollection import document, plain, remarks
from gateway.redact import redact
from sessions.entries import Compacted, Custom, CustomMessage, Said
from sessions.messages import Image, Text, Thinking, User
from sessions.numbered import Numbered
from tests.sessions.making import AT, assistant, call, chain, result, user
from tests.sessions.strategies import bodies


def as_it_is(text: str) -> str:
    return text


def numbered(*bodies: object, first: int = 2) -> list[Numbered]:
    return [
        Numbered(line=line, entry=entry)
        for line, entry in enumerate(chain(bodies), first)  # type: ignore[arg-type]  # any body or message
    ]


def test_people_and_models_are_kept_and_tools_are_not() -> None:
    said = remarks(
        numbered(
            user("when is the tea?"),
            assistant(Thinking(text="secret thought"), "I look.", call("A")),
            result("A", "tool payload"),
            assistant("At five."),
        ),
        as_it_is,
    )

    assert [(one.line, one.role, one.text) for one in said] == [
        (2, "user", "when is the tea?"),
        (3, "assistant", "I look."),
        (5, "assistant", "At five."),
    ]


def test_what_no_person_said_is_left_out() -> None:
    recalled = CustomMessage(kind="clawd.recall", parts=(Text(text="recalled note"),), display=False)
    said = remarks(
        numbered(
            recalled,
            Custom(kind="clawd.context", data={"system": "You are"}),
            Compacted(summary="in short", first_kept_id="x", tokens_before=1),
            User(at=AT, parts=(Image(data="AAAA", mime_type="image/png"),), envelope="[2026]"),
            User(at=AT, parts=(Text(text="hello"),), envelope="[2026-05-01 09:00 Fri Europe/Lisbon]"),
        ),
        as_it_is,
    )

    assert [one.text for one in said] == ["hello"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[2026-05-01 09:00 Fri Europe/Lisbon] Ana: hello: you", "hello: you"),
        ("[2026-05-01 09:00 Fri Europe/Lisbon]\nhello", "hello"),
        ("[1] is a footnote", "[1] is a footnote"),
        ("before <system-reminder>do this</system-reminder> after", "before  after"),
        ("<relevant-memories>\n- tea\n</relevant-memories>\n\nhi", "hi"),
        ("hi <think>never ended", "hi"),
        ("<final>Five.</final>", "Five."),
        ("**NO_REPLY**", ""),
        ("HEARTBEAT_OK", ""),
        ("NO_REPLY is a word", "NO_REPLY is a word"),
        ("a < b and <b>bold</b>", "a < b and <b>bold</b>"),
        (" \n", ""),
    ],
)
def test_markup_for_models_is_taken_away(text: str, left: str) -> None:
    assert plain(text) == left


def test_secrets_are_taken_out() -> None:
    said = remarks(numbered(user("the key is sk-abcdefgh12345678, keep it")), redact)

    assert said[0].text == "the key is [redacted], keep it"


def test_a_document_has_the_lines_of_the_transcript() -> None:
    said = remarks(numbered(user("a\nb\r\n\tc"), result("A", "x"), assistant("d")), as_it_is)

    assert document(said) == "\nUser: a b c\n\nAssistant: d\n"
    assert document([]) == ""


@settings(max_examples=150, deadline=None)
@given(st.lists(bodies, max_size=8), st.integers(2, 5))
def test_line_n_of_the_document_is_what_was_said_at_line_n(found: list[object], first: int) -> None:
    entries = numbered(*found, first=first)
    said = remarks(entries, as_it_is)
    lines = document(said).split("\n")

    for one in said:
        assert one.text.strip()
        assert lines[one.line - 1] == f"{one.role.capitalize()}: {' '.join(one.text.split())}" or (
            lines[one.line - 1].split() == [f"{one.role.capitalize()}:", *one.text.split()]
        )
    spoken = {one.line for one in said}
    assert all(not line for number, line in enumerate(lines, 1) if number not in spoken)
    assert spoken <= {one.line for one in entries if isinstance(one.entry.body, Said)}


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_taking_away_never_adds(text: str) -> None:
    left = plain(text)

    assert left == left.strip()
    assert len(left) <= len(text)


def test_a_long_text_without_an_end_is_quick(tmp_path: Path) -> None:
    assert plain("<think" * 50_000 + ">")
