"""What the commands print with: one console, safe text, JSON for programs."""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from rich.console import Console

from sessions.messages import Json

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def console(*, color: bool, stderr: bool = False) -> Console:
    """A console for people; plain where nobody looks or no colours are wanted."""
    return Console(no_color=not color, stderr=stderr, highlight=False, emoji=False, markup=False)


def clean(text: str) -> str:
    """`text` without the control characters that could take over a terminal; tabs and lines stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def report_json(value: object) -> Json:
    """A report of plain dataclasses as JSON: fields by name, paths as text."""
    if is_dataclass(value):
        return {one.name: report_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): report_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, frozenset)):
        return [report_json(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def print_json(value: Json) -> None:
    """Indented JSON on stdout, whatever the strings in it hold."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    sys.stdout.buffer.write(text.encode("utf-8", errors="replace") + b"\n")
    sys.stdout.buffer.flush()
