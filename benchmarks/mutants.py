"""Faults put into the sources one at a time, each of which a test of the everyday profile finds.

``python -m benchmarks.mutants`` copies the project for each, changes one place, and runs the tests
that are to find it, compiled; it prints a line for each and ends with 1 if one is not found.
``python -m benchmarks.mutants engine 2`` takes those of one part, two at a time; words that stand
in a fault's description take that one.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
STRETCH, GLOVE, VERIFY = "measure/_stretch/", "protect/_glove/", "evaluate/_verify/"
SEARCH, RECOGNITION = "attack/_search/", "attack/_reidentification/"
UNIQUENESS = "measure/_uniqueness/"
LONGEST = 1200


class Mutant(NamedTuple):
    """A fault, and the tests that are to find it."""

    part: str
    fault: str
    file: str
    old: str
    new: str
    tests: str


MUTANTS = [
    Mutant(
        "engine", "a bound in space is too high by one", STRETCH + "lower_bounds.py",
        "- mine * wide)", "- mine * wide + 1)",
        "tests/measure/stretch/test_lower_bounds.py",
    ),
    Mutant(
        "engine", "of samples as near, the last is taken", STRETCH + "effort.py",
        "if space + time <= best:  #", "if space + time < best:  #",
        "tests/measure/stretch/test_effort.py",
    ),
    Mutant(
        "engine", "corners are bounded by the larger crowd", STRETCH + "box_bounds.py",
        "portion = min(na, nb)", "portion = max(na, nb)",
        "tests/measure/stretch/test_box_bounds.py",
    ),
    Mutant(
        "engine", "a bound of corners has no cap", STRETCH + "box_bounds.py",
        "return min(widest, low + high), min(longest, time)",
        "return low + high, min(longest, time)",
        "tests/measure/stretch/test_box_bounds.py",
    ),
    Mutant(
        "engine", "the discount of a term is rounded down", STRETCH + "batch_bounds.py",
        "discount = -(-(w * crowd) // ((1 + crowd) * step))",
        "discount = (w * crowd) // ((1 + crowd) * step)",
        "tests/measure/stretch/test_batch_bounds.py",
    ),
    Mutant(
        "engine", "fractions are compared the wrong way", STRETCH + "index.py",
        "(-sign if a == 0 else sign)", "(sign if a == 0 else -sign)",
        "tests/measure/stretch/test_index.py",
    ),
    Mutant(
        "engine", "time bins end one slot early", STRETCH + "partition.py",
        "carried - weight * (closes - 1)", "carried - weight * (closes - 2)",
        "tests/measure/stretch/test_partition.py",
    ),
    Mutant(
        "engine", "the least of a chunk is overwritten", STRETCH + "lower_bounds.py",
        "= min(chunk_minima[group, r, column], row[r])", "= row[r]",
        "tests/measure/stretch/test_partition.py",
    ),
    Mutant(
        "engine", "stage B weighs a result by one side", GLOVE + "merge.py",
        "stage_b(na + nb, nb,", "stage_b(na, nb,",
        "tests/protect/glove/test_merge.py",
    ),
    Mutant(
        "engine", "stage B applies matches at once", GLOVE + "merge.py",
        "                    best, target[j] = space + time, i\n",
        "                    best, target[j] = space + time, i\n"
        "                    _cover(results, i, results, j)\n",
        "tests/protect/glove/test_merge.py",
    ),
    Mutant(
        "engine", "suppression does not look at y", GLOVE + "merge.py",
        "            and results.y1[i] - results.y0[i] <= max_space\n", "",
        "tests/protect/glove/test_merge.py",
    ),
    Mutant(
        "engine", "a used-up list is not searched again", GLOVE + "nearest_queue.py",
        "        queue.kind[cluster] = UNKNOWN if remainder_bound < np.inf else NOBODY\n",
        "        queue.kind[cluster] = NOBODY\n",
        "tests/protect/glove/test_glove.py",
    ),
    Mutant(
        "engine", "a crowd of k is not full", GLOVE + "greedy.py",
        "full = nodes.crowd[a] + nodes.crowd[b] >= rules.k\n",
        "full = nodes.crowd[a] + nodes.crowd[b] > rules.k\n",
        "tests/protect/glove/test_glove.py",
    ),
    Mutant(
        "engine", "of equal pairs the younger is merged", GLOVE + "nearest_queue.py",
        "return a if mine <= other else b", "return b if mine <= other else a",
        "tests/protect/glove/test_glove.py",
    ),
    Mutant(
        "boxes", "of cuts that lose the same, fewer boxes are taken", GLOVE + "cuts.py",
        "if cost < least or (cost == least and number[i] + 1 > most):",
        "if cost < least or (cost == least and number[i] + 1 < most):",
        "tests/protect/glove/test_k_merge.py",
    ),
    Mutant(
        "boxes", "samples of the same slot are cut apart", GLOVE + "cuts.py",
        "if number == 0 or samples.t0[s] >= reach:",
        "if number == 0 or samples.t0[s] >= reach - 1:",
        "tests/protect/glove/test_k_merge.py",
    ),
    Mutant(
        "boxes", "the scan for a start ends at the first that is no better", GLOVE + "cuts.py",
        "if scale.stop and cost + cheapest > least:", "if scale.stop and cost + best[i] > least:",
        "tests/protect/glove/test_k_merge.py",
    ),
    Mutant(
        "boxes", "the lower hull is searched the wrong way", GLOVE + "cuts.py",
        "if best[b] - best[a] < each * (before[b] - before[a]):",
        "if best[b] - best[a] > each * (before[b] - before[a]):",
        "tests/protect/glove/test_k_merge.py",
    ),
    Mutant(
        "boxes", "a bound of what a box gains forgets what is before it", GLOVE + "deletion.py",
        "if scale.stop and (already + most < gain[e] or", "if scale.stop and (most < gain[e] or",
        "tests/protect/glove/test_k_merge.py",
    ),
    Mutant(
        "boxes", "a box may be a slot longer than the threshold", GLOVE + "deletion.py",
        "if latest < 0 or length > limits.max_time:",
        "if latest < 0 or length > limits.max_time + 1:",
        "tests/protect/glove/test_k_merge.py",
    ),
    Mutant(
        "boxes", "both sides together are held to the threshold", GLOVE + "deletion.py",
        "return int(wide + high if max(wide, high) <= max_space else NEVER)",
        "return int(wide + high if wide + high <= max_space else NEVER)",
        "tests/protect/glove/test_k_merge.py",
    ),
    Mutant(
        "crowds", "a chain passes through a crowd twice", GLOVE + "refine.py",
        "seen |= crowd[other] == place[v]", "seen |= who[other] == v",
        "tests/protect/glove/test_refine.py",
    ),
    Mutant(
        "crowds", "an exchange leaves one less than k", GLOVE + "refine.py",
        "if parted.weight[c] - weight[v] + weight[a] < k:",
        "if parted.weight[c] - weight[v] + weight[a] < k - 1:",
        "tests/protect/glove/test_refine.py",
    ),
    Mutant(
        "crowds", "new crowds are made where more is lost", GLOVE + "refine.py",
        "if then[number] < now[number] and not", "if then[number] > now[number] and not",
        "tests/protect/glove/test_refine.py",
    ),
    Mutant(
        "crowds", "who left a crowd is still counted in it", GLOVE + "refine.py",
        "            if who != goes[i]:\n", "            if who != goes[i] or new < 0:\n",
        "tests/protect/glove/test_refine.py",
    ),
    Mutant(
        "verifier", "one person less than k is enough", VERIFY + "guarantees.py",
        "exposed = int(sizes[sizes < k].sum())", "exposed = int(sizes[sizes < k - 1].sum())",
        "tests/evaluate/verify/test_verify.py",
    ),
    Mutant(
        "verifier", "an unknown guarantee is taken for k-anonymity", VERIFY + "guarantees.py",
        "return GUARANTEES.get(stated) if isinstance(stated, str) else None",
        'return GUARANTEES.get(str(stated), GUARANTEES["k-anonymity"])',
        "tests/protect/test_registry.py",
    ),
    Mutant(
        "verifier", "who guarantees nothing is not held to a stated k", VERIFY + "guarantees.py",
        'if not isinstance(settings, Mapping) or "k" in settings:',
        "if not isinstance(settings, Mapping):",
        "tests/protect/test_registry.py",
    ),
    Mutant(
        "verifier", "more samples are missed than stated", VERIFY + "truthfulness.py",
        "if missed > stated or (stated and not allowed)", "if (stated and not allowed)",
        "tests/evaluate",
    ),
    Mutant(
        "verifier", "linkage counts who is below k - 1", VERIFY + "linkage.py",
        "((fits > 0) & (fits < k)).sum()", "((fits > 0) & (fits < k - 1)).sum()",
        "tests/evaluate/verify/test_truthfulness.py",
    ),
    Mutant(
        "verifier", "a required check that was not made passes", VERIFY + "result.py",
        "self._holds(name) is True for name in self.required",
        "self._holds(name) is not False for name in self.required",
        "tests/protect/test_registry.py",
    ),
    Mutant(
        "verifier", "an edge in time is found one slot off", VERIFY + "_kernels.py",
        "if data[T0][i] == moment or data[T1][i] == moment:",
        "if data[T0][i] == moment or data[T1][i] <= moment:",
        "tests/evaluate/verify/test_truthfulness.py",
    ),
    Mutant(
        "attacks", "a bound does not fall with its crowd", SEARCH + "unordered.py",
        "bound -= crowd - ranked[j] // size", "bound -= 0",
        "tests/attack/test_risk.py",
    ),
    Mutant(
        "attacks", "a candidate is skipped", SEARCH + "unordered.py",
        "    for j in range(i + 1, number):\n        z",
        "    for j in range(i + 2, number):\n        z",
        "tests/attack/test_risk.py",
    ),
    Mutant(
        "attacks", "the search ends one above the least", SEARCH + "unordered.py",
        "                    if best <= least:", "                    if best <= least + 1:",
        "tests/attack/test_risk.py",
    ),
    Mutant(
        "attacks", "a visit may follow itself", SEARCH + "sequence.py",
        "if candidates.last[c, y] > reached[j]:", "if candidates.last[c, y] >= reached[j]:",
        "tests/attack/test_risk.py",
    ),
    Mutant(
        "attacks", "who may match is taken for who must", SEARCH + "proportion.py",
        "sure[y] += match & matches_now & (m == most)", "sure[y] += match & matches_now",
        "tests/attack/test_risk.py",
    ),
    Mutant(
        "attacks", "a range of proportions is cut", SEARCH + "proportion.py",
        "        if max(most, low) <= high:\n            next_members",
        "        if low <= most <= high:\n            next_members",
        "tests/attack/test_risk.py",
    ),
    Mutant(
        "attacks", "a tolerance is rounded down", "attack/_attacks.py",
        "return -(-b * count // (b + a)), most, one", "return b * count // (b + a), most, one",
        "tests/attack/test_risk.py",
    ),
    Mutant(
        "recognition", "of equals the first is named", RECOGNITION + "top_n.py",
        "        elif mine == theirs:\n            who_best = -1",
        "        elif mine == theirs:\n            who_best = who_best",
        "tests/attack/reidentification",
    ),
    Mutant(
        "recognition", "sizes end one too early", RECOGNITION + "top_n.py",
        "if size < len(of_size) - 1:", "if size < len(of_size) - 2:",
        "tests/attack/reidentification",
    ),
    Mutant(
        "recognition", "sums that are as close as rounding are told apart",
        RECOGNITION + "matchers.py",
        "if second >= greatest * (1 - CLOSE):", "if second > greatest:",
        "tests/attack/reidentification",
    ),
    Mutant(
        "recognition", "the part for training is rounded up", RECOGNITION + "split.py",
        "int(n) * share.numerator // share.denominator for",
        "-(-int(n) * share.numerator // share.denominator) for",
        "tests/attack/reidentification",
    ),
    Mutant(
        "uniqueness", "the last of a list is not found", UNIQUENESS + "inverted_index.py",
        "if person[middle] < who:", "if person[middle] <= who:",
        "tests/measure/uniqueness",
    ),
    Mutant(
        "uniqueness", "a drawn point is drawn again", UNIQUENESS + "estimate.py",
        "                        index = last\n", "                        index = i\n",
        "tests/measure/uniqueness",
    ),
    Mutant(
        "uniqueness", "oneself counts among others", UNIQUENESS + "exhaustive.py",
        "    shared[who] = 0\n    return met", "    return met",
        "tests/measure/uniqueness",
    ),
    Mutant(
        "uniqueness", "a place must be met once more", UNIQUENESS + "encoding.py",
        "            if times[i] >= met:", "            if times[i] > met:",
        "tests/measure/uniqueness",
    ),
]  # fmt: skip


def tried(mutant: Mutant) -> tuple[Mutant, str]:
    """Give what became of a fault."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for part in ("src", "tests"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, home / part, ignore=ignored)
        for file in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / file, home / file)
        source = home / "src" / "incrowd" / mutant.file
        text = source.read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, f"{mutant.file} has {mutant.old!r} not once"
        source.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        words = [sys.executable, "-m", "pytest", mutant.tests, "-x", "-q", "-n", "0", "--tb=no"]
        environment = os.environ | {"PYTHONPATH": str(home / "src")}
        start = time.monotonic()
        try:
            done = subprocess.run(
                words, cwd=home, env=environment, capture_output=True, text=True, check=False,
                timeout=LONGEST,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return mutant, "NO RESULT in time"
    took = f"({time.monotonic() - start:.0f} s)"
    found = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 1 and found:
        return mutant, f"found by {found[0].split(' - ')[0].removeprefix('FAILED ')} {took}"
    if done.returncode < 0:  # as it writes where it may not
        return mutant, f"found: the tests end with signal {-done.returncode} {took}"
    return mutant, f"NOT FOUND, pytest ended with {done.returncode} {took}"


def main() -> None:
    """Try faults, and print what became of each."""
    words = [word for word in sys.argv[1:] if not word.isdigit()]
    together = next((int(word) for word in sys.argv[1:] if word.isdigit()), 1)
    chosen = [
        one
        for one in MUTANTS
        if not words or one.part in words or any(word in one.fault for word in words)
    ]
    missed = 0
    with ThreadPoolExecutor(together) as pool:
        for mutant, result in pool.map(tried, chosen):
            missed += not result.startswith("found")
            print(f"{mutant.part}: {mutant.fault}: {result}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are found.")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
