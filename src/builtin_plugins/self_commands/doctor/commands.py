"""Whether commands and plugins count: definitions, words that come twice, broken plugins."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_plugins.plugin_directories.directory import find_directory_plugins
from builtin_plugins.plugin_directories.registry import FILE_NAME as REGISTRY
from builtin_plugins.plugin_directories.registry import effective_registry
from builtin_plugins.self_commands.doctor.diagnosis import Diagnosis, Patient
from builtin_plugins.self_commands.lint.finding import shown_path
from builtin_plugins.self_commands.lint.trees import Lint
from builtin_plugins.venv.distributions import find_distribution


def definitions(patient: Patient) -> Iterator[Diagnosis]:
    """Yield what `self lint` finds, shellcheck's part aside."""
    layout = patient.layout
    lint = Lint(layout.root, patient.environ, layout.config_file, scripts=False)
    for one in lint.findings:
        if one.rule != "plugin":  # these are told as plugins
            place = f"{shown_path(one.file)}:{one.line}:{one.column}"
            remedy = one.remedy or f"mend {shown_path(one.file)}"
            runs = one.rule in ("executable", "no-shebang")
            yield Diagnosis(f"{place}: {one.message}", remedy, hint=runs)


def clashes(patient: Patient) -> Iterator[Diagnosis]:
    """Yield the words that more than one place has a command for."""
    for one in patient.commands:
        if not one.shadows:
            continue
        winner = one.directory or f"plugin {one.plugin}"
        remedy = "rename one of the folders"
        if one.plugin:
            remedy += f", or: {patient.call} self plugin disable {one.plugin}"
        yield Diagnosis(f"{' '.join(one.words)}: {winner} hides {', '.join(one.shadows)}", remedy)


def plugins(patient: Patient) -> Iterator[Diagnosis]:
    """Yield the plugins that are broken or whose files are gone."""
    call = f"{patient.call} self plugin"
    for plugin in patient.lock.plugins.values():
        if plugin.broken and plugin.name == REGISTRY:
            yield Diagnosis(plugin.broken, "mend it")
        elif plugin.broken:
            message = f"plugin {plugin.label} is broken: {plugin.broken}"
            yield Diagnosis(message, f"mend it, or: {call} disable {plugin.name}")
    plugins_dir = patient.installation.plugins_dir
    directories = {one.name for one in find_directory_plugins(plugins_dir)[0]}
    for entry in effective_registry(plugins_dir)[0].entries.values():
        gone = (
            find_distribution(entry.name) is None
            if entry.kind == "pip"
            else entry.name not in directories
        )
        if gone and entry.enabled:
            back = "put them back" if entry.kind == "local" else f"{call} sync"
            remedy = f"{back}, or: {call} remove {entry.name}"
            yield Diagnosis(f"the files of plugin {entry.name} are gone", remedy)
