"""clawd version."""

# ruff: noqa: PLC0415 (imported when the command runs, so that --help stays quick)

from typing import Annotated

import typer


def version(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Print the version of clawd."""
    import platform

    number = _number()
    if as_json:
        from gateway.cli.output import print_json

        print_json({"version": number, "python": platform.python_version()})
    else:
        typer.echo(f"clawd {number} (Python {platform.python_version()})")


def show(wanted: bool) -> None:
    """The global option --version."""
    if wanted:
        version()
        raise typer.Exit


def _number() -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("clawd")
    except PackageNotFoundError:
        return "(not installed)"
