"""Reads Rust source as text: without comments and literals, split into production code and test modules, function by function."""

import pathlib
import re

TEST_MODULE = re.compile(r"#\[cfg\((?:all\()?test[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{")
TEST_FILE = re.compile(r"_tests\.rs$|/tests\.rs$|/fixtures\.rs$|/tests/")
FUNCTION = re.compile(r"\bfn\s+([A-Za-z_]\w*)")
# In the order in which they are tried at each place: comments, raw strings, strings, characters (a lifetime is none of them).
COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r"""b?r(?P<hashes>#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^\\'\n])'"""
NOT_CODE = re.compile(rf"(?P<comment>{COMMENT})|(?<![A-Za-z0-9_])(?P<literal>{LITERAL})", re.S)


def _blank(text):
    """Returns as many blanks as a text has characters, with its line ends."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(source):
    """Returns the source with each comment replaced by blanks: no place moves."""
    return NOT_CODE.sub(lambda found: _blank(found[0]) if found["comment"] else found[0], source)


def code_only(source):
    """Returns the source with each comment, and what stands between the quotes of each literal, replaced by blanks: no place moves."""
    return NOT_CODE.sub(lambda found: _blank(found[0]) if found["comment"] else found[0][0] + _blank(found[0][1:-1]) + found[0][-1], source)


def closing_brace(code, opening):
    """Returns the place of the brace that closes the one at `opening`, or the end of the code."""
    depth = 0
    for brace in re.finditer(r"[{}]", code[opening:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opening + brace.start()
    return len(code) - 1


def production(source):
    """Returns the source without its test modules."""
    code, kept, at = code_only(source), [], 0
    for module in TEST_MODULE.finditer(code):
        if module.start() >= at:
            kept.append(source[at:module.start()])
            at = closing_brace(code, module.end() - 1) + 1
    return "".join([*kept, source[at:]])


def function_lengths(code):
    """Returns the name and the number of lines, from `fn` to its closing brace, of each function that has a body; `code` has no comments."""
    found = []
    for function in FUNCTION.finditer(code):
        depth, body = 0, None
        for sign in re.finditer(r"[()\[\]{};]", code[function.end():]):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign[0], 0)
            if depth == 0 and sign[0] in "{};":
                body = function.end() + sign.start() if sign[0] == "{" else None
                break
        if body is not None:
            found.append((function[1], code.count("\n", function.start(), closing_brace(code, body)) + 1))
    return found


def production_files():
    """Returns the production part of each source file of the crates, by path."""
    paths = sorted(str(path) for path in pathlib.Path("crates").glob("*/src/**/*.rs"))
    return {path: production(pathlib.Path(path).read_text()) for path in paths if not TEST_FILE.search(path)}
