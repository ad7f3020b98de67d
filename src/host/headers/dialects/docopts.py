"""docopts: the lines that begin with `##?`, anywhere in a script, are its help text.

https://github.com/docopt/docopts. Such a line is prose, or a usage in the notation of sub.
"""

from host.headers.dialect_values import Reading
from host.headers.rows import COMMENT, GAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.headers.dialects import Script
    from host.headers.rows import Row

_MARK = "##?"


def read(script: "Script", rows: "Sequence[Row]") -> Reading:
    """Return the rows with those of the help text first."""
    texts: list[Row] = []
    for line in script.lines:
        bare = line.strip()
        if bare.startswith(_MARK):
            text = bare.removeprefix(_MARK).removeprefix(" ")
            texts.append((COMMENT, text) if text else (GAP, ""))

    # Those above the first line of code are among the rows already.
    known = {text for _, text in texts if text}
    others = [row for row in rows if row[1] not in known]
    return Reading([*texts, (GAP, ""), *others])
