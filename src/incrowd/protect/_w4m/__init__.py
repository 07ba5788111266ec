"""W4M, "Wait for Me": clusters of k trajectories, pulled into one cylinder of diameter delta.

::

    Trajectories ──> chunks ──> costs of all pairs ──> clusters ──> members get the times of their
      (cells and slots)         (greedy walks)         and trash    pivot, and are pulled to it

`chunks` cuts the people into groups that are worked on by themselves, `kernels` has what is
compiled, `edit` does a chunk, and `mechanism` is `W4M`, with its words.
"""

__all__: list[str] = []
