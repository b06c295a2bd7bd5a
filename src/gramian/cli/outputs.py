"""Where results go: refused before the work starts, written whole after it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramian.errors import GramianError
from gramian.files import check_target
from gramian.show.text import visible

if TYPE_CHECKING:
    from gramian.results import Embedding

__all__ = ["Outputs"]


@dataclass(frozen=True)
class Outputs:
    """The files a command was asked to write."""

    coordinates: Path | None = None
    report: Path | None = None
    force: bool = False
    title: str | None = None
    model: Path | None = None
    excel_safe: bool = False

    @property
    def paths(self) -> dict[str, str]:
        """What is written where: ``{"coordinates": "iris-pca.csv"}``."""
        asked = {"coordinates": self.coordinates, "report": self.report, "model": self.model}
        return {kind: str(path) for kind, path in asked.items() if path is not None}

    def check(self, source: str) -> None:
        """Refuse now what would fail, or do harm, after the work is done.

        Parameters
        ----------
        source : str
            The input file, which is never overwritten.
        """
        from gramian.results import WRITES

        if self.coordinates is not None and self.coordinates.suffix.lower() not in WRITES:
            known = ", ".join(WRITES)
            raise GramianError(
                f"-o {visible(self.coordinates, 200)}: the ending must be one of {known}"
            )
        if self.report is not None and self.report.suffix.lower() not in (".html", ".htm"):
            raise GramianError(f"--report {visible(self.report, 200)}: the ending must be .html")
        if self.model is not None and self.model.suffix.lower() != ".gramian":
            raise GramianError(f"--save {visible(self.model, 200)}: the ending must be .gramian")
        if len({os.path.realpath(path) for path in self.paths.values()}) < len(self.paths):
            raise GramianError(
                "two of -o, --report and --save name the same file; give each its own"
            )
        for path in self.paths.values():
            if os.path.realpath(path) == os.path.realpath(source) or _same_file(path, source):
                raise GramianError(f"{visible(path, 200)} is the input file and stays as it is")
            check_target(path)
            if os.path.lexists(path) and not self.force:
                raise GramianError(
                    f"{visible(path, 200)} exists; choose another name, or --force to replace it"
                )

    def write(self, embedding: Embedding, model: Any) -> None:
        """Write what was asked for.

        Parameters
        ----------
        embedding : Embedding
        model : fitted method
        """
        if self.model is not None:
            model.save(self.model)
        if self.coordinates is not None:
            embedding.write(self.coordinates, excel_safe=self.excel_safe)
        if self.report is not None:
            from gramian.report import write_report

            write_report(embedding, self.report, title=self.title)


def _same_file(path: str, source: str) -> bool:
    try:
        return os.path.samefile(path, source)
    except OSError:
        return False
