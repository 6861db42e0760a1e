"""Pictures for models: small enough, upright, without metadata, and never a bomb."""

import base64
import importlib.util
import io
import sys
from pathlib import Path

import pytest
from PIL import Image

from gateway.media.pictures import HEIC, NotShown, Shown, shown
from tests.fakes.files import bomb, picture


def look(tmp_path: Path, data: bytes, mime: str = "image/jpeg", max_bytes: int = 1_000_000) -> Shown:
    path = tmp_path / "picture"
    path.write_bytes(data)
    return shown(path, mime, max_bytes=max_bytes)


def opened(seen: Shown) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(seen.image.data)))


def test_a_large_photo_is_made_smaller(tmp_path: Path) -> None:
    seen = look(tmp_path, picture(4000, 3000, quality=95))
    assert (seen.width, seen.height, seen.image.mime_type) == (4000, 3000, "image/jpeg")
    assert opened(seen).size == (2048, 1536)


def test_a_small_photo_keeps_its_size(tmp_path: Path) -> None:
    assert opened(look(tmp_path, picture(640, 480))).size == (640, 480)


@pytest.mark.parametrize("most", [130_000, 200_000, 800_000])
def test_a_photo_that_compresses_badly_fits_all_the_same(tmp_path: Path, most: int) -> None:
    seen = look(tmp_path, picture(2400, 1800, noise=True, quality=95), max_bytes=most)
    assert len(base64.b64decode(seen.image.data)) <= most
    assert max(opened(seen).size) >= 800


def test_a_picture_that_never_fits_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotShown, match="smaller than 20 KB"):
        look(tmp_path, picture(1600, 1600, noise=True), max_bytes=20_000)


def test_transparency_stays_while_it_fits_and_goes_after_that(tmp_path: Path) -> None:
    small = look(tmp_path, picture(200, 200, kind="PNG", mode="RGBA"), "image/png")
    assert (small.image.mime_type, opened(small).mode) == ("image/png", "RGBA")
    large = look(tmp_path, picture(900, 900, kind="PNG", mode="RGBA", noise=True), "image/png", 300_000)
    assert large.image.mime_type == "image/jpeg"


def test_a_picture_is_turned_upright_and_loses_what_the_camera_wrote(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    exif[0x010F] = "SecretCam"
    exif.get_ifd(0x8825)[1] = "N"
    data = picture(300, 100, exif=exif)
    assert b"SecretCam" in data
    seen = look(tmp_path, data)
    again = opened(seen)
    assert again.size == (100, 300)
    assert dict(again.getexif()) == {}
    assert b"SecretCam" not in base64.b64decode(seen.image.data)


def test_a_png_loses_its_texts(tmp_path: Path) -> None:
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415

    info = PngInfo()
    info.add_text("Comment", "at home, 12 Rose Street")
    seen = look(tmp_path, picture(50, 50, kind="PNG", mode="RGBA", pnginfo=info), "image/png")
    assert b"Rose Street" not in base64.b64decode(seen.image.data)


def test_of_a_moving_picture_the_first_frame_is_shown(tmp_path: Path) -> None:
    first, second = Image.new("RGB", (50, 50), "red"), Image.new("RGB", (50, 50), "blue")
    target = io.BytesIO()
    first.save(target, "GIF", save_all=True, append_images=[second])
    seen = look(tmp_path, target.getvalue(), "image/gif")
    red, _, blue = opened(seen).convert("RGB").getpixel((25, 25))  # type: ignore[misc]
    assert (seen.frames, red > 200, blue < 60) == (2, True, True)


def test_a_bomb_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(NotShown, match="million pixels"):
        look(tmp_path, bomb(), "image/png")


@pytest.mark.parametrize("cut", [12, 200, 600])
def test_a_damaged_picture_is_told(tmp_path: Path, cut: int) -> None:
    data = picture(300, 300, noise=True)
    with pytest.raises(NotShown, match="damaged"):
        look(tmp_path, data[:cut])


def test_without_its_library_a_picture_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(NotShown, match=r"pip install 'clawd\[media\]'"):
        look(tmp_path, b"\xff\xd8\xff")


def test_what_is_no_picture_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotShown, match="damaged"):
        look(tmp_path, b"%!PS-Adobe-3.0 EPSF-3.0\n", "image/jpeg")


@pytest.mark.skipif(importlib.util.find_spec("pillow_heif") is not None, reason="pillow-heif is there")
def test_heic_needs_a_further_library(tmp_path: Path) -> None:
    with pytest.raises(NotShown, match="pillow-heif"):
        look(tmp_path, b"\0\0\0\x18ftypheic", HEIC)


@pytest.mark.skipif(importlib.util.find_spec("pillow_heif") is None, reason="pillow-heif is not there")
def test_heic_is_shown_as_jpeg(tmp_path: Path) -> None:
    importlib.import_module("pillow_heif").register_heif_opener()
    seen = look(tmp_path, picture(200, 100, kind="HEIF"), HEIC)
    assert (seen.width, seen.image.mime_type) == (200, "image/jpeg")


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "WEBP", "GIF"])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_all_usual_kinds_are_shown(tmp_path: Path, kind: str, mode: str) -> None:
    seen = look(tmp_path, picture(60, 40, kind=kind, mode=mode), "image/png")
    assert opened(seen).size == (60, 40)
