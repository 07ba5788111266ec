"""Re-identifying people in later data by earlier data (the paper of 2016, section 3.4).

::

    split        what trains, and what is tested
    top_n        the matcher TopN: the most visited places
    matchers     the matchers TfIdf and Markov: who is most similar
    deanonymize  who is re-identified, for users
"""
