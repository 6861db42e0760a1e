"""Updates as the library reads them, and what becomes of those that it cannot read."""

import logging
from collections.abc import Mapping
from typing import Any

from telegram import Update
from telegram.request import HTTPXRequest

from channels.telegram.me import ALLOWED_UPDATES

_UNREADABLE = (TypeError, KeyError, ValueError, AttributeError)

logger = logging.getLogger("clawd.telegram")


def readable(told: Mapping[str, Any]) -> Update:
    """The update; one without content where the library fails. Raises ValueError for what has no number.

    Telegram changes faster than libraries: an update that fails here must not stop those after it.
    """
    try:
        number = int(told["update_id"])
    except (KeyError, TypeError) as error:
        raise ValueError("an update without a number") from error
    try:
        return Update.de_json(dict(told), None)
    except _UNREADABLE as error:
        logger.error("update %d cannot be read and is left out: %s", number, type(error).__name__)  # noqa: TRY400
        return Update(update_id=number)


class PollRequest(HTTPXRequest):
    """Answers of getUpdates without what the library would fail on: it would write the texts of all of them
    into its log, and give none of them back."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = HTTPXRequest.parse_json_payload(payload)
        result = answer.get("result")
        if isinstance(result, list):
            answer["result"] = [
                one if _has_content(one) else {"update_id": one["update_id"]} for one in result
            ]
        return answer


def _has_content(told: Mapping[str, Any]) -> bool:
    update = readable(told)
    return any(getattr(update, kind) is not None for kind in ALLOWED_UPDATES)
