"""What the words on the page mean: every term of the field that it uses, for readers who are new.

A test looks for these terms on a page and asks for each that it is here.
"""

__all__ = ["GLOSSARY"]

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("adversary", "Somebody who holds the release and tries to learn more of people from it."),
    (
        "attack",
        (
            "Looking for the record of a person of whom something is known. What each kind of "
            "attacker knows stands in the table under the chart."
        ),
    ),
    (
        "box",
        (
            "The rectangle on the map and the span of time of a published sample. Its sides are "
            "those of true samples, unless noise was added."
        ),
    ),
    (
        "cell, slot",
        "The steps of the grid in space and in time. No sample is more precise than one of each.",
    ),
    (
        "centre of mass",
        "The mean of all positions of a person, each sample counted once.",
    ),
    ("convex hull", "The smallest area without dents that holds all positions of a person."),
    (
        "coverage, witness, no invention",
        (
            "Three checks of truth: every sample of a published person lies in a published box or "
            "is counted as lost; how many boxes hold a sample of every member; no box reaches "
            "beyond what its people did."
        ),
    ),
    ("crowd", "The people who have exactly the same record, sample for sample."),
    (
        "epsilon, Geo-Indistinguishability",
        (
            "Noise on every position: within a distance of d metres two places stay alike to a "
            "factor of exp(epsilon times d)."
        ),
    ),
    (
        "GLOVE",
        "The method that puts people together who moved alike, and gives each crowd one record.",
    ),
    (
        "greedy, refined",
        (
            "How people are put together: those who are most alike first; or from there on by "
            "exchanges for as long as less is lost."
        ),
    ),
    (
        "home, workplace",
        "The place where a person was seen most from 22 to 6 h, and from 9 to 17 h.",
    ),
    (
        "inference",
        (
            "Learning something of a person without finding her record, because it is true of "
            "everybody in her crowd."
        ),
    ),
    ("k", "The number of people who must at least share every record."),
    ("k-anonymous", "Every crowd has k people or more."),
    (
        "k-gap",
        (
            "How hard a person is to hide among k: 0 if k-1 others have the same samples already, "
            "1 if nothing would be left of hers. It is not the price of a crowd."
        ),
    ),
    (
        "k-merge, optimal merging",
        "The boxes of a crowd by which least is lost, each holding a sample of everybody in it.",
    ),
    (
        "l-diversity",
        "That the members of a crowd differ in what is sensitive; k-anonymity does not ask for it.",
    ),
    (
        "linkability",
        (
            "Whether two records, in one dataset or in two, can be told to be of the same person "
            "or crowd."
        ),
    ),
    ("manifest", "The file of a release that says what it is, how it was made, and its hashes."),
    (
        "median, quartile (Q1, Q3), percentile",
        (
            "Half of all values are up to the median; a quarter and three quarters up to the "
            "quartiles; nine tenths up to the 90th percentile."
        ),
    ),
    (
        "membership, linkage",
        (
            "Two checks: everybody is published once or counted as left out; and true samples of a "
            "person lead to k records or more, or to none."
        ),
    ),
    (
        "Opinion 05/2014",
        (
            "The opinion on anonymisation techniques of the European Union's Article 29 Working "
            "Party, which asks about singling out, linkability and inference."
        ),
    ),
    (
        "the paper of 2021",
        (
            "Gramaglia, Fiore, Furno and Stanica, GLOVE: towards privacy-preserving publishing of "
            "record-level-truthful mobile phone trajectories, 2021. It says that the Italian code "
            "of conduct asks for k = 3 where personal data is processed for statistics."
        ),
    ),
    ("private record", "The list of who became whom. It stays with the owner of the data."),
    (
        "radius of gyration",
        (
            "How far from her centre of mass a person typically is: the root of the mean square "
            "distance."
        ),
    ),
    ("record", "All that is published of one person: a list of samples, under a random name."),
    (
        "record linkage",
        "Looking for the record of a person of whom something is known: where she was, and when.",
    ),
    ("release", "The folder that is shared: records, manifest, and a fact sheet."),
    (
        "risk",
        "The highest chance with which an attacker who knows some points names the right person.",
    ),
    ("sample", "A statement that a person was in a certain rectangle during a certain time."),
    ("SHA-256", "A fingerprint of a file: if one byte changes, so does the fingerprint."),
    ("singling out", "Isolating the record of one person, even if her name is not known."),
    ("strict, loose", "Whether crowds stop growing at k, so that a few people may be left over."),
    ("suppressed", "Left out: too large otherwise, or, with TGA, without a match."),
    ("trip", "Two samples of a person one after the other, in different squares of the map."),
    (
        "two-stage merging",
        "The papers' way to make boxes, merge by merge; samples are then cut or joined in time.",
    ),
    ("unique, uniquely re-identified", "Fitting one person only, of all in the dataset."),
    ("unwitnessed", "Of a published sample: at its time, no one of the crowd was seen there."),
)
