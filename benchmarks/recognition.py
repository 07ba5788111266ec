"""The de-anonymisation attack and the two stronger ones at full size, and beside plain ones.

Every attacker has a process of its own, which first attacks a tiny city, so that nothing is
compiled while time is taken; then it reads civ; then comes the call that is timed, which begins
with visits and ends with the result (for `top`, of all n from 1 to 50). Memory is that of the
whole process, reading included.

The plain attackers are what one would write first: with numpy, comparing a test person with
everybody at once (top: a row of 50 places each, for all n together; tfidf: one product of a matrix
and a vector); or in plain Python, comparing chains one by one. They are given the halves ready
made, and look for a few people only; the time for one of them is compared, on one core against all,
and whom they find must be the same.
"""

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from benchmarks.common import dataset, machine, python

PEOPLE, HOUR, MOST = 82_728, 60, 50
FEW = 20
"""How many people the plain attackers look for."""
GOAL = {
    "top": "at most 3 min, 6 GB",
    "tfidf": "a few minutes, 6 GB",
    "markov": "a few minutes, 6 GB",
}


def attack(path: str, attacker: str) -> None:
    """Attack everybody, then a few with the plain attackers; print what was found, for machines."""
    import numpy as np

    import incrowd
    from incrowd.attack._reidentification.deanonymize import deanonymize
    from incrowd.attack._reidentification.split import share_of, train_test_split

    tiny = incrowd.visits(incrowd.synthesize("city", users=80, seed=7))
    deanonymize(tiny, attackers=attacker, precision=HOUR)
    visits = incrowd.visits(incrowd.read(path))
    start = time.perf_counter()
    found = deanonymize(
        visits, n=range(1, MOST + 1), attackers=attacker, precision=HOUR, matches=True
    )
    seconds, peak = time.perf_counter() - start, _peak()
    matches = found.matches["matched"].to_numpy().reshape(-1, found.people)  # type: ignore[index]
    split = train_test_split(visits, None, share_of(0.7, other=False), HOUR, 1)
    train, test = (
        [part.place[a:b].tolist() for a, b in pairwise(part.offsets)]
        for part in (split.train, split.test)
    )
    who = np.linspace(0, found.people - 1, FEW).astype(int).tolist()
    way, prepare = PLAIN[attacker]
    find = prepare(train, split.places)
    begin = time.perf_counter()
    theirs = [find(test[one]) for one in who]
    each = (time.perf_counter() - begin) / FEW
    names = visits.people.gather(split.who).to_list()
    same = sum(
        all(_is(ours, names, one) for ours, one in zip(matches[:, i], own, strict=True))
        for i, own in zip(who, theirs, strict=True)
    )
    rows = found.table.select("n", "matched", "precision", "recall").rows()
    print(json.dumps([found.people, len(visits.place), seconds, peak, rows, way, each, same]))


def _peak() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def _is(ours: Any, names: list[Any], index: int) -> bool:
    missing = ours is None or ours != ours  # noqa: PLR0124
    return bool(missing if index < 0 else ours == names[index])


def top_numpy(train: list[list[int]], places: int) -> Callable[[list[int]], list[int]]:
    """Compare with everybody at once, for all n together."""
    import numpy as np

    tops = np.full((len(train), MOST), places)
    for i, own in enumerate(_ranked(train)):
        tops[i, : len(own[:MOST])] = own[:MOST]
    size = np.cumsum(tops < places, axis=1)

    def find(test: list[int]) -> list[int]:
        there = np.zeros(places + 1, np.int64)
        there[test] = 1
        common = np.cumsum(there[tops], axis=1)
        # Fractions of numbers up to 50 differ by far more than they are rounded.
        value = np.round(common**2 / size, 9)
        best = value.max(axis=0)
        alone = (value == best).sum(axis=0) == 1
        return np.where(alone & (best > 0), value.argmax(axis=0), -1).tolist()  # type: ignore[no-any-return]

    return find


def tfidf_numpy(train: list[list[int]], places: int) -> Callable[[list[int]], list[int]]:
    """Multiply the matrix of all profiles by one of them."""
    import numpy as np

    matrix = np.zeros((len(train), places))
    for i, own in enumerate(train):
        np.add.at(matrix[i], own, 1)
    having = (matrix > 0).sum(axis=0)
    weight = np.array([math.log(len(train) / one) if one else 0 for one in having.tolist()])
    matrix *= weight
    norms = np.sqrt((matrix**2).sum(axis=1))
    matrix /= np.where(norms > 0, norms, 1)[:, None]

    def find(test: list[int]) -> list[int]:
        value = matrix @ (np.bincount(test, minlength=places) * weight)
        best = value.max()
        alone = (value >= best * (1 - 1e-9)).sum() == 1
        return [int(value.argmax()) if alone and best > 0 else -1]

    return find


def markov_python(train: list[list[int]], _places: int) -> Callable[[list[int]], list[int]]:
    """Compare chains one by one."""
    chains = [(Counter(pairwise(own)), len(own) - 1) for own in train]

    def find(test: list[int]) -> list[int]:
        hers, own = Counter(pairwise(test)), len(test) - 1
        values = []
        for chain, total in chains:
            shared = sum(min(chain[s] * own, c * total) for s, c in hers.items() if s in chain)
            values.append(shared / total if shared else 0)
        return [_alone(values)]

    return find


PLAIN: dict[str, tuple[str, Callable[..., Callable[[list[int]], list[int]]]]] = {
    "top": ("numpy", top_numpy),
    "tfidf": ("numpy", tfidf_numpy),
    "markov": ("Python", markov_python),
}


def _ranked(train: list[list[int]]) -> list[list[int]]:
    counts = map(Counter, train)
    return [sorted(own, key=lambda place: (-own[place], place)) for own in counts]


def _alone(values: list[float]) -> int:
    greatest = max(values)
    return values.index(greatest) if greatest > 0 and values.count(greatest) == 1 else -1


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recognition", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", nargs="+", choices=[*PLAIN], default=[*PLAIN])
    only = parser.parse_args(arguments).only
    machine()
    path = str(dataset("civ", PEOPLE, "parquet"))
    code = "from benchmarks.recognition import attack; attack({!r}, {!r})"
    found = {name: json.loads(python(code.format(path, name)).output) for name in only}
    print("| attacker | people | visits | time | peak memory | goal |\n|---|---|---|---|---|---|")
    for name, (people, visits, seconds, peak, *_) in found.items():
        sizes = f"{people:,} | {visits:,} | {seconds:.1f} s | {peak:.2f} GB"
        print(f"| {name} | {sizes} | {GOAL[name]} |", flush=True)
    print("\n| attacker | plain | theirs, a person | incrowd, a person | ratio | same people |")
    print("|---|---|---|---|---|---|")
    for name, (people, _, seconds, *_, way, each, same) in found.items():
        ours = seconds / people
        times = f"{each * 1e3:,.1f} ms | {ours * 1e3:.3f} ms | {each / ours:,.0f}"
        print(f"| {name} | {way} | {times} | {same} of {FEW} |", flush=True)
    print("\n| attacker | n | matched | precision | recall |\n|---|---|---|---|---|")
    for name, (people, _, _, _, rows, *_) in found.items():
        for n, matched, precise, recall in rows:
            if n in (None, 1, 2, 3, 5, 10, 20, 50):
                right = "-" if precise is None else f"{precise:.1%}"
                shown = "" if n is None else n
                print(f"| {name} | {shown} | {matched / people:.1%} | {right} | {recall:.1%} |")


if __name__ == "__main__":
    main(sys.argv[1:])
