"""One Markdown, split and rendered for each platform."""

from channels.text.piece import Piece, growing, pieces, plain

__all__ = ["Piece", "growing", "pieces", "plain"]
