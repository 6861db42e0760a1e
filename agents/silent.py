"""What of an answer is for people: a chosen silence is held back, also while it is still arriving."""

from sessions.silence import NO_REPLY, is_silent


def audible(text: str) -> str | None:
    """The text as it came; None when it is a chosen silence."""
    return None if is_silent(text) else text


class Holdback:
    """The text of one answer as it arrives, with whatever may yet turn out to be silence held back.

    What `feed` returned, joined, followed by what `end` returns, is the whole text; or nothing, when the
    whole text is a silence.
    """

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def feed(self, text: str) -> str:
        """What may be shown now; empty while all of it could still be silence."""
        if self._open:
            return text
        self._held += text
        if _may_be_silence(self._held):
            return ""
        self._open = True
        held, self._held = self._held, ""
        return held

    def end(self) -> str:
        """What is left to show; empty for a silence. Nothing may be fed afterwards."""
        return "" if is_silent(self._held) else self._held


def _may_be_silence(text: str) -> bool:
    begun = text.lstrip().upper()
    return NO_REPLY.startswith(begun) or (begun.startswith(NO_REPLY) and is_silent(text))
