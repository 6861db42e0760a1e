"""Slash commands, one table."""
