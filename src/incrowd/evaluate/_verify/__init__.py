"""Is a written release k-anonymous and true? Shares no code with `protect` and `measure`.

::

    run            verify, for users: reads the files and makes every check that applies
    guarantees     what is promised, and which checks that asks for
    rows           the published rows, read again from the file
    alignment      the release beside the original and the private record
    integrity      files, rows, sizes, names
    truthfulness   membership, coverage, witness, no invention
    linkage        what somebody may know fits k records or more
    result         Check, Verification
"""
