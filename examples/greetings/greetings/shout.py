"""`greetings shout NAME`: a command in Python that gets its arguments and returns its status."""

import os


def main(args):
    """Greet ARG_NAME; the arguments in `args` are checked before this function runs."""
    print(f"{os.environ.get('GREETING', 'hello')}, {os.environ['ARG_NAME']}!".upper())
    return 0
