"""The smallest crowd that k known points leave: one branch and bound, three kinds of knowledge.

::

    index        an inverted index of what is published: who has which place, how often
    unordered    each known point matches, or not, whatever the others are (Definitions 4.1, 4.3,
                 4.4, 4.6)
    sequence     the known points match in their order (Definition 4.2)
    proportion   the known points match by how they compare to the most visited one of them
                 (Definition 4.5)

Each search branches on the most telling point first, and gives up a branch when even the best
points left could not make a smaller crowd than the smallest one found.
"""
