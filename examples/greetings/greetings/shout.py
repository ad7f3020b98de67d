"""`greetings shout NAME`: a command in Python gets its arguments, returns its status."""

import os
import sys


def main(args):
    if not args:
        print("whom shall I greet?", file=sys.stderr)
        return 2
    print(f"{os.environ.get('GREETING', 'hello')}, {args[0]}!".upper())
    return 0
