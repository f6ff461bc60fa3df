"""Decodes a capture with scapy: one line of JSON for each frame.

Beside what the headers say, every frame is built anew by scapy from its fields, with all lengths and checksums left out: it must come out
octet for octet as it was.
"""

import json
import sys

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap

# What a port is known for says nothing of a test frame.
UDP.payload_guess = []

# What scapy computes by itself where it is not given.
COMPUTED = {IP: ["len", "chksum"], IPv6: ["plen"], UDP: ["len", "chksum"], ICMPv6EchoRequest: ["cksum"], ICMPv6EchoReply: ["cksum"]}


def layers_of(frame):
    while frame:
        yield frame
        frame = frame.payload


def header(layer):
    is_ipv4 = isinstance(layer, IP)
    return {
        "version": layer.version,
        "source": layer.src,
        "destination": layer.dst,
        "hops": layer.ttl if is_ipv4 else layer.hlim,
        "protocol": layer.proto if is_ipv4 else layer.nh,
        "octets": layer.len if is_ipv4 else layer.plen + 40,
    }


def transport(frame):
    if UDP in frame:
        udp = frame[UDP]
        return {"kind": 17, "words": [udp.sport, udp.dport], "length": udp.len, "payload": bytes(udp.payload).hex()}
    echo = frame[ICMPv6EchoRequest if ICMPv6EchoRequest in frame else ICMPv6EchoReply]
    payload = bytes(echo.data)
    return {"kind": echo.type, "words": [echo.id, echo.seq], "length": len(payload) + 8, "payload": payload.hex()}


def rebuilt(octets):
    frame = Ether(octets)
    for layer in layers_of(frame):
        for field in COMPUTED.get(type(layer), []):
            delattr(layer, field)
    return bytes(frame)


for captured in rdpcap(sys.argv[1]):
    octets = bytes(captured)
    frame = Ether(octets)
    headers = [header(layer) for layer in layers_of(frame) if isinstance(layer, (IP, IPv6))]
    line = {"from": frame.src, "octets": len(octets), "headers": headers, "is_rebuilt": rebuilt(octets) == octets}
    print(json.dumps(line | transport(frame)))
