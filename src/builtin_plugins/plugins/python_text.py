"""What the text of Python code shows of a plugin; the code is not run."""

import re

from builtin_plugins.registry.version import Words

_HOOK = re.compile(r"(?ms)^[ \t]*@(?:\w+\.)*hookimpl\b.*?^[ \t]*def[ \t]+(\w+)")
_DECLARATION = re.compile(r"\bCommandDeclaration\(\s*(?:words\s*=\s*)?\(([^)]*)\)")
_LITERAL = re.compile(r"[\"']([^\"']+)[\"']")


def declarations_in(code: bytes) -> tuple[tuple[str, ...], tuple[Words, ...]]:
    """Return the hooks in Python code, and the words of commands that are written as literals."""
    from host.hookspecs import HOOKS  # imported here: `self lint` needs no pluggy

    text = code.decode("utf-8", "replace")
    marked = _HOOK.findall(text)
    hooks = tuple([hook for hook in HOOKS if hook in marked])

    declared = []
    for expression in _DECLARATION.findall(text):
        words = _LITERAL.findall(expression)
        if words:  # otherwise, they are computed
            declared.append(tuple(words))
    return hooks, tuple(declared)
