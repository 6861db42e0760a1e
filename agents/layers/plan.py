"""Which sections leave layer 1, where they go, and what each file is afterwards. Nothing is ever dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents.layers.budget import COUNTED, FILE_TOKENS, tokens
from agents.layers.outline import Outline, Section, outline, split_lines
from agents.layers.pointers import only_pointer, pointer_to, pointers
from agents.layers.shelf import Leaving, Put, Shelf
from sessions.tokens import estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Lines `first` to `last` (from 1) of a file go to `path`, as `added`; `new` when no file was there."""

    title: str
    first: int
    last: int
    tokens: int
    path: str
    added: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """One file before and after; `moves` are in the order in which they have to be made, and `why` says in
    words what keeps it over its budget still."""

    name: str
    before: str
    after: str
    moves: tuple[Move, ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file with its text before (None: there was none) and after."""

    path: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`changes` are those of all files, layer 1 first."""

    files: tuple[FilePlan, ...]
    changes: tuple[Change, ...]


def plan(texts: Mapping[str, str], shelf: Mapping[str, str | None], *, budget: int = FILE_TOKENS) -> Plan:
    """Bring each file of layer 1 within `budget` tokens, largest sections first, of equal ones the last.

    `shelf` holds the files of memory/ and reference/, as in Shelf. A section keeps its heading, and the
    pointers directly below it; a pointer stands for the rest. Where headings and pointers alone are too
    much, all sections go into one file.
    """
    current = Shelf(shelf)
    files: list[FilePlan] = []
    for name in COUNTED:
        if name in texts:
            made, current = _trimmed(name, texts[name], current, budget)
            files.append(made)
    changes = [
        Change(path=one.name, before=one.before, after=one.after) for one in files if one.after != one.before
    ]
    changes += [
        Change(path=path, before=shelf.get(path), after=text)
        for path, text in sorted(current.files.items())
        if text is not None and text != shelf.get(path)
    ]
    return Plan(files=tuple(files), changes=tuple(changes))


def _trimmed(name: str, text: str, shelf: Shelf, budget: int) -> tuple[FilePlan, Shelf]:
    if tokens(text) <= budget:
        return FilePlan(name=name, before=text, after=text), shelf
    page = _Page(name, text)
    moved, changed = page.one_by_one(shelf.copy(), budget)
    if tokens(moved.after) <= budget:
        return moved, changed
    gathered, gathered_shelf = page.all_into_one(shelf.copy())
    if tokens(gathered.after) <= budget:
        return gathered, gathered_shelf
    return (
        FilePlan(
            name=name, before=text, after=moved.after, moves=moved.moves, why=page.why(moved.after, budget)
        ),
        changed,
    )


class _Page:
    """One file of layer 1 while it is being planned."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.lines = split_lines(text)
        self.outline: Outline = outline(self.lines)
        self.newline = "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

    def one_by_one(self, shelf: Shelf, budget: int) -> tuple[FilePlan, Shelf]:
        """Sections leave, each for a file of its own, until the rest fits or none is left to gain by."""
        left: dict[int, str] = {}
        moves: list[Move] = []
        weight = _weight(self.text.rstrip())
        for section in sorted(self.outline.sections, key=self._order):
            if weight <= 4 * budget and tokens(self._rebuilt(left)) <= budget:
                break
            kept, rest = self._divided(section)
            leaving = self._leaving(section.title, rest, section.end, led=kept)
            if not leaving.body:
                continue
            chosen = shelf.choose(leaving)
            stub = self._stub(
                section, [*kept, *([] if chosen.path in leaving.led else [pointer_to(chosen.path)])]
            )
            gain = _weight("".join(self.lines[section.start : section.end])) - _weight(stub)
            if gain <= 0:
                continue
            shelf.put(chosen)
            weight -= gain
            left[section.start] = stub
            moves.append(self._move(leaving, chosen, rest, section.end))
        after = self._rebuilt(left) if moves else self.text
        return FilePlan(name=self.name, before=self.text, after=after, moves=tuple(moves)), shelf

    def all_into_one(self, shelf: Shelf) -> tuple[FilePlan, Shelf]:
        """All sections, headings and all, leave for one file."""
        start = self.outline.intro_end
        leaving = self._leaving(f"{self.name.removesuffix('.md')} sections", start, len(self.lines))
        if not leaving.body:
            return FilePlan(name=self.name, before=self.text, after=self.text), shelf
        chosen = shelf.choose(leaving)
        shelf.put(chosen)
        intro = "".join(self.lines[:start]).rstrip()
        gap = self.newline * 2 if intro else ""
        after = f"{intro}{gap}{pointer_to(chosen.path)}{self.newline}"
        move = self._move(replace(leaving, title="all sections"), chosen, start, len(self.lines))
        return FilePlan(name=self.name, before=self.text, after=after, moves=(move,)), shelf

    def why(self, after: str, budget: int) -> str:
        """What keeps a file over its budget when all that can move has moved."""
        if not self.outline.sections:
            return "it has no sections that could move: divide it with headings, or shorten it by hand"
        intro = tokens("".join(self.lines[: self.outline.intro_end]))
        if intro > budget:
            return f"what stands before its first section takes {intro:,} tokens: shorten that by hand"
        return f"its introduction, headings and pointers take {tokens(after):,} tokens: shorten them by hand"

    def _order(self, section: Section) -> tuple[int, int]:
        _, rest = self._divided(section)
        return -_weight("".join(self.lines[rest : section.end]).rstrip()), -section.start

    def _divided(self, section: Section) -> tuple[list[str], int]:
        """The pointers directly below a heading, and the line where the rest begins."""
        kept: list[str] = []
        at = section.body
        while at < section.end and (not self.lines[at].strip() or only_pointer(self.lines[at])):
            kept += [self.lines[at].rstrip("\r\n")] if self.lines[at].strip() else []
            at += 1
        return kept, at

    def _leaving(self, title: str, start: int, end: int, *, led: Sequence[str] = ()) -> Leaving:
        paths = [one.path for one in pointers(led)]
        return Leaving(title=title, body=_without_blanks(self.lines[start:end]), source=self.name, led=paths)

    def _stub(self, section: Section, pointing: Sequence[str]) -> str:
        """What stays of a section."""
        heading = "".join(self.lines[section.start : section.body])
        end = self.newline if section.end < len(self.lines) else ""
        return heading + self.newline + self.newline.join(pointing) + self.newline + end

    def _move(self, leaving: Leaving, chosen: Put, start: int, end: int) -> Move:
        while not self.lines[end - 1].strip():
            end -= 1
        return Move(
            title=leaving.title,
            first=start + 1,
            last=end,
            tokens=tokens(leaving.body),
            path=chosen.path,
            added=chosen.added,
            new=chosen.new,
        )

    def _rebuilt(self, left: Mapping[int, str]) -> str:
        intro = "".join(self.lines[: self.outline.intro_end])
        return intro + "".join(
            left.get(one.start, "".join(self.lines[one.start : one.end])) for one in self.outline.sections
        )


def _without_blanks(lines: Sequence[str]) -> str:
    """Lines as text, without blank ones at both ends and without the last line's end."""
    full = [at for at, line in enumerate(lines) if line.strip()]
    return "".join(lines[full[0] : full[-1] + 1]).rstrip("\r\n") if full else ""


def _weight(text: str) -> int:
    """Quarters of tokens: unlike tokens, these can be added and taken away."""
    return estimate(text * 4)
