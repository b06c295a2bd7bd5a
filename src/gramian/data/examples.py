"""Data that come with gramian, for the demo, the documentation and first steps.

``iris.csv``: the measurements of 150 iris flowers, 50 of each of three species, that R. A. Fisher
published in "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7 (1936)
179-188; collected by Edgar Anderson. In centimeters. The values are facts and free to use; they
are those of Fisher's table (and of R and scikit-learn), not those of the UCI repository, which
differ in two rows.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from pathlib import Path

__all__ = ["iris_path"]


def iris_path() -> AbstractContextManager[Path]:
    """The iris data as a CSV file, for as long as the ``with`` block lasts.

    Returns
    -------
    context manager of pathlib.Path
        A file in the installed package, or a temporary copy where that is a zip archive.

    Examples
    --------
    >>> with iris_path() as path:
    ...     print(path.read_text().splitlines()[1])
    5.1,3.5,1.4,0.2,setosa
    """
    return as_file(files("gramian.data").joinpath("iris.csv"))
