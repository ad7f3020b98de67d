"""Questions to whoever is at the terminal."""

import sys

import click


def is_attended() -> bool:
    """Tell whether somebody can see a question on stderr, and answer it on stdin."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirmed(question: str, yes: bool) -> bool:
    """Ask on a terminal; without one, or with --yes, the command itself is the answer."""
    return yes or not is_attended() or click.confirm(question, err=True)
