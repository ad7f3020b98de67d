"""`greetings shout NAME`: a command in Python gets its arguments, returns its status."""

import os


def main(args):
    """Greet ARG_NAME; what `args` declares is checked before this is called."""
    print(f"{os.environ.get('GREETING', 'hello')}, {os.environ['ARG_NAME']}!".upper())
    return 0
