"""Mechanisms that hide people: GLOVE, and those that it is compared with."""
