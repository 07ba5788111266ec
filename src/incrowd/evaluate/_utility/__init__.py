"""What a release is still good for: how fine it is, and which results survive.

::

    accuracy        granularity and errors of published samples
    individual      home, work, centre of mass, travel distance, radius of gyration, area
    aggregate       people by hour, samples by place, trips
    inference       homes, work and nights that the record of a crowd shows
    distributions   spreads of all that, before and after
    summary         utility, for users; and its words
"""
