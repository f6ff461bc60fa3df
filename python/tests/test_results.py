"""Reads a real results directory, named by SIXBENCH_RESULTS, and changed copies of it."""

import datetime
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import sixbench

RESULTS = os.environ.get("SIXBENCH_RESULTS")


def is_installed(*names):
    return any(importlib.util.find_spec(name) for name in names)


def parquet_rows(path):
    if is_installed("polars"):
        import polars

        return polars.read_parquet(path).to_dicts()
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path).to_pylist()


@unittest.skipUnless(RESULTS, "SIXBENCH_RESULTS names no results directory")
class Reading(unittest.TestCase):
    def setUp(self):
        self.results = sixbench.read(RESULTS)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.copy = pathlib.Path(scratch.name, "results")
        shutil.copytree(RESULTS, self.copy)
        self.trials = self.copy / "trials.jsonl"

    def test_the_tables_are_those_of_the_files(self):
        lines = (pathlib.Path(RESULTS) / "trials.jsonl").read_text().splitlines()
        directions = sum(len(json.loads(line)["result"]["directions"]) for line in lines)
        self.assertEqual((len(self.results.records), len(self.results.trials)), (len(lines), directions))
        self.assertTrue(self.results.searches and self.results.points)
        self.assertIsInstance(self.results.searches[0]["repetition"], int)
        self.assertIn("sixbench", self.results.facts)
        self.assertEqual(self.results.plan["name"], self.results.searches[0]["plan"])

    def test_a_number_that_was_found_is_a_load_that_was_tried(self):
        tried = {(row["test"], row["repetition"], row["rate"]) for row in self.results.trials}
        for row in self.results.searches:
            rate = row["lower_bound_frames_per_s_per_direction"]
            if rate is not None:
                self.assertIn((row["test"], row["repetition"], rate), tried)

    def test_a_torn_last_line_is_left_out_and_any_other_is_told(self):
        whole = self.trials.read_text()
        self.trials.write_text(whole + '{"format":1,"poi')
        self.assertEqual(len(sixbench.read(self.copy).records), len(self.results.records))
        self.trials.write_text('{"format":1,"poi\n' + whole)
        with self.assertRaisesRegex(sixbench.ResultsError, "trials.jsonl:1: no record"):
            sixbench.read(self.copy)

    def test_a_newer_format_and_another_directory_are_told(self):
        self.trials.write_text('{"format":2}\n')
        with self.assertRaisesRegex(sixbench.ResultsError, "format 2; this package knows 1"):
            sixbench.read(self.copy)
        with self.assertRaisesRegex(sixbench.ResultsError, "is this a results directory"):
            sixbench.read(self.copy / "recipes")

    @unittest.skipUnless(is_installed("pandas", "polars"), "neither pandas nor polars is installed")
    def test_a_frame_has_the_rows(self):
        self.assertEqual(len(self.results.frame("trials")), len(self.results.trials))

    @unittest.skipUnless(is_installed("polars", "pyarrow"), "neither polars nor pyarrow is installed")
    def test_the_tables_of_parquet_have_the_rows_with_types(self):
        for name, table in (("results", self.results.searches), ("results-values", self.results.values), ("trials", self.results.trials)):
            rows = parquet_rows(pathlib.Path(RESULTS) / f"{name}.parquet")
            self.assertEqual(len(rows), len(table), name)
            for row, expected in zip(rows, table):
                for column in row.keys() & expected.keys() - {"started", "run_started", "run_ended", "faults"}:
                    self.assertEqual(row[column], expected[column], f"{name}: {column}")
                self.assertIsInstance(row["run_started"], datetime.datetime)

    def test_a_table_that_is_none_is_told(self):
        with self.assertRaisesRegex(KeyError, "there are trials, searches"):
            self.results.frame("figures")

    @unittest.skipUnless(is_installed("matplotlib"), "matplotlib is not installed")
    def test_the_plots_have_what_the_tables_have(self):
        import matplotlib

        matplotlib.use("Agg")
        test, size = (self.results.trials[0][name] for name in ("test", "frame_size_octets"))
        bars = sixbench.plot_throughput(self.results).patches
        at_size = [row for row in self.results.searches if row["frame_size_octets"] == size]
        self.assertLessEqual(len(bars), len({row["title"] for row in at_size}))
        for plot in (sixbench.plot_search, sixbench.plot_delay):
            drawn = sum(len(line.get_xdata()) for line in plot(self.results, test, size).lines)
            self.assertGreater(drawn, 0)


if __name__ == "__main__":
    unittest.main()
