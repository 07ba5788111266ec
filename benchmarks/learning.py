"""Tables 2, 3 and 4 of the paper of 2017 on the synthetic cars, beside the paper's.

Everything is computed in one go: the 33 attacks on florence and pisa, exactly; for each a model of
each area, tested by cross-validation, on the other area, and on a part that is held out; the
importance of features; and what it all took. Nothing is compiled while time is taken.

``python -m benchmarks.learning --learner boosting extra_trees`` gives table 2 of other learners.
"""

import argparse
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

import incrowd
from benchmarks.common import machine
from incrowd import predict
from incrowd.attack._attacks import ATTACKS
from incrowd.cli._console import progress
from incrowd.measure._features import FEATURES
from incrowd.predict._validation import importances

if TYPE_CHECKING:
    from incrowd.predict._training import Training
    from incrowd.predict._validation import Experiment

AREAS = ("florence", "pisa")
KS = (2, 3, 4, 5)
_TWO = """
visit 2 .94 .94 .93 .93 .93 .92 .93 .93
visit 3 .94 .94 .93 .93 .93 .93 .93 .93
visit 4 .94 .94 .93 .93 .93 .93 .92 .92
visit 5 .94 .94 .92 .92 .93 .93 .91 .92
frequency 2 .90 .89 .83 .82 .79 .79 .76 .70
frequency 3 .94 .93 .89 .89 .84 .86 .83 .79
frequency 4 .92 .93 .89 .89 .85 .86 .85 .85
frequency 5 .93 .93 .89 .89 .71 .73 .85 .82
home_work 2 .62 .59 .57 .54 .57 .55 .51 .49
location 2 .93 .92 .86 .86 .87 .87 .85 .81
location 3 .95 .95 .91 .91 .87 .87 .87 .82
location 4 .95 .95 .91 .91 .89 .89 .89 .86
location 5 .95 .95 .91 .91 .89 .90 .87 .85
frequent_location_sequence 2 .93 .92 .88 .87 .88 .87 .86 .83
frequent_location_sequence 3 .94 .94 .88 .89 .90 .89 .73 .66
frequent_location_sequence 4 .94 .94 .89 .89 .85 .87 .86 .82
frequent_location_sequence 5 .93 .94 .89 .89 .90 .90 .86 .83
frequent_location 2 .81 .79 .71 .69 .73 .74 .65 .62
frequent_location 3 .86 .85 .80 .78 .81 .81 .75 .72
frequent_location 4 .87 .86 .81 .79 .83 .83 .79 .75
frequent_location 5 .87 .87 .81 .80 .82 .83 .78 .75
probability 2 .93 .92 .86 .86 .86 .85 .82 .80
probability 3 .95 .95 .92 .92 .89 .89 .86 .83
probability 4 .95 .95 .91 .91 .91 .90 .85 .81
probability 5 .95 .95 .92 .92 .92 .92 .87 .83
proportion 2 .90 .89 .83 .81 .79 .79 .79 .76
proportion 3 .94 .93 .89 .89 .89 .89 .83 .78
proportion 4 .93 .93 .89 .89 .85 .86 .84 .81
proportion 5 .93 .93 .89 .89 .83 .84 .83 .77
location_sequence 2 .88 .86 .79 .77 .83 .82 .78 .74
location_sequence 3 .92 .92 .87 .86 .88 .88 .86 .83
location_sequence 4 .92 .92 .88 .87 .88 .88 .87 .85
location_sequence 5 .93 .93 .88 .87 .91 .90 .87 .84
"""
PAPER_TWO = {
    (name, int(k)): [float(value) for value in values]
    for name, k, *values in (line.split() for line in _TWO.split("\n") if line)
}
PAPER_GUESSING = {
    "visit": (0.82, 0.81, 0.81, 0.80),
    "frequency": (0.53, 0.53, 0.41, 0.41),
    "home_work": (0.37, 0.37, 0.28, 0.29),
    "location": (0.57, 0.56, 0.44, 0.44),
    "frequent_location_sequence": (0.58, 0.57, 0.46, 0.45),
    "frequent_location": (0.65, 0.65, 0.56, 0.55),
    "probability": (0.56, 0.56, 0.45, 0.44),
    "proportion": (0.54, 0.54, 0.42, 0.40),
    "location_sequence": (0.64, 0.64, 0.55, 0.54),
}
_THREE = """
visits_per_day 3.66 2.87
entropy 2.92 2.62
sum_distances 2.75 3.22
places_ratio 2.51 3.24
visits 1.91 1.69
first_visits_ratio 1.77 1.62
places 1.67 1.66
first_people 1.44 1.46
first_people_ratio 1.32 1.40
sum_distances_per_day 1.19 0.98
second_people 1.12 1.16
second_visits_ratio 1.07 1.07
first_entropy 1.05 1.06
last_people_ratio 0.99 1.09
second_people_ratio 0.96 0.92
last_people 0.88 0.88
last_visits_ratio 0.83 0.73
last_entropy 0.79 0.79
second_entropy 0.74 0.75
max_distance 0.68 0.58
max_distance_ratio 0.63 0.67
radius_of_gyration 0.61 0.87
first_visits 0.42 0.44
second_visits_per_day 0.40 0.36
first_visits_per_day 0.36 0.48
last_visits 0.13 0.15
last_visits_per_day 0.12 0.13
second_visits 0.10 0.13
"""
PAPER_THREE = {
    name: (float(florence), float(pisa))
    for name, florence, pisa in (line.split() for line in _THREE.split("\n") if line)
}
PAPER_FOUR = {
    "home_work": ("149 s", "7 s", "5 s", "3 s"),
    "frequency": ("645 s", "22 s", "20 s", "10 s"),
    "frequent_location_sequence": ("846 s", "22 s", "23 s", "10 s"),
    "proportion": ("900 s", "24 s", "30 s", "10 s"),
    "frequent_location": ("997 s", "22 s", "30 s", "10 s"),
    "probability": ("1,165 s", "22 s", "37 s", "10 s"),
    "visit": ("2,274 s", "16 s", "95 s", "9 s"),
    "location_sequence": ("over a week", "22 s", "over a week", "10 s"),
    "location": ("over a week", "22 s", "over a week", "10 s"),
}


