"""What the program answers itself: listings, help pages, `self`."""
