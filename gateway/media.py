"""Files that came with messages, as a model can use them."""

from dataclasses import dataclass

from sessions.messages import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a message's files: `text` says it to the model, failures included; `images` it sees."""

    text: str = ""
    images: tuple[Image, ...] = ()
