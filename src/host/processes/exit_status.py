"""The exit status of a command in Python."""


def shown_status(status: int) -> int:
    """Return the exit status that the system shows for `status`, of which it keeps eight bits.

    256 would become 0, so it becomes 1: the number of failures, for example, is no success.
    """
    shown = status % 256
    if status != 0 and shown == 0:
        return 1
    return shown
