"""Files that come with messages and files that go out with answers."""

from gateway.media.taken import Taken

__all__ = ["Taken"]
