"""Recognising people in later data by what was known of earlier (the paper of 2016).

::

    split        what trains, and what is tested
    matchers     the three attackers: most visited places, TF-IDF, Markov chains
    deanonymize  who is recognised, for users
"""
