#!/usr/bin/env python3
"""The tables of keys in docs/PLANS.md, made from docs/plan-keys.toml. `.ci/check-house` fails where they differ. Write them again:
.ci/plan_keys.py --write

Each key has an anchor, `key-TABLE-KEY`: of a plan, of a table such as `trial`, of any test (`test`), or of one measure, such as `key-soak-rate`."""

import pathlib
import re
import sys
import tomllib

SOURCE = pathlib.Path("docs/plan-keys.toml")
PAGE = pathlib.Path("docs/PLANS.md")
COMMAND = ".ci/plan_keys.py --write"
MARKED = re.compile(r"(<!-- keys: ([\w-]+) -->\n).*?(<!-- end keys -->)", re.S)
# A longer cell is text, and stands below the table.
MOST_WORDS = 40
# Keys of every test, whichever table of the page they are in.
OF_EVERY_TEST = {"traffic", "stateful"}
FIELDS = {"keys", "measures", "inner", "value", "meaning", "default", "clause"}


def anchors(table, row):
    """Returns the anchors of a row: one for each key, and for each measure that has it."""
    homes = row.get("measures", ["test" if table in OF_EVERY_TEST else table])
    return [f"key-{home}-{key}" for home in homes for key in row["keys"]]


def marks(names):
    """Returns names as Markdown writes keys and words of a plan."""
    return ", ".join(f"`{name}`" for name in names)


def columns(table, rows):
    """Returns the columns of a table: its head, and the cell of a row. What no row has, or all have alike, is no column."""
    measures = {tuple(row.get("measures", [])) for row in rows}
    every = {name for row in rows for name in row.get("measures", [])}

    def measure_cell(row):
        return "all of these" if set(row["measures"]) == every else marks(row["measures"])

    def key_cell(row):
        return "".join(f'<a id="{anchor}"></a>' for anchor in anchors(table, row)) + marks(row["keys"])

    found = [("measure", measure_cell)] if len(measures) > 1 else []
    found += [("key", key_cell), ("value", lambda row: row["value"]), ("meaning", lambda row: row["meaning"])]
    return found + [(name, lambda row, name=name: row.get(name, "")) for name in ("default", "clause") if any(name in row for row in rows)]


def table_of(table, rows):
    """Returns the rows of a table of the source as Markdown."""
    shown = columns(table, rows)
    lines = [[name for name, _ in shown], *[[cell(row).replace("|", "\\|") for _, cell in shown] for row in rows]]
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in line) for line in lines]
    return "\n".join(["", lines[0], "|---" * len(shown) + "|", *lines[1:], "", ""])


def page(tables, text):
    """Returns the text of the page with its tables made from the source."""
    return MARKED.sub(lambda match: match[1] + table_of(match[2], tables.get(match[2], [])) + match[3], text)


def complaints():
    """Returns what is wrong with the source or the page, a line each."""
    tables, text = tomllib.loads(SOURCE.read_text()), PAGE.read_text()
    rows = [(table, row) for table, rows in tables.items() for row in rows]
    found = [f"{SOURCE}: {table}: unknown fields of {row['keys']}: {sorted(set(row) - FIELDS)}" for table, row in rows if set(row) - FIELDS]
    found += [
        f"{SOURCE}: {table}: {', '.join(row['keys'])}: {name} has more than {MOST_WORDS} words: write them below the table in {PAGE}"
        for table, row in rows for name in ("meaning", "default") if len(row.get(name, "").split()) > MOST_WORDS
    ]
    every = [anchor for table, row in rows for anchor in anchors(table, row)]
    found += [f"{SOURCE}: {anchor} is described twice" for anchor in sorted({one for one in every if every.count(one) > 1})]
    placed = [match[2] for match in MARKED.finditer(text)]
    if sorted(placed) != sorted(tables):
        found.append(f"{PAGE} has the tables {sorted(placed)}, but {SOURCE} has {sorted(tables)}")
    elif page(tables, text) != text:
        found.append(f"the tables of {PAGE} are not those of {SOURCE}: {COMMAND}")
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(tomllib.loads(SOURCE.read_text()), PAGE.read_text()))
    sys.exit("\n".join(complaints()) or 0)
