//! Mistakes in files of vectors are told at their lines, all at once.

use super::FILE;
use crate::notation::{RequiredAnswer, RequirementLevel, read};

/// Returns the error for the file with one text replaced.
fn told(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    read("rfc7915.toml", &FILE.replacen(from, to, 1))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_file_is_read() {
    let file = read("rfc7915.toml", FILE).unwrap();
    assert_eq!(
        (file.rfc, &file.technologies[..]),
        (7915, &["siit".to_owned()][..])
    );
    let [first, quench, zero] = &file.vectors[..] else {
        panic!("{file:?}")
    };
    assert_eq!(
        (first.name.as_str(), first.level, first.line),
        ("udp-traffic-class", RequirementLevel::Must, 6)
    );
    assert_eq!(quench.expect, RequiredAnswer::Nothing);
    assert_eq!(zero.allowed[0].name, "dropped");
    assert_eq!(first.send[0].layers.len(), 3);
}

#[test]
fn a_mistake_is_told_at_its_line() {
    let cases = [
        (
            "level = \"MUST\"",
            "level = \"OUGHT\"",
            "rfc7915.toml:9: `level`: `OUGHT` is unknown; expected one of MUST, SHOULD, MAY, stated",
        ),
        (
            "clause = \"4.1\"",
            "",
            "rfc7915.toml:6: `clause` is missing",
        ),
        (
            "clause = \"4.1\"",
            "claus = \"4.1\"",
            "rfc7915.toml:8: unknown key `claus`",
        ),
        (
            "tos=0xb8",
            "tos=0x1b8",
            "rfc7915.toml:11: ipv4.tos: `0x1b8` is no value of this field; expected a number for which the field has enough bits",
        ),
        (
            "tos=0xb8",
            "toss=0xb8",
            "rfc7915.toml:11: ipv4 has no field `toss`; it has src, dst, tos, ttl",
        ),
        (
            "tos=0xb8",
            "src=host4",
            "rfc7915.toml:11: ipv4.src is given twice",
        ),
        (
            "payload(32)",
            "payload(32, 16)",
            "rfc7915.toml:11: payload has its octets already; `16` is one argument too many",
        ),
        (
            "src=host4",
            "src=host5",
            "rfc7915.toml:11: ipv4.src: `host5` is no value of this field; expected an address of the layer's family",
        ),
        (
            "src=host4",
            "src=2001:2::2",
            "rfc7915.toml:11: ipv4.src: `2001:2::2` is no value",
        ),
        (
            "/ udp(",
            "/ encaplimit(limits=4) / udp(",
            "rfc7915.toml:11: encaplimit has no field `limits`; it has next, limit",
        ),
        (
            "/ udp(",
            "/ encaplimit(limit=256) / udp(",
            "rfc7915.toml:11: encaplimit.limit: `256` is no value of this field; expected a number for which the field has enough bits",
        ),
        (
            "sport=4096",
            "sport=firstports",
            "rfc7915.toml:11: udp.sport: `firstports` is no value of this field; expected a number, or a sum",
        ),
        (
            "payload(32)",
            "payload(any)",
            "rfc7915.toml:11: `send`: payload.length has no value of its own",
        ),
        (
            "/ udp(",
            "/ udq(",
            "rfc7915.toml:11: there is no layer `udq`; known are ipv4, ipv6, frag",
        ),
        (
            "\"4: ipv4",
            "\"ipv4",
            "rfc7915.toml:11: a frame begins with its side, `4:` or `6:`, in steps `in:` or `out:`",
        ),
        (
            "payload(32)",
            "payload(32",
            "rfc7915.toml:11: cannot read the layer `payload(32`",
        ),
        (
            "tos=0xb8",
            "tos=same",
            "rfc7915.toml:11: `send`: ipv4.tos has no value of its own",
        ),
        (
            "hlim=ttl-hops",
            "hlim=ttl-hop",
            "rfc7915.toml:12: ipv6.hlim: `ttl-hop` is no value of this field; expected a number, or a sum",
        ),
        (
            "name = \"source-quench\"",
            "name = \"Source\"",
            "rfc7915.toml:15: the name `Source` must consist of",
        ),
        (
            "name = \"source-quench\"",
            "name = \"udp-traffic-class\"",
            "rfc7915.toml:14: there is already a vector `udp-traffic-class`",
        ),
        (
            "expect = \"nothing\"",
            "expect = []",
            "rfc7915.toml:20: `expect` has no frame",
        ),
        (
            "rfc = 7915",
            "rfc = \"7915\"",
            "rfc7915.toml:1: `rfc` must be a number",
        ),
        (
            "sentence = \"A source",
            "sentence = A source",
            "rfc7915.toml:18: ",
        ),
    ];
    for (from, to, expected) in cases {
        let error = told(from, to);
        assert!(error.contains(expected), "{to}\n{error}\n{expected}");
    }
}

#[test]
fn a_file_of_thousands_of_lines_is_read_with_its_lines() {
    let (head, vectors) = FILE.split_once("[[vector]]").unwrap();
    let (vector, _) = vectors.split_once("[[vector]]").unwrap();
    let many: Vec<String> = (0..3000)
        .map(|number| {
            format!(
                "[[vector]]{}",
                vector.replace("udp-traffic-class", &format!("v-{number}"))
            )
        })
        .collect();
    let file = read("many.toml", &format!("{head}{}", many.concat())).unwrap();
    let lines: Vec<usize> = file.vectors.iter().map(|vector| vector.line).collect();
    let step = vector.lines().count();
    assert_eq!(lines[0], head.lines().count() + 1);
    assert!(
        lines.windows(2).all(|pair| pair[1] == pair[0] + step),
        "{:?}",
        &lines[..3]
    );
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_their_lines() {
    let text = FILE
        .replacen("level = \"MUST\"", "level = \"OUGHT\"", 1)
        .replacen("rfc = 7915", "", 1)
        .replace("icmp(type=4)", "icmp(kind=4)");
    let error = read("f", &text).unwrap_err();
    let lines: Vec<usize> = error.mistakes.iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [1, 9, 19], "{error}");
}

#[test]
fn the_offset_of_a_fragment_is_a_multiple_of_eight() {
    assert!(told("tos=0xb8", "offset=12").contains("expected a multiple of 8"));
}
