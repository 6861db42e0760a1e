"""What leaves: no reasoning, no call syntax, no envelope, no secret; and all the rest as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.writing import Writer
from tests.fakes.channel import TRAITS

CANARY = "canary-7f3a91bc"
writer = Writer([CANARY])


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<thinking>no</thinking>Yes.", "Yes."),
        ("<think>\nno\n</think>\n\nYes.", "Yes."),
        ("Yes. <tool_call>{}</tool_call> And?", "Yes.  And?"),
        ("<function_calls><invoke name='x'>", ""),
        ("[2026-11-29 22:51 Sun Europe/Lisbon] Yes.", "Yes."),
        ("[2026-11-29 22:51 Sun Europe/Lisbon] Ana: Yes.", "Yes."),
        ("In code: `<b>` and List<int> stay.", "In code: `<b>` and List<int> stay."),
        ("```xml\n<thinking>kept</thinking>\n```", "```xml\n<thinking>kept</thinking>\n```"),
        (f"The word is {CANARY}.", "The word is [redacted]."),
        (
            "The Wi-Fi password: zebra42, the token: abcdefgh",
            "The Wi-Fi password: zebra42, the token: abcdefgh",
        ),
        ("sk-ant-REDACTED0123456789", "[redacted]"),
    ],
)
def test_what_leaves(text: str, seen: str) -> None:
    assert writer.outward(text) == seen


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_known_secret_never_leaves(before: str, after: str) -> None:
    for part in writer.parts(f"{before}{CANARY}{after}", TRAITS):
        assert CANARY not in part.text
        assert CANARY not in part.plain


@given(st.text(st.characters(exclude_characters="<[", exclude_categories=["Cs"]), max_size=300))
def test_other_texts_leave_as_they_are(text: str) -> None:
    assert Writer().outward(text) == text.strip()


def test_a_secret_that_is_learnt_later_does_not_leave_either() -> None:
    learning = Writer()
    assert learning.outward("open-sesame") == "open-sesame"
    learning.learn(["open-sesame"])
    assert learning.outward("open-sesame") == "[redacted]"


def test_every_part_leaves_room_for_the_mark_of_a_repetition() -> None:
    for part in writer.parts("word " * 500, TRAITS):
        assert len(part.text) <= TRAITS.max_text - 20
