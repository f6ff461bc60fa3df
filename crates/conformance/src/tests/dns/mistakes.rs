//! Mistakes in the lines of vectors for DNS servers are told at their lines, all at once.

use crate::notation::read;

const FILE: &str = r#"rfc = 6147
title = "DNS64"
read = "a text"
technologies = ["dns64"]
zone = """
$TTL 3600
@   SOA  ns hostmaster 1 86400 7200 3600000 600
"""

[[vector]]
name = "one"
clause = "5.1.6"
level = "MUST"
sentence = "A record is synthesised."
zone = """
; a comment
host  300   A  192.31.196.1
host  AAAA  !SERVFAIL
$GENERATE 1-3 many 60 A 192.31.196.$
"""
query = "host AAAA +dnssec"
expect = """
;; status: NOERROR, flags: ra !ad
;; ANSWER SECTION:
host  300  AAAA  pref64::192.31.196.1
"""
[[vector.allowed]]
name = "empty"
clause = "5.4"
expect = ";; status: NXDOMAIN"
"#;

/// Returns the error for the file with one text replaced.
fn told(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    read("f", &FILE.replacen(from, to, 1))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_file_is_read() {
    let file = read("f", FILE).unwrap_or_else(|error| panic!("{error}"));
    let vector = &file.vectors[0];
    let exchange = vector.dns.as_deref().expect("an exchange");
    assert_eq!((exchange.common.len(), exchange.zone.len()), (2, 3));
    assert_eq!((vector.line, exchange.zone[0].number), (10, 17));
    assert_eq!(exchange.query.text, "host AAAA +dnssec");
    assert_eq!(exchange.allowed[0].name, "empty");
}

#[test]
fn a_mistake_is_told_at_its_line() {
    let cases = [
        (
            "@   SOA  ns",
            "@   SOA",
            "f:7: `@   SOA hostmaster 1 86400 7200 3600000 600` is no record: ",
        ),
        (
            "host  300   A  192.31.196.1",
            "host  300   A  192.31.196",
            "f:17: `host  300   A  192.31.196` is no record: ",
        ),
        (
            "!SERVFAIL",
            "!SERFVAIL",
            "f:18: `!SERFVAIL` is unknown; an authority can answer !SERVFAIL",
        ),
        (
            "AAAA  !SERVFAIL",
            "AAAAA  !SERVFAIL",
            "f:18: `AAAAA` is no type of records",
        ),
        (
            "$GENERATE 1-3 many",
            "$GENERATE many",
            "f:19: `$GENERATE many 60 A 192.31.196.$`: expected $GENERATE FIRST-LAST LINE",
        ),
        (
            "+dnssec",
            "+dnsec",
            "f:21: unknown option `+dnsec`; known are +tcp, +dnssec",
        ),
        (
            "host AAAA +dnssec",
            "host",
            "f:21: `host` is no query; expected NAME [CLASS] TYPE",
        ),
        (
            "host AAAA +dnssec",
            "host..x AAAA",
            "f:21: `host..x` is no domain name",
        ),
        (
            ";; status: NOERROR, flags: ra !ad",
            "host 300 A 1.1.1.1",
            "f:23: `host 300 A 1.1.1.1`: an expectation begins with `;; status: ",
        ),
        (
            "status: NOERROR",
            "status: NOERR",
            "f:23: `NOERR` is no response code",
        ),
        (
            "flags: ra !ad",
            "flags: ra !ax",
            "f:23: `!ax` is no flag of a header",
        ),
        (
            ";; ANSWER SECTION:",
            ";; ANSWERS:",
            "f:24: `;; ANSWERS:` is no heading",
        ),
        (
            ";; ANSWER SECTION:\n",
            "",
            "f:24: `host  300  AAAA  64:ff9b::c01f:c401`: a record belongs under a heading",
        ),
        (
            "host  300  AAAA",
            "host  3oo  AAAA",
            "f:25: `3oo` is no TTL",
        ),
        (
            "AAAA  pref64::192.31.196.1",
            "AAAA",
            "f:25: `host  300  AAAA` is no record: expected OWNER TTL TYPE DATA",
        ),
        (
            "pref64::192.31.196.1",
            "pref64::192.31.196",
            "f:25: `pref64::192.31.196`: expected pref64::IPV4",
        ),
        (
            ";; status: NXDOMAIN",
            ";; status: NXDOMAINS",
            "f:30: `NXDOMAINS` is no response code",
        ),
        (
            "query = ",
            "upstream = \"all\"\nquery = ",
            "f:21: `upstream`: `all` is unknown; expected one of nothing",
        ),
        (
            "query = ",
            "send = \"4: ipv4\"\nquery = ",
            "f:21: unknown key `send`",
        ),
        (
            "level = \"MUST\"",
            "level = \"OUGHT\"",
            "f:13: `level`: `OUGHT` is unknown",
        ),
    ];
    for (from, to, expected) in cases {
        let error = told(from, to);
        assert!(error.contains(expected), "{to}\n{error}\n{expected}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_and_those_of_common_lines_once() {
    let text = FILE
        .replace("@   SOA  ns", "@   SOA")
        .replace("!SERVFAIL", "!SERFVAIL")
        .replace("status: NOERROR", "status: NOERR");
    let vector = &text[text.find("[[vector]]").expect("a vector")..].replace("\"one\"", "\"two\"");
    let error = read("f", &format!("{text}{vector}")).unwrap_err();
    let lines: Vec<usize> = error.mistakes.iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [7, 18, 23, 39, 44], "{error}");
}
