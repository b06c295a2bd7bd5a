"""The benchmarks run, at tiny sizes: their tables are whole and their accuracy columns finite."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.cluster import Constants, simulate
from benchmarks.measure import Machine, Table, interleaved, sine, value_error
from benchmarks.memory import extra_bytes, peak_of
from benchmarks.pca import CONTESTANTS, QUICK


def tables_of(name: str, folder: Path) -> list[dict[str, Any]]:
    out = folder / "out.json"
    assert main([name, "--quick", "--json", str(out)]) == 0
    return list(json.loads(out.read_text(encoding="utf-8"))["tables"])


def test_pca_table_has_every_contestant_with_finite_accuracy(tmp_path: Path) -> None:
    *found, roofline = tables_of("pca", tmp_path)
    assert len(found) == len(QUICK)
    for table, case in zip(found, QUICK, strict=True):
        assert len(table["rows"]) == 2 * len(case.names)
        for row in table["rows"]:
            if row["seconds"] == "not installed":
                continue
            for column in ("seconds", "eigenvalue error", "sine of angle", "residual"):
                assert math.isfinite(row[column]), (table["title"], row)
            if row["contestant"] == "gramian":
                assert row["residual"] <= (1e-4 if row["dtype"] == "float32" else 1e-6)
                assert math.isfinite(row["claimed"])
    assert all(row["measured"] > 0 for row in roofline["rows"])


def test_horn_table_counts_and_compares(tmp_path: Path) -> None:
    (table,) = tables_of("horn", tmp_path)
    assert [row["data"] for row in table["rows"]] == ["digits", "60 x 90"]
    for row in table["rows"]:
        assert row["kept"] == row["loop keeps"]
        assert row["value error"] < 1e-4
        assert 0 < row["mean off, s.e."] < 6


def test_isomap_tables_are_whole(tmp_path: Path) -> None:
    table, many = tables_of("isomap", tmp_path)
    ours = [row for row in table["rows"] if row["contestant"] == "gramian"]
    assert len(ours) == 2 and all(row["residual"] < 1e-6 for row in ours)
    assert ours[0]["share of the sheet"] > 0.95
    assert len(many["rows"]) == 1 and many["rows"][0]["seconds"] > 0


def test_products_table_is_whole_and_right(tmp_path: Path) -> None:
    (table,) = tables_of("products", tmp_path)
    assert len(table["rows"]) == 2 * 2 * 2 * 4  # dtypes, orders, products, column counts
    for row in table["rows"]:
        assert row["ours ms"] > 0
        assert row["difference"] < (1e-5 if row["dtype"] == "float32" else 1e-13)


def test_stress_tables_have_finite_stress_for_everybody(tmp_path: Path) -> None:
    for name, tables in (("mds-stress", 1), ("mds-ordinal", 2)):
        found = tables_of(name, tmp_path)
        assert len(found) == tables
        for row in (row for table in found for row in table["rows"]):
            assert 0.1 < row["stress-1"] < 0.4 and row["seconds"] > 0


def test_solver_tables_certify_ours_on_every_map(tmp_path: Path) -> None:
    found = tables_of("solvers", tmp_path)
    assert [table["title"].split()[1] for table in found] == ["dense", "sparse", "matrix-free"]
    for table in found:
        for row in table["rows"]:
            assert isinstance(row["gramian s"], float), row  # text would mean: missed the tolerance
            assert all(math.isfinite(float(residual)) for residual in row["residuals"].split())


def test_block_table_is_produced(tmp_path: Path) -> None:
    (table,) = tables_of("blocks", tmp_path)
    assert table["rows"]
    assert all(isinstance(row["default, s"], float) for row in table["rows"])


def test_machine_table_is_produced(tmp_path: Path) -> None:
    (table,) = tables_of("machine", tmp_path)
    assert len(table["rows"]) == 3


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["speed"])
    assert stop.value.code == 2
    assert "'speed'" in capsys.readouterr().err
    assert "start" in BENCHMARKS  # starts processes that fit: too slow for here


def test_contestants_take_turns_and_failures_are_results() -> None:
    order: list[str] = []

    def fails() -> None:
        order.append("b")
        raise ValueError("no")

    found = interleaved({"a": lambda: order.append("a"), "b": fails}, rounds=3)
    assert "".join(order) == "ababab"
    assert len(found["a"].times) == 3
    assert isinstance(found["b"].answer, ValueError)
    assert found["b"].seconds == math.inf


def test_one_slow_run_is_not_the_last_word() -> None:
    runs: list[int] = []
    interleaved({"slow": lambda: runs.append(1)}, rounds=4, patience=0.0)
    assert len(runs) == 2


def test_accuracy_measures_know_the_truth() -> None:
    axes = np.eye(4)
    turned = axes[:, :1] * np.cos(1e-9) + axes[:, 1:2] * np.sin(1e-9)
    assert sine(turned, axes[:, :1]) == pytest.approx(1e-9, rel=1e-6)
    assert sine(axes[:, [1, 0]], axes[:, :2]) == 0
    assert value_error(np.array([2.0, 1.1]), np.array([2.0, 1.0])) == pytest.approx(0.1)


def test_roofline_takes_the_binding_limit() -> None:
    machine = Machine({"float64": 10.0}, 2.0)
    assert machine.least_seconds(100, 2, "float64") == 10
    assert machine.least_seconds(1, 8, "float64") == 4
    assert machine.better(Machine({"float64": 5.0}, 3.0)) == Machine({"float64": 10.0}, 3.0)


def test_table_is_markdown() -> None:
    text = str(Table("T", ("a", "b"), [(1e-9, "x"), (1234.5, None)], ("note",)))
    assert "| 1.0e-09 | x |" in text
    assert "| 1234    |   |" in text
    assert text.endswith("note\n")


def test_peak_memory_sees_what_is_touched_and_let_go() -> None:
    seen = peak_of(lambda: np.ones(8_000_000).sum())
    assert 55e6 < seen < 90e6


def test_memory_of_a_fit_in_its_own_process(tmp_path: Path) -> None:
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(0).standard_normal((500, 40)))
    seen = extra_bytes(path, "gramian", 3)
    assert seen is not None
    assert 0 <= seen < 100e6
    assert extra_bytes(path, "nobody", 3) is None
    assert "gramian" in CONTESTANTS


def test_gram_tables_are_whole_and_certified(tmp_path: Path) -> None:
    for name, case in (("mds", "gramian MDS"), ("kernel-pca", "gramian kernel PCA")):
        (table,) = tables_of(name, tmp_path)
        ours = [row for row in table["rows"] if row["contestant"] == case]
        assert len(ours) >= 2 and len(table["rows"]) > len(ours)
        for row in ours:
            assert row["residual"] <= (1e-4 if row["dtype"] == "float32" else 1e-6), row


def test_distance_table_shows_who_loses_the_digits(tmp_path: Path) -> None:
    (table,) = tables_of("distances", tmp_path)
    off = {(row["dtype"], row["contestant"]): row for row in table["rows"]}
    assert off["float64", "gramian"]["error of the closest pair"] < 1e-6
    assert off["float64", "scikit-learn"]["error of the closest pair"] > 0.01


def test_linear_tables_have_errors_below_the_peers(tmp_path: Path) -> None:
    for name, measure, slack in (("ppca", "error", 1.0), ("ica", "Amari distance", 1.02)):
        (table,) = tables_of(name, tmp_path)
        ours = [row for row in table["rows"] if row["contestant"] == "gramian"]
        for own in ours:
            case = next(iter(own.values()))
            for row in table["rows"]:
                if next(iter(row.values())) == case:
                    assert own[measure] <= slack * row[measure], row


def test_imputation_is_also_judged_by_data_that_nothing_was_chosen_by(tmp_path: Path) -> None:
    (table,) = tables_of("ppca-others", tmp_path)
    assert len(table["rows"]) == 2
    for row in table["rows"]:
        assert row["gramian"] < row["IterativeImputer"] < row["mean"], row


def test_the_simulated_cluster_is_right_where_it_can_be_counted() -> None:
    rng = np.random.default_rng(0)
    free = Constants(np.ones(3), add=0.0, fit=0.0, task=0.0, part=100, bandwidth=1e12, latency=0.0)
    for blocks in (1, 2, 7, 64, 1000):
        one = simulate(1, blocks, free, rng)
        assert one.moved == 0 and abs(one.seconds / blocks - 1) < 1e-9
        for workers in (2, 3, 16):
            found = simulate(workers, blocks, free, rng)
            assert abs(found.seconds / -(-blocks // workers) - 1) < 1e-9
            assert 0 <= found.moved <= 100 * (blocks - 1)
    # of two workers that take turns one of each two neighbors travels; then sums as chance has it
    half = simulate(2, 1024, replace(free, blocks=rng.uniform(0.5, 1.5, 500)), rng).moved
    assert 0.35 < half / 100 / 1023 < 0.65
    # additions are made one after the other by one worker, the scheduler hears of every task
    assert abs(simulate(1, 64, replace(free, add=2.0), rng).seconds - (64 + 63 * 2)) < 1e-9
    assert simulate(1, 64, replace(free, task=0.1), rng).seconds < 64 + 16 * 0.1  # overlaps blocks
    taken = replace(free, task=0.5, shared=True)  # from the one worker there is
    assert 64 + 127 * 0.5 <= simulate(1, 64, taken, rng).seconds < 64 + 140 * 0.5
    assert simulate(64, 6400, replace(free, task=0.5), rng).seconds > 6400


@pytest.mark.slow
def test_cluster_tables_are_whole_and_right(tmp_path: Path) -> None:
    measured, billion = tables_of("cluster", tmp_path)
    assert [row["workers"] for row in measured["rows"]] == ["1", "2"]
    for row in measured["rows"]:
        assert row["error"] < 1e-6 and row["measured, s"] > 0
        assert 0.1 < row["simulated / measured"] < 10
    assert len(billion["rows"]) == 5
