"""One file for each claim of speed or memory; each prints both sides of its ratio.

``make bench`` runs the quick ones and takes some minutes and about 10 GB of disk; those that take
long are run by their names, as are ``figures``, ``utility``, ``takeaways`` and ``calibration``.
"""
