"""The counts of the house: what makes the code hard to find one's way in, counted so that no formatting and no move of text changes them.

Only production code is counted, neither tests nor test modules. `.ci/limits.toml` has the limit of each count."""

import collections
import pathlib
import re
import subprocess
import tempfile

import import_knots
import rust_source
import unsafe_table

TYPE = re.compile(r"^(?:\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait)|(?:pub(?:\([^)]*\))? )?type) (\w+)", re.M)
HEADLESS = re.compile(r"/// (What|Whether|How|Of|Where|Which|Why)\b")
# A variant, not a constant such as `Measure::BOUNDS`.
VARIANT = re.compile(r"\bMeasure::[A-Z][a-z]")
OWN = r"(?:dns|dns_mut|tcp|soak|response_time|table_capacity|is_throughput)"
ACCESSOR = re.compile(rf"\b(?:measure|m)(?:\(\))?\s*\.{OWN}\(\)|\bMeasure::{OWN}\b")
# One family or kind of result picked out, rather than a match that lists all.
PICKED = re.compile(r"(?:[!=]= |matches!\([^;{]*|if let (?:Some\()?)(?:Family|ResultKind)::[A-Z]")
TUPLE_PARAMETER = re.compile(r"(?:\(|,)\s*\((?:mut )?\w+, (?:mut )?[^():]*\): \(")
TEXT_ERROR = re.compile(r"Result<[^<>]*(?:<[^<>]*>)?[^<>]*, String>")
# Neither a color, a line of C, a part of a URL, nor a number in LaTeX.
TEXT_COLUMN = re.compile(r'(?<!\\)"#(?!define |ifndef |section-|run"|[0-9a-f]{6}")\w')
OTHER_FILE = re.compile(r"^(?:#\[[^\n]*\]\n)*(?:pub(?:\([^)]*\))? )?mod \w+;", re.M)
# Names that say nothing of what a type is: participles, adverbs, pronouns.
BARE_TYPES = """Told Lopsided Fed Below Over Left Lent Kept Held Tried Used Which What Words Open Single Spoilt Unfit Resting Remembering TooNear
TesterApart WayOut SetWhenDropped Due Better Highest Quietest Weakest Losing Deciding Missing Need Aim Asking Looking Waiting Holding Responding Loaded
Located Measured Carried Counted Judged Assumed Watched Recorded Saved Scheduled Searched Searching Staged Ended Stored Resumed Received Rated
Ranked""".split()


def measure_names(files):
    """Returns the words by which plan files name measures, as the measures themselves have them; `throughput` is a word of more than a measure."""
    texts = [text for path, text in files.items() if path.startswith("crates/method/src/measures/") and "INFOS" in text]
    return sorted({name for text in texts for name in re.findall(r'\bname: "([a-z0-9-]+)"', text)} - {"throughput"})


def singles_out_a_measure(files, code):
    """Returns the files outside of `measures` that single out a measure, its family or its kind of result, by variant, accessor, comparison or name."""
    name = re.compile('"(%s)"' % "|".join(measure_names(files)))
    outside = [path for path in files if "method/src/measures" not in path]
    literals = {path: rust_source.without_comments(files[path]) for path in outside}
    signs = [VARIANT, ACCESSOR, PICKED]
    return [path for path in outside if any(sign.search(code[path]) for sign in signs) or name.search(literals[path])]


def wildcard_arms(code):
    """Returns how many wildcard arms the matches over measures have."""
    found = 0
    for match in re.finditer(r"^( *)[^\n]*\bmatch [^\n]*\{\n(.*?)^\1\}", code, re.M | re.S):
        arm, arms = "\n" + match[1] + "    ", "\n" + match[2]
        if re.search(re.escape(arm) + r"(\| |\()*(Measure::|Self::Throughput\b)", arms):
            found += len(re.findall(re.escape(arm) + r"_ (if |=>)", arms))
    return found


def headless_docs(source):
    """Returns how many doc comments begin without a subject."""
    lines = [line.strip() for line in source.split("\n")]
    return sum(bool(HEADLESS.match(line)) and not before.startswith("///") for before, line in zip(["", *lines], lines))


