"""The command line: one file a noun, and the work of a command imported when it runs."""

from gateway.cli.app import main

__all__ = ["main"]
