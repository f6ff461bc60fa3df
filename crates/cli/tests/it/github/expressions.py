"""Expressions of GitHub workflows: what stands in ${{ }} and behind `if:`. Only the operators and functions that our workflows use; another one, and a part of a
context that no step can have set, is an error, where GitHub would take it for empty."""

import re

TOKEN = re.compile(r"\s*('(?:[^']|'')*'|&&|\|\||==|!=|[!().,\[\]]|[A-Za-z_][\w-]*|\d+)")


def tokens(text):
    found, position = [], 0
    text = text.strip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise ValueError(f"cannot read the expression {text!r}")
        found.append(match.group(1))
        position = match.end()
    return found


def is_true(value):
    return value not in (None, False, "", 0)


def shown(value):
    """Returns a value as it is inserted into text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def equal(a, b):
    """Compares as GitHub does: text without regard to case, what is missing like empty text."""
    return shown(a).lower() == shown(b).lower()


class Expression:
    """An expression that is being evaluated."""

    def __init__(self, text, contexts, functions):
        self.text, self.tokens, self.contexts, self.functions = text, tokens(text), contexts, functions

    def next(self, *wanted):
        if self.tokens and (not wanted or self.tokens[0] in wanted):
            return self.tokens.pop(0)
        return None

    def value(self):
        value = self.either()
        if self.tokens:
            raise ValueError(f"{self.tokens[0]} is left over in {self.text!r}")
        return value

    def either(self):
        value = self.both()
        while self.next("||"):
            other = self.both()
            value = value if is_true(value) else other
        return value

    def both(self):
        value = self.compared()
        while self.next("&&"):
            other = self.compared()
            value = other if is_true(value) else value
        return value

    def compared(self):
        value = self.single()
        while operator := self.next("==", "!="):
            value = equal(value, self.single()) == (operator == "==")
        return value

    def single(self):
        if self.next("!"):
            return not is_true(self.single())
        if self.next("("):
            value = self.either()
            assert self.next(")"), self.text
            return value
        token = self.next()
        if token is None:
            raise ValueError(f"{self.text!r} ends too early")
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if token in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[token]
        if token.isdigit():
            return int(token)
        return self.called(token) if self.next("(") else self.looked_up(token)

    def called(self, name):
        arguments = []
        while not self.next(")"):
            arguments.append(self.either())
            self.next(",")
        return self.functions[name](*arguments)

    def looked_up(self, name):
        value, path = self.contexts[name], name
        while self.next("."):
            name = self.next()
            path += f".{name}"
            if value is None:
                continue
            # Parts of events are missing in others, and inputs in runs that nobody started by hand.
            if name not in value and not path.startswith(("github.event.", "inputs.")):
                raise ValueError(f"there is no {path}, in {self.text!r}")
            value = value.get(name)
        return value


def interpolated(text, contexts, functions):
    """Returns text with the values of its expressions."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: shown(Expression(found.group(1), contexts, functions).value()), text, flags=re.S)
