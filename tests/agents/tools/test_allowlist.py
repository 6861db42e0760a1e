"""Which commands are on the list, whatever is done to make another look like one (B90)."""

import json
import subprocess
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agents.settings import ToolsSettings
from agents.tools.allowlist import Allowlist, NotUnderstood, leads_out, matches, parts_of
from agents.tools.approval import Remembered

B90 = json.loads((Path(__file__).parents[2] / "cases" / "B90-exec.json").read_text())
ROOT = PurePosixPath("/srv/work")


def resolve(name: str) -> str:
    return name if name.startswith("/") else f"/usr/bin/{name}"


def allowed(
    command: str, *patterns: str, root: PurePosixPath | None = None, remembered: tuple[Remembered, ...] = ()
) -> bool:
    try:
        parts = parts_of(command)
    except NotUnderstood:
        return False
    listed = Allowlist(patterns=patterns, remembered=remembered, root=root)
    return listed.refusal(parts, cwd=ROOT, resolve=resolve) is None


@pytest.mark.parametrize(("command", "expected"), B90["rows"], ids=[repr(row[0]) for row in B90["rows"]])
def test_only_what_is_listed_and_nothing_beside_it_b90(command: str, expected: bool) -> None:
    assert allowed(command, *B90["allow_patterns"]) is expected


@pytest.mark.parametrize(
    ("command", "expected"), B90["workspace_only"], ids=[repr(row[0]) for row in B90["workspace_only"]]
)
def test_arguments_stay_in_the_workspace_b90(command: str, expected: bool) -> None:
    assert allowed(command, "^cat\\b", root=ROOT) is expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo a && echo b", True),
        ("echo a | grep -c a ; echo b || echo c", True),
        ("echo a && touch x", False),
        ("echo a | tee x", False),
        ("echo a &", False),
        ("echo a & echo b", False),
        ("echo a |& grep a", False),
        ("echo a &&", False),
        ("&& echo a", False),
        ("echo a ;; echo b", False),
        ("", False),
        ("   ", False),
        ("X=1 echo a", False),
        ("LD_PRELOAD=./x.so echo a", False),
        ("echo *", False),
        ("echo ~", False),
        ("echo a\\;b", False),
        ('echo "$(id)"', False),
        ('echo "`id`"', False),
        ('echo "a b" c', True),
        ("echo a#b", False),
        ("echo {a,b}", False),
        ("echo a\rid", False),
        ("echo a\x00", False),
        ("(echo a)", False),
        ("echo <(id)", False),
        ("echo 'a", False),
        ('e"ch"o a', True),
        ("if echo a; then echo b; fi", False),
        ("! echo a", False),
        ("echo" + " a" * 3000, False),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_chains_need_every_part_and_syntax_is_never_guessed(command: str, expected: bool) -> None:
    assert allowed(command, "echo", "echo *", "grep *") is expected


@pytest.mark.parametrize(
    "command",
    [
        "env echo a", "sudo echo a", "sh -c 'echo a'", "bash -lc 'echo a'", "/bin/bash -c 'echo a'",
        "xargs echo", "python3 -c 'print(1)'", "python3.11 x.py", "perl -e 1", "awk 1", "nohup echo a",
        "find . -exec id '{}' ';'", "find . -delete", "timeout 5 echo a", "eval echo a", "command echo a",
        "cd memory", ". x", "exec echo a", "git status; cd memory",
    ],
)  # fmt: skip
def test_what_runs_other_programs_is_not_opened_by_a_pattern(command: str) -> None:
    program = command.split(maxsplit=1)[0]

    assert not allowed(command, "*", "* *", "^.*", f"{program} *", f"^{program}.*", "git *")


def test_one_exact_line_may_name_even_an_interpreter() -> None:
    assert allowed("python3 tools/report.py --week", "python3 tools/report.py --week")
    assert not allowed("python3 tools/report.py --month", "python3 tools/report.py --week")
    assert not allowed("cd memory", "cd memory")


@pytest.mark.parametrize(
    ("pattern", "words", "fits"),
    [
        ("date", ("date",), True),
        ("date", ("date", "-u"), False),
        ("git status", ("git", "status"), True),
        ("git status", ("git", "push"), False),
        ("git log *", ("git", "log"), True),
        ("git log *", ("git", "log", "-1", "x"), True),
        ("git log *", ("git",), False),
        ("ls -?", ("ls", "-l"), True),
        ("ls", ("/opt/ls",), False),
        ("/usr/bin/ls", ("/usr/bin/ls",), True),
        ("^git (log|status)\\b", ("git", "status", "-s"), True),
        ("^git (log|status)\\b", ("git", "push"), False),
        ("^ec", ("echo", "a"), False),
        ("^echo\\b", ("echo-evil", "a"), False),
        ("*", ("ls",), True),
    ],
)
def test_a_pattern_is_words_or_an_expression(pattern: str, words: tuple[str, ...], fits: bool) -> None:
    assert matches(pattern, words) is fits


def test_what_a_person_has_approved_for_good_is_that_program_and_no_other() -> None:
    git = Remembered(program="/usr/bin/git")
    script = Remembered(words=("python3", "x.py"))

    assert allowed("git push", remembered=(git,))
    assert not allowed("/opt/git push", remembered=(git,))
    assert not allowed("git push && touch x", remembered=(git,))
    assert allowed("python3 x.py", remembered=(script,))
    assert not allowed("python3 x.py y", remembered=(script,))
    assert not allowed("python3 y.py", remembered=(Remembered(program="/usr/bin/python3"),))


@pytest.mark.parametrize(
    ("word", "out"),
    [
        ("notes.md", False),
        ("memory/2026-01-01.md", False),
        ("/srv/work/notes.md", False),
        ("memory/../notes.md", False),
        ("https://example.org/a/../b", False),
        ("-n5", False),
        ("a:b", False),
        ("/srv/workspace/x", True),
        ("../x", True),
        ("memory/../../x", True),
        ("--file=/etc/passwd", True),
        ("-f/etc/passwd", True),
        ("-f../x", True),
        ("of=/etc/x", True),
        ("@/etc/passwd", True),
        ("file:///etc/passwd", True),
        ("~/x", True),
        ("~root/x", True),
        ("x,/etc/passwd", True),
    ],
)
def test_paths_are_seen_wherever_they_stand_in_an_argument(word: str, out: bool) -> None:
    assert leads_out(word, ROOT, ROOT) is out


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parts = parts_of(text)
    except NotUnderstood:
        return

    assert all(parts)


@given(st.lists(st.text(alphabet="ab;|&$`'\" \\*~#<>(){}!=\n-/.", max_size=12), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_the_shell_reads_the_same_words_as_we_do(words: list[str]) -> None:
    """Whatever is understood here means to /bin/sh exactly what it means here."""
    command = "printf '[%s]' " + " ".join(words)
    try:
        parts = parts_of(command)
    except NotUnderstood:
        return
    if len(parts) != 1:
        return
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)

    given_words = parts[0][2:]
    assert done.stdout == ("".join(f"[{word}]" for word in given_words) if given_words else "[]")


def test_a_pattern_that_cannot_be_read_is_a_wrong_setting() -> None:
    with pytest.raises(ValidationError, match="no regular expression"):
        ToolsSettings.model_validate({"exec": {"allow": ["^(echo"]}})
    with pytest.raises(ValidationError, match="cannot be empty"):
        ToolsSettings.model_validate({"exec": {"allow": [" "]}})
