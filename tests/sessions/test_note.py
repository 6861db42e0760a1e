"""The note that an ended session leaves in memory."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.entries import Said
from sessions.messages import Message
from sessions.note import Line, NoteFacts, file_name, local_day, note_text, slug, slug_prompt, spoken
from tests.sessions.making import CASES, assistant, call, open_case, result, user

SLUGS = json.loads((CASES / "B42-slugs.json").read_text(encoding="utf-8"))
AT = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=SLUGS["now_ms"])


def facts(at: datetime = AT) -> NoteFacts:
    return NoteFacts(
        at=at,
        time_zone=SLUGS["tz"],
        key="agent:main:main",
        session_id="99999999-aaaa-4bbb-8ccc-dddddddddddd",
        source="telegram",
        event="new",
    )


def test_names_of_one_day_differ_in_any_script() -> None:
    """B42."""
    titles = [*SLUGS["titles"], SLUGS["titles"][0], SLUGS["titles"][3]]
    names: list[str] = []
    for title in titles:
        names.append(file_name(facts(), title, names))

    assert all(name.startswith(SLUGS["date_prefix"]) for name in names)
    assert len(set(names)) == len(names)
    assert not set(names) & set(SLUGS["not_allowed"])
    assert names[2] == f"2026-03-14-{SLUGS['titles'][2]}.md"
    assert names[3:] == [
        "2026-03-14-1817.md",
        "2026-03-14-skill-cleanup.md",
        f"2026-03-14-{SLUGS['titles'][0]}-2.md",
        "2026-03-14-1817-2.md",
    ]


def test_the_third_of_a_name_gets_a_three_and_case_makes_no_difference() -> None:
    taken = ["2026-03-14-Plans.md", "2026-03-14-plans-2.MD"]

    assert file_name(facts(), "plans", taken) == "2026-03-14-plans-3.md"


@pytest.mark.parametrize("title", [None, "", " \n", "🎉🎉", "—…!"], ids=repr)
def test_without_a_word_the_hour_is_the_name(title: str | None) -> None:
    assert file_name(facts(), title, ()) == "2026-03-14-1817.md"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Skill Cleanup", "skill-cleanup"),
        ("  --Trip to Lisbon!--  ", "trip-to-lisbon"),
        ("\n**vendor_pitch**\nand more", "vendor-pitch"),
        ("../../etc/passwd", "etc-passwd"),
        ("a" * 40, "a" * 30),
        ("passport renewal before the flight", "passport-renewal-before-the"),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
        ("ก" + "า" * 28 + "กำลั", "ก" + "า" * 28 + "ก"),
    ],
    ids=["plain", "edges", "markdown", "path", "long", "long words", "accents", "marks"],
)
def test_a_title_becomes_a_slug(title: str, expected: str) -> None:
    assert slug(title) == expected


@examples(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_a_slug_is_always_fit_for_a_file_name(title: str) -> None:
    made = slug(title)

    assert len(made) <= 30
    assert not re.search(r"[\s/\\.:_\x00]|^-|-$|--", made)
    assert slug(made) == made


def test_only_what_people_and_the_model_said_is_taken() -> None:
    messages: list[Message] = [
        user("/new"),
        user("/status now"),
        user("/etc/hosts is wrong, and /tmp too"),
        assistant("I look.", call("A")),
        result("A", "RAW"),
        assistant("NO_REPLY"),
        assistant(" no_reply "),
        assistant("Done."),
        user(" "),
    ]

    assert spoken(messages, 15) == (
        Line(role="user", text="/etc/hosts is wrong, and /tmp too"),
        Line(role="assistant", text="I look."),
        Line(role="assistant", text="Done."),
    )


@pytest.mark.parametrize(("said", "kept"), [(14, 14), (15, 15), (16, 15)], ids=["below", "at", "above"])
def test_the_last_fifteen_are_kept(said: int, kept: int) -> None:
    lines = spoken([user(f"text {number}") for number in range(said)], 15)

    assert len(lines) == kept
    assert lines[-1].text == f"text {said - 1}"


def test_a_session_leaves_what_was_said_and_no_payload(tmp_path: Path) -> None:
    """B41."""
    transcript = open_case("B41-session-before-reset.jsonl", tmp_path)
    said = [entry.body.message for entry in transcript.entries if isinstance(entry.body, Said)]
    transcript.close()

    text = note_text(facts(), spoken(said, 15))

    assert all(word in text for word in ("Lisbon", "passport", "tram tour"))
    assert "RAW-TOOL-NOISE" not in text
    assert text.startswith("# Session: 2026-03-14 18:17:00 America/Los_Angeles\n")
    assert "agent:main:main" in text
    assert "99999999-aaaa-4bbb-8ccc-dddddddddddd" in text
    assert "telegram" in text
    assert local_day(facts()) == date(2026, 3, 14)


def test_a_long_text_is_clipped_and_an_empty_session_has_a_head_only() -> None:
    assert len(note_text(facts(), [Line(role="user", text="x" * 9000)])) < 2_500
    assert "##" not in note_text(facts(), ())


def test_the_slug_is_asked_from_the_beginning_of_the_talk() -> None:
    prompt = slug_prompt([Line(role="user", text="We fly to Lisbon." + "x" * 5000 + "END")])

    assert "user: We fly to Lisbon." in prompt
    assert "END" not in prompt
