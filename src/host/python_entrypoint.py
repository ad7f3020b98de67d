"""`python -m host.python_entrypoint LABEL module:attr ARGS…`: runs a command written in Python."""

import sys

from host.errors import HostError
from host.messages import Messages
from host.references import load_reference


def main(argv: list[str]) -> int:
    """Call the referenced click command or callable with ARGS; return its exit status."""
    import os

    label, reference, *args = argv
    messages = Messages(label, os.environ)
    try:
        target = load_reference(reference)
        if hasattr(target, "main") and hasattr(target, "make_context"):  # a click command
            target.main(args=args, prog_name=label)
            return 0
        status = target(args)
    except HostError as error:
        messages.error(str(error))
        return error.status
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
