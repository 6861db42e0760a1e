"""Requests for approval, and what is kept for good, as the HTTP surface tells them."""

import shlex
from datetime import datetime

from agents.tools.approval import Remembered, shown
from gateway.approvals import Approvals, Ending, Pending, kept_text
from gateway.approvals_file import Kept
from gateway.views import time_json
from sessions.messages import Json, JsonObject


def approvals_json(approvals: Approvals, now: datetime) -> JsonObject:
    """What waits, and what runs unasked; each oldest first."""
    pending: list[Json] = [pending_json(one, now) for one in approvals.pending()]
    kept: list[Json] = [kept_json(one) for one in approvals.kept()]
    return {"pending": pending, "kept": kept}


def pending_json(pending: Pending, now: datetime) -> JsonObject:
    """`what` is whole; `env` are names, never values; `always` says what would be kept, null when nothing can
    be; `text` is how a chat shows all of it."""
    request = pending.request
    return {
        "id": pending.id,
        "session_key": str(pending.key),
        "tool": request.tool,
        "what": request.what,
        "why": request.why,
        "sender": request.sender,
        "cwd": request.cwd or None,
        "env": [*request.env],
        "sandbox": request.boxed,
        "always": _plain(request.remember),
        "until": time_json(pending.until),
        "seconds_left": max(round((pending.until - now).total_seconds(), 1), 0.0),
        "text": pending.text,
    }


def decided_json(pending: Pending, ending: Ending) -> JsonObject:
    return {"id": pending.id, "session_key": str(pending.key), "decision": ending}


def kept_json(kept: Kept) -> JsonObject:
    """Either `program` or the exact `command` is null."""
    what = kept.what
    return {
        "id": kept.id,
        "agent": kept.agent,
        "program": what.program or None,
        "command": shown(shlex.join(what.words)) if what.words else None,
        "at": kept.at,
        "what": _plain(what) or "",
    }


def _plain(what: Remembered | None) -> str | None:
    return kept_text(what).replace("`", "") or None
