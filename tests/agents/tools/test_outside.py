"""Which files count as content from outside."""

from pathlib import Path, PurePosixPath

import pytest

from agents.settings import ToolsSettings
from agents.tools.files import file_tools
from agents.tools.outside import OUTPUTS, marked
from agents.tools.tool import ToolOutput
from agents.workspace import Workspace
from tests.fakes.protocols import turn


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("media/letter.txt", "media/letter.txt"),
        ("media/in/letter.txt", "media/in/letter.txt"),
        ("media/exec/exec-1.txt", None),
        ("media/exec.txt", "media/exec.txt"),
        ("mediaeval/letter.txt", None),
        ("workspace/letter.txt", None),
    ],
)
def test_what_people_sent_is_from_outside_and_what_clawd_keeps_is_not(
    tmp_path: Path, path: str, source: str | None
) -> None:
    output = marked(ToolOutput.of("x"), PurePosixPath(tmp_path) / path, (tmp_path / "media",))

    assert (output.untrusted, output.source) == (source is not None, source or "")


async def test_a_file_of_media_is_marked_whatever_it_is_called(tmp_path: Path) -> None:
    """Also through a link in the workspace, and when media itself is one."""
    media, workspace = tmp_path / "real", tmp_path / "workspace"
    for folder in (media / OUTPUTS, workspace):
        folder.mkdir(parents=True)
    (tmp_path / "media").symlink_to(media)
    (media / "letter.txt").write_text("Dear assistant")
    (workspace / "link.txt").symlink_to(media / "letter.txt")
    (workspace / "own.txt").write_text("mine")
    read = file_tools(Workspace(workspace), ToolsSettings(), readable=(tmp_path / "media",))[0]

    async def marks(path: str) -> bool:
        return (await read.run({"path": path}, turn())).untrusted

    assert await marks("link.txt")
    assert await marks(str(tmp_path / "media" / "letter.txt"))
    assert not await marks("own.txt")
