"""Comparisons written by hand, in the form in which ``incrowd compare`` writes them."""

import copy

COLUMNS = {
    "glove:k=2": ("glove", "GLOVE, k = 2", "k-anonymity", True),
    "glove:k=5": ("glove", "GLOVE, k = 5", "k-anonymity", True),
    "w4m:k=2": ("w4m", "W4M, k = 2, delta 2 km", "(k, delta)", True),
    "generalise:1000m:30min": ("generalise", "uniform generalisation, 1 km, 30 min", "none", True),
    "cloak:60": ("cloak", "temporal cloaking, 60 min", "none", True),
}
ROWS = [
    ("crowd", "private", "Crowds", "smallest crowd", "people", "more"),
    ("attack", "private", "Attacks", "worst of the attacks", "share", "less"),
    ("recall", "private", "Recognition", "people recognised", "share", "less"),
    ("loss", "useful", "Samples", "samples lost, or far off", "share", "less"),
    ("position_error_mean", "useful", "Samples", "position error, mean", "m", "less"),
    ("time_error_mean", "useful", "Samples", "time error, mean", "min", "less"),
    ("wide", "useful", "Grain", "width, median", "m", None),
    ("busy", "useful", "Together", "rank correlation", "correlation", "more"),
    ("seconds", "cost", "Time and memory", "time for the mechanism", "s", "less"),
    ("memory", "cost", "Time and memory", "peak of memory", "bytes", "less"),
]
NUMBERS = {
    "glove:k=2": (2, 0.0, 0.0, 0.27, 386.0, 139.0, 500.0, 0.9, 0.65, 437e6),
    "glove:k=5": (5, 0.0, 0.0, 0.73, 651.0, 618.0, 1400.0, 0.7, 0.28, 558e6),
    "w4m:k=2": (1, 0.62, 0.31, 0.41, 900.0, 45.0, 100.0, 0.8, 3.1, 600e6),
    "generalise:1000m:30min": (1, 1.0, 1.0, 0.0001, 290.0, 7.0, 1000.0, 0.2, 0.04, 1.5e9),
    "cloak:60": (1, 1.0, None, 0.0, 0.0, 15.0, 100.0, 1.0, 0.01, 583e6),
}
CURVES = {
    "space": [[0, 0.2], [100, 0.3], [1_000, 0.7], [10_000, 0.9], [100_000, 0.9], [500_000, 0.9]],
    "time": [[0, 0.1], [10, 0.4], [60, 0.6], [1_440, 0.9], [10_080, 0.9]],
}
WHY = "nobody was matched with a record"


def column(key, method, label, guarantee, verified):
    """Give a column that is done."""
    return {
        "key": key, "method": method, "label": label, "settings": {}, "state": "done",
        "why": None, "guarantee": guarantee, "verified": verified,
        "says": f"What was found of {label}.", "warnings": [],
    }  # fmt: skip


def is_best(row, key):
    """Tell whether no column has a better value."""
    at = [each[0] for each in ROWS].index(row)
    better, own = ROWS[at][5], NUMBERS[key][at]
    known = [of[at] for of in NUMBERS.values() if of[at] is not None]
    return better is not None and own == (min if better == "less" else max)(known)


def comparison():
    """Give a comparison of five columns, one of them with a value that is missing."""
    names = [row[0] for row in ROWS]
    return copy.deepcopy({
        "format": "incrowd comparison", "version": 1, "made_with": "incrowd 0.1.0",
        "meant_for": "owner",
        "data": {"people": 200, "samples": 45_238, "cell": 100.0, "slot": 60, "hash": "efa0"},
        "settings": {"targets": 500, "seed": 0, "tz": "UTC", "grid": 0.5, "threads": None},
        "columns": [column(key, *about) for key, about in COLUMNS.items()],
        "rows": [
            dict(zip(("key", "group", "section", "label", "unit", "better"), row, strict=True))
            | {"help": f"What {row[3]} means."}
            for row in ROWS
        ],
        "values": {
            key: {
                name: {
                    "value": value,
                    "why": WHY if value is None else None,
                    "best": value is not None and is_best(name, key),
                }
                for name, value in zip(names, of, strict=True)
            }
            for key, of in NUMBERS.items()
        },
        "original": {
            "crowd": {"value": 1, "why": None, "best": False},
            "attack": {"value": 1.0, "why": None, "best": False},
        },
        "curves": dict.fromkeys(COLUMNS, CURVES),
    })  # fmt: skip


def many(number):
    """Give a comparison of so many columns, by more methods than there are shapes."""
    found = comparison()
    first = found["columns"][0]
    found["columns"] = [
        first | {"key": f"c{i}", "method": f"m{i % 10}", "label": f"mechanism {i % 10}, k = {i}"}
        for i in range(number)
    ]
    values, curves = found["values"]["glove:k=2"], found["curves"]["glove:k=2"]
    found["values"] = {
        f"c{i}": values
        | {
            "loss": {"value": 0.05 * (i % 7), "why": None, "best": i % 7 == 0},
            "attack": {"value": 0.03 * (i // 3), "why": None, "best": False},
        }
        for i in range(number)
    }
    found["curves"] = {f"c{i}": curves for i in range(number)}
    return found


def undone(found, key, state, why):
    """Let a column be refused, or fail."""
    for each in found["columns"]:
        if each["key"] == key:
            each.update(state=state, why=why, verified=None, says="")
    del found["values"][key], found["curves"][key]
    return found
