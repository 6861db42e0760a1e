"""Markdown for people on each platform."""
