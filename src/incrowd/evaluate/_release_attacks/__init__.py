"""What an adversary gains who holds a release: attacks on what is published.

::

    files, original, record ──> KnownRelease ──> Adversary ──> each of RELEASE_ATTACKS ──> Finding
                                                                                            │
    attack_release ──> ReleaseAttacks <─────────────────────────────────────────────────────┘

    adversary     what is held and known, who is attacked, what known samples leave
    registry      RELEASE_ATTACKS; how to add one
    insider       members of the crowd: what box sides tell of the others
    minimality    the same, knowing how boxes are made
    points        somebody who knows a few samples: which crowd, presence, absence
    later         somebody who has later data: which crowd
    composition   several releases of the same people
    inferred      what a crowd's record tells of everybody in it
"""
