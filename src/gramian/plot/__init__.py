"""PLOT: figures of an embedding with matplotlib.

Every function takes and returns matplotlib axes and never shows anything by itself, so that
figures can be combined, changed and saved. ``pip install gramian[plot]`` brings matplotlib.
"""

from gramian.plot.bars import contributions, cos2, procrustes_residuals, stress_per_point
from gramian.plot.certainty import ellipses, parallel, permutations
from gramian.plot.compare import procrustes
from gramian.plot.environment import envfit
from gramian.plot.fit import residual_variance, shepard, stress_scree
from gramian.plot.images import component_images, images
from gramian.plot.maps import biplot, map
from gramian.plot.neighborhoods import coranking
from gramian.plot.spectrum import scree, spectrum
from gramian.plot.variables import correlation_circle

__all__ = [
    "biplot",
    "component_images",
    "contributions",
    "coranking",
    "correlation_circle",
    "cos2",
    "ellipses",
    "envfit",
    "images",
    "map",
    "parallel",
    "permutations",
    "procrustes",
    "procrustes_residuals",
    "residual_variance",
    "scree",
    "shepard",
    "spectrum",
    "stress_per_point",
    "stress_scree",
]
