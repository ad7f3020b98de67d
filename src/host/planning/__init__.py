"""What plugins say, gathered into the lock."""
