"""Trials that go on until something breaks: files that are damaged, releases that tell too much."""
