"""send_file: a file of the workspace, or of those that people sent, goes out with the answer."""

import os
from pathlib import Path

from pydantic import Field

from agents.bootstrap import PRIVATE
from agents.paths import Confined, Place
from agents.saving import opened
from agents.tools.files import to_end
from agents.tools.tool import Arguments, Tool, ToolError, ToolOutput, TypedTool
from agents.turn import Turn
from gateway.media.media import Media
from gateway.media.sending import MOST_FILES, SEND_FILE, sending_details
from gateway.media.store import Stored, sized


class SendFileArguments(Arguments):
    path: str = Field(description="relative to the workspace, or of a file that was sent")
    caption: str | None = Field(None, max_length=900, description="a few words under it")


def send_file_tool(media: Media, *, workspace: Path, folder: Path, forbidden: tuple[Path, ...]) -> Tool:
    """Whatever the agent's access to files is, only those of the workspace and of `folder` (media) leave."""
    confined = Confined(workspace, forbidden=forbidden, readable=(folder,))

    def copied(call: SendFileArguments, turn: Turn, max_bytes: int | None) -> Stored | Place:
        """Its copy; where nothing can be sent, the place itself."""
        with confined.locate(call.path) as place:
            _check(place, turn, confined.root)
            try:
                with opened(place) as fd:
                    size = os.fstat(fd).st_size
                    if max_bytes is None:
                        return place
                    if size == 0:
                        raise ToolError(f"{place.shown} is empty. An empty file cannot be sent.")
                    if size > max_bytes:
                        raise ToolError(
                            f"{place.shown} has {sized(size)}; at most {sized(max_bytes)} can be sent here. "
                            "Send a part of it, or tell where it is."
                        )
                    return media.store.copy_out(fd, place.name)
            except FileNotFoundError as error:
                raise ToolError(f"{call.path} does not exist. Use list to see what there is.") from error
            except IsADirectoryError as error:
                raise ToolError(f"{place.shown} is a folder. Send one file of it.") from error

    async def send(call: SendFileArguments, turn: Turn) -> ToolOutput:
        slot = media.outgoing.slot(turn.key)
        if slot is not None and slot.count >= MOST_FILES:
            raise ToolError(f"{MOST_FILES} files go out with this answer already. Send the others later.")
        found = await to_end(lambda: copied(call, turn, slot.max_bytes if slot else None), what=call.path)
        if slot is None or isinstance(found, Place):
            return ToolOutput.of(f"No file can be sent in this conversation. Tell where it is: {found.path}")
        slot.count += 1
        return ToolOutput.of(
            f"{call.path} ({sized(found.size)}) goes out with your answer, after its text.",
            details=sending_details(found, (call.caption or "").strip()),
        )

    return TypedTool(
        name=SEND_FILE,
        description="Send a file to the person, with your answer in this chat.",
        arguments=SendFileArguments,
        action=send,
    )


def _check(place: Place, turn: Turn, root: Path) -> None:
    """What is for the owner alone stays closed where others read along, under any name."""
    if turn.key.private and turn.trust == "owner":
        return
    try:
        found = os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
    except FileNotFoundError:
        return
    for name in PRIVATE:
        try:
            same = os.path.samestat(found, (root / name).lstat())
        except OSError:
            same = False
        if same or (place.in_workspace and place.shown.casefold() == name.casefold()):
            raise ToolError(f"{name} is for the owner's own conversations. Others read along here.")
