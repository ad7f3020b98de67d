"""mise: `#MISE description="Copy a table"`, in a file task.

https://mise.jdx.dev/tasks/file-tasks.html. The arguments of such a task are in the dialect `usage`.
"""

from host.headers.dialect_values import Reading, comments_in, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.headers.dialects import Script
    from host.headers.rows import Row

_MARKS = ("[MISE] ", "MISE ", "mise ")
# The key that each tag means.
_TEXTS = ("description", "confirm")
_ALIASES = ("alias", "aliases")


def read(_script: "Script", rows: "Sequence[Row]") -> Reading:
    reading = Reading(rows)
    for index, text in comments_in(rows):
        mark = next((mark for mark in _MARKS if text.startswith(mark)), "")
        key, equals, value = text.removeprefix(mark).partition("=")
        name = key.strip()
        if not mark or not equals or " " in name:
            continue
        reading.take(index)

        has_effect = False
        content = value_of(value.strip())
        if name in _TEXTS:
            has_effect = reading.set_text(name, content)
        elif name in _ALIASES:
            has_effect = reading.add_aliases(content)
        elif name == "hide":
            has_effect = reading.set_flag("hidden", content)
        reading.note(f"#MISE {name}", value.strip(), has_effect=has_effect)
    return reading
