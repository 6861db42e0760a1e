"""docs/configuration.md: one table a section, written from the settings models."""

from collections.abc import Iterator

from pydantic import BaseModel

from gateway.config.example import plain
from gateway.config.problems import Loc, dotted
from gateway.config.schema import Key, keys_of
from gateway.config.settings import Config

_HEAD = """\
# Configuration

clawd reads `clawd.yaml` in its home directory: `--home`, else `CLAWD_HOME`, else `~/.clawd`. Without that
file every default below holds; an empty file is an error, because it is mostly a save that went wrong.

- `clawd config check` says whether the file is right, `clawd config show` what holds and where it comes
  from, `clawd config example` prints every key with its default (also in `clawd.yaml.example`).
- Everything is checked before anything starts. An unknown key, a wrong value, a key that stands twice: each
  is named with its line, its path and what is allowed there, all at once, and clawd ends with exit code 78.
- `${NAME}` in a value is replaced by the environment variable `NAME` (upper case; what it holds is not
  expanded again). A variable that is missing or empty is an error. `$${NAME}` stands for the text `${NAME}`.
- Beside every secret stands a key with `_file`: the secret is read from that file, without its last line
  break. Giving both is an error. Secrets are never printed.
- Relative paths lie in the home directory; `~` is your own.
- The file is YAML 1.2: `off`, `no` and `04:00` are texts, `true` and `false` are truth values.
"""


def manual() -> str:
    """The whole page."""
    lines = [_HEAD.rstrip("\n")]
    for key in keys_of(Config):
        lines += ["", f"## {key.name}", "", key.description]
        if key.model is not None:
            lines += _section(key.model, (key.name,))
    return "\n".join(lines) + "\n"


def _section(model: type[BaseModel], loc: Loc) -> Iterator[str]:
    keys = keys_of(model)
    rows = [key for key in keys if not _below(key)]
    if rows:
        yield from ("", "| key | default | allowed | meaning |", "|---|---|---|---|")
        yield from (_row(key) for key in rows)
    for key in keys:
        if _below(key) and key.model is not None:
            here = (*loc, key.name) if key.kind == "section" else (*loc, key.name, "<name>")
            title = dotted(here) if key.kind != "listing" else f"{dotted((*loc, key.name))}[]"
            yield from ("", f"### {title}", "", f"{_sentence(key.description)}")
            if key.kind == "listing":
                yield from _listing(key.model, model)
            else:
                yield from _section(key.model, here)


def _below(key: Key) -> bool:
    """Whether the key has a table of its own: sections that no other table has."""
    sections = {section.model for section in keys_of(Config)}
    return key.kind != "leaf" and (key.default is not None or key.model not in sections)


def _listing(model: type[BaseModel], parent: type[BaseModel]) -> Iterator[str]:
    """The keys that only an entry has; the others stand in the section of defaults beside it, if any."""
    defaults = [one.model for one in keys_of(parent) if one.name == "defaults" and one.model]
    shared = {key.name for one in defaults for key in keys_of(one)}
    own = [key for key in keys_of(model) if key.kind == "leaf"]
    own = [key for key in own if key.name not in shared or key.required or key.name == "default"]
    yield from ("", "| key | default | allowed | meaning |", "|---|---|---|---|")
    yield from (_row(key) for key in own)
    if defaults:
        yield from (
            "",
            "Every key of `agents.defaults` may stand here as well, and then holds for this agent alone.",
        )


def _row(key: Key) -> str:
    default = "(required)" if key.required else f"`{plain(key.default)}`"
    allowed = "a section" if key.kind == "section" else key.allowed
    return f"| `{key.name}` | {default} | {_cell(allowed)} | {_cell(key.description)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
