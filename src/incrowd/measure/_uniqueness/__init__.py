"""How few points identify one person uniquely (the paper of 2016, section 3.3).

::

    encoding         points as numbers, by place, time or both
    inverted_index   who has which point
    estimate         random, most frequent and all sub-traces; for users
    exhaustive       all sub-traces of one and two points, exactly
"""
