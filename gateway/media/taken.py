"""What became of a message's files, as a model can use them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from channels.message import Attachment
from sessions.messages import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """`text` says it to the model, failures included; `images` it sees. `told` are failures in words for the
    person, and `outside` the sources of the content that came in with the files."""

    text: str = ""
    images: tuple[Image, ...] = ()
    told: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    @classmethod
    def of(cls, pieces: "list[Taken]") -> "Taken":
        """Several files as one."""
        return cls(
            text="\n".join(one.text for one in pieces if one.text),
            images=tuple(image for one in pieces for image in one.images),
            told=tuple(dict.fromkeys(line for one in pieces for line in one.told)),
            outside=tuple(dict.fromkeys(source for one in pieces for source in one.outside)),
        )


Take: TypeAlias = Callable[[Sequence[Attachment]], Awaitable[Taken]]


async def not_taken(files: Sequence[Attachment]) -> Taken:
    """What is told of files where nothing can take them."""
    kinds = ", ".join(f"{one.kind} {one.name}".strip() for one in files)
    return Taken(text=f"[came with files that were not taken: {kinds}]")
