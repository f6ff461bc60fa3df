"""Builds datagrams anew with scapy, from the fields that it reads in the octets given as hexadecimal digits: lengths and checksums are its own.

Only the outermost headers and those before a datagram in error are built anew, because scapy keeps a datagram in error as it was."""

import sys

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6

COMPUTED = {IP: ("len", "chksum", "ihl"), IPv6: ("plen",), UDP: ("len", "chksum"), TCP: ("chksum", "dataofs"), ICMP: ("chksum",)}
COMPUTED |= {kind: ("cksum",) for kind in (ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6DestUnreach)}

for digits in sys.argv[1:]:
    octets = bytes.fromhex(digits)
    datagram = IP(octets) if octets[0] >> 4 == 4 else IPv6(octets)
    layer = datagram
    while layer:
        for field in COMPUTED.get(type(layer), ()):
            layer.delfieldval(field)
        layer = layer.payload
    print(bytes(datagram).hex())
