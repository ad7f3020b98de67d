#!/usr/bin/env python3
"""Print the most frequent words of standard input, one a line with its count."""

import re
import sys
from collections import Counter

wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 3
words = re.findall(r"\w+", sys.stdin.read().lower())
for word, count in Counter(words).most_common(wanted):
    print(count, word)