def prepared(area: str) -> "tuple[list[Training], dict[str, float]]":
    """Attack an area; give its training sets, and what each attack took."""
    data = incrowd.synthesize(area, seed=1)
    visits, seconds = incrowd.visits(data), {}
    for name in ATTACKS:
        start = perf_counter()
        incrowd.risk(visits, [name], KS)
        seconds[name] = perf_counter() - start
    return predict.training_sets(data, None, KS), seconds


def learned(area: "Sequence[Training]", learner: str) -> "dict[str, tuple[float, list[float]]]":
    """Learn from 70 % and test on 30 %, as one task; give seconds and accuracies by attack."""
    found: dict[str, tuple[float, list[float]]] = {}
    for one in area:
        start = perf_counter()
        scores = predict.hold_out(one, learner)
        assert isinstance(scores, predict.Scores)
        seconds, accuracies = found.get(one.attack, (0.0, []))
        found[one.attack] = (
            seconds + perf_counter() - start,
            [*accuracies, scores.accuracy],
        )
    return found


def table_two(found: "Sequence[Experiment]") -> None:
    """Print accuracy and F of every configuration, in and across areas, the paper's in brackets."""
    heads = "| attack | k | florence: accuracy | F | pisa: accuracy | F "
    print(heads + "| florence to pisa: accuracy | F | pisa to florence: accuracy | F |")
    print("|---|---" * 5 + "|")
    for name in dict.fromkeys(one.attack for one in found):
        mine = [one for one in found if one.attack == name]
        for one in mine:
            ours = [
                value
                for scores in (*one.within, *one.across)
                if isinstance(scores, predict.Scores)
                for value in (scores.accuracy, scores.f_measure)
            ]
            paper = PAPER_TWO[name, one.k]
            cells = (f"{a:.2f} ({b:.2f})" for a, b in zip(ours, paper, strict=True))
            print(f"| {name} | {one.k} | {' | '.join(cells)} |")
        guess = [
            float(np.mean([getattr(one.guessed[area], which) for one in mine]))
            for area in range(2)
            for which in ("accuracy", "f_measure")
        ]
        cells = (f"{a:.2f} ({b:.2f})" for a, b in zip(guess, PAPER_GUESSING[name], strict=True))
        print(f"| | guessing | {' | '.join(cells)} | | | | |", flush=True)


def means(found: "Sequence[Experiment]", learner: str) -> str:
    """Give means over all configurations, and what is most feared: the missed."""
    scores = [
        [side[i] for one in found for side in ((*one.within, *one.across),)] for i in range(4)
    ]
    cells = []
    for part in scores:
        own = [one for one in part if isinstance(one, predict.Scores)]
        accuracy, f_measure = (
            float(np.mean([getattr(one, which) for one in own]))
            for which in ("accuracy", "f_measure")
        )
        missed = float(np.nanmean([one.missed for one in own]))
        lower = float(np.mean([one.lower for one in own]))
        cells.append(f"{accuracy:.3f}, {f_measure:.3f}, {missed:.1%}, {lower:.1%}")
    return f"| {learner} | {' | '.join(cells)} |"


