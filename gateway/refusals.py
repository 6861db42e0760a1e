"""What a person is told of a turn that failed, by the kind of failure."""

from agents.loop import TurnLimit
from agents.model.provider import (
    AuthFailed,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    QuotaExhausted,
    RateLimited,
)
from agents.workspace import WorkspaceError
from gateway.budget import BudgetSpent
from gateway.views import Refused

_STATUS: tuple[tuple[type[Exception], str, int], ...] = (
    (BudgetSpent, "budget", 402),
    (AuthFailed, "model_auth", 502),
    (QuotaExhausted, "model_quota", 502),
    (ModelNotFound, "model_not_found", 502),
    (ContextOverflow, "context_overflow", 502),
    (RateLimited, "model_rate_limited", 503),
    (ModelError, "model_failed", 502),
    (TurnLimit, "turn_limit", 502),
    (WorkspaceError, "workspace", 500),
)


def refusal(error: Exception) -> Refused:
    """Raises the error itself when it is none of those."""
    for kind, code, status in _STATUS:
        if isinstance(error, kind):
            return Refused(str(error), code=code, status=status)
    if isinstance(error, OSError):
        return Refused(
            f"The conversation could not be written to disk: {error.strerror or error}"
            f"{f' ({error.filename})' if error.filename else ''}. "
            "Free some space or mend the permissions, then send this again.",
            code="storage",
            status=507,
        )
    raise error
