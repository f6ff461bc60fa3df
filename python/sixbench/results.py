"""The files of a results directory as tables. Nothing here computes a result: that is what sixbench does."""

import csv
import html
import io
import json
import pathlib
import stat
import tomllib
from dataclasses import dataclass

from . import parquet

#: The newest format of a record that is known here.
FORMAT = 1

#: The tables, each with the file that it is read from.
TABLES = {
    "trials": "trials.jsonl",
    "searches": "results.csv",
    "values": "results-values.csv",
    "points": "points.csv",
}

#: Where `sixbench export` writes the tables that a run itself does not write. Versions up to 0.2 wrote them beside the others.
EXPORTED = {"values", "points"}
EXPORTS = pathlib.PurePath("exports")

#: Columns that are text although some of their values look like numbers.
TEXTS = {"plan", "test", "title", "dut", "host", "command", "sixbench", "why"}


class ResultsError(Exception):
    """A directory that cannot be read: the message says where, what, and what next."""


class Rows(list):
    """The rows of a CSV file. It has columns also where there is no row."""

    def __init__(self, columns, rows):
        super().__init__(rows)
        self.columns = columns


class _Mistake(Exception):
    """What is wrong with a record."""


@dataclass(frozen=True, repr=False)
class Results:
    """A run: its tables as lists of rows, its facts and its plan as they are in the files."""

    directory: pathlib.Path
    trials: list[dict]
    searches: list[dict]
    facts: dict
    plan: dict
    #: The records of the trials, whole: what `trials` leaves out, such as the samples of the processors.
    records: list[dict]
    #: The tables that are exported on demand: None for one that was not.
    _exported: dict

    @property
    def values(self):
        """The quantities other than those of searches. Raises ResultsError where they were not exported."""
        return self._exported_table("values")

    @property
    def points(self):
        """Every planned point with its status. Raises ResultsError where they were not exported."""
        return self._exported_table("points")

    def _exported_table(self, name):
        rows = self._exported[name]
        if rows is None:
            raise ResultsError(f"{self.directory}: {TABLES[name]} was not exported; export it: sixbench export {self.directory} --to csv")
        return rows

    def __repr__(self):
        """Returns one line: a run may have thousands of trials."""
        counted = ", ".join(f"{rows} {name}" for name, rows in self._counted())
        return f"<sixbench.Results {str(self.directory)!r}: plan {self._name()!r}, {counted}>"

    def _repr_html_(self):
        """Returns what notebooks show: the tables and how many rows each has, without the rows."""
        rows = "".join(f"<tr><td>{name}</td><td>{rows}</td><td>{TABLES.get(name, '')}</td></tr>" for name, rows in self._counted())
        head = f"<b>{html.escape(self._name())}</b> in {html.escape(str(self.directory))}"
        return f"{head}<table><tr><th>table</th><th>rows</th><th>file</th></tr>{rows}</table>"

    def _name(self):
        return str(self.plan.get("name", ""))

    def _counted(self):
        """Returns each table's name and number of rows, or the word "no" for a table that was not exported."""
        return [(name, "no" if self._exported.get(name, ()) is None else len(getattr(self, name))) for name in TABLES]

    def to_parquet(self, folder=None):
        """Writes every table as Parquet to a folder, by default `exports/parquet` in the results directory; returns the paths of the files.

        Raises ResultsError where a table was not exported, and ImportError without pyarrow.
        """
        folder = self.directory / EXPORTS / "parquet" if folder is None else folder
        return parquet.write({name: getattr(self, name) for name in TABLES}, folder)

    def frame(self, table):
        """Returns a table as a data frame of pandas, or of polars where pandas is not installed."""
        if table not in TABLES:
            raise KeyError(f"no table is named {table!r}: there are {', '.join(TABLES)}")
        rows = getattr(self, table)
        try:
            import pandas

            return pandas.DataFrame(rows)
        except ImportError:
            pass
        try:
            import polars

            return polars.DataFrame(rows, infer_schema_length=None)
        except ImportError:
            raise ImportError("data frames need pandas or polars: pip install pandas") from None


def read(directory):
    """Reads a results directory, also one that is still being written.

    Raises ResultsError, which names the file and what to do next, where there are no records, where their format is newer, and where a file cannot be read or
    holds something else. A last line that is torn, as a killed run leaves it, is left out.
    """
    directory = pathlib.Path(directory)
    records = list(_records(directory / TABLES["trials"]))
    return Results(
        directory=directory,
        trials=[row for _, rows in records for row in rows],
        facts=_table(directory / "facts.json", json.loads, "JSON"),
        plan=_table(directory / "resolved.toml", tomllib.loads, "TOML"),
        records=[record for record, _ in records],
        searches=_rows(directory / TABLES["searches"]) or [],
        _exported={name: _exported_rows(directory, TABLES[name]) for name in EXPORTED},
    )


def _exported_rows(directory, file):
    """Returns the rows of a file that is exported on demand, or None where it was not."""
    rows = _rows(directory / EXPORTS / "csv" / file)
    return _rows(directory / file) if rows is None else rows


#: What to do about a file that sixbench derives from the records, and about one that it does not.
DERIVED = "make it again: sixbench report DIRECTORY"
ORIGINAL = "copy it again from where the run was made"


