"""Reads a real results directory, named by SIXBENCH_RESULTS, changed copies of it, and directories that are made here."""

import datetime
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import sixbench

RESULTS = os.environ.get("SIXBENCH_RESULTS")


def is_installed(*names):
    return any(importlib.util.find_spec(name) for name in names)


def parquet_rows(path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path).to_pylist()


#: A directory that can be read: one trial, and one row in each table.
RECORD = {
    "format": 1,
    "point": {"test": "t", "frame-size": 84},
    "repetition": 1,
    "trial": 1,
    "started": "2026-01-01T00:00:00Z",
    "result": {"spec": {"rate": 1000, "duration_ns": 10**9}, "directions": [{"direction": "forward", "offered": 1000, "received": 1000}]},
}
GOOD = {
    "trials.jsonl": json.dumps(RECORD) + "\n",
    "results.csv": "plan,test\np,t\n",
    "results-values.csv": "plan,test\np,t\n",
    "points.csv": "plan,test\np,t\n",
    "facts.json": "{}\n",
    "resolved.toml": 'name = "p"\n',
}
DEEP = 100_000


def changed(path, value):
    """Returns the record as a line with one field, named with dots, changed, or removed where the value is Ellipsis."""
    record = json.loads(json.dumps(RECORD))
    *above, name = path.split(".")
    place = record
    for each in above:
        place = place[each]
    place[name] = value
    if value is ...:
        del place[name]
    return json.dumps(record) + "\n"


def in_first_direction(**fields):
    return changed("result.directions", [RECORD["result"]["directions"][0] | fields])


#: What is wrong with one file: its name, its content, and what the message says beside the file's name.
BROKEN = [
    ("trials.jsonl", None, "is this a results directory"),
    ("trials.jsonl", "", "there is no record yet; wait"),
    ("trials.jsonl", '{"format":1', "there is no record yet; wait"),
    ("trials.jsonl", "no JSON\n", ":1: no record: .*; copy it again"),
    ("trials.jsonl", b"\xff\xfe\n", ":1: no record: 'utf-8' codec can't decode"),
    ("trials.jsonl", "\ufeff" + GOOD["trials.jsonl"], ":1: no record: Unexpected UTF-8 BOM"),
    ("trials.jsonl", "[" * DEEP + "]" * DEEP + "\n", ":1: no record: maximum recursion depth"),
    ("trials.jsonl", '{"format": ' + "9" * 5000 + "}\n", ":1: no record: Exceeds the limit"),
    ("trials.jsonl", "[]\n", ":1: no record: `format` is missing"),
    ("trials.jsonl", "null\n", ":1: no record: `format` is missing"),
    ("trials.jsonl", "{}\n", ":1: no record: `format` is missing"),
    ("trials.jsonl", changed("format", "1"), ":1: no record: `format` is not a whole number"),
    ("trials.jsonl", changed("format", True), ":1: no record: `format` is not a whole number"),
    ("trials.jsonl", changed("format", 0), ":1: no record: there has been no format 0"),
    ("trials.jsonl", changed("format", 2), ":1: format 2; this package knows 1: install a newer one"),
    ("trials.jsonl", GOOD["trials.jsonl"] + '{"format":1}\n', ":2: no record: `point.test` is missing"),
    ("trials.jsonl", changed("point", ...), ":1: no record: `point.test` is missing"),
    ("trials.jsonl", changed("point", "t"), ":1: no record: `point.test` is missing"),
    ("trials.jsonl", changed("point.test", 7), ":1: no record: `point.test` is not text"),
    ("trials.jsonl", changed("point.frame-size", 84.5), ":1: no record: `point.frame-size` is not a whole number"),
    ("trials.jsonl", changed("repetition", None), ":1: no record: `repetition` is not a whole number"),
    ("trials.jsonl", changed("trial", ...), ":1: no record: `trial` is missing"),
    ("trials.jsonl", changed("started", {}), ":1: no record: `started` is not text"),
    ("trials.jsonl", changed("result", []), ":1: no record: `result.spec.rate` is missing"),
    ("trials.jsonl", changed("result.spec", None), ":1: no record: `result.spec.rate` is missing"),
    ("trials.jsonl", changed("result.directions", {}), ":1: no record: `result.directions` is not a list"),
    ("trials.jsonl", changed("result.directions", [1]), ":1: no record: `result.directions` is not a list of objects"),
    ("trials.jsonl", changed("result.faults", ["stalled"]), ":1: no record: `result.faults` is not a list of objects"),
    ("trials.jsonl", changed("result.faults", None), ":1: no record: `result.faults` is not a list"),
    ("trials.jsonl", changed("result.faults", [{}]), ":1: no record: `fault` is missing"),
    ("trials.jsonl", in_first_direction(delay=[1]), ":1: no record: `delay` is not an object"),
    ("trials.jsonl", in_first_direction(sending="late"), ":1: no record: `sending` is not an object"),
    *((name, "", "the file is empty; make it again: sixbench report") for name in ("results.csv", "results-values.csv", "points.csv")),
    ("results.csv", "plan,test\np\n", ":2: 1 cells where the first line has 2; make it again"),
    ("results.csv", "plan,test\np,t,more\n", ":2: 3 cells where the first line has 2"),
    ("results.csv", 'plan,test\np,"t\n', "no CSV: unexpected end of data"),
    ("results.csv", "plan,test\np," + "t" * 200_000 + "\n", "no CSV: field larger than field limit"),
    ("results-values.csv", b"plan,test\np,\xe9\n", "octet 12 is not UTF-8; make it again"),
    ("points.csv", "plan,test\np,t\0\n".encode("utf-16"), "octet 0 is not UTF-8"),
    ("facts.json", "", "no JSON: .*; copy it again"),
    ("facts.json", "[]", "not an object; copy it again"),
    ("facts.json", "[" * DEEP, "no JSON: maximum recursion depth"),
    ("facts.json", b'{"a": "\xff"}', "octet 7 is not UTF-8"),
    ("resolved.toml", "name = ", "no TOML: .*; copy it again"),
    ("resolved.toml", b"name = '\xff'", "octet 8 is not UTF-8"),
    ("resolved.toml", "a = " + "[" * DEEP, "no TOML: "),
]

