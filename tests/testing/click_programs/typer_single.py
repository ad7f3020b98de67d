"""A Typer application with a single command."""

import typer

app = typer.Typer(add_completion=False)


@app.command()
def main(path: typer.FileText, lines: bool = True):
    """Count PATH."""
    typer.echo(sum(1 for _ in path) if lines else path.read())
