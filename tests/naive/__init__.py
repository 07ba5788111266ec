"""The slow and obvious oracle of every fast path, in plain Python: a module for each package.

People are a list of ``(user, boxes)``; a box is ``(x0, x1, y0, y1, t0, t1)``.
"""

from naive.accuracy import *
from naive.attacks import *
from naive.compare import *
from naive.data import *
from naive.dispersion import *
from naive.edges import *
from naive.glove import *
from naive.inference import *
from naive.k_merge import *
from naive.mechanisms import *
from naive.reidentification import *
from naive.release_attacks import *
from naive.same_person import *
from naive.scores import *
from naive.tga import *
from naive.traces import *
from naive.utility import *
from naive.w4m import *
