"""The daemon: the path of one message from a person to an answer and back."""
