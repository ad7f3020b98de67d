"""Everything that the program does itself: listings, help pages, `self`."""
