"""One file for each claim of speed or memory; each prints both sides of its ratio.

``make bench`` runs all of them and takes some minutes and about 10 GB of disk.
"""
