"""The program's own output: listings, help pages, Tab completion, questions, `self`."""
