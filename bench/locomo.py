"""LoCoMo (Maharana et al. 2024) as a memory: each session of a conversation is a daily note."""

import json
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = Any  # somebody else's file, read once

WHERE = """\
The LoCoMo set is not part of clawd. Get locomo10.json from github.com/snap-research/locomo (Maharana et al.
2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents"; CC BY-NC 4.0), then run:

    python bench/recall.py --data PATH/locomo10.json
"""
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with the notes' lines that answer it: path and line text."""

    text: str
    category: str
    evidence: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation: its notes by path, and the questions about it that have evidence."""

    notes: dict[str, str]
    asked: tuple[Asked, ...]


def talks(path: Path, *, moved_back: bool = False) -> list[Talk]:
    """All conversations. `moved_back`: each note by another number of days, up to two years."""
    return [talk(sample, moved_back=moved_back) for sample in json.loads(path.read_text())]


def talk(sample: dict[str, Json], *, moved_back: bool) -> Talk:
    said: dict[str, tuple[str, str]] = {}
    notes: dict[str, str] = {}
    conversation = sample["conversation"]
    sessions = [name for name, session in conversation.items() if isinstance(session, list)]
    for number, name in enumerate(sessions):
        when = conversation[name + "_date_time"]
        day = day_of(when) - timedelta(days=(number * 97) % 731 if moved_back else 0)
        path = f"memory/{day}.md" if f"memory/{day}.md" not in notes else f"memory/{day}-{name}.md"
        turns = conversation[name]
        lines = [f"{turn['speaker']}: {' '.join(turn['text'].split())}" for turn in turns]
        said |= {turn["dia_id"]: (path, line) for turn, line in zip(turns, lines, strict=True)}
        notes[path] = f"# {when}\n\n" + "\n".join(lines) + "\n"
    asked: list[Asked] = []
    for one in sample["qa"]:
        ids = [id_ for text in one.get("evidence", ()) for id_ in re.findall(r"D\d+:\d+", text)]
        evidence = tuple(said[id_] for id_ in ids if id_ in said)
        if evidence:
            asked.append(Asked(one["question"], CATEGORIES[one["category"]], evidence))
    return Talk(notes=notes, asked=tuple(asked))


def day_of(when: str) -> date:
    match = re.search(r"(\d+) (\w+),? (\d{4})", when)
    assert match
    return datetime.strptime(" ".join(match.groups()), "%d %B %Y").date()  # noqa: DTZ007 (a day, no moment)
