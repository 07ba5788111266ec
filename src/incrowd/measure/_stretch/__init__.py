"""The nearest-neighbour search of GLOVE: exact, by not computing most pairs.

::

    definition     class Stretch: weights and thresholds
    effort         equations (1) to (10), in integers
    partition      space cut into regions, time into bins
    lower_bounds   admissible bounds of one pair
    batch_bounds   the same, of one trajectory with a thousand
    box_bounds     the same, of two merged trajectories, by the corners of their boxes
    index          SearchIndex: all trajectories, laid out for the search
    candidates     who may be near: whoever is within a bound
    topk           the k best candidates
    search         who is nearest
"""