#: What stands in the place of a file.
IN_PLACE = {
    "a folder": (lambda path: path.mkdir(), "this is no file"),
    "a FIFO": (os.mkfifo, "this is no file"),
    "a link to itself": (lambda path: path.symlink_to(path), "cannot be read: Too many levels of symbolic links"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "this is no file"),
}


class Directories(unittest.TestCase):
    """Directories that are made here: a good one, and broken ones."""

    def made(self, name=None, content=None):
        """Returns a new directory, with another content of one file, or without it."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        directory = pathlib.Path(scratch.name)
        for file, text in (GOOD | ({name: content} if name else {})).items():
            if text is not None:
                (directory / file).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return directory

    def assert_told(self, directory, name, told):
        with self.assertRaises(sixbench.ResultsError) as raised:
            sixbench.read(directory)
        message = str(raised.exception)
        self.assertTrue(message.startswith(str(directory / name)), message)
        self.assertRegex(message, told)
        self.assertNotIn("\n", message)
        self.assertLess(len(message), 400)

    def test_every_broken_file_is_told_by_its_name_and_what_to_do(self):
        for name, content, told in BROKEN:
            with self.subTest(file=name, content=str(content)[:60]):
                self.assert_told(self.made(name, content), name, told)

    def test_what_is_no_file_is_told_and_never_waited_for(self):
        for name in GOOD:
            for what, (make, told) in IN_PLACE.items():
                with self.subTest(file=name, what=what):
                    directory = self.made(name, None)
                    make(directory / name)
                    self.assert_told(directory, name, told)

    def test_what_may_not_be_read_is_told(self):
        directory = self.made()
        directory.chmod(0o755)
        for name in GOOD:
            with self.subTest(file=name):
                (directory / name).chmod(0)
                self.assertEqual(self.as_nobody(lambda name=name: self.assert_told(directory, name, "Permission denied")), 0)
                (directory / name).chmod(0o644)

    @staticmethod
    def as_nobody(action):
        """Runs an action in a process that is not root, which may read everything; returns its exit code."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.getuid() == 0:
                    os.setgroups([])
                    os.setresgid(65534, 65534, 65534)
                    os.setresuid(65534, 65534, 65534)
                action()
                code = 0
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_no_directory_is_told(self):
        file = self.made() / "facts.json"
        for directory, told in ((file, "is no directory"), (file.parent / "none", "is this a results directory"), ("a\0b", "this is no path")):
            with self.subTest(directory=directory), self.assertRaisesRegex(sixbench.ResultsError, told):
                sixbench.read(directory)

    def test_files_that_are_missing_leave_their_tables_empty(self):
        directory = self.made()
        for name in GOOD.keys() - {"trials.jsonl"}:
            (directory / name).unlink()
        results = sixbench.read(directory)
        self.assertEqual((len(results.trials), results.searches, results.facts, results.plan), (1, [], {}, {}))

    def test_tables_that_were_not_exported_are_told_and_read_where_they_were(self):
        directory = self.made()
        for name in ("results-values.csv", "points.csv"):
            (directory / name).unlink()
        results = sixbench.read(directory)
        self.assertIn("1 searches, no values, no points>", repr(results))
        for table, file in (("values", "results-values.csv"), ("points", "points.csv")):
            with self.assertRaisesRegex(sixbench.ResultsError, f"{file} was not exported; export it: sixbench export .* --to csv"):
                results.frame(table)
        exports = directory / "exports" / "csv"
        exports.mkdir(parents=True)
        (exports / "points.csv").write_text("plan,test\np,t\np,u\n")
        # Both places: a directory of an earlier version of which the table was exported, too.
        (directory / "points.csv").write_text(GOOD["points.csv"])
        self.assertEqual([row["test"] for row in sixbench.read(directory).points], ["t", "u"])

    def test_parquet_without_pyarrow_and_without_an_export_says_what_to_do(self):
        directory = self.made("points.csv", None)
        with self.assertRaisesRegex(sixbench.ResultsError, "sixbench export"):
            sixbench.read(directory).to_parquet()
        told = self.run_module("to_parquet", directory)
        self.assertEqual((told.returncode, told.stdout), (2, ""))
        self.assertRegex(told.stderr, r"^error: .*points.csv was not exported; .*\n$")
        self.assertFalse((directory / "exports").exists())
        if not is_installed("pyarrow"):
            self.assertRegex(self.run_module("to_parquet", self.made()).stderr, "^error: Parquet needs pyarrow: pip install pyarrow\n$")

    @unittest.skipUnless(is_installed("pyarrow"), "pyarrow is not installed")
    def test_types_of_parquet_do_not_depend_on_the_values_of_a_run(self):
        import pyarrow.parquet

        heading = "goal_loss_ratio,lower_bound_frames_per_s_per_direction,is_at_least,limit,run_started,trials\n"
        full = heading + f"0,1000,true,tester,2026-01-01T00:00:00Z,{2**64}\n"
        empty = heading + "0.5,,,,no time,\n"
        for text, cells in (
            (full, [0.0, 1000, True, "tester", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), None]),
            (empty, [0.5, None, None, None, None, None]),
        ):
            directory = self.made("results.csv", text)
            done = self.run_module("to_parquet", directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            paths = [str(directory / "exports" / "parquet" / name) for name in sixbench.parquet.FILES.values()]
            self.assertEqual(done.stdout.splitlines(), paths)
            table = pyarrow.parquet.read_table(directory / "exports" / "parquet" / "results.parquet")
            self.assertEqual(list(map(str, table.schema.types))[:5], ["double", "int64", "bool", "string", "timestamp[us, tz=UTC]"])
            self.assertEqual(list(table.to_pylist()[0].values()), cells)

    @staticmethod
    def run_module(*arguments):
        environment = os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "sixbench", *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def test_a_last_line_is_left_out_wherever_it_is_torn(self):
        line = changed("point.test", "é").encode().replace(rb"\u00e9", "é".encode())
        for length in range(1, len(line) - 1):
            self.assertEqual(len(sixbench.read(self.made("trials.jsonl", line + line[:length])).records), 1)

    def test_results_are_shown_in_one_line_and_a_small_table(self):
        directory = self.made("trials.jsonl", GOOD["trials.jsonl"] * 5000)
        (directory / "resolved.toml").write_text('name = "<b>\\n"\n')
        results = sixbench.read(directory)
        shown = f"<sixbench.Results {str(directory)!r}: plan '<b>\\n', 5000 trials, 1 searches, 1 values, 1 points>"
        self.assertEqual(repr(results), shown)
        page = results._repr_html_()
        self.assertIn("<td>trials</td><td>5000</td><td>trials.jsonl</td>", page)
        self.assertTrue("&lt;b&gt;" in page and len(page) < 1000, page)


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

    @unittest.skipUnless(is_installed("pyarrow"), "pyarrow is not installed")
    def test_the_tables_of_parquet_have_the_rows_with_types(self):
        import pyarrow.parquet

        paths = {path.name: path for path in self.results.to_parquet(self.copy / "tables")}
        for name, table in (
            ("results", self.results.searches),
            ("results-values", self.results.values),
            ("points", self.results.points),
            ("trials", self.results.trials),
        ):
            rows = parquet_rows(paths[f"{name}.parquet"])
            self.assertEqual(len(rows), len(table), name)
            self.assertTrue({"test", "repetition", "frame_size_octets"} & set(pyarrow.parquet.read_schema(paths[f"{name}.parquet"]).names), name)
            for row, expected in zip(rows, table):
                for column in expected.keys() - sixbench.parquet.TIMES:
                    self.assertEqual(row[column], expected[column], f"{name}: {column}")
                for column in expected.keys() & sixbench.parquet.TIMES:
                    self.assertEqual(row[column], datetime.datetime.fromisoformat(expected[column]), f"{name}: {column}")

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
