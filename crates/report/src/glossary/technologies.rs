//! The technologies: what each does, its RFC, and how it is tested here.

use sixbench_method::measures::Term;

/// The unit that most technologies share.
const RATES: &str = "frames per second, per direction; sizes are those of the datagrams, to which the outer header is added";

pub(super) const TECHNOLOGIES: [Term; 17] = [
    Term {
        name: "nat64",
        definition: "Stateful translation from IPv6 clients to IPv4 servers: many clients share the IPv4 addresses of a pool.",
        clause: "RFC 6146; tested by RFC 9693",
        here: "Two phases: phase 1 opens every connection, and phase 2 only uses these. Each reply is compared with the \
               mapping that was seen for its connection. Recipes: jool-nat64 (lab), tayga-nat64.",
        unit: "frames or connections per second",
    },
    Term {
        name: "464xlat",
        definition: "IPv4 through an IPv6 network by translating twice: stateless at the customer (CLAT), statefully at the provider (PLAT).",
        clause: "RFC 6877; double translation in RFC 8219 section 1.1",
        here: "Each of them alone, with the tester as the other (clat, plat), and both in a row (dual-dut). IPv4 arrives as \
               IPv4: its addresses, ports and checksums must be those of the PLAT's mapping. Recipes: jool-464xlat (lab), \
               tayga-464xlat (namespaces).",
        unit: RATES,
    },
    Term {
        name: "clat",
        definition: "The customer's translator of 464XLAT: IPv4 hosts on one side, IPv6 on the other, without state.",
        clause: "RFC 6877 section 2, RFC 7915",
        here: "The tester is the IPv4 host on the left and the PLAT on the right, and sends from both. Recipes: jool-clat (lab), tayga-clat.",
        unit: RATES,
    },
    Term {
        name: "plat",
        definition: "The provider's translator of 464XLAT: a stateful NAT64.",
        clause: "RFC 6877 section 2, RFC 6146",
        here: "The tester is the CLAT on the left and the IPv4 server on the right; two phases as for any nat64. Recipes: \
               jool-plat (lab), tayga-plat.",
        unit: RATES,
    },
    Term {
        name: "map-t",
        definition: "IPv4 through an IPv6 network by translating twice without state in the provider's network: a customer's \
                     address and ports are part of its IPv6 address.",
        clause: "RFC 7599; addresses and port sets by RFC 7597 sections 5 and 6",
        here: "For a border relay (BR), the tester plays all customer edges (CE) of the mapping rule: each frame belongs to a \
               CE that is drawn for it, with its MAP address and a port of its set; a frame that comes back for another CE, or \
               outside its port set, is mistranslated. For a CE, the tester plays the BR. Both in a row: jool-mapt. Recipes: \
               jool-mapt-br, jool-mapt-ce (lab, with Jool 4.2).",
        unit: RATES,
    },
    Term {
        name: "map-e",
        definition: "As map-t, with IPv4 encapsulated in IPv6 instead of translated.",
        clause: "RFC 7597",
        here: "As map-t; the outer header is verified as well: the CE's MAP address, the BR's address, hop limit, lengths. Recipes: \
               linux-ip6tnl-map-e (BR), linux-ip6tnl-map-e-ce, linux-map-e (both), all in the lab.",
        unit: RATES,
    },
    Term {
        name: "lw4o6",
        definition: "Lightweight 4over6: IPv4 in IPv6, with a binding table of softwires; the lwAFTR forwards each shared \
                     address and port set to its customer (lwB4).",
        clause: "RFC 7596",
        here: "The tester plays all lwB4s: the binding table follows from the recipe's rule, which configures the device and \
               generates the frames. A frame for one lwB4 in another's tunnel is wrong. Recipe: linux-ip6tnl-lw4o6 (lab).",
        unit: RATES,
    },
    Term {
        name: "ds-lite",
        definition: "Dual-Stack Lite: private IPv4 in IPv6 to an AFTR, which translates statefully for all its customers (B4).",
        clause: "RFC 6333; stateful tests by RFC 9693",
        here: "The tester plays all B4s; in phase 1 each connection belongs to one of them, and in phase 2 each reply must \
               come back through that B4's tunnel. Recipe: linux-ip6tnl-ds-lite (lab).",
        unit: RATES,
    },
    Term {
        name: "6to4",
        definition: "IPv6 in IPv4 without configuration: the IPv4 address of a 6to4 host or router is part of its IPv6 prefix, \
                     which is in 2002::/16; a relay connects it to the native IPv6 Internet.",
        clause: "RFC 3056, RFC 3068 (historic: RFC 7526)",
        here: "The tester plays all 6to4 hosts on the left, with addresses drawn from the rule, and the native host on the \
               right. Inner and outer addresses must match in both directions. Recipe: linux-sit-6to4 (lab); as the paper \
               measured it: response-time.",
        unit: RATES,
    },
    Term {
        name: "6rd",
        definition: "6to4 with the provider's own prefix instead of 2002::/16, and without the common bits of its IPv4 addresses.",
        clause: "RFC 5969",
        here: "As 6to4. Recipe: linux-sit-6rd, untested: it needs a kernel with CONFIG_IPV6_SIT_6RD.",
        unit: RATES,
    },
    Term {
        name: "subscriber",
        definition: "One customer of a MAP, lw4o6, DS-Lite or 6rd domain, or one 6to4 host: a CE, a B4, a client.",
        clause: "the terms of each RFC; the tester plays this role in a single-DUT test (RFC 8219 section 4.1)",
        here: "A number from 0: its addresses and ports follow from it by the recipe's [subscribers], which also configures the device. \
               `subscribers` in a plan says how many; a list is a series.",
        unit: "subscribers",
    },
    Term {
        name: "psid",
        definition: "Port set identifier: which of the port sets of a shared IPv4 address belongs to a subscriber.",
        clause: "RFC 7597 section 5.1",
        here: "The bits of a port after the PSID offset. Offset 6, the default, leaves out the system ports; offset 0 makes one range for each. \
               Port 0 is never used.",
        unit: "a number of n bits if 2^n subscribers share an address",
    },
    Term {
        name: "ea-bits",
        definition: "Embedded address bits: the part of a CE's IPv6 prefix that contains its IPv4 address, or the rest of it, and its PSID.",
        clause: "RFC 7597 section 5.2",
        here: "`ea-bits` in a mapping rule. They must contain the bits that the rule's IPv4 prefix leaves open; rule prefix \
               and EA bits together have at most 64 bits.",
        unit: "bits",
    },
    Term {
        name: "encapsulation",
        definition: "A datagram of one IP version within one of the other: 6-in-4 (protocol 41) or 4-in-6 (next header 4).",
        clause: "RFC 4213, RFC 2473; RFC 8219 section 1.1 (encapsulation technologies) and 4.1 (the tester sends IPvX in IPvY)",
        here: "The outer header is verified in every field except those that the encapsulator chooses: flow label (RFC 6438) \
               and, for IPv4, identification and don't-fragment flag. The frame size is that of the frame if the inner \
               datagram is IPv6; 20 or 40 octets are added.",
        unit: "octets",
    },
    Term {
        name: "clients",
        definition: "How the 6to4 paper raises the load: more 6to4 hosts, each with the same traffic.",
        clause: "Lencse and Répás, Performance Analysis and Comparison of 6to4 Relay Implementations, section VI",
        here: "`subscribers` of the measure response-time, each at `rate-per-client`.",
        unit: "clients",
    },
    Term {
        name: "lab",
        definition: "Virtual routers on this machine, with a Linux kernel of their own, for devices that need kernel modules.",
        clause: "no RFC",
        here: "User-Mode Linux, built once by `sixbench lab build` from Debian's packages; one virtual core each, pinned; the \
               root is this machine's file system, read-only. `host = \"lab\"` in a recipe, or NAME@lab in a plan. Its figures \
               only rank devices in the lab among each other, because they all include the cost of the virtual machine.",
        unit: "none",
    },
    Term {
        name: "echo",
        definition: "Echo requests and replies of ICMP or ICMPv6 instead of UDP.",
        clause: "RFC 792, RFC 4443 sections 4.1 and 4.2; between the two RFC 7915 sections 4.2 and 5.2",
        here: "`payload = \"echo\"`: requests from left to right, replies from right to left, verified like UDP; with response-time each reply \
               answers a request. Each side has the echo of its IP version: through a translator the type and the checksum, with \
               pseudo-header or without, must be those of the other version, and identifier and sequence number the same.",
        unit: "none",
    },
];
