"""TGA: k-anonymity by generalising and suppressing points (Nergiz, Atzori, Saygin and Guc, 2009).

::

    api        TGA: for users
    words      what it promises and what not, in sentences
    crowds     who is together: the first one drawn at random, then whoever costs least to add
    search     who costs least to add, with as few matchings as possible
    bounds     what a matching costs at least: by places, by times, by both
    matching   log cost: the cheapest matching of two trajectories that keeps their order
    costs      logarithms in integers, and what suppressing a point costs
"""
