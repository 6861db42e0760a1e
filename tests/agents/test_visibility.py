"""agents/visibility.py: who may look into which conversation."""

from typing import Literal

import pytest

from agents.visibility import Caller, Visibility, may_look
from sessions.key import SessionKey
from tests.fakes.protocols import turn

KEYS = {
    name: SessionKey.parse(text)
    for name, text in {
        "main": "agent:a:main",
        "work": "agent:a:api:work",
        "group": "agent:a:telegram:group:-7",
        "thread": "agent:a:telegram:group:-7:thread:3",
        "other group": "agent:a:discord:channel:9",
        "guest": "agent:a:telegram:direct:42",
        "foreign": "agent:b:main",
        "child": "agent:a:api:child",
        "grandchild": "agent:a:api:grandchild",
        "group's child": "agent:a:telegram:group:-7:thread:child",
    }.items()
}
PARENTS = {
    KEYS["child"]: KEYS["main"],
    KEYS["grandchild"]: KEYS["child"],
    KEYS["group's child"]: KEYS["group"],
}


@pytest.mark.parametrize(
    ("caller", "private", "visibility", "seen"),
    [
        ("main", True, "self", {"main"}),
        ("main", True, "tree", {"main", "child", "grandchild"}),
        ("main", True, "agent", set(KEYS) - {"foreign"}),
        ("work", True, "tree", {"work"}),
        ("child", True, "tree", {"child", "grandchild"}),
        ("group", False, "self", {"group"}),
        ("group", False, "tree", {"group", "group's child"}),
        ("group", False, "agent", {"group", "thread", "other group", "group's child"}),
        ("guest", False, "self", {"guest"}),
        ("guest", False, "agent", {"guest", "group", "thread", "other group", "group's child"}),
        ("main", False, "self", set()),
        ("main", False, "agent", {"group", "thread", "other group", "group's child"}),
    ],
)
def test_what_a_caller_sees(caller: str, private: bool, visibility: Visibility, seen: set[str]) -> None:
    who = Caller(key=KEYS[caller], private=private)

    assert {
        name for name, key in KEYS.items() if may_look(who, key, visibility, spawned_by=PARENTS.get)
    } == seen


@pytest.mark.parametrize(
    ("private", "visibility", "seen"),
    [(True, "agent", True), (True, "tree", False), (False, "agent", False)],
)
def test_a_session_of_unknown_key_is_the_owners(private: bool, visibility: Visibility, seen: bool) -> None:
    assert may_look(Caller(key=KEYS["main"], private=private), None, visibility) is seen


@pytest.mark.parametrize(
    ("name", "trust", "private"),
    [("main", "owner", True), ("main", "guest", False), ("group", "owner", False), ("guest", "guest", False)],
)
def test_who_is_private(name: str, trust: Literal["owner", "guest"], private: bool) -> None:
    assert Caller.of(turn(key=str(KEYS[name]), trust=trust)).private is private


def test_a_ring_of_parents_ends() -> None:
    ring = {KEYS["child"]: KEYS["grandchild"], KEYS["grandchild"]: KEYS["child"]}

    assert not may_look(Caller(key=KEYS["main"], private=True), KEYS["child"], "tree", spawned_by=ring.get)
