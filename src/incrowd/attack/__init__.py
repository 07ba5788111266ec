"""What an adversary gets: the nine linkage attacks."""
