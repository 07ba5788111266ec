"""What is true of the data."""
