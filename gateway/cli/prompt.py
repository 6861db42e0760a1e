"""The line that a person writes on: with history, and with more than one line where wanted."""

from collections.abc import AsyncIterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.patch_stdout import patch_stdout


class Keyboard:
    """Reads messages until Ctrl-D. `history` is made closed to other users. `source` and `target` stand in
    for the terminal."""

    def __init__(self, history: Path, *, source: Input | None = None, target: Output | None = None) -> None:
        history.touch(mode=0o600)
        self._session: PromptSession[str] = PromptSession(
            "> ",
            history=FileHistory(str(history)),
            key_bindings=_keys(),
            multiline=True,
            prompt_continuation="  ",
            input=source,
            output=target,
        )

    async def messages(self) -> AsyncIterator[str]:
        """One message a time; Ctrl-C empties the line."""
        while True:
            try:
                with patch_stdout(raw=True):
                    text = await self._session.prompt_async()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            yield text


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
