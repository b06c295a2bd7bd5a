"""Run the benchmarks asked for and print their tables as they come."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import benchmarks
from benchmarks import (
    cluster,
    genotypes,
    gram,
    horn,
    isomap,
    linear,
    lle,
    out_of_core,
    pca,
    products,
    scale,
    solvers,
    sparse,
    start,
    stress,
)
from benchmarks.measure import Machine, Settings, Table


def machine(settings: Settings) -> Iterator[Table]:
    """The roofline alone."""
    yield Machine.measured(settings.quick).table()


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Table]]] = {
    "machine": machine,
    "pca": pca.tables,
    "out-of-core": out_of_core.tables,
    "scale": scale.tables,
    "cluster": cluster.tables,
    "mds": gram.mds_tables,
    "kernel-pca": gram.kernel_tables,
    "mds-stress": stress.metric_tables,
    "mds-ordinal": stress.ordinal_tables,
    "distances": gram.distance_tables,
    "ppca": linear.ppca_tables,
    "ppca-others": linear.other_tables,
    "ica": linear.ica_tables,
    "horn": horn.tables,
    "lle": lle.tables,
    "genotypes": genotypes.tables,
    "isomap": isomap.tables,
    "products": products.tables,
    "solvers": solvers.tables,
    **{name: partial(solvers.tables, families=(name,)) for name in solvers.FAMILIES},
    "blocks": solvers.block_tables,
    "lsi": sparse.lsi_tables,
    "rank": sparse.rank_tables,
    "start": start.tables,
}
USUAL = (
    *("pca", "out-of-core", "horn", "mds", "kernel-pca", "distances", "mds-stress", "mds-ordinal"),
    *("isomap", "lle", "genotypes", "ppca", "ica", "lsi", "rank", "products", "start", "solvers"),
    "cluster",
)
PACKAGES = (
    "gramian",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "scikit-bio",
    "numba",
    "primme",
    "tapkee",
)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; 0 unless something broke."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=benchmarks.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes, no memory figures")
    parser.add_argument("--slow", action="store_true", help="also contestants that take minutes")
    parser.add_argument(
        "--full", action="store_true", help="out-of-core: 8 GB, not 1; cluster: 3.2"
    )
    parser.add_argument("--no-memory", action="store_true", help="no memory figures: quicker")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write the tables here too")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    settings = Settings.of(asked.quick, asked.slow, not asked.no_memory, asked.full)
    print(_circumstances(), flush=True)
    found: list[Table] = []
    for name in asked.names or USUAL:
        for table in BENCHMARKS[name](settings):
            found.append(table)
            print(f"\n{table}", flush=True)
    if asked.json:
        told = {"circumstances": _circumstances(), "tables": [table.as_dict() for table in found]}
        asked.json.write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


def _circumstances() -> str:
    """Versions, cores, and how busy the machine is."""
    load = f", load {os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else ""
    return f"Python {platform.python_version()}, {', '.join(_versions())}; {_cores()} cores{load}"


def _versions() -> Iterator[str]:
    for name in PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
