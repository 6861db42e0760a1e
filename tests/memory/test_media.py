"""Pictures and sounds among the extra paths (B13): indexed, embedded, found and told as what they are."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.embed.batching import Sender
from memory.embed.explain import Asked
from memory.embed.gemini import GeminiEmbedder
from memory.embed.gemini_wire import GeminiWire
from memory.embed.link import Link
from memory.embed.media import Modality
from memory.embed.remote import Identity
from memory.embed.senders import HttpSender
from memory.files import MemoryRefused
from memory.index import MemoryIndex
from memory.media import NotMedia, label_of, media_file
from tests.fakes.embedding_wires import KEY
from tests.fakes.embeddingserver import EmbeddingServer, Slow
from tests.fakes.model_script import Fail
from tests.memory.conftest import MakeIndex, Notes
from tests.memory.embed.conftest import LIMITS

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
MP3 = b"ID3\x04" + bytes(40)


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as running:
        yield running


@pytest.fixture
async def eyes(server: EmbeddingServer) -> AsyncIterator[GeminiEmbedder]:
    async def connect() -> Sender:
        link = Link(f"{server.url}/v1beta", headers={"x-goog-api-key": KEY}, secrets=[KEY], proxied=False)
        return HttpSender(link, GeminiWire(model="gemini-embedding-2"))

    embedder = GeminiEmbedder(
        Identity(provider="gemini", model="gemini-embedding-2", version="1", dims=0, floor=0.1, ceiling=0.5),
        connect=connect,
        limits=LIMITS,
        asked=Asked(
            provider="gemini", model="gemini-embedding-2", address=server.url, variables=("GEMINI_API_KEY",)
        ),
    )
    yield embedder
    await embedder.aclose()


def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    (folder / "trip").mkdir(parents=True)
    (folder / "trip" / "harbour.png").write_bytes(PNG)
    (folder / "trip" / "song.mp3").write_bytes(MP3)
    (folder / "trip" / "about.md").write_text("A trip to the coast")
    return folder


def over(
    make_index: MakeIndex, eyes: GeminiEmbedder, folder: Path, *, enabled: bool = True, **more: object
) -> MemoryIndex:
    search = {
        "extra_paths": [{"path": str(folder), "pattern": "**/*"}],
        "multimodal": {"enabled": enabled, **more},
    }
    return make_index(eyes, provider="gemini", search=search)


async def test_b13_pictures_and_sounds_are_found_with_their_path_and_kind(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, eyes: GeminiEmbedder, server: EmbeddingServer
) -> None:
    notes.write({"MEMORY.md": "home", "memory/a.png.md": "no picture"})
    folder = photos(tmp_path)
    index = over(make_index, eyes, folder)
    report = await index.sync()
    assert (report.files, report.waiting, report.failed) == (5, 0, ())
    sent = b"".join(one.body for one in server.requests)
    assert sent.count(b'"inlineData"') == 2
    assert b"image/png" in sent
    assert b"audio/mpeg" in sent
    hit = (await index.search("harbour")).hits[0]
    path = str(folder / "trip" / "harbour.png")
    assert (hit.path, hit.kind, hit.start_line, hit.end_line) == (path, "image", 1, 1)
    assert hit.snippet == f"Image file: {path}"
    assert hit.parts is not None
    assert hit.parts.passage.cosine is not None
    assert (await index.search("song")).hits[0].kind == "audio"
    assert (await index.search("coast")).hits[0].kind == "text"
    assert (await index.read(path)).text == f"Image file: {path}"


async def test_b13_without_the_setting_no_picture_is_read_as_text(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, eyes: GeminiEmbedder
) -> None:
    notes.write({"MEMORY.md": "home"})
    folder = photos(tmp_path)
    index = over(make_index, eyes, folder, enabled=False)
    report = await index.sync()
    assert (report.files, report.warnings) == (2, ())
    with pytest.raises(MemoryRefused):
        await index.read(str(folder / "trip" / "harbour.png"))


@pytest.mark.parametrize(("chosen", "files"), [("image", 2), ("audio", 2)])
async def test_one_kind_may_be_chosen(
    tmp_path: Path,
    notes: Notes,
    make_index: MakeIndex,
    eyes: GeminiEmbedder,
    *,
    chosen: Modality,
    files: int,
) -> None:
    notes.write({})
    index = over(make_index, eyes, photos(tmp_path), modalities=[chosen])
    assert (await index.sync()).files == files


async def test_the_same_picture_is_sent_once_and_another_again(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, eyes: GeminiEmbedder, server: EmbeddingServer
) -> None:
    notes.write({})
    folder = photos(tmp_path)
    index = over(make_index, eyes, folder)
    await index.sync()
    before = len(server.requests)
    assert (await index.sync(force=True)).waiting == 0
    assert len(server.requests) == before
    (folder / "trip" / "harbour.png").write_bytes(PNG + b"more")
    assert (await index.sync()).embedded == 1
    (folder / "trip" / "harbour.png").unlink()
    assert (await index.sync()).removed == 1


@pytest.mark.parametrize(("size", "failed"), [(47, 1), (48, 0), (49, 0)])
async def test_a_picture_that_is_too_large_or_none_is_a_problem_of_its_own(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, eyes: GeminiEmbedder, *, size: int, failed: int
) -> None:
    notes.write({})
    folder = photos(tmp_path)
    (folder / "trip" / "note.jpg").write_bytes(b"# only text")
    report = await over(make_index, eyes, folder, max_file_bytes=size).sync()
    reasons = {Path(one.path).name: one.reason for one in report.failed}
    assert "content" in reasons.pop("note.jpg")
    assert len(reasons) == failed
    assert all("larger" in reason for reason in reasons.values())


async def test_a_picture_that_the_provider_refuses_hinders_nothing_else(
    tmp_path: Path, notes: Notes, make_index: MakeIndex, eyes: GeminiEmbedder, server: EmbeddingServer
) -> None:
    notes.write({})
    index = over(make_index, eyes, photos(tmp_path))
    # The number of dimensions, the text, both files at once, each alone.
    server.script += [Slow(0), Slow(0), Fail(status=400), Fail(status=400)]
    report = await index.sync()
    (problem,) = report.failed
    assert "cannot be embedded" in problem.reason
    assert report.waiting == 1
    before = len(server.requests)
    assert (await index.search("coast")).hits
    assert len(server.requests) == before + 1
    assert len((await index.sync()).failed) == 1


def test_a_file_is_what_its_bytes_say() -> None:
    file = media_file("a/cat.png", PNG)
    assert (file.part.label, file.part.mime) == ("Image file: a/cat.png", "image/png")
    assert file.hash != media_file("b/cat.png", PNG).hash
    assert file.hash != media_file("a/cat.png", PNG + b"x").hash
    assert label_of("a/b.opus") == "Audio file: a/b.opus"
    with pytest.raises(NotMedia, match=r"audio/mpeg"):
        media_file("cat.png", MP3)
