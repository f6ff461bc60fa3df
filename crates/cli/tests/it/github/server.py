#!/usr/bin/env python3
"""The part of GitHub's REST API that the action uses, on a Unix socket, where the real gh finds it (its setting http_unix_socket). Answers and errors have the
form that GitHub's documentation gives them. A path, a parameter or a token that GitHub does not know is refused, and so is a token in a request to the storage
of artefacts, which is another host. What GitHub knows is in state.json, which the test writes and which comments are written to.

    server.py DIRECTORY    with state.json; makes the socket `socket` and the list `requests` there"""

import http.server
import io
import json
import pathlib
import re
import socketserver
import sys
import threading
import urllib.parse
import zipfile

directory = pathlib.Path(sys.argv[1])
lock = threading.Lock()
PAGE = {"per_page", "page"}


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


def state():
    return json.loads((directory / "state.json").read_text())


def repository(name):
    """Returns a repository as it is part of a run; its number is that of its name."""
    return {"id": sum(name.encode()), "full_name": name}


def run_object(known, run):
    return {
        "id": run["id"], "head_branch": run["branch"], "event": run["event"], "status": "completed", "conclusion": run["conclusion"],
        "path": f".github/workflows/{run['workflow']}", "repository": repository(known["repository"]),
        "head_repository": repository(run["head_repository"]) if run["head_repository"] else None,
    }


def runs(known, query, workflow):
    found = [run for run in known["runs"] if run["workflow"] == workflow]
    if not found and workflow not in known["workflows"]:
        raise Refused(404, "Not Found")
    if "branch" in query:
        found = [run for run in found if run["branch"] == query["branch"]]
    if "status" in query:
        found = [run for run in found if query["status"] in ("completed", run["conclusion"])]
    found.sort(key=lambda run: -run["id"])
    return {"total_count": len(found), "workflow_runs": [run_object(known, run) for run in found]}


def artefacts(known, query, run):
    found = [each for known_run in known["runs"] if known_run["id"] == int(run) for each in known_run["artefacts"]]
    if "name" in query:
        found = [each for each in found if each["name"] == query["name"]]
    found = [{key: each[key] for key in ("id", "name", "expired")} for each in found]
    return {"total_count": len(found), "artifacts": found}


def artefact(known, number):
    for run in known["runs"]:
        for each in run["artefacts"]:
            if each["id"] == int(number):
                if each["expired"]:
                    raise Refused(410, "Artifact has expired")
                return each
    raise Refused(404, "Not Found")


def zipped(path):
    """Returns the files below a path as an archive."""
    path, archive = pathlib.Path(path), io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        for file in sorted(path.rglob("*")):
            if file.is_file():
                writer.write(file, file.relative_to(path))
    return archive.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    def address_string(self):
        return "gh"

    def log_message(self, *arguments):
        pass

    def send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in (("Content-Type", "application/json; charset=utf-8"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(body)

    def parts(self, allowed):
        """Returns the query, which may only have these parameters."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, strict_parsing=False))
        unknown = set(query) - allowed
        if unknown:
            raise Refused(422, f"unknown parameters {unknown}")
        return query

    def page(self, items):
        """Returns a page of a list and the header that names the next."""
        query = self.parts(PAGE)
        size, number = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        following = f"https://api.github.com{self.path.split('?')[0]}?per_page={size}&page={number + 1}"
        more = [("Link", f'<{following}>; rel="next"')] if len(items) > size * number else []
        return items[size * (number - 1):size * number], more

    def allowed(self, known):
        if self.headers.get("Authorization") != f"token {known['token']}":
            raise Refused(401, "Bad credentials")
        if known["fault"] == "rate-limit":
            raise Refused(403, "API rate limit exceeded for installation ID 4711.")
        if known["fault"] == "broken":
            raise Refused(502, "Server Error")

    def answer(self, known):
        """Returns the answer to a request and its further headers."""
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        prefix = f"/repos/{known['repository']}/"
        if not path.startswith(prefix):
            raise Refused(404, "Not Found")
        path = path[len(prefix):]
        if self.command == "GET":
            return self.read(known, path)
        return self.write(known, path), []

    def read(self, known, path):
        if found := re.fullmatch(r"actions/workflows/([^/]+)/runs", path):
            return runs(known, self.parts(PAGE | {"branch", "status", "event", "actor", "created", "head_sha"}), *found.groups()), []
        if found := re.fullmatch(r"actions/runs/(\d+)/artifacts", path):
            return artefacts(known, self.parts(PAGE | {"name"}), *found.groups()), []
        if found := re.fullmatch(r"issues/(\d+)/labels", path):
            return self.page([{"name": name} for name in known["labels"].get(found.group(1), [])])
        if found := re.fullmatch(r"commits/([0-9a-f]+)/pulls", path):
            return self.page(known["pulls"].get(found.group(1), []))
        if found := re.fullmatch(r"issues/(\d+)/comments", path):
            return self.page(known["comments"])
        raise Refused(404, "Not Found")

    def write(self, known, path):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if known["read_only"]:
            raise Refused(403, "Resource not accessible by integration")
        if len(body["body"]) > 65536:
            raise Refused(422, "Validation Failed")
        if self.command == "POST" and re.fullmatch(r"issues/\d+/comments", path):
            comment = {"id": 9000 + len(known["comments"]), "user": {"login": "github-actions[bot]", "type": "Bot"}, **body}
            known["comments"].append(comment)
        elif self.command == "PATCH" and (found := re.fullmatch(r"issues/comments/(\d+)", path)):
            comment = next((each for each in known["comments"] if each["id"] == int(found.group(1))), None)
            if comment is None:
                raise Refused(404, "Not Found")
            comment.update(body)
        else:
            raise Refused(404, "Not Found")
        (directory / "state.json").write_text(json.dumps(known))
        return comment

    def archive(self, known):
        """Sends an artefact from the storage, where the address is the permission."""
        if "Authorization" in self.headers:
            return self.send(400, b'{"message": "a token in a request to another host"}')
        number = re.match(r"/(\d+)\.zip\?sig=", self.path).group(1)
        return self.send(200, zipped(artefact(known, number)["path"]), [("Content-Disposition", "attachment")])

    def respond(self):
        with lock:
            known = state()
            with open(directory / "requests", "a") as requests:
                requests.write(f"{self.command} {self.headers['Host']}{self.path}\n")
            try:
                if self.headers["Host"] == "results.blob.core.windows.net":
                    return self.archive(known)
                self.allowed(known)
                if found := re.fullmatch(rf"/repos/{known['repository']}/actions/artifacts/(\d+)/zip", self.path):
                    artefact(known, found.group(1))
                    return self.send(302, b"", [("Location", f"https://results.blob.core.windows.net/{found.group(1)}.zip?sig=x")])
                answer, headers = self.answer(known)
                return self.send(201 if self.command == "POST" else 200, json.dumps(answer).encode(), headers)
            except Refused as refused:
                link = "https://docs.github.com/rest"
                return self.send(refused.status, json.dumps({"message": refused.message, "documentation_url": link}).encode())

    do_GET = do_POST = do_PATCH = respond


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """All connections."""

    daemon_threads = True


if __name__ == "__main__":
    with Server(str(directory / "socket"), Handler) as server:
        print("ready", flush=True)
        server.serve_forever()
