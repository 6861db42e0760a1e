"""Tool-call ids as each wire wants them, the same on every request."""

import hashlib
import re
import string
from typing import Literal, TypeAlias

IdForm: TypeAlias = Literal["anthropic", "openai_chat", "openai_responses", "mistral"]

_KEPT: dict[IdForm, re.Pattern[str]] = {
    "anthropic": re.compile(r"[A-Za-z0-9_-]{1,64}\Z"),
    "openai_chat": re.compile(r"[!-~]{1,40}\Z"),
    "openai_responses": re.compile(r"[!-~]{1,64}\Z"),
    "mistral": re.compile(r"[A-Za-z0-9]{9}\Z"),
}
_DIGITS = string.digits + string.ascii_letters


def fit_id(call_id: str, form: IdForm) -> str:
    """The id itself where it fits the form, else one made from its hash: no state, so nothing changes it."""
    if _KEPT[form].match(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass"))
    if form != "mistral":
        return f"call_{digest.hexdigest()[:32]}"
    number, made = int.from_bytes(digest.digest(), "big"), ""
    for _ in range(9):
        number, digit = divmod(number, len(_DIGITS))
        made += _DIGITS[digit]
    return made


class CallIds:
    """The ids of one conversation, read from its start.

    Some servers use the same id again in a later turn (`call_0`), or even twice in one answer, which others
    refuse; each further use gets an id of its own, and results take the ids of the calls they answer, in
    order. Later messages never change an earlier id.
    """

    def __init__(self, form: IdForm) -> None:
        self._form = form
        self._uses: dict[str, int] = {}
        self._waiting: dict[str, list[str]] = {}

    def of_call(self, call_id: str) -> str:
        uses = self._uses[call_id] = self._uses.get(call_id, 0) + 1
        made = fit_id(call_id if uses == 1 else f"{call_id}\x00{uses}", self._form)
        self._waiting.setdefault(call_id, []).append(made)
        return made

    def of_result(self, call_id: str) -> str:
        """The id of the first call with this id that has no result yet."""
        waiting = self._waiting.get(call_id)
        return waiting.pop(0) if waiting else fit_id(call_id, self._form)
