"""Settings that every test shares."""

import os

from hypothesis import settings

# Compiled kernels take seconds the first time, so no example has a deadline.
settings.register_profile("default", deadline=None, max_examples=100)
# On a server the same commit must give the same answer.
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
