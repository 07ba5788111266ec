"""The fewest people whom k known points fit: one branch and bound, three kinds of knowledge.

::

    index        what is published, laid out for the search: who has which place, how often
    unordered    points known each by itself
    sequence     points known in their order
    proportion   points known with how they compare to each other
"""
