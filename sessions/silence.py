"""The word with which a model says nothing."""

NO_REPLY = "NO_REPLY"


def is_silent(text: str) -> bool:
    """Whether the text is the word and nothing else: a text that only contains it is a text."""
    return text.strip().upper() == NO_REPLY
