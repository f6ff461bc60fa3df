#!/usr/bin/env python3
"""A runner: executes the job of a workflow file as GitHub's does, in a folder of its own and with an environment of its own. Shell steps, composite actions,
expressions, outputs and the files for variables, paths and summaries are executed; of GitHub's own actions, checkout, cache and upload-artifact are replaced by
copying folders. Anything else is an error.

    runner.py JOB.json    prints what happened as JSON; the file has the keys that `Job` reads"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import yaml
from expressions import Expression, interpolated, is_true

SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], "sh": ["sh", "-e"]}
STATUS = ("success()", "failure()", "cancelled()", "always()")


class Job:
    """A job, and what its steps have left behind."""

    def __init__(self, told):
        self.told = told
        self.workflow = yaml.safe_load(pathlib.Path(told["workflow"]).read_text())
        (self.job,) = self.workflow["jobs"].values()
        self.workspace = pathlib.Path(told["workspace"])
        self.temporary = self.workspace.parent / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.github = {**told["github"], "workspace": str(self.workspace)}
        self.environment = {**told["environment"], **self.workflow.get("env", {}), "RUNNER_TEMP": str(self.temporary), **self.variables()}
        self.failed, self.summary, self.log, self.uploads, self.numbers = False, "", "", {}, iter(range(10**6))

    def variables(self):
        """Returns the variables of every step."""
        names = ("repository", "ref", "ref_name", "sha", "workflow_ref", "event_name", "base_ref", "workspace")
        return {"CI": "true", "GITHUB_ACTIONS": "true", **{f"GITHUB_{name.upper()}": self.github[name] for name in names}}

    def functions(self):
        return {
            "success": lambda: not self.failed, "failure": lambda: self.failed, "always": lambda: True, "cancelled": lambda: False,
            "hashFiles": lambda *patterns: "0" * 64,
        }

    def contexts(self, inputs, steps):
        return {
            "github": self.github, "inputs": inputs, "steps": steps, "env": self.environment,
            "runner": {"os": "Linux", "arch": "X64", "temp": str(self.temporary)},
        }

    def is_due(self, condition, contexts):
        condition = str(condition).strip()
        if condition.startswith("${{"):
            condition = condition[3:-2]
        if not any(status in condition for status in STATUS):
            condition = f"success() && ({condition})"
        return is_true(Expression(condition, contexts, self.functions()).value())

    def steps(self, steps, inputs, action, shell):
        """Executes steps, and returns their context; a folder of an action is given where they are those of one."""
        known = {step["id"]: {"outputs": Outputs()} for step in steps if "id" in step}
        for step in steps:
            contexts = self.contexts(inputs, known)
            if not self.is_due(step.get("if", "success()"), contexts):
                continue
            name = step.get("name") or step.get("id") or step.get("uses") or step["run"].split("\n")[0]
            self.log += f"##[step] {name}\n"
            told = lambda value, contexts=contexts: interpolated(str(value).lower() if isinstance(value, bool) else str(value), contexts, self.functions())
            if "uses" in step:
                succeeded, outputs = self.use(step["uses"], {key: told(value) for key, value in step.get("with", {}).items()})
            else:
                variables = {key: told(value) for key, value in step.get("env", {}).items()}
                succeeded, outputs = self.shell(told(step["run"]), step.get("shell", shell), variables, action, step.get("working-directory", "."))
            if "id" in step:
                known[step["id"]]["outputs"].update(outputs)
            self.failed |= not succeeded
        return known

    def shell(self, script, shell, variables, action, directory):
        """Executes a step's script."""
        number = next(self.numbers)
        files = {name: self.temporary / f"{name}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        file = self.temporary / f"script-{number}"
        file.write_text(script)
        environment = {**self.environment, **variables, **{name: str(path) for name, path in files.items()}}
        if action:
            environment["GITHUB_ACTION_PATH"] = str(action)
        done = subprocess.run(
            [*SHELLS[shell], str(file)], cwd=self.workspace / directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        self.log += done.stdout + f"##[exit] {done.returncode}\n"
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.environment["PATH"] = f"{line}:{self.environment['PATH']}"
        self.environment.update(pairs(files["GITHUB_ENV"]))
        return done.returncode == 0, pairs(files["GITHUB_OUTPUT"])

    def use(self, action, given):
        """Executes an action."""
        if action.startswith("./"):
            return self.composite(self.workspace / action, given)
        name, _, commit = action.partition("@")
        assert len(commit) == 40, f"{action} is not pinned by its commit"
        actions = {
            "actions/checkout": self.checkout, "actions/upload-artifact": self.upload, "actions/cache": self.cache_restore,
            "actions/cache/restore": self.cache_restore, "actions/cache/save": self.cache_save,
        }
        return True, actions[name](**{key.replace("-", "_"): value for key, value in given.items()}) or {}

    def composite(self, folder, given):
        described = yaml.safe_load((folder / "action.yml").read_text())
        unknown = set(given) - set(described["inputs"])
        assert not unknown, f"{folder} has no inputs {unknown}"
        defaults = {name: interpolated(str(each["default"]), self.contexts({}, {}), self.functions()) for name, each in described["inputs"].items()}
        before, self.failed = self.failed, False
        known = self.steps(described["runs"]["steps"], {**defaults, **given}, folder, None)
        failed, self.failed = self.failed, before
        contexts = self.contexts({}, known)
        return not failed, {name: interpolated(each["value"], contexts, self.functions()) for name, each in described["outputs"].items()}

    def checkout(self, repository=None, path=".", fetch_depth=None):
        shutil.copytree(self.told["repositories"][repository or self.github["repository"]], self.workspace / path, symlinks=True, dirs_exist_ok=True)

    def upload(self, name, path):
        """Keeps the files of a path; a single folder becomes the root of the artefact."""
        kept = self.workspace.parent / "artefacts" / name
        for part in path.split():
            found = self.workspace / part
            if found.is_dir():
                shutil.copytree(found, kept, dirs_exist_ok=True)
            elif found.exists():
                kept.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, kept)
        if kept.exists():
            self.uploads[name] = str(kept)

    def cache_restore(self, path, key, restore_keys=None):
        kept = pathlib.Path(self.told["cache"]) / key
        if kept.exists():
            shutil.copytree(kept, path, dirs_exist_ok=True)
        return {"cache-hit": str(kept.exists()).lower()}

    def cache_save(self, path, key):
        shutil.copytree(path, pathlib.Path(self.told["cache"]) / key)

    def run(self):
        # In a container, a step without a shell is executed by sh.
        shell = self.workflow.get("defaults", {}).get("run", {}).get("shell", "sh" if "container" in self.job else "bash")
        # An input that GitHub's page offers has its default only where somebody started the run there.
        known = self.steps(self.job["steps"], self.told["inputs"], None, shell)
        return {
            "succeeded": not self.failed, "log": self.log, "summary": self.summary, "uploads": self.uploads,
            "outputs": {name: step["outputs"] for name, step in known.items()},
        }


class Outputs(dict):
    """Outputs of a step, any of which may not have been set."""

    def __contains__(self, name):
        return True


def pairs(file):
    """Returns the values that a step has written to a file, one on a line."""
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


if __name__ == "__main__":
    with open(sys.argv[1]) as job:
        print(json.dumps(Job(json.load(job)).run()))
