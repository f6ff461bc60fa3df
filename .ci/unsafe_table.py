#!/usr/bin/env python3
"""Lists every `unsafe` of the production code with the reason that stands before it, as docs/UNSAFE.md. `.ci/check-house` fails where the table is not
that of the code, where a reason is missing, and where there are more than before, or fewer than its limit. Write the table again:
.ci/unsafe_table.py > docs/UNSAFE.md"""

import pathlib
import re

HEAD = """# Every `unsafe`

Written by `.ci/unsafe_table.py`, which `.ci/check-house` compares with the code; the number may only fall. Only the crate `io` has any: all other crates
forbid it (`#![forbid(unsafe_code)]`). Tests are left out. What each one calls or does stands in the code; here is why it is sound.
`{shim}` is C, {lines} lines, and is not covered by this table.

"""
SHIM = "crates/io/src/backend/dpdk/shim.c"
USE = re.compile(r"\bunsafe\s*(\{|fn\b|impl\b|extern\b)")
NAME = re.compile(r"\b(?:fn|impl(?:<[^>]*>)?|static|const) +([\w:<>, ]+)")
TESTS = re.compile(r"\n#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{")
KINDS = {"{": "block", "fn": "function", "impl": "impl"}


def reason_of(lines, at):
    """Returns the comment `SAFETY:` (of a function `# Safety`) that stands before a line, joined; none where there is none."""
    found = []
    for line in reversed(lines[max(0, at - 14):at]):
        text = line.strip()
        if not text.startswith("//"):
            if found:
                break
            # The beginning of a statement, or an attribute.
            if text.endswith((";", "}")) and not text.startswith(("let", "#")):
                break
            continue
        found.insert(0, text.lstrip("/").strip())
        if re.search(r"SAFETY:|# Safety", text):
            return re.sub(r"^.*?(SAFETY:|# Safety)\\s*", "", " ".join(found)).replace("SAFETY:", "").replace("# Safety", "").strip()
    return None


def uses_of(path):
    """Returns each use in a file: the item that it is in, its kind, and its reason."""
    lines = TESTS.split(pathlib.Path(path).read_text())[0].split("\n")
    found, item = [], ""
    for at, line in enumerate(lines):
        code = line.split("//")[0]
        if name := re.search(r"\bfn (\w+)|\bimpl\b.*?(?:for )?(\w+)(?:<[^>]*>)? \{|\b(?:const|static) (\w+)", code):
            item = next(word for word in name.groups() if word)
        for use in USE.finditer(code):
            if use.group(1) == "extern" or code[use.end():].startswith(" \"C\""):
                continue
            found.append((item, KINDS[use.group(1)], reason_of(lines, at)))
    return found


def uses():
    """Returns each use with the file that it is in, by path."""
    paths = sorted(pathlib.Path("crates").glob("*/src/**/*.rs"))
    paths = [path for path in paths if not re.search(r"(_tests|/tests)\.rs$|/tests/", str(path))]
    return [(str(path), *use) for path in paths for use in uses_of(path)]


def not_forbidding():
    """Returns the crates whose root does not forbid `unsafe`, by name."""
    roots = sorted(path for name in ("lib", "main") for path in pathlib.Path("crates").glob(f"*/src/{name}.rs"))
    return [path.parts[1] for path in roots if "#![forbid(unsafe_code)]" not in path.read_text()]


def table():
    """Returns the text of docs/UNSAFE.md."""
    def row(path, item, kind, reason):
        return f"| `{path.removeprefix('crates/')}` | `{item}` | {kind} | {(reason or 'MISSING').replace('|', chr(92) + '|')} |"

    rows = [row(*use) for use in uses()]
    lines = pathlib.Path(SHIM).read_text().count("\n")
    return HEAD.format(shim=SHIM, lines=lines) + f"There are {len(rows)}.\n\n| file | item | kind | why it is sound |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")
