"""What was said: transcripts, the registry of sessions, and the fold that makes a context of them."""
