#!/usr/bin/env python3
"""Looks for mistakes in all workflows and actions that GitHub would show only once they run: actions that do not exist or are not pinned by their commit, inputs
and outputs that an action has not, text of an event in a script, and what bash and shellcheck find in the scripts. Prints what it found.

    check.py FOLDER    with .github below"""

import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

root = pathlib.Path(sys.argv[1])
PIN = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$")


def described(action):
    return yaml.safe_load((root / ".github/actions" / pathlib.Path(action).name / "action.yml").read_text())


def used(step):
    """Yields the mistakes of a step that uses an action of ours."""
    folder = root / ".github/actions" / pathlib.Path(step["uses"]).name
    if not (folder / "action.yml").exists():
        yield f"{step['uses']} does not exist"
        return
    unknown = set(step.get("with", {})) - set(described(step["uses"])["inputs"])
    if unknown:
        yield f"{step['uses']} has no inputs {unknown}"


def shell_mistakes(name, text, shell="bash"):
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(f"#!/bin/{shell}\n{text}")
        file.flush()
        for command in ([shell, "-n", file.name], ["shellcheck", "--shell", shell, "--severity", "warning", file.name]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                yield f"{name}: {done.stdout}"


def of_steps(steps, where):
    """Yields the mistakes of a list of steps."""
    actions = {step["id"]: step["uses"] for step in steps if "id" in step and step.get("uses", "").startswith("./")}
    for step in steps:
        if step.get("uses", "").startswith("./"):
            yield from used(step)
        if "run" in step:
            if "${{" in step["run"]:
                yield f"{where}: text of an event in a script: {step['run']}"
            yield from shell_mistakes(where, step["run"])
        for identity, output in re.findall(r"steps\.([\w-]+)\.outputs\.([\w-]+)", str(step)):
            if identity in actions and output not in described(actions[identity])["outputs"]:
                yield f"{where}: {actions[identity]} has no output {output}"


def of_workflow(path):
    """Yields the mistakes of a workflow."""
    workflow = yaml.safe_load(path.read_text())
    if "permissions" not in workflow:
        yield f"{path}: no permissions"
    for job in workflow["jobs"].values():
        # In a container, a step without a shell is executed by sh.
        if workflow.get("defaults", {}).get("run", {}).get("shell") != "bash":
            yield f"{path}: the steps are not executed by bash"
        if "timeout-minutes" not in job:
            yield f"{path}: no time limit"
        yield from of_steps(job["steps"], path)


def of_action(path):
    """Yields the mistakes of an action and its scripts."""
    action = yaml.safe_load(path.read_text())
    yield from of_steps(action["runs"]["steps"], path)
    for name in re.findall(r"inputs\.([\w-]+)", path.read_text()):
        if name not in action["inputs"]:
            yield f"{path}: there is no input {name}"
    steps = {step.get("id") for step in action["runs"]["steps"]}
    for name in re.findall(r"steps\.([\w-]+)\.", path.read_text()):
        if name not in steps:
            yield f"{path}: there is no step {name}"
    for script in re.findall(r"GITHUB_ACTION_PATH/([\w-]+)", path.read_text()):
        if not (path.parent / script).exists():
            yield f"{path}: there is no script {script}"
    scripts = [file for file in path.parent.iterdir() if file.read_text().startswith("#!/bin/bash")]
    done = subprocess.run(["shellcheck", "--external-sources", *scripts], cwd=root, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        yield done.stdout


def packages(paths):
    """Yields packages that are installed by workflows and that Debian has not."""
    installed = " ".join(re.findall(r"apt-get install (.*)", "\n".join(path.read_text() for path in paths))).split()
    for name in sorted({name for name in installed if not name.startswith("-")}):
        known = subprocess.run(["apt-cache", "showpkg", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if not re.search(r"^Versions: *\n\S", known.stdout, re.M):
            yield f"there is no package {name}"


def gh_options(path):
    """Yields the options that gh of Debian has not."""
    for command, rest in re.findall(r"^ *(?:run: )?gh ((?:[a-z]+ ){2})(.*)", path.read_text(), re.M):
        told = subprocess.run(["gh", *command.split(), "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for option in re.findall(r" (--[a-z-]+)", f" {rest}"):
            if option not in told:
                yield f"{path}: gh {command} has no option {option}"


def pins(path):
    """Yields the actions of others that are not pinned. A tag can be moved to other code; a commit cannot."""
    for line in path.read_text().splitlines():
        if "uses: " in line and "uses: ./" not in line and not PIN.search(line):
            yield f"{path}: not pinned by commit and version: {line.strip()}"


def mistakes():
    workflows = sorted(root.glob(".github/workflows*/*.yml"))
    actions = sorted(root.glob(".github/actions/*/action.yml"))
    if not workflows or not actions:
        yield f"{root} has no workflows or no actions"
    for path in workflows:
        yield from of_workflow(path)
    for path in actions:
        yield from of_action(path)
    yield from packages(workflows)
    for path in workflows + actions:
        yield from pins(path)
        yield from gh_options(path)


if __name__ == "__main__":
    found = list(mistakes())
    print("\n".join(map(str, found)))
    sys.exit(1 if found else 0)
