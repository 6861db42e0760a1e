"""One Markdown, split and rendered for each platform."""

from channels.text.piece import Piece, borders, growing, pieces, plain

__all__ = ["Piece", "borders", "growing", "pieces", "plain"]
