"""Downloads: addresses, transfers with resume and a deadline, progress."""
