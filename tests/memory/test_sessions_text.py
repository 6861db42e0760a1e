"""memory/sessions_text.py: what was said is found by any question, and what is hidden is not."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.embed.embedder import MemoryUnavailable
from memory.sessions_tables import Wanted
from memory.sessions_text import SessionsText, Talk, TalkFile, TextResult

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    line: int
    role: Literal["user", "assistant"] = "user"
    at: datetime = NOON


@dataclass(slots=True)
class FakeTalks:
    """`said` holds the texts of each session, one a line from 2; `readings` what was read from where."""

    said: dict[str, list[str]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    readings: list[tuple[str, str]] = field(default_factory=list)

    def files(self) -> list[TalkFile]:
        return [TalkFile(session=name, state=(len(texts), 1)) for name, texts in self.said.items()]

    def read(self, session: str, mark: str) -> Talk:
        self.readings.append((session, mark))
        if session in self.broken:
            raise PermissionError(13, "no permission")
        texts = self.said[session]
        start = int(mark or 0)
        goes_on = bool(mark) and start <= len(texts)
        start = start if goes_on else 0
        remarks = [
            Said(text=text, line=number + 2, at=NOON + timedelta(minutes=number))
            for number, text in enumerate(texts)
        ][start:]
        return Talk(remarks=remarks, mark=str(len(texts)), goes_on=goes_on)


@pytest.fixture
def talks() -> FakeTalks:
    return FakeTalks()


@pytest.fixture
async def text(talks: FakeTalks, tmp_path: Path) -> AsyncIterator[SessionsText]:
    made = SessionsText(database=tmp_path / "memory" / "main.sessions.sqlite", talks=talks)
    yield made
    await made.aclose()


async def ask(text: SessionsText, question: str, *, limit: int = 10, hidden: str = "") -> TextResult:
    def visible(session: str) -> bool:
        return session != hidden

    return await text.search(Wanted(text=question, limit=limit, visible=visible if hidden else None))


async def lines(text: SessionsText, question: str) -> list[tuple[str, int]]:
    return [(one.session, one.line) for one in (await ask(text, question)).found]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("reuniao com o joao", 2),
        ("reuniões", 2),
        ("ERR_4711", 3),
        ("err-4711!", 3),
        ("会议", 4),
        ("회의를", 5),
        ("カメラ", 6),
        ("who said kestrel?", 7),
        ('"kestrel ships"', 7),
        ("NAÏVE", 8),
    ],
)
async def test_what_was_said_is_found(talks: FakeTalks, text: SessionsText, question: str, line: int) -> None:
    talks.said["s"] = [
        "A reunião com o João é às dez",
        "it failed with ERR_4711 again",
        "明天的会议在十点开始",
        "내일 회의를 합니다",
        "新しいカメラを買った",
        "The kestrel ships on Friday",
        "a naïve idea",
    ]

    assert await lines(text, question) == [("s", line)]


async def test_the_very_text_comes_first_and_then_the_newest(talks: FakeTalks, text: SessionsText) -> None:
    talks.said["s"] = ["tea green", "green tea", "tea green", *["filler"] * 9]

    assert await lines(text, "green tea") == [("s", 3), ("s", 4), ("s", 2)]


async def test_what_stands_in_quotation_marks_must_stand_there_as_it_is(
    talks: FakeTalks, text: SessionsText
) -> None:
    talks.said["s"] = ["green strong tea", "Strong  GREEN tea"]

    assert await lines(text, '"strong green" tea') == [("s", 3)]
    assert await lines(text, "«green tea»") == [("s", 3)]
    assert (await ask(text, '"strong blue"')).found == ()


async def test_some_of_the_words_are_better_than_nothing_and_it_is_told(
    talks: FakeTalks, text: SessionsText
) -> None:
    talks.said["s"] = ["the kestrel ships on Friday", "the falcon stays"]

    whole, some, none = [
        await ask(text, question) for question in ("kestrel Friday", "kestrel Sunday", "zebra Sunday")
    ]

    assert (len(whole.found), whole.partial) == (1, False)
    assert ([one.line for one in some.found], some.partial) == ([2], True)
    assert (none.found, none.partial) == ((), False)


async def test_a_snippet_shows_the_match_within_a_long_text(talks: FakeTalks, text: SessionsText) -> None:
    talks.said["s"] = ["word " * 2_000 + "the kestrel ships" + " more" * 2_000]

    (found,) = (await ask(text, "kestrel")).found

    assert "the kestrel ships" in found.snippet
    assert len(found.snippet) <= 300
    assert found.cut
    assert found.at == NOON.timestamp()


async def test_what_is_hidden_is_not_found_and_takes_no_place(talks: FakeTalks, text: SessionsText) -> None:
    talks.said = {"open": ["tea and much more to read in one long line"], "private": ["tea"] * 50}

    result = await ask(text, "tea", limit=1, hidden="private")

    assert [one.session for one in result.found] == ["open"]
    assert (await ask(text, "tea", hidden="open")).found[0].session == "private"


async def test_only_what_was_added_is_read(talks: FakeTalks, text: SessionsText) -> None:
    talks.said = {"a": ["tea"], "b": ["coffee"]}
    await text.bring_up()
    talks.said["a"].append("kestrel")

    assert await lines(text, "kestrel") == [("a", 3)]
    assert await lines(text, "tea") == [("a", 2)]
    assert talks.readings == [("a", ""), ("b", ""), ("a", "1")]


async def test_what_was_rewritten_or_removed_is_gone(talks: FakeTalks, text: SessionsText) -> None:
    talks.said = {"a": ["tea", "kestrel", "falcon"], "b": ["coffee"]}
    await text.bring_up()
    talks.said = {"a": ["milk"]}

    assert await lines(text, "kestrel") == await lines(text, "coffee") == await lines(text, "tea") == []
    assert await lines(text, "milk") == [("a", 2)]


async def test_a_conversation_that_cannot_be_read_does_not_stop_the_rest(
    talks: FakeTalks, text: SessionsText, caplog: pytest.LogCaptureFixture
) -> None:
    talks.said = {"a": ["tea"], "b": ["tea"]}
    talks.broken = {"a"}

    assert await lines(text, "tea") == [("b", 2)]
    assert "no permission" in caplog.text
    talks.broken = set()
    assert len(await lines(text, "tea")) == 2


async def test_two_processes_share_the_tables(talks: FakeTalks, text: SessionsText, tmp_path: Path) -> None:
    other = SessionsText(database=tmp_path / "memory" / "main.sessions.sqlite", talks=talks)
    talks.said = {f"s{number}": ["tea", "milk"] for number in range(60)}
    for _ in range(3):
        for texts in talks.said.values():
            texts.append("kestrel")
        await asyncio.gather(text.bring_up(), other.bring_up())

    found = (await ask(text, "kestrel", limit=500)).found

    await other.aclose()
    assert sorted((one.session, one.line) for one in found) == sorted(
        (f"s{number}", line) for number in range(60) for line in (4, 5, 6)
    )


async def test_many_may_open_a_new_file_at_once(talks: FakeTalks, tmp_path: Path) -> None:
    talks.said["s"] = ["kestrel"]
    for number in range(15):
        path = tmp_path / f"{number}.sqlite"
        several = [SessionsText(database=path, talks=talks) for _ in range(4)]
        results = await asyncio.gather(*(ask(one, "kestrel") for one in several))
        for one in several:
            await one.aclose()

        assert [len(result.found) for result in results] == [1, 1, 1, 1]


@pytest.mark.parametrize("harm", ["deleted", "no database"])
async def test_the_file_is_made_anew_from_the_conversations(
    harm: str, talks: FakeTalks, text: SessionsText, tmp_path: Path
) -> None:
    talks.said["s"] = ["kestrel"]
    await text.bring_up()
    await text.aclose()
    path = tmp_path / "memory" / "main.sessions.sqlite"
    path.unlink()
    if harm == "no database":
        path.write_bytes(b"x" * 8_192)

    again = SessionsText(database=path, talks=talks)

    assert await lines(again, "kestrel") == [("s", 2)]
    await again.aclose()


async def test_a_file_that_cannot_be_made_is_told(talks: FakeTalks, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    text = SessionsText(database=tmp_path / "x" / "s.sqlite", talks=talks)

    with pytest.raises(MemoryUnavailable, match="cannot be"):
        await ask(text, "tea")
    await text.aclose()


async def test_a_search_does_not_wait_for_long_and_says_so(talks: FakeTalks, tmp_path: Path) -> None:
    talks.said = {f"s{number}": ["tea"] * 300 for number in range(20)}
    text = SessionsText(database=tmp_path / "s.sqlite", talks=talks, patience_seconds=0)

    first = await ask(text, "tea")
    await text.bring_up()
    later = SessionsText(database=tmp_path / "s.sqlite", talks=talks)

    assert first.warning is not None
    assert "still being indexed" in first.warning
    assert len((await ask(later, "tea", limit=200)).found) == 200
    await text.aclose()
    await later.aclose()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40) | st.text(alphabet="\"*():^-+ANDORNEAR{}\\' x", max_size=40))
async def test_any_question_is_safe(talks: FakeTalks, text: SessionsText, question: str) -> None:
    talks.said["s"] = ["x AND y", "NEAR (z)"]

    await ask(text, question)
