"""Code that the stand-ins share: a log of their calls, and the faults that a test selects."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn


def begin() -> list[str]:
    """Log the call and return its arguments."""
    words = sys.argv[1:]
    with Path(os.environ["STAND_IN_LOG"]).open("a") as log:
        log.write(json.dumps([Path(sys.argv[0]).name, *words]) + "\n")
    fault = os.environ.get("STAND_IN_FAULT")
    if fault == "hang":
        time.sleep(60)
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "fails":
        fail(3, "a \x1b[31mlong\x1b[0m reason\n\n" + 200 * "word " + "\nlast words\n")
    if fault == "noise":
        sys.stderr.write("a new version is available\n" * 1000)
    if fault == "nonsense":
        print("nothing that anybody could read: hush")
        sys.exit()
    return words


def fail(status: int, text: str) -> NoReturn:
    print(text, file=sys.stderr)
    sys.exit(status)
