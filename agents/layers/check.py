"""The check of topic files: small, one fact a line, pointers that lead somewhere, nothing twice."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from markdown_it.token import Token

from agents.layers.outline import blocks, split_lines
from agents.layers.pointers import only_pointer, pointers, without_pointers
from agents.layers.shelf import TOPIC_BYTES
from sessions.tokens import estimate

FACT_CHARS = 300
LEAST_TOKENS = 4  # shorter lines, such as "- none yet", may stand anywhere
_NO_FACTS = {
    "table_open": "a table",
    "fence": "a block of code",
    "code_block": "a block of code",
    "html_block": "a block of HTML",
}
_MARKS = re.compile(r"^(?:\s|>|[-*+](?=\s)|\d+[.)](?=\s)|\[[ xX]\](?=\s))+|[*_`~]+")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """Something to mend, with the place; `line` counts from 1."""

    path: str
    line: int
    what: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}. {self.advice}"


def check(
    layer_one: Mapping[str, str],
    topics: Mapping[str, str],
    reference: Mapping[str, str],
    *,
    there: AbstractSet[str],
) -> tuple[Finding, ...]:
    """All findings, sorted. `there` holds the paths of files that pointers may lead to."""
    found = [finding for path, text in topics.items() for finding in _form(path, text)]
    for path, text in (*layer_one.items(), *topics.items()):
        found += [
            Finding(
                path=path,
                line=one.line,
                what=f"the pointer leads to {one.path}, which is no file of the workspace",
                advice="Write that file, or correct the pointer.",
            )
            for one in pointers(split_lines(text))
            if one.path not in there
        ]
    return tuple(sorted([*found, *_twice((*layer_one.items(), *topics.items()), reference)]))


def _form(path: str, text: str) -> Iterator[Finding]:
    size = len(text.encode())
    if size > TOPIC_BYTES:
        yield Finding(
            path=path,
            line=1,
            what=f"{size:,} bytes, and a topic file holds at most {TOPIC_BYTES:,}",
            advice="Divide it by topic, or move the long part to reference/ and leave a pointer.",
        )
    lines = split_lines(text)
    lists = 0
    paragraph = False
    for token in blocks(lines):
        at = (token.map or (0, 0))[0] + 1
        if token.type.endswith("_list_open"):
            lists += 1
            if lists == 2:
                yield _unfit(path, at, "a list in a list")
        lists -= token.type.endswith("_list_close")
        comment = token.type == "html_block" and token.content.lstrip().startswith("<!--")
        if token.type in _NO_FACTS and not comment:
            yield _unfit(path, at, _NO_FACTS[token.type])
        if paragraph and token.type == "inline":
            yield from _facts(path, at, token, in_list=lists > 0)
        paragraph = token.type == "paragraph_open"


def _unfit(path: str, line: int, what: str) -> Finding:
    return Finding(
        path=path,
        line=line,
        what=f"{what}, where each line should be one fact",
        advice="Write short lines instead, or move it to reference/ and leave a pointer.",
    )


def _facts(path: str, at: int, paragraph: Token, *, in_list: bool) -> Iterator[Finding]:
    """An item of a list is one fact. Elsewhere each line is one, unless it goes on in lower case."""
    facts: list[tuple[int, list[str]]] = []
    for number, line in enumerate(paragraph.content.split("\n"), start=at):
        if only_pointer(line):
            continue
        said = without_pointers(line).strip()
        if facts and (in_list or said[:1].islower()):
            facts[-1][1].append(said)
        else:
            facts.append((number, [said]))
    for number, parts in facts:
        characters = len(" ".join(parts))
        if characters > FACT_CHARS:
            what, advice = f"{characters} characters in one fact", "Divide it, one fact a line."
        elif len(parts) > 1:
            what, advice = f"one fact over {len(parts)} lines", "Write it on one line."
        else:
            continue
        yield Finding(path=path, line=number, what=what, advice=advice)


def _twice(upper: Sequence[tuple[str, str]], reference: Mapping[str, str]) -> Iterator[Finding]:
    """Lines that say the same in two places; within reference/ they may."""
    first: dict[str, tuple[str, int]] = {}
    for path, text in upper:
        lines = split_lines(text)
        silent = _silent(lines)
        for line, said in _sayings(lines):
            if line in silent:
                continue
            if said in first:
                yield _again(path, line, first[said])
            else:
                first[said] = path, line
    for path, text in reference.items():
        lines = split_lines(text)
        again = [(line, said) for line, said in _sayings(lines) if said in first]
        silent = _silent(lines) if again else frozenset[int]()  # long files are parsed for a reason only
        yield from (_again(path, line, first[said]) for line, said in again if line not in silent)


def _again(path: str, line: int, first: tuple[str, int]) -> Finding:
    other, number = first
    return Finding(
        path=path,
        line=line,
        what=f"the same line stands in {other}:{number}",
        advice="Keep it in one place, and a pointer in the other.",
    )


def _sayings(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Line numbers and what the lines say, in a form in which equal facts are equal."""
    for number, line in enumerate(lines, start=1):
        said = normalised(line)
        if estimate(said) >= LEAST_TOKENS:
            yield number, said


def _silent(lines: Sequence[str]) -> frozenset[int]:
    """The lines that are no facts: headings, code, HTML and tables."""
    silent: set[int] = set()
    for token in blocks(lines):
        if token.map and token.type in {*_NO_FACTS, "heading_open"}:
            silent.update(range(token.map[0] + 1, token.map[1] + 1))
    return frozenset(silent)


def normalised(line: str) -> str:
    """A line without marks, pointers, case and stray blanks."""
    text = _MARKS.sub("", without_pointers(unicodedata.normalize("NFKC", line)))
    return " ".join(text.casefold().split()).rstrip(".;,")
