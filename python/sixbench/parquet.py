"""Tables as Parquet, with a type for each column. Needs pyarrow. Nothing here computes a result."""

import datetime
import os
import pathlib

#: The file of each table.
FILES = {
    "trials": "trials.parquet",
    "searches": "results.parquet",
    "values": "results-values.parquet",
    "points": "points.parquet",
}

#: Columns whose type does not follow from the values of a run: a rate may be whole in one run and not in the next.
TIMES = {"started", "run_started", "run_ended", "first_trial_started", "last_trial_ended"}
NUMBERS = {"goal_loss_ratio", "value"}
TRUTHS = {"is_at_least", "is_at_most"}

#: How the names of columns of whole numbers end, which are integers also where all cells are empty.
WHOLE = ("_ns", "_percent", "_per_direction", "_octets")

#: The integers of Parquet's 64 bits.
SMALLEST, LARGEST = -(2**63), 2**63 - 1


def write(tables, folder):
    """Writes each table, a list of rows by its name, to its file in a folder, which is made where there is none; returns the paths."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install pyarrow") from None
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, rows in tables.items():
        path = folder / FILES[name]
        # Through another file, so that a reader never sees half of it.
        new = folder / f".{FILES[name]}.new"
        pyarrow.parquet.write_table(_arrow(pyarrow, rows), new)
        os.replace(new, path)
        paths.append(path)
    return paths


def _arrow(pyarrow, rows):
    """Returns the rows as a table of pyarrow, with every column that any row has or that its file names."""
    of_file = getattr(rows, "columns", [])
    names = list(dict.fromkeys([*of_file, *(name for row in rows for name in row)]))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pyarrow.table({name: _column(pyarrow, name, cells) for name, cells in columns.items()})


def _column(pyarrow, name, cells):
    """Returns a column with its type; a cell that has no value of the type is null."""
    present = [cell for cell in cells if cell is not None]
    if name in TIMES:
        return pyarrow.array([_time(cell) for cell in cells], pyarrow.timestamp("us", tz="UTC"))
    if name in NUMBERS:
        return pyarrow.array([None if cell is None else float(cell) for cell in cells], pyarrow.float64())
    if name in TRUTHS:
        return pyarrow.array(cells, pyarrow.bool_())
    if present and all(isinstance(cell, list) for cell in present):
        return pyarrow.array(cells, pyarrow.list_(pyarrow.string()))
    if _is_whole(name, present):
        return pyarrow.array([cell if cell is None or SMALLEST <= cell <= LARGEST else None for cell in cells], pyarrow.int64())
    return pyarrow.array([None if cell is None else str(cell) for cell in cells], pyarrow.string())


def _is_whole(name, present):
    """Returns whether a column is one of whole numbers: by its values, or by its name where there are none."""
    if not present:
        return name.endswith(WHOLE)
    return all(type(cell) is int for cell in present)


def _time(cell):
    """Returns a time of a file, or None for what is none, as a file edited by hand may have it."""
    try:
        return datetime.datetime.fromisoformat(cell)
    except (TypeError, ValueError):
        return None
