"""The three layers of a workspace: always in the prompt, found by search, opened on demand."""
