"""The standing trial: whoever tries to break incrowd, tries here, again and again.

::

    python -m benchmarks.torture [--minutes M] [--seed S] [--only NAME] [--tries N]

A trial is a function ``tries(seed, scratch)`` that yields without end what it tried and, if that
failed, how. `TRIALS` has them all.
"""
