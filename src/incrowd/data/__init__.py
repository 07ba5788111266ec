"""The ground floor: the data structures, and data in and out."""
