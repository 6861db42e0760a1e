"""Which commands may run unasked: read as words, part by part, and never guessed at.

Only a small part of the shell's language is understood: plain words, quotes without expansion, and the
joints && || | ;. Everything else (substitution, redirection, globs, variables, background, newlines) makes a
command one that is not on the list. The list is a convenience; the boundary is the sandbox.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Protocol, TypeAlias

import re2

from agents.paths import PathRefused, inside
from agents.tools.approval import Remembered

Words: TypeAlias = tuple[str, ...]
Resolve: TypeAlias = Callable[[str], str]
"""The absolute path of a program, or an empty text."""

MAX_COMMAND = 4_000

_BLANKS = re.compile(r"[ \t]+")
_JOINT = re.compile(r"&&|\|\||\||;")
_PIECE = re.compile(
    r"(?P<plain>[^\s|&;<>()$`\\\"'*?\[\]#~{}!\x00-\x1f\x7f]+)"
    r"|'(?P<single>[^'\x00-\x1f\x7f]*)'"
    r'|"(?P<double>[^"$`\\!\x00-\x1f\x7f]*)"'
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")

_SHELL = re.compile(
    r"if|then|else|elif|fi|case|esac|for|while|until|do|done|in|function|select|time|coproc|\[\[|\]\]"
    r"|cd|pushd|popd|eval|exec|source|\.|command|builtin|alias|unalias|export|readonly|local|declare|typeset"
    r"|set|unset|shift|trap|read|hash|enable|shopt|ulimit|umask|wait|bg|fg|jobs|return|exit|break|continue"
)
_WRAPPER = re.compile(
    r"(?:ba|da|z|k|mk|c|tc|fi|a)?sh|busybox|toybox|env|sudo|su|doas|runuser|setpriv|xargs|nohup|nice|ionice"
    r"|timeout|stdbuf|strace|ltrace|watch|script|parallel|ssh|chroot|unshare|nsenter|bwrap|flock|setsid"
    r"|g?awk|mawk|nawk|sed|(?:python|pypy|perl|ruby|lua|luajit|php|node|nodejs|deno|bun|tclsh|wish)[0-9.]*"
    r"|osascript|pwsh|gdb|lldb|vi|vim|nvim|view|ex|ed|emacs|less|more|man|ld\.so|ld-linux[^/]*"
)
"""Programs whose arguments are programs."""

_RUNS_OTHERS = {"find": ("-exec", "-ok", "-delete", "-fprint", "-fls")}


class _Pattern(Protocol):
    def match(self, text: str) -> "_Match | None": ...


class _Match(Protocol):
    def end(self) -> int: ...


@dataclass(frozen=True, slots=True)
class NotUnderstood(Exception):
    """A command that cannot be read as plain words; the text says where."""

    text: str

    def __str__(self) -> str:
        return self.text


def parts_of(command: str) -> tuple[Words, ...]:
    """The words of each program that the command runs. Raises NotUnderstood."""
    if len(command) > MAX_COMMAND:
        raise NotUnderstood(f"it is longer than {MAX_COMMAND:,} characters")
    parts: list[Words] = []
    words: list[str] = []
    at, text = 0, command.strip(" \t")
    while at < len(text):
        joint = _JOINT.match(text, at)
        if joint:
            parts.append(_part(words))
            words, at = [], joint.end()
        else:
            word, at = _word(text, at)
            words.append(word)
        blanks = _BLANKS.match(text, at)
        at = blanks.end() if blanks else at
    return (*parts, _part(words))


def _part(words: list[str]) -> Words:
    if not words:
        raise NotUnderstood("a program is missing beside && || | or ;")
    if _ASSIGNMENT.match(words[0]):
        raise NotUnderstood("it sets a variable")
    return tuple(words)


def _word(text: str, at: int) -> tuple[str, int]:
    word, begun = "", at
    while piece := _PIECE.match(text, at):
        word += next(one for one in piece.groups() if one is not None)
        at = piece.end()
    if at == begun:
        raise NotUnderstood(f"{text[at : at + 8]!r} is more than plain words")
    return word, at


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowlist:
    """`patterns` as in the settings, `remembered` by a person's word. `root` None: arguments may name any
    file; else those outside it are refused."""

    patterns: Sequence[str]
    remembered: Sequence[Remembered] = ()
    root: PurePosixPath | None = None

    def refusal(self, parts: Sequence[Words], *, cwd: PurePosixPath, resolve: Resolve) -> str | None:
        """Why a command is not on the list, as a clause; None when every part of it is."""
        for words in parts:
            if why := self._refusal(words, cwd, resolve):
                return why
        return None

    def _refusal(self, words: Words, cwd: PurePosixPath, resolve: Resolve) -> str | None:
        if _SHELL.fullmatch(words[0]):
            return f"{words[0]} belongs to the shell"
        path = resolve(words[0])
        if not any(self._remembers(one, words, path) for one in self.remembered):
            exact_only = runs_others(words)
            if not any(matches(one, words, exact_only=exact_only) for one in self.patterns):
                return f"{shlex.join(words[:3])} is not on the list"
        strays = [word for word in words[1:] if self.root is not None and leads_out(word, self.root, cwd)]
        return f"{strays[0]} is outside the workspace" if strays else None

    def _remembers(self, one: Remembered, words: Words, path: str) -> bool:
        return one.words == words or (bool(one.program) and one.program == path and not runs_others(words))


def matches(pattern: str, words: Words, *, exact_only: bool = False) -> bool:
    """Whether one pattern of the settings fits a program with its arguments.

    `^…` is a regular expression (RE2) on the words as a shell would be given them, which has to reach over
    the whole program. Anything else is a word for each word, * and ? standing in it for anything; a last *
    alone is for any further words. `exact_only`: nothing may stand in for something.
    """
    if pattern.startswith("^"):
        found = None if exact_only else _compiled(pattern).match(shlex.join(words))
        return found is not None and found.end() >= len(shlex.quote(words[0]))
    wanted = pattern.split()
    open_end = len(wanted) > 1 and wanted[-1] == "*"
    if exact_only:
        return tuple(wanted) == words and not set("*?[") & set(pattern)
    if open_end:
        wanted = wanted[:-1]
    fits = len(words) >= len(wanted) if open_end else len(words) == len(wanted)
    return fits and all(fnmatchcase(word, one) for word, one in zip(words, wanted, strict=False))


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a pattern of the settings, to be read after it."""
    if not pattern.split():
        return "cannot be empty"
    if not pattern.startswith("^"):
        return None
    try:
        _compiled(pattern)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        told = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return f"is no regular expression: {told}"
    return None


def runs_others(words: Words) -> bool:
    """Whether the arguments of a program are programs themselves, so that its name says nothing."""
    name = words[0].rpartition("/")[2]
    flags = _RUNS_OTHERS.get(name, ())
    return bool(_WRAPPER.fullmatch(name)) or any(word.startswith(flags) for word in words[1:] if flags)


def leads_out(word: str, root: PurePosixPath, cwd: PurePosixPath) -> bool:
    """Whether an argument names, or may hide, a path outside `root`. Decided as text."""
    word = re.sub(r"^https?://", "", word)
    value = word[2:] if re.match(r"-[^-]", word) else word
    for piece in (value, *re.split(r"[=:,@]", word)):
        named = piece.startswith(("/", "~")) or ".." in piece.split("/")
        if named and not _stays(piece, root, cwd):
            return True
    return False


def _stays(piece: str, root: PurePosixPath, cwd: PurePosixPath) -> bool:
    try:
        inside(root, str(cwd / piece) if not piece.startswith("~") else piece)
    except PathRefused:
        return False
    return True


def _compiled(pattern: str) -> _Pattern:
    options = re2.Options()
    options.log_errors = False
    compiled: _Pattern = re2.compile(pattern, options)
    return compiled
