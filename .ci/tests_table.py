#!/usr/bin/env python3
"""Compares the table of tests in CONTRIBUTING.md with the tests: it has every executable of integration tests and no other, the modules that it names
exist, and it says of the same modules that they need root as the first lines of their files do. `.ci/check-house` calls it.

Of a row, the commands of the first cell name the executables. `root` in the second one means all of them; `root: `a`, `b`` means these modules."""

import pathlib
import re

PAGE = pathlib.Path("CONTRIBUTING.md")
COMMAND = re.compile(r"`cargo test -p sixbench(?:-([\w-]+))?((?: --test \w+| --lib)*)`")
WORD = re.compile(r"`([a-z][a-z0-9_]*)`")
ROOT = re.compile(r"\broot\b(?:: ((?:`\w+`(?:, | and )?)+))?")
# A sentence in the first lines of a file that says that root is needed.
NEEDS_ROOT = re.compile(r"\bneeds?\b[^.]*\broot\b", re.I)
NEEDS_NO_ROOT = re.compile(r"\b(?:no|nothing)\b[^.]*\broot\b", re.I)


def crate_folder(crate):
    """Returns the folder of a crate by the rest of its package's name; the program is the package without one."""
    return pathlib.Path("fuzz") if crate == "fuzz" else pathlib.Path("crates", crate or "cli")


def executables():
    """Returns each executable of integration tests as its crate and its name, with its files by module; the first file is `main`."""
    found = {}
    for crate in sorted(pathlib.Path("crates").iterdir()) + [pathlib.Path("fuzz")]:
        name = "" if crate.name == "cli" else crate.name
        for path in sorted(crate.glob("tests/*.rs")):
            found[name, path.stem] = {"main": path}
        for path in sorted(crate.glob("tests/*/main.rs")):
            found[name, path.parent.name] = {module.stem: module for module in sorted(path.parent.glob("*.rs"))}
    return found


def needs_root(path):
    """Returns whether the first lines of a file say that it needs root."""
    lines = path.read_text().split("\n")
    head = " ".join(line[3:].strip() for line in lines[:next(at for at, line in enumerate(lines) if not line.startswith("//!"))])
    return any(NEEDS_ROOT.search(sentence) and not NEEDS_NO_ROOT.search(sentence) for sentence in re.split(r"[.;] ", head))


def rows():
    """Returns the rows of the table: the executables that each names, and its cells."""
    found = []
    for line in PAGE.read_text().split("\n"):
        if line.startswith("| `cargo test -p "):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            named = [(crate, test) for crate, options in COMMAND.findall(cells[0]) for test in re.findall(r"--test (\w+)", options)]
            found.append((named, cells))
    return found


def library_modules(crate):
    """Returns the modules of a crate's own tests."""
    return {path.stem for path in (crate_folder(crate) / "src").rglob("*.rs") if "test" in path.stem}


def complaints_of(named, cells, found):
    """Yields what is wrong with a row of executables that exist."""
    files = {module: path for each in named for module, path in found[each].items()}
    known = set(files) | {test for _, test in named} | set().union(*(library_modules(crate) for crate, _ in named))
    strange = sorted(set(WORD.findall(" ".join(cells[1:]))) - known)
    if strange:
        yield f"names {', '.join(strange)}, which are none of its modules"
    root = ROOT.search(cells[1])
    needing = {module for module, path in files.items() if module != "main" and needs_root(path)}
    if root and root[1]:
        stated = set(re.findall(r"\w+", root[1])) - {"and"}
        if stated != needing:
            yield f"says that {sorted(stated)} need root, but the files that say so are {sorted(needing)}"
    elif bool(root) != any(map(needs_root, files.values())):
        yield "says that root is needed, but no file does" if root else f"does not say that root is needed, but {sorted(needing) or 'main'} does"


def complaints():
    """Returns what is wrong with the table, a line each."""
    found, table = executables(), rows()
    named = [each for executables_of_row, _ in table for each in executables_of_row]
    show = lambda each: f"sixbench{'-' * bool(each[0])}{each[0]} --test {each[1]}"
    wrong = [f"{PAGE}: no row has {show(each)}" for each in found if each not in named]
    wrong += [f"{PAGE}: {show(each)} has {named.count(each)} rows" for each in found if named.count(each) > 1]
    wrong += [f"{PAGE}: there is no {show(each)}" for each in named if each not in found]
    for executables_of_row, cells in table:
        if executables_of_row and all(each in found for each in executables_of_row):
            wrong += [f"{PAGE}: the row of {cells[0]} {why}" for why in complaints_of(executables_of_row, cells, found)]
    return wrong


if __name__ == "__main__":
    raise SystemExit("\n".join(complaints()) or 0)
