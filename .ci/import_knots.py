"""Finds the knots of each crate: files of production code that import each other, directly or by way of others.

An import is a path that begins with `crate`, `super`, `self`, or a module that the file declares or has imported: in a `use`, or in the code itself.
It counts as an edge from the file it stands in to the file that defines the item: re-exports are followed. A path to a module that is only
named leads to the file of that module. A `pub use` is an edge only where the file uses the name itself, so a `mod.rs` that declares its
children and re-exports their items imports nothing. Tests are left out. Methods are not followed: for them types would have to be known."""

import pathlib
import re

DECLARED = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", re.M)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.M)
NO_CODE = re.compile(r"""r(#+)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'|//[^\n]*""", re.S)  # literals and comments
VISIBILITY = re.compile(r"\bpub\(in [\w:]+\)")  # names a module and imports nothing
OF_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))? )?(?:mod|use)[^;{]*;")


class Module:
    """A file of a crate: its place in the tree of modules, its imports by the names they have here, and its text without them."""

    def __init__(self, path, place, text):
        text = VISIBILITY.sub("pub", OF_TESTS.sub("", NO_CODE.sub("", text)))
        self.path, self.place = path, place
        self.children = set(DECLARED.findall(text))
        uses = [(bool(public), *each) for public, tree in USE.findall(text) for each in leaves(re.sub(r"\s+", " ", tree))]
        self.imports = {name: (is_public, words) for is_public, name, words in uses if name != "*"}
        self.globs = [words for _, name, words in uses if name == "*"]
        self.text = USE.sub("", DECLARED.sub("", text))


def leaves(tree):
    """Returns each name that a tree of `use` brings, with the words of its path: `a::{b, c as d}` is (b, [a, b]) and (d, [a, c])."""
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, name = tree.strip().partition(" as ")
        words = path.strip().split("::")
        return [(name.strip() or words[-1], words)]
    start = [word for word in head.strip().split("::") if word]
    found, depth, part = [], 0, ""
    for letter in rest[: rest.rindex("}")] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            found += [(name, start + words) for name, words in leaves(part)] if part.strip() else []
            part = ""
        else:
            part += letter
    # `a::{self}` imports `a`.
    return [(words[-2] if name == "self" else name, words[:-1] if words[-1] == "self" else words) for name, words in found]


def place_of(path, root):
    """Returns the names of the modules that lead to a file, from the root of its crate."""
    words = list(pathlib.PurePath(path).relative_to(root).with_suffix("").parts)
    return tuple(words[:-1] if words[-1] in ("mod", "lib", "main") else words)


def absolute(module, words, modules):
    """Returns the path from the crate's root that words mean in a module; none of another crate's."""
    place = module.place
    if words[0] == "crate":
        return tuple(words[1:])
    if words[0] in ("self", "super"):
        while words and words[0] in ("self", "super"):
            place, words = (place[:-1] if words[0] == "super" else place), words[1:]
        return place + tuple(words)
    if words[0] in module.children:
        return place + tuple(words)
    _, imported = module.imports.get(words[0], (False, None))
    if imported and imported != words and imported[-1:] + words[1:] != imported:
        path = absolute(module, imported, modules)
        return path and path + tuple(words[1:])
    return None


def defining(path, modules, depth=0):
    """Returns the file that defines the item of a path, by way of re-exports."""
    place, at = (), 0
    while at < len(path) and place + (path[at],) in modules:
        place, at = place + (path[at],), at + 1
    module = modules.get(place)
    if module is None or at == len(path) or depth > 8:
        return module
    candidates = [module.imports[path[at]][1]] if path[at] in module.imports else []
    is_defined_here = re.search(rf"\b(fn|struct|enum|trait|type|const|static|union|macro_rules!) {re.escape(path[at])}\b", module.text)
    candidates += [] if is_defined_here else [words[:-1] + [path[at]] for words in module.globs]
    for words in candidates:
        target = absolute(module, words, modules)
        if target is not None and target != path:
            return defining(target + tuple(path[at + 1 :]), modules, depth + 1)
    return module


def imported_files(module, modules):
    """Returns the files that a file imports something of."""
    aliases = set(module.children)
    paths = []
    for name, (is_public, words) in module.imports.items():
        target = absolute(module, words, modules)
        if target is None or (is_public and not re.search(rf"\b{name}\b", module.text)):
            continue
        if target in modules and re.search(rf"\b{name}::", module.text):
            aliases.add(name)
        else:
            paths.append(target)
    for words in re.findall(r"(?<![\w:])((?:\w+::)+\w+)", module.text):
        words = words.split("::")
        if words[0] in ("crate", "super", "self") or words[0] in aliases:
            paths.append(absolute(module, words, modules))
    paths += [absolute(module, words[:-1], modules) for words in module.globs]
    files = [defining(path, modules) for path in paths if path is not None]
    return {found.path for found in files if found and found is not module}


def strong_components(edges):
    """Returns the sets of files each of which leads to all others of its set (Tarjan's strongly connected components)."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in sorted(edges[file]):
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            at = stack.index(file)
            found.append(tuple(sorted(stack[at:])))
            del stack[at:]

    for file in sorted(edges):
        if file not in number:
            visit(file)
    return found


def largest_knot(edges):
    """Returns the largest set of files each of which leads to each other."""
    return max(strong_components(edges), key=len, default=())


def edges_of(code, root):
    """Returns the files that each file of a crate imports; `code` is the production text by path, `root` the crate's folder of sources."""
    files = [Module(path, place_of(path, root), text) for path, text in code.items() if path.startswith(root + "/")]
    modules = {module.place: module for module in files}
    # A macro may declare modules, too, in which case no text has their `mod`: so every file below is a child.
    for place in modules:
        if place:
            modules[place[:-1]].children.add(place[-1])
    return {module.path: imported_files(module, modules) for module in files}


def folders(edges, root):
    """Returns the edges between the folders in a crate's root; a file in the root is a folder of its own."""
    folder = {path: path.removeprefix(root + "/").split("/")[0] for path in edges}
    return {each: {folder[to] for path in edges if folder[path] == each for to in edges[path]} - {each} for each in folder.values()}


def knots(code):
    """Returns the largest knot of each crate by its name, as a list of files: one file where none imports each other."""
    crates = sorted({path.split("/")[1] for path in code})
    return {crate: largest_knot(edges_of(code, f"crates/{crate}/src")) for crate in crates}


def folder_knot(code, crate):
    """Returns the largest knot of a crate's folders: one where each imports only folders below it."""
    root = f"crates/{crate}/src"
    return largest_knot(folders(edges_of(code, root), root))


def floors(code, crate):
    """Returns the number of rooms (folders, and files in the root) in the longest chain of imports of a crate, rooms in a ring counted once each."""
    edges = folders(edges_of(code, f"crates/{crate}/src"), f"crates/{crate}/src")
    rings = {room: ring for ring in strong_components(edges) for room in ring}
    depth = {}

    def floor(ring):
        if ring not in depth:
            below = {rings[to] for room in ring for to in edges[room] if to in rings} - {ring}
            depth[ring] = len(ring) + max(map(floor, below), default=0)
        return depth[ring]

    return max(map(floor, set(rings.values())), default=0)
