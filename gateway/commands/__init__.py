"""Slash commands: what a person can ask of clawd itself, without a model."""
