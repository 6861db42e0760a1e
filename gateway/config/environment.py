"""${ENV_VAR} in the text of a value."""

import re
from collections.abc import Mapping

_REFERENCE = re.compile(
    r"\$\$\{"  # a literal ${
    r"|\$\{(?P<name>[A-Z_][A-Z0-9_]*)\}"
    r"|\$\{(?P<broken>[A-Z_][A-Za-z0-9_]*)(?P<more>[^}]*\}?)"
)


def expand(text: str, environ: Mapping[str, str]) -> tuple[str, list[str]]:
    """`text` with each `${NAME}` replaced, and what is wrong with the references in it.

    Names are upper-case; `$${NAME}` stands for `${NAME}` itself; what a variable holds is not expanded
    again. A variable that is missing or empty, a default (`${A:-x}`) and a missing brace are faults, for
    a secret that silently turns into nothing, or into its own name, is worse than a stop.
    """
    faults: list[str] = []

    def one(match: re.Match[str]) -> str:
        name = match["name"]
        if match["broken"] is not None:
            faults.append(_broken(match["broken"], match["more"]))
        elif name is not None and not environ.get(name):
            state = "is empty" if name in environ else "is not set"
            faults.append(f"the environment variable {name} {state} (${{{name}}})")
        elif name is not None:
            return environ[name]
        return "${"

    return _REFERENCE.sub(one, text), faults


def _broken(name: str, more: str) -> str:
    if not more.endswith("}"):
        return f"${{{name} has no closing brace"
    if more == "}":
        return f"${{{name}}}: the names of environment variables are upper-case here"
    return f"${{{name}…}}: only ${{{name}}} is understood, without a default or any other form"
