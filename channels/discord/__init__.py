"""Discord: what it says becomes events of ours, what we say becomes its requests."""
