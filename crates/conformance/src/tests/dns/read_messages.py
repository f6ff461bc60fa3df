"""Prints what scapy reads in DNS messages, given as hexadecimal digits: a line for each, with its header, question, EDNS and records."""

import sys

from scapy.layers.dns import DNS

OPT = 41


def records(section):
    """Returns the records of a section, which scapy keeps as a list or as a chain."""
    if section is None:
        return []
    if isinstance(section, list):
        return section
    found = []
    while section is not None and hasattr(section, "rrname"):
        found.append(section)
        section = section.payload
    return found


def text(section):
    return ",".join(f"{record.rrname.decode()} {record.type} {record.ttl}" for record in records(section) if record.type != OPT)


for digits in sys.argv[1:]:
    message = DNS(bytes.fromhex(digits))
    question = message.qd[0] if isinstance(message.qd, list) else message.qd
    opts = [record for record in records(message.ar) if record.type == OPT]
    edns = f"{opts[0].rclass}/{opts[0].z >> 15}" if opts else "none"
    flags = " ".join(f"{name}={getattr(message, name)}" for name in ("qr", "aa", "tc", "rd", "ad", "cd", "rcode"))
    sections = " | ".join(text(section) for section in (message.an, message.ns, message.ar))
    print(f"{message.id} {flags} {question.qname.decode()} {question.qtype} {question.qclass} edns={edns} {sections}")
