"""The files that enter every prompt, cut to size: which, in what order, and how much of each."""

from dataclasses import dataclass

NAMES = (
    "AGENTS.md",
    "SOUL.md",
    "TOOLS.md",
    "IDENTITY.md",
    "USER.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "MEMORY.md",
)
PRIVATE = frozenset({"MEMORY.md"})
HEAD_SHARE = 0.75
LEAST_BESIDE_MARKER = 16
LEAST_ROOM = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapFile:
    """One file as it enters the prompt.

    `raw_chars` counts what is on disk without trailing blanks (of a file too large to be read whole: its
    bytes), `injected` is what a model sees of it; empty when nothing more fitted.
    """

    name: str
    raw_chars: int
    injected: str
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file as read: `head` is all of it, or its beginning when `tail` is its end.

    `size` is in characters, in bytes when only the two ends were read.
    """

    name: str
    head: str
    tail: str | None
    size: int


def fit(sources: list[Source], *, max_chars: int, total_max_chars: int) -> tuple[BootstrapFile, ...]:
    """Every source within `max_chars`, all of them together within `total_max_chars`, in their order."""
    room = total_max_chars
    files: list[BootstrapFile] = []
    for source in sources:
        limit = min(max_chars, room)
        whole = source.tail is None and len(source.head) <= limit
        injected = source.head if whole else "" if limit < LEAST_ROOM else truncate(source, limit)
        room -= len(injected)
        files.append(
            BootstrapFile(
                name=source.name, raw_chars=source.size, injected=injected, truncated=injected != source.head
            )
        )
    return tuple(files)


def truncate(source: Source, limit: int) -> str:
    """The beginning and the end of a source around a marker, `limit` characters at the most.

    Of what the marker leaves, three quarters are the beginning.
    """
    tail = source.tail if source.tail is not None else source.head
    room = limit - len(_full_marker(source, limit, limit))
    form = _full_marker if room >= LEAST_BESIDE_MARKER else _short_marker
    kept_head = kept_tail = limit
    for _ in range(4):  # the marker's own length depends on the numbers in it
        room = max(0, limit - len(form(source, kept_head, kept_tail)))
        kept_head = min(int(room * HEAD_SHARE), len(source.head))
        kept_tail = min(room - kept_head, len(tail))
    marker = form(source, kept_head, kept_tail)
    kept_tail = max(0, min(kept_tail, limit - kept_head - len(marker)))
    return (source.head[:kept_head] + marker + tail[len(tail) - kept_tail :])[:limit]


def _full_marker(source: Source, head: int, tail: int) -> str:
    unit = "characters" if source.tail is None else "bytes"
    line = source.head.count("\n", 0, head) + 1
    return (
        f"\n\n[… {source.name} is cut here: the first {head} and last {tail} characters "
        f'of {source.size} {unit} stand here. The rest: read path "{source.name}", from_line {line} …]\n\n'
    )


def _short_marker(source: Source, head: int, tail: int) -> str:
    return f"\n[… {source.name} cut: {head}+{tail}/{source.size}; use read …]\n"