def common_format_functions(files):
    """Returns the lengths of all functions in the format that rustfmt has by default, which no setting of ours shortens."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [pathlib.Path(folder, f"{number}.rs") for number in range(len(files))]
        for copy, text in zip(copies, files.values()):
            # Modules in files of their own are not there.
            copy.write_text(OTHER_FILE.sub("", text))
        for at in range(0, len(copies), 60):
            subprocess.run(["rustfmt", "--edition", "2024", *map(str, copies[at:at + 60])], check=True, cwd=folder)
        codes = [rust_source.code_only(copy.read_text()) for copy in copies]
    return [length for code in codes for _, length in rust_source.function_lengths(code)]


def loose_files(files, crate):
    """Returns how many files in the root of a crate's sources are not the head of a folder."""
    loose = [path for path in files if re.fullmatch(rf"crates/{crate}/src/[^/]+\.rs", path)]
    return sum(not pathlib.Path(path[:-3]).is_dir() for path in loose)


def test_executables():
    """Returns how many executables of integration tests the crates link."""
    return sum(1 for crate in pathlib.Path("crates").iterdir() for _ in [*crate.glob("tests/*.rs"), *crate.glob("tests/*/main.rs")])


def everywhere(pattern, code):
    """Returns how often a pattern occurs."""
    return sum(len(re.findall(pattern, text)) for text in code.values())


def tokens(code):
    """Returns how many words and signs a text has, which no format and no move of text changes."""
    return len(re.findall(r"\w+|[^\w\s]", code))


def house():
    """Returns each count by its name in `limits.toml`."""
    files = rust_source.production_files()
    code = {path: rust_source.code_only(text) for path, text in files.items()}
    literals = {path: rust_source.without_comments(text) for path, text in files.items()}
    types = collections.Counter(name for text in code.values() for name in TYPE.findall(text))
    comments = sum(line.strip().startswith("//") for text in files.values() for line in text.split("\n"))
    lengths = common_format_functions(files)
    crates = sorted({path.split("/")[1] for path in files})
    every_file = pathlib.Path("crates").glob("**/*.rs")
    return {
        "thousand-tokens": round(sum(map(tokens, code.values())) / 1000),
        "functions-above-60-lines": sum(length > 60 for length in lengths),
        "functions-above-40-lines": sum(length > 40 for length in lengths),
        "files-above-7000-tokens": sum(tokens(rust_source.code_only(path.read_text())) > 7000 for path in every_file),
        "files-that-single-out-a-measure": len(singles_out_a_measure(files, code)),
        "wildcard-arms-over-measures": sum(map(wildcard_arms, code.values())),
        "tuple-parameters": everywhere(TUPLE_PARAMETER, code),
        "named-closures": everywhere(r"\blet (?:mut )?\w+ = (?:move )?\|", code),
        "text-errors": everywhere(TEXT_ERROR, code) + everywhere(r"::Other\(", code),
        "bare-type-names": sum(types[name] > 0 for name in BARE_TYPES),
        "type-names-used-twice": sum(uses > 1 for uses in types.values()),
        "functions-named-of": everywhere(r"\bfn of\b", code),
        "functions-named-words": everywhere(r"\bfn (?:words|in_words|told)\b", code),
        "text-columns": everywhere(TEXT_COLUMN, literals),
        "headless-docs-per-1000": round(1000 * sum(map(headless_docs, files.values())) / comments),
        "thousand-tokens-of-cli": round(sum(tokens(text) for path, text in code.items() if path.startswith("crates/cli/")) / 1000),
        "test-executables": test_executables(),
        "unsafe": len(unsafe_table.uses()),
        "unsafe-without-reason": sum(reason is None for *_, reason in unsafe_table.uses()),
        "crates-that-do-not-forbid-unsafe": len(set(unsafe_table.not_forbidding()) - {"io"}),
        "loose-files": {crate: loose_files(files, crate) for crate in crates},
        "file-knot": {crate: len(knot) for crate, knot in import_knots.knots(files).items()},
        "room-knot": {crate: len(import_knots.folder_knot(files, crate)) for crate in crates},
        "floors": {crate: import_knots.floors(files, crate) for crate in crates},
    }