def matrices(found: "Sequence[Experiment]") -> None:
    """Print recall and precision of probability, k = 4, as figure 1 does."""
    [one] = [each for each in found if (each.attack, each.k) == ("probability", 4)]
    for area, scores in zip(AREAS, one.within, strict=True):
        assert isinstance(scores, predict.Scores)
        for what, part in (("recall", scores.recall()), ("precision", scores.precision())):
            print(f"\n{area}, probability, k = 4: {what}, in percent\n")
            print("| is \\ predicted | " + " | ".join(predict.CLASSES[1:]) + " |")
            print("|---" * 6 + "|")
            for name, row in zip(predict.CLASSES[1:], part[1:, 1:], strict=True):
                cells = ("-" if np.isnan(share) else f"{100 * share:.0f}" for share in row)
                print(f"| {name} | {' | '.join(cells)} |")


def table_three(found: "Sequence[Experiment]") -> None:
    """Print the importance of features, over all configurations."""
    ours = [dict(importances([one.models[area] for one in found]).iter_rows()) for area in range(2)]
    print("| feature | florence | paper | pisa | paper |\n|---|---|---|---|---|")
    for name in sorted(FEATURES, key=lambda name: -ours[0][name]):
        cells = (f"{ours[i][name]:.2f} | {PAPER_THREE[name][i]:.2f}" for i in range(2))
        print(f"| {name} | {' | '.join(cells)} |")
    table = np.array([[*(own[name] for own in ours), *PAPER_THREE[name]] for name in FEATURES])
    r = np.corrcoef(table.T)
    print(
        f"\nCorrelation of florence and pisa: ours {r[0, 1]:.2f}, the paper's {r[2, 3]:.2f} (it "
        f"states 0.96); of ours and the paper's: florence {r[0, 2]:.2f}, pisa {r[1, 3]:.2f}."
    )


def table_four(
    simulated: Sequence[dict[str, float]],
    learning: "Sequence[dict[str, tuple[float, list[float]]]]",
) -> None:
    """Print what simulation and learning take, beside the paper's."""
    print("| attack, k = 2 to 5 | florence: simulation | paper | learning | paper "
          "| pisa: simulation | paper | learning | paper |")  # fmt: skip
    print("|---" * 9 + "|")
    for name, paper in PAPER_FOUR.items():
        cells = [
            cell
            for area in range(2)
            for cell in (
                f"{simulated[area][name]:.2f} s",
                paper[2 * area],
                f"{learning[area][name][0]:.1f} s",
                paper[2 * area + 1],
            )
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    totals = [
        (sum(simulated[area].values()), sum(seconds for seconds, _ in learning[area].values()))
        for area in range(2)
    ]
    cells = []
    for (simulation, learn), taken in zip(totals, ("172 s", "79 s"), strict=True):
        cells += [f"{simulation:.1f} s", "over 2 weeks", f"{learn:.0f} s", taken]
    print(f"| together | {' | '.join(cells)} |", flush=True)
    print("\nSimulation on two threads, learning on one.", end=" ")
    print("The paper's own rows add up to 179 s and 82 s.")


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--learner", nargs="+", choices=predict.LEARNERS, default=["forest"])
    learners = parser.parse_args(arguments).learner
    machine()
    predict.training_sets(incrowd.synthesize("pisa", users=50, seed=1), None, KS)  # compiles
    areas, simulated = zip(*(prepared(area) for area in AREAS), strict=True)
    summary = []
    for learner in learners:
        start = perf_counter()
        with progress(f"Learning ({learner})", "configurations") as update:
            found = list(predict.experiments(areas, learner, progress=update))
        seconds = perf_counter() - start
        print(f"\n{learner}: {predict.LEARNERS[learner]}; {seconds / 60:.1f} min in all\n")
        table_two(found)
        summary.append(means(found, learner))
        matrices(found)
        if learner == "forest":
            print()
            table_three(found)
            print()
            learning = [learned(area, learner) for area in areas]
            table_four(simulated, learning)
            for i, area in enumerate(AREAS):
                held = np.mean([a for _, each in learning[i].values() for a in each])
                print(f"\n{area}: mean accuracy on the 30 % held out {held:.3f}")
    print("\nMeans over the 33 configurations: accuracy, F, missed, told lower\n")
    print("| learner | florence | pisa | florence to pisa | pisa to florence |")
    print("|---|---|---|---|---|")
    print("\n".join(summary))


if __name__ == "__main__":
    main(sys.argv[1:])
