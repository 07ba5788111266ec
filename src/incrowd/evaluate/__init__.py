"""Is the release safe, true and useful."""
