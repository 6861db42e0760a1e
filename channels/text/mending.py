"""Markdown that is still being written, as it will look when its last marks are closed."""

import re

_TOKEN = re.compile(r"\\.|`+|\*{1,3}|_{1,2}|~~|\|\|", re.DOTALL)
_HALF_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*)?\Z")
_BARE = re.compile(r"(?:\s|^)(?:[*_~`|]+|!?\[)\Z")


def mend(content: str) -> str:
    """A paragraph with all closed that it has opened; a link without its end is shown as its text."""
    content = _BARE.sub("", content)
    opened: list[str] = []
    at = 0
    while found := _TOKEN.search(content, at):
        token, at = found[0], found.end()
        if token.startswith("`"):
            end = _end_of_code(content, at, token)
            if end is None:
                return _with_code_closed(content, at, token) + "".join(reversed(opened))
            at = end
        elif not token.startswith("\\"):
            _note(opened, token, content[: found.start()][-1:], content[at : at + 1])
    content = _HALF_LINK.sub(r"\1", content)
    return _closed(content, opened)


def _end_of_code(content: str, start: int, token: str) -> int | None:
    found = re.compile(rf"(?<!`){token}(?!`)").search(content, start)
    return found.end() if found else None


def _with_code_closed(content: str, start: int, token: str) -> str:
    if start == len(content):
        return content[: -len(token)].rstrip()
    return content.rstrip("`") + token


def _note(opened: list[str], token: str, before: str, after: str) -> None:
    """Whether a mark opens or closes something, as far as its neighbours tell."""
    inside_word = token.startswith("_") and before.isalnum() and after.isalnum()
    if inside_word:
        return
    if token in opened and before.strip():
        del opened[opened.index(token) :]
    elif after.strip() and not (token.startswith("_") and before.isalnum()):
        opened.append(token)


def _closed(content: str, opened: list[str]) -> str:
    content = content.rstrip()
    inner = opened[-1] if opened else ""
    # Half of a closing mark is there already: the rest of it would come next.
    if len(inner) > 1 and content.endswith(inner[0]) and not content.endswith(inner):
        content = content.rstrip(inner[0])
    return content + "".join(reversed(opened))
