"""What a ledger guarantees, as it is written down: over all sets of releases, and all people.

A history is a list of releases; each is a dict of the people who are in it, and their crowds.
"""

from itertools import chain, combinations


def subsets(things):
    """Give all sets of some things but the empty one."""
    things = list(things)
    return chain.from_iterable(combinations(things, n) for n in range(1, len(things) + 1))


def in_common(history, some, person):
    """Give everybody who is in the crowd of a person in all of some releases."""
    left = None
    for release in some:
        crowds = history[release]
        mine = {other for other, crowd in crowds.items() if crowd == crowds[person]}
        left = mine if left is None else left & mine
    return left


def fewest_in_common(history):
    """Give for everybody the fewest whom any set of releases that she is in leaves in common."""
    people = set().union(*history) if history else set()
    found = {}
    for person in people:
        there = [at for at, release in enumerate(history) if person in release]
        found[person] = min(len(in_common(history, some, person)) for some in subsets(there))
    return found


def fewest_with(history, release):
    """Give the same for the people of one release, over the sets that it is in."""
    found = {}
    for person in history[release]:
        there = [at for at, each in enumerate(history) if person in each]
        found[person] = min(
            len(in_common(history, some, person)) for some in subsets(there) if release in some
        )
    return found


def partitions(people):
    """Give every way to put people into crowds; a dict of their numbers each."""
    if not people:
        yield {}
        return
    first, *rest = people
    for found in partitions(rest):
        for crowd in sorted(set(found.values())):
            yield {first: crowd, **found}
        yield {first: len(set(found.values())), **found}


def largest(history, present, k):
    """Give the largest set of people that can be in one more release, by trying all of them."""
    best = set()
    for some in [(), *subsets(sorted(present))]:
        if len(some) <= len(best):
            continue
        for crowds in partitions(list(some)):
            fewest = fewest_with([*history, crowds], len(history))
            if all(number >= k for number in fewest.values()):
                best = set(some)
                break
    return best
