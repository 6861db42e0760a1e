"""What a file is to people, by its type."""

from channels.message import FileKind


def kind_of(mime: str) -> FileKind:
    """How platforms would show it."""
    match mime.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case _:
            return "document"
