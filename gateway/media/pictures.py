"""Pictures as models take them: small, upright, and without what cameras write beside them."""

import base64
import importlib
import io
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.messages import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MOST_PIXELS = 80_000_000
SIDES = (2048, 1600, 1280, 1024, 800)
QUALITIES = (80, 70, 60, 50, 40)
FORMATS = ("PNG", "JPEG", "MPO", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "HEIF")
HEIC = "image/heic"


class NotShown(Exception):
    """A picture that no model can be shown; the text says why, and what to do, for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """`width` and `height` are those of the picture as it came, `frames` how many it has."""

    image: Image
    width: int
    height: int
    frames: int = 1


def shown(path: Path, mime: str, *, max_bytes: int) -> Shown:
    """The picture in at most so many bytes, a PNG where it has transparency and fits, else a JPEG. Slow: run
    it in a thread. Raises NotShown and OSError (the file cannot be opened)."""
    try:
        from PIL import Image as pillow  # noqa: N813, PLC0415 (an extra, and slow to import)
    except ImportError as error:
        raise NotShown(
            "pictures cannot be looked at without Pillow. The owner can install it with pip install "
            "'clawd[media]'"
        ) from error
    if mime == HEIC:
        _learn_heic()
    pillow.init()
    formats = [one for one in FORMATS if one in pillow.OPEN]
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
        try:
            with pillow.open(file, formats=formats) as picture:
                return _shown(picture, max_bytes)
        except pillow.DecompressionBombError as error:
            raise NotShown(_bomb()) from error
        except (OSError, SyntaxError, ValueError, EOFError, OverflowError, IndexError, struct.error) as error:
            raise NotShown("the picture is damaged, or of a kind that cannot be read") from error


def _shown(picture: "Picture", max_bytes: int) -> Shown:
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise NotShown(_bomb())
    if min(width, height) < 1:
        raise NotShown("the picture is empty")
    frames = int(getattr(picture, "n_frames", 1))
    picture.draft("RGB", (SIDES[0], SIDES[0]))  # a JPEG is decoded at a fraction of its size
    for mime, data in _tries(picture, max_bytes):
        if len(data) <= max_bytes:
            image = Image(data=base64.b64encode(data).decode("ascii"), mime_type=mime)
            return Shown(image=image, width=width, height=height, frames=frames)
    raise NotShown(f"the picture cannot be made smaller than {max_bytes // 1000} KB")


def _tries(picture: "Picture", max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """What it may become, the best first."""
    from PIL import Image as pillow  # noqa: N813, PLC0415 (an extra)
    from PIL import ImageOps  # noqa: PLC0415 (an extra)

    upright = ImageOps.exif_transpose(picture)
    clear = upright.has_transparency_data
    whole = upright.convert("RGBA" if clear else "RGB")
    largest = max(whole.size)
    for side in (min(SIDES[0], largest), *(one for one in SIDES[1:] if one < largest)):
        smaller = whole.copy()
        smaller.thumbnail((side, side))
        if clear:
            yield "image/png", _saved(smaller, "PNG", optimize=True)
            ground = pillow.new("RGB", smaller.size, "white")
            ground.paste(smaller, mask=smaller.getchannel("A"))
            smaller = ground
        for quality in QUALITIES:
            yield "image/jpeg", _saved(smaller, "JPEG", quality=quality, optimize=max_bytes < 1 << 22)


def _saved(picture: "Picture", kind: str, **options: int) -> bytes:
    picture.info = {}  # nothing that a camera or a program wrote goes on
    target = io.BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()


def _learn_heic() -> None:
    try:
        importlib.import_module("pillow_heif").register_heif_opener()
    except ImportError as error:
        raise NotShown(
            "HEIC pictures cannot be looked at without pillow-heif. Send it as JPEG; the owner can also "
            "install it with pip install pillow-heif"
        ) from error


def _bomb() -> str:
    return f"the picture has more than {MOST_PIXELS // 1_000_000} million pixels, which is not opened"
