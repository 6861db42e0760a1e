"""What is asked of the machine itself: the installed version, the time zone."""

from importlib import metadata
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name


def version() -> str:
    """Clawd's own, as installed."""
    try:
        return metadata.version("clawd")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def local_time_zone() -> str:
    """The machine's IANA time zone; UTC when it has none that is known."""
    try:
        name = get_localzone_name()
        ZoneInfo(name)
    except (LookupError, ValueError, OSError, ZoneInfoNotFoundError):
        return "UTC"
    return name
