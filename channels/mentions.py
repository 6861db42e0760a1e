"""Whether a text calls the agent by its name: patterns of the owner, and names as whole words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import re2

MAX_PATTERN_CHARS = 500
MAX_TEXT_CHARS = 20_000
_MEMORY = 1 << 20

# Zero-width characters, soft hyphens, and marks that change the direction of writing.
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
                        "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]")  # fmt: skip


class Pattern(Protocol):
    def search(self, text: str) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """`matches` takes time linear in the text. `problems` has a sentence for each pattern that is skipped."""

    patterns: tuple[Pattern, ...]
    problems: tuple[str, ...]

    def matches(self, text: str) -> bool:
        seen = visible(text)[:MAX_TEXT_CHARS].encode(errors="replace").decode()
        return any(pattern.search(seen) is not None for pattern in self.patterns)


def mentions_of(patterns: Iterable[str], names: Iterable[str] = ()) -> Mentions:
    """Patterns of the owner and names of an agent (`Ada`, an emoji), in any case.

    A single letter is no name here: it would be found in most texts. A pattern that is invalid, too long
    or too costly, or that matches the empty text (and so everything), is skipped.
    """
    compiled, problems = [], []
    for pattern in patterns:
        try:
            compiled.append(_compiled(pattern))
        except ValueError as error:
            problems.append(f"the mention pattern {pattern[:60]!r} is skipped: {error}")
    called = [text for name in names if (text := visible(name).strip()) and not _is_letter(text)]
    compiled += [_compiled(_as_word(name)) for name in called]
    return Mentions(patterns=tuple(compiled), problems=tuple(problems))


def names_in(identity: str) -> tuple[str, ...]:
    """The agent's name and emoji, as the lines `- Name:` and `- Emoji:` of its IDENTITY.md say."""
    found = re.findall(
        r"^\s*[-*]?\s*\**(?:name|emoji)\**\s*:[ \t*]*(.+?)[ \t*]*$", identity, re.IGNORECASE | re.MULTILINE
    )
    return tuple(dict.fromkeys(name.strip() for name in found if name.strip() and "{" not in name))


def visible(text: str) -> str:
    """`text` without characters that nobody sees."""
    return _INVISIBLE.sub("", text)


def calls_by_username(text: str, username: str, entities: Sequence[str] = ()) -> bool:
    """Whether `@username` stands in the text as a whole name, in any case.

    Not inside a mail address or a longer name. `entities` are the mentions that the platform marked: when
    it marked some, they alone count.
    """
    if not username:
        return False
    if entities:
        return any(one.lstrip("@").lower() == username.lower() for one in entities)
    name = re.escape(username)
    return re.search(rf"(?<![\w.@/+-])@{name}(?![\w])", visible(text), re.IGNORECASE) is not None


def _as_word(name: str) -> str:
    """A pattern for a name: word characters do not go on beside it, where words are set apart at all."""
    before = r"(?:^|[^\pL\pN_])" if _is_word(name[0]) else ""
    after = r"(?:$|[^\pL\pN_])" if _is_word(name[-1]) else ""
    return f"{before}{re2.escape(name)}{after}"


def _is_word(char: str) -> bool:
    """Scripts without blanks between words (Thai and its neighbours, and from CJK on) do not count."""
    return (char.isalnum() or char == "_") and not ("\u0e00" <= char <= "\u0eff" or char >= "\u2e80")


def _is_letter(text: str) -> bool:
    return len(text) == 1 and _is_word(text)


def _compiled(pattern: str) -> Pattern:
    """Raises ValueError with the reason."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise ValueError(f"it is longer than {MAX_PATTERN_CHARS} characters")
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        compiled: Pattern = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it is no regular expression"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"{text} (RE2 syntax, without look-around and back-references)") from error
    if compiled.search("") is not None:
        raise ValueError("it matches every text")
    return compiled
