"""A preprocessor of mdBook: links to files of the repository that are no pages of the book become the names of these files."""

import json
import posixpath
import re
import sys

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def pages(items):
    """Yields every chapter of the book."""
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from pages(item["Chapter"]["sub_items"])


def mended(chapter, known):
    """Returns the text of a chapter with links to pages alone."""

    def mend(match):
        text, target = match.groups()
        path = target.split("#")[0]
        if ":" in target or not path:
            return match[0]
        page = posixpath.normpath(posixpath.join(posixpath.dirname(chapter["path"]), path))
        # mdBook makes index.html of a README.md.
        return match[0].replace("README.md", "index.md") if page in known else text

    return LINK.sub(mend, chapter["content"])


def main():
    """Answers mdBook's question whether HTML is supported, or passes a book through."""
    if len(sys.argv) > 1:
        return
    _, book = json.load(sys.stdin)
    chapters = [chapter for chapter in pages(book.get("items") or book["sections"]) if chapter["path"]]
    known = {chapter["source_path"] for chapter in chapters} | {"reference/report.png", "reference/demo/report.html"}
    for chapter in chapters:
        chapter["content"] = mended(chapter, known)
    json.dump(book, sys.stdout)


main()
