#!/usr/bin/env python3
"""Print the most frequent words of standard input, one per line with its count."""

import os
import re
import signal
import sys
from collections import Counter

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # lets `| head` end this program

# The arguments that command.json declares in "args": already checked, with defaults filled in.
count = int(os.environ["ARG_COUNT"])
shortest = int(os.environ["ARG_LONGER_THAN"]) + 1

words = [
    word
    for word in re.findall(r"\w+", sys.stdin.read().lower())
    if len(word) >= shortest
]
for word, times in Counter(words).most_common(count):
    print(times, word)
