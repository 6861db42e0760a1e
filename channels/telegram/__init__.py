"""Telegram bots: the Bot API on one side, the values of this room on the other."""
