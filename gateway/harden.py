"""What the process closes to the commands that its agents run."""

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def hide_from_children() -> bool:
    """Close /proc/<pid>/environ and /proc/<pid>/mem of this process to others of the same user.

    An agent's commands run as the same user and could otherwise read API keys there. Linux only (prctl(2));
    False where it cannot be done. Root may read on.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
