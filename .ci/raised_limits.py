"""Looks at the commits since the limits have been a file: whoever raises a limit says so in a commit of its own, and every subject can be read in a
list of one line each."""

import re
import subprocess
import tomllib

LIMITS = ".ci/limits.toml"
SUBJECT = re.compile(r"[a-z][a-z0-9, /-]*: \S")
LONGEST_SUBJECT = 72
# Words of a body that names what needs the room.
SHORTEST_REASON = 12


def git(*words):
    """Returns what git prints."""
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def flat(table, path=""):
    """Returns the limits of a table by their dotted names."""
    found = {}
    for name, value in table.items():
        found.update(flat(value, f"{path}{name}.") if isinstance(value, dict) else {path + name: value})
    return found


def limits_at(commit):
    """Returns the limits at a commit; none before there was a file."""
    shown = subprocess.run(["git", "show", f"{commit}:{LIMITS}"], capture_output=True, text=True)
    return flat(tomllib.loads(shown.stdout)) if shown.returncode == 0 else {}


def raised(before, after):
    """Returns the names of the limits that are higher than before, or gone."""
    return sorted(name for name, limit in before.items() if after.get(name, limit + 1) > limit)


def complaint_of(commit):
    """Returns what is wrong with a commit, or nothing."""
    subject, _, body = git("show", "-s", "--format=%B", commit).partition("\n")
    if len(subject) > LONGEST_SUBJECT or not SUBJECT.match(subject):
        return f"the subject is no `scope: sentence` of at most {LONGEST_SUBJECT} characters: {subject}"
    higher = raised(limits_at(f"{commit}^"), limits_at(commit))
    if not higher:
        return None
    if git("show", "--name-only", "--format=", commit).split() != [LIMITS]:
        return f"raises {', '.join(higher)} among other changes: a higher limit is a commit of its own"
    if not subject.startswith("limits: ") or len(body.split()) < SHORTEST_REASON:
        return f"raises {', '.join(higher)} without `limits: ...` as its subject and the feature that needs it in its body"
    return None


def complaints():
    """Returns what is wrong with the commits since the first that had limits, a line each."""
    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        return ["the history is shallow, so nobody can see whether a limit was raised: fetch all of it (git fetch --unshallow)"]
    first = git("log", "--diff-filter=A", "--format=%H", "--", LIMITS).split()
    commits = git("rev-list", "--no-merges", "--reverse", f"{first[-1]}..HEAD").split() if first else []
    return [f"{commit[:10]} {wrong}" for commit in commits if (wrong := complaint_of(commit))]
