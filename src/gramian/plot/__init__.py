"""PLOT: figures of an embedding with matplotlib.

Every function takes and returns matplotlib axes and never shows anything by itself, so that
figures can be combined, changed and saved. ``pip install gramian[plot]`` brings matplotlib.
"""

from gramian.plot.certainty import ellipses, parallel
from gramian.plot.maps import biplot, map
from gramian.plot.spectrum import scree
from gramian.plot.variables import correlation_circle

__all__ = ["biplot", "correlation_circle", "ellipses", "map", "parallel", "scree"]
