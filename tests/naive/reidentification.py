"""The de-anonymisation attack of section 3.4 of the paper of 2016, and the two stronger ones."""

import decimal
import itertools
from collections import Counter
from fractions import Fraction

CLOSE = decimal.Decimal("1e-9")
"""Cosines with weights count as equal if they differ by no more than this part of the greater."""


def _trace(visits, precision):
    """List the places of a person, one entry for each place and time slot."""
    return [place for _, place in sorted({(time // precision, place) for time, place in visits})]


def train_test_split(people, share=Fraction(7, 10), precision=1, known=None):
    """Give ``{user: (training entries, test entries)}`` of everybody who has both."""
    known = dict(people if known is None else known)
    found = {}
    for user, visits in people:
        train, test = _trace(known.get(user, []), precision), _trace(visits, precision)
        if share is not None:
            train, test = train[: int(share * len(train))], test[int(share * len(test)) :]
        if train and test:
            found[user] = train, test
    return found


def _alone(similarity):
    """Give the one who is most similar; nobody if there are two, or if nothing is common."""
    greatest = max(similarity.values())
    most = [user for user, value in similarity.items() if value == greatest]
    return most[0] if greatest > 0 and len(most) == 1 else None


def _top(train, n):
    """Give the n most frequent places; of equals, the lower code."""
    count = Counter(train)
    return set(sorted(count, key=lambda place: (-count[place], place))[:n])


def recognised_by_top(found, n):
    """Give, for each test user, who is taken for her, by the n most frequent places."""
    matches = {}
    for user, (_, test) in found.items():
        known = {other: _top(train, n) for other, (train, _) in found.items()}
        # The square of the cosine, which has the same order and is a fraction.
        matches[user] = _alone(
            {
                other: Fraction(len(top & set(test)) ** 2, len(top) * len(set(test)))
                for other, top in known.items()
            }
        )
    return matches


def recognised_by_tfidf(found):
    """Give, for each test user, who is taken for her, by all places, rare ones weighing more."""
    with decimal.localcontext(prec=60):
        number = decimal.Decimal(len(found))
        having = Counter(place for train, _ in found.values() for place in set(train))
        weight = {place: (number / people).ln() for place, people in having.items()}
        matches = {}
        for user, (_, test) in found.items():
            hers = Counter(place for place in test if place in weight)
            cosine = {}
            for other, (train, _) in found.items():
                theirs = Counter(train)
                product = sum(theirs[p] * hers[p] * weight[p] ** 2 for p in hers)
                lengths = [
                    sum((profile[p] * weight[p]) ** 2 for p in profile).sqrt()
                    for profile in (hers, theirs)
                    if profile
                ]
                cosine[other] = product / lengths[0] / lengths[1] if product else 0
            greatest = max(cosine.values())
            near = {one: greatest for one in cosine if cosine[one] >= greatest * (1 - CLOSE)}
            matches[user] = _alone(near)
        return matches


def _chain(entries):
    """Give the share of each transition among all."""
    steps = Counter(itertools.pairwise(entries))
    return {step: Fraction(number, len(entries) - 1) for step, number in steps.items()}


def recognised_by_markov(found):
    """Give, for each test user, who is taken for her, by the transitions between places."""
    chains = {user: _chain(train) for user, (train, _) in found.items()}
    matches = {}
    for user, (_, test) in found.items():
        hers = _chain(test)
        matches[user] = _alone(
            {
                other: sum(min(hers[step], chain.get(step, 0)) for step in hers)
                for other, chain in chains.items()
            }
        )
    return matches


def of_shared_records(matches, crowd, known_crowd):
    """Leave the matches of people whose record is theirs alone, with others of whom that is so."""
    return {
        user: other if other is not None and crowd[user] == 1 and known_crowd[other] == 1 else None
        for user, other in matches.items()
    }


def recall_all(matches, people, known=None):
    """Give the share of everybody, recognised or left out, who was taken for herself."""
    everybody = {user for user, _ in people} | {user for user, _ in known or []}
    return sum(user == other for user, other in matches.items()) / len(everybody)
