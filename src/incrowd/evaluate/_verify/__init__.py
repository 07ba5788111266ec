"""Is a written release k-anonymous and true? Shares no code with `protect` and `measure`.

::

    run            verify, for users: reads the files and makes every check that applies
    guarantees     what is guaranteed, and which checks that asks for; decides k-anonymity
    promises       what releases without a k promise instead, method by method
    rows           the published rows, read again from the file
    alignment      the release, the original and the private record on one grid
    integrity      files, rows, sizes, names
    truthfulness   membership, coverage, witness, no invention
    linkage        what somebody may know fits k records or more
    result         Check, Verification
"""
