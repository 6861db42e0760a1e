"""What a model is asked when it has to summarise, and the shape of its answer."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.compaction import CutPart
from sessions.limits import Limits
from sessions.messages import Message
from sessions.settings import CompactionSettings
from sessions.summary import HEADINGS, REQUEST, sections, stages, summary_message, written_out
from sessions.tokens import estimate
from tests.sessions.making import assistant, call, result, user

LIMITS = Limits.of(200_000, CompactionSettings())
SMALL = Limits.of(8_000, CompactionSettings())


def part(*messages: Message, earlier: str = "", split: bool = False) -> CutPart:
    return CutPart(messages=messages, earlier=earlier, request="q", split=split, turns=1)


def test_the_instruction_names_every_heading_and_where_the_part_ends() -> None:
    text = summary_message(part(user("q"), assistant("the very last words")), LIMITS, focus="the budget")

    assert all(f"## {heading}\n" in text for heading in HEADINGS)
    assert "the very last words" in text
    assert "the budget" in text
    assert "earlier summary" not in text
    assert "middle of the answer" not in text
    assert "NO_REPLY" not in text


def test_an_earlier_summary_and_a_split_turn_are_spoken_of() -> None:
    text = summary_message(part(user("q"), earlier="the old days", split=True), LIMITS)

    assert "carry over everything" in text
    assert "middle of the answer" in text


def test_a_short_part_is_one_stage_with_what_was_earlier() -> None:
    (only,) = stages(part(user("q"), earlier="what was"), LIMITS)

    prompt = only.prompt()
    assert "<earlier-summary>\nwhat was\n</earlier-summary>" in prompt
    assert "[person]\nq" in prompt
    assert "part 1 of" not in prompt


def test_a_later_stage_goes_on_from_the_answer_to_the_one_before() -> None:
    made = list(stages(part(*[user("x" * 4_000)] * 9, earlier="the old days", split=True), SMALL, focus="y"))

    assert len(made) > 2
    assert "the old days" in made[0].prompt()
    assert "the old days" not in made[1].prompt("so far")
    assert "<earlier-summary>\nso far\n" in made[1].prompt("so far")
    assert f"part 2 of {len(made)}" in made[1].prompt("so far")
    assert "middle of the answer" in made[-1].prompt("so far")
    assert "middle of the answer" not in made[0].prompt()


def test_an_empty_part_is_still_one_stage() -> None:
    assert len(list(stages(part(), LIMITS))) == 1


@pytest.mark.parametrize("window", [8_000, 32_000, 200_000, 1_000_000])
def test_every_stage_fits_its_window(window: int) -> None:
    limits = Limits.of(window, CompactionSettings())
    messages: list[Message] = [
        user("x" * 900),
        assistant("y" * 700, call("A")),
        result("A", "z\n" * 9_000),
    ] * 40

    for stage in stages(part(*messages), limits):
        assert estimate(stage.prompt("s" * 4 * limits.summary)) <= limits.compact


@examples(max_examples=60, deadline=None)
@given(st.lists(st.text("ab \n字", max_size=3_000), max_size=6))
def test_stages_quote_all_that_was_said(texts: list[str]) -> None:
    messages = [user(text) for text in texts]
    quoted = "".join(stage.prompt() for stage in stages(part(*messages), SMALL))
    said = "".join(written_out(messages))

    assert "".join(said.split()).replace("[person]", "") in "".join(
        "".join(chunk.partition("</conversation>")[0] for chunk in quoted.split("<conversation>")[1:]).split()
    ).replace("[person]", "")


def test_results_are_written_out_by_their_ends() -> None:
    (text,) = written_out([result("A", "head" + "x" * 9_000 + "tail", is_error=True)])

    assert text.startswith("[result of read A, failed]\nhead")
    assert text.endswith("tail")
    assert len(text) < 3_200
    assert list(written_out([assistant("hm", call("B"))])) == [
        '[assistant]\nhm\n[calls read B {"path": "notes.md"}]'
    ]


@pytest.mark.parametrize(
    "line",
    ["## Last request", "### last request:", "# **Last request**", "**Last request:**", "## Last Request ##"],
)
def test_a_heading_is_known_by_its_words(line: str) -> None:
    assert (
        sections(f"before\n{line}\nwhat\n\nhe asked\n## Other\nx")[REQUEST] == "what\n\nhe asked\n## Other\nx"
    )
    assert sections(f"before\n{line}\nx")[""] == "before"


def test_text_that_names_a_heading_is_no_heading() -> None:
    assert REQUEST not in sections("- Last request: buy milk\nThe last request\n## Decisions of mine\n")
