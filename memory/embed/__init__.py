"""Embedders: one protocol, one file a provider."""
