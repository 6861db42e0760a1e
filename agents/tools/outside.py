"""Which files came from outside: those that people sent, and not what clawd keeps beside them itself."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from agents.tools.tool import ToolOutput

OUTPUTS = "exec"
"""The folder of media for what commands printed."""


def marked(output: ToolOutput, path: PurePosixPath, folders: Sequence[Path]) -> ToolOutput:
    """What was read from `path`, as content from outside when that lies in one of the folders."""
    for folder in folders:
        real = folder.resolve()
        if path.is_relative_to(real) and not path.is_relative_to(real / OUTPUTS):
            return replace(output, untrusted=True, source=f"{real.name}/{path.relative_to(real)}")
    return output
