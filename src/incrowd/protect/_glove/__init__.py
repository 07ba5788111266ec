"""GLOVE: k-anonymity of whole trajectories, true to each record (the papers of 2015 and 2021).

::

    api            glove, Glove: for users
    settings       what was asked for, filled in and checked
    release        Release, Losses: what comes out
    words          what it promises and what not, in sentences
    engine         who calls whom when: search, merge, checkpoint, reshape
    greedy         the greedy loop of Algorithm 1, compiled
    nearest_queue  who is cheapest to merge next
    merge          the two stages of a merge, suppression, reshaping
    k_merge        the best boxes of a crowd, from its members' own samples
    cuts           cutting the samples of a crowd into groups of least loss
    deletion       the same where samples may be deleted
    samples        the samples of a crowd in the order of time
    refine         better crowds, by exchanges under the loss of their best boxes
    checkpoint     merges on disk, so that an interruption loses little
"""
