"""GLOVE: k-anonymity of whole trajectories, true to each record (the papers of 2015 and 2021).

::

    api            glove, Glove: for users
    release        Release, Losses: what comes out
    words          what it promises and what not, in sentences
    engine         who calls whom when: search, merge, checkpoint, reshape
    greedy         the greedy loop of Algorithm 1, compiled
    nearest_queue  who is cheapest to merge next
    merge          the two stages of a merge, suppression, reshaping
    checkpoint     merges on disk, so that an interruption loses little
"""
