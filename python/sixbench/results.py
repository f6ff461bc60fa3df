"""The files of a results directory as tables. Nothing here computes a result: that is what sixbench does."""

import csv
import json
import pathlib
import tomllib
from dataclasses import dataclass

#: The newest format of a record that is known here.
FORMAT = 1

#: The tables, each with the file that it is read from.
TABLES = {
    "trials": "trials.jsonl",
    "searches": "results.csv",
    "values": "results-values.csv",
    "points": "points.csv",
}

#: Columns that are text although some of their values look like numbers.
TEXTS = {"plan", "test", "title", "dut", "host", "command", "sixbench", "why"}


class ResultsError(Exception):
    """A directory that cannot be read: the message says where, what, and what next."""


@dataclass(frozen=True)
class Results:
    """A run: its tables as lists of rows, its facts and its plan as they are in the files."""

    directory: pathlib.Path
    trials: list[dict]
    searches: list[dict]
    values: list[dict]
    points: list[dict]
    facts: dict
    plan: dict
    #: The records of the trials, whole: what `trials` leaves out, such as the samples of the processors.
    records: list[dict]

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

    Raises ResultsError where there are no records, or records of a newer format. A last line that is torn, as a killed run leaves it, is left out.
    """
    directory = pathlib.Path(directory)
    records = list(_records(directory / TABLES["trials"]))
    tables = {name: _rows(directory / file) for name, file in TABLES.items() if name != "trials"}
    return Results(
        directory=directory,
        trials=[row for record in records for row in _trial_rows(record)],
        facts=_json(directory / "facts.json"),
        plan=_toml(directory / "resolved.toml"),
        records=records,
        **tables,
    )


def _records(path):
    if not path.is_file():
        raise ResultsError(f"{path}: there is no such file; is this a results directory of sixbench?")
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines):
                return
            raise ResultsError(f"{path}:{number}: no record: {error}") from None
        if record["format"] > FORMAT:
            raise ResultsError(f"{path}:{number}: format {record['format']}; this package knows {FORMAT}: install a newer one")
        yield record


def _trial_rows(record):
    """Returns one row for each direction of a trial."""
    result = record["result"]
    of_trial = {
        "test": record["point"]["test"],
        "frame_size_octets": record["point"]["frame-size"],
        "repetition": record["repetition"],
        "trial": record["trial"],
        "started": record["started"],
        "rate": result["spec"]["rate"],
        "duration_ns": result["spec"]["duration_ns"],
        "faults": [fault["fault"] for fault in result.get("faults", [])],
    }
    for direction in result["directions"]:
        counts = {name: value for name, value in direction.items() if isinstance(value, (int, str))}
        sending, delay = direction.get("sending") or {}, direction.get("delay") or {}
        yield of_trial | counts | {
            "sending_took_ns": sending.get("took_ns"),
            "worst_lateness_ns": sending.get("worst_lateness_ns"),
            "delay_min_ns": delay.get("min_ns"),
            "delay_median_ns": delay.get("median_ns"),
            "delay_p999_ns": delay.get("p999_ns"),
            "delay_max_ns": delay.get("max_ns"),
        }


def _rows(path):
    """Returns the rows of a CSV file, numbers as numbers and empty cells as None; no rows where there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _cell(name, value) for name, value in row.items()} for row in csv.DictReader(file)]


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


def _json(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _toml(path):
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
