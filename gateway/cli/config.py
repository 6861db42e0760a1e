"""clawd config: whether clawd.yaml is right, and what holds."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(
    help="Whether clawd.yaml is right, and what holds.", no_args_is_help=True, rich_markup_mode=None
)
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@app.command()
def check(context: typer.Context, as_json: AsJson = False) -> None:
    """Say whether clawd.yaml is right; exit code 78 when it is not."""
    from gateway.cli.config_report import check as report

    report(place.of(context), as_json=as_json)


@app.command()
def show(context: typer.Context, as_json: AsJson = False) -> None:
    """Print every setting in force and where it comes from; secrets stay hidden."""
    from gateway.cli.config_report import show as report

    report(place.of(context), as_json=as_json)


@app.command()
def path(context: typer.Context, as_json: AsJson = False) -> None:
    """Print where clawd.yaml is looked for."""
    file = place.of(context).home.config_file
    if as_json:
        from gateway.cli.output import print_json

        print_json({"path": str(file), "exists": file.exists()})
    else:
        typer.echo(str(file))


@app.command()
def example(
    markdown: Annotated[bool, typer.Option("--markdown", help="As tables, for reading.")] = False,
) -> None:
    """Print every key with its default and its meaning."""
    from gateway.config.example import example as text
    from gateway.config.manual import manual

    typer.echo(manual() if markdown else text(), nl=False)
