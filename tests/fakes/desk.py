"""A workspace with the file tools over it, as a model would use them."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.settings import ToolsSettings
from agents.tools.files import file_tools
from agents.tools.tool import ToolError
from agents.workspace import Workspace
from sessions.messages import JsonObject, text_of
from tests.fakes.protocols import turn


@dataclass(frozen=True, slots=True)
class Desk:
    """The tools over a workspace at `home`/workspace, with `home` closed and `home`/media readable."""

    root: Path
    home: Path
    access: str = "workspace"
    max_read_chars: int = 40_000

    async def call(self, name: str, arguments: JsonObject, *, trust: str = "owner") -> str:
        settings = ToolsSettings.model_validate(
            {"file_access": self.access, "max_read_chars": self.max_read_chars}
        )
        tools = file_tools(
            Workspace(self.root), settings, forbidden=(self.home,), readable=(self.home / "media",)
        )
        tool = {tool.spec.name: tool for tool in tools}[name]
        return text_of((await tool.run(arguments, turn(trust=trust))).parts)

    async def refused(self, name: str, arguments: JsonObject, *, trust: str = "owner") -> str:
        with pytest.raises(ToolError) as caught:
            await self.call(name, arguments, trust=trust)
        return str(caught.value)


def furnish(folder: Path) -> Desk:
    """A home with a secret and with media, a workspace in it, and a file beside it."""
    home = folder / ".clawd"
    for name in ("media", "credentials", "workspace/memory"):
        (home / name).mkdir(parents=True)
    (home / "credentials" / "token").write_text("secret")
    (home / "media" / "out.txt").write_text("long output")
    (folder / "elsewhere.md").write_text("elsewhere")
    return Desk(home / "workspace", home)