def _octets(path):
    """Returns the content of a file, or None where there is none. Whatever else is in its place is not opened: it could make the reader wait for ever."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ResultsError(f"{path}: this is no file, such as sixbench writes; {ORIGINAL}")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise ResultsError(f"{path}: {path.parent} is no directory; is this a results directory of sixbench?") from None
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror}; whose file is it, and is the path right?") from None
    except ValueError as error:
        raise ResultsError(f"{path}: this is no path: {error}; name a results directory of sixbench") from None


def _decoded(path, octets, next_step):
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: octet {error.start} is not UTF-8; {next_step}") from None


def _records(path):
    """Yields each record with its rows."""
    octets = _octets(path)
    if octets is None:
        raise ResultsError(f"{path}: there is no such file; is this a results directory of sixbench?")
    lines, has_any = octets.split(b"\n"), False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _record(line)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            if number == len(lines):
                break
            raise ResultsError(f"{path}:{number}: no record: {error}; {ORIGINAL}") from None
        except (_Mistake, RecursionError, ValueError) as error:
            raise ResultsError(f"{path}:{number}: no record: {error}; {ORIGINAL}") from None
        if record["format"] > FORMAT:
            raise ResultsError(f"{path}:{number}: format {record['format']}; this package knows {FORMAT}: install a newer one")
        try:
            rows = list(_trial_rows(record))
        except _Mistake as error:
            raise ResultsError(f"{path}:{number}: no record: {error}; {ORIGINAL}") from None
        has_any = True
        yield record, rows
    if not has_any:
        raise ResultsError(f"{path}: there is no record yet; wait for the first trial, or resume the run: sixbench run --resume DIRECTORY")


def _record(line):
    """Returns a line as an object with a format."""
    record = json.loads(line.decode("utf-8"))
    if _field(record, "format", int) < 1:
        raise _Mistake(f"there has been no format {record['format']}")
    return record


#: Types in words.
WORDS = {int: "a whole number", str: "text", list: "a list", dict: "an object"}


def _field(record, path, kind):
    """Returns a field of a record, named with dots, which must have this type."""
    value = record
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise _Mistake(f"`{path}` is missing")
        value = value[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _Mistake(f"`{path}` is not {WORDS[kind]}")
    return value


def _objects(record, path):
    """Returns a list of objects in a record."""
    found = _field(record, path, list)
    if not all(isinstance(each, dict) for each in found):
        raise _Mistake(f"`{path}` is not a list of objects")
    return found


def _optional(record, name):
    """Returns an object in a record that may be missing or null."""
    return {} if record.get(name) is None else _field(record, name, dict)


#: The columns of a row that all directions of a trial share: the field of the record, and its type.
OF_TRIAL = {
    "test": ("point.test", str),
    "frame_size_octets": ("point.frame-size", int),
    "repetition": ("repetition", int),
    "trial": ("trial", int),
    "started": ("started", str),
    "rate": ("result.spec.rate", int),
    "duration_ns": ("result.spec.duration_ns", int),
}


def _trial_rows(record):
    """Yields one row for each direction of a trial."""
    of_trial = {name: _field(record, path, kind) for name, (path, kind) in OF_TRIAL.items()}
    faults = _objects(record, "result.faults") if "faults" in record["result"] else []
    of_trial["faults"] = [_field(fault, "fault", str) for fault in faults]
    for direction in _objects(record, "result.directions"):
        counts = {name: value for name, value in direction.items() if isinstance(value, (int, str))}
        sending, delay = _optional(direction, "sending"), _optional(direction, "delay")
        yield of_trial | counts | {
            "sending_took_ns": sending.get("took_ns"),
            "worst_lateness_ns": sending.get("worst_lateness_ns"),
            "delay_min_ns": delay.get("min_ns"),
            "delay_median_ns": delay.get("median_ns"),
            "delay_p999_ns": delay.get("p999_ns"),
            "delay_max_ns": delay.get("max_ns"),
        }


def _rows(path):
    """Returns the rows of a CSV file, numbers as numbers and empty cells as None; None where there is no file."""
    octets = _octets(path)
    if octets is None:
        return None
    reader = csv.reader(io.StringIO(_decoded(path, octets, DERIVED), newline=""), strict=True)
    try:
        lines = [(reader.line_num, line) for line in reader if line]
    except csv.Error as error:
        raise ResultsError(f"{path}:{reader.line_num}: no CSV: {error}; {DERIVED}") from None
    if not lines:
        raise ResultsError(f"{path}: the file is empty; {DERIVED}")
    names = lines[0][1]
    for number, line in lines[1:]:
        if len(line) != len(names):
            raise ResultsError(f"{path}:{number}: {len(line)} cells where the first line has {len(names)}; {DERIVED}")
    return Rows(names, [{name: _cell(name, value) for name, value in zip(names, line)} for _, line in lines[1:]])


def _cell(name, value):
    if value == "":
        return None
    if name in TEXTS or name.startswith("label_"):
        return value
    for number in (int, float):
        try:
            return number(value)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(value, value)


def _table(path, parsed, language):
    """Returns a file that is an object or a table; an empty one where there is no file."""
    octets = _octets(path)
    if octets is None:
        return {}
    try:
        table = parsed(_decoded(path, octets, ORIGINAL))
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: no {language}: {error}; {ORIGINAL}") from None
    if not isinstance(table, dict):
        raise ResultsError(f"{path}: not an object; {ORIGINAL}")
    return table
