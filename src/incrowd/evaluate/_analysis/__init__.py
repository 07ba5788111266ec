"""Section 5 of the paper, and which features of a dataset make hiding cheap.

::

    anonymizability     k-gaps, what causes them, who is hard to hide
    study               span, coverage, people, frequency, correlations
    subsets             parts of a dataset, measured one by one
    covariates          what of a person goes with a high k-gap
    mechanism_effects   what each mechanism does to uniqueness
"""
