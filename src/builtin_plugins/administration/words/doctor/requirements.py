"""Whether the programs that commands require are there."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.words.doctor.subject import Subject, finding
from host import HostError
from host.planning.required_programs import fault, remedy_of
from host.run.environment import read_sources

_MOST_NAMED = 3  # commands


def programs(subject: Subject) -> Iterator[Finding]:
    """Yield the programs that are missing or of another version, each with who requires it.

    PATH is that of the command's run; in safe mode it is the caller's.
    """
    session = subject.session
    found: dict[tuple[str, str], list[str]] = {}
    for command in subject.commands:
        definition = command.definition
        if not definition.requires or not definition.compatible:
            continue
        environ = session.caller
        try:
            if not session.safe:
                there = (session.installation, subject.lock, session.caller, session.messages)
                reader = read_sources(command.words, definition, *there)
                environ = reader.layers.environment()
            for one in definition.requires:
                if text := fault(one, environ, session.installation.versions_file):
                    remedy = remedy_of(one, subject.call, subject.lock) or "install it"
                    found.setdefault((f"{one}: {text}; required by", remedy), []).append(
                        " ".join(command.words)
                    )
        except HostError as error:
            text = f"{error.what}; so PATH is not known for"
            found.setdefault((text, error.remedy), []).append(" ".join(command.words))
    for (text, remedy), labels in found.items():
        more = f" and {len(labels) - _MOST_NAMED} more" if len(labels) > _MOST_NAMED else ""
        named = f"{', '.join(labels[:_MOST_NAMED])}{more}"
        yield finding(f"{text} {named}", remedy)
