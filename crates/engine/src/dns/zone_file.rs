//! The namespace as a zone file (RFC 1035 section 5) for name servers that store their zones: the records that [`AddressZone`] computes, line by line.

use super::authority::{ANYBODY, AddressZone, MAILBOX, SECONDARIES, SERIAL, SERVER};
use super::names::{NamePopulation, write_label};
use sixbench_method::plan::NAME_LABEL;
use sixbench_method::plan::Names;
use std::io;

/// The number of lines before those of the names.
const HEAD: u64 = 6;

/// Writes the zone with some of its names, and never holds more than one line. The writer should be buffered.
///
/// # Errors
/// Those of the writer.
pub fn write_zone(out: &mut impl io::Write, zone: &AddressZone, names: Names) -> io::Result<()> {
    let ([refresh, retry, expire], (ipv4, ipv6), ttl) = (SECONDARIES, ANYBODY, zone.ttl_s);
    writeln!(out, "$ORIGIN {}.\n$TTL {ttl}", zone.domain)?;
    writeln!(
        out,
        "@ IN SOA {SERVER} {MAILBOX} {SERIAL} {refresh} {retry} {expire} {ttl}\n@ IN NS {SERVER}"
    )?;
    writeln!(out, "{SERVER} IN A {ipv4}\n{SERVER} IN AAAA {ipv6}")?;
    let mut label = [0; NAME_LABEL];
    for address in addresses(names) {
        write_label(address, &mut label);
        out.write_all(&label)?;
        let [a, b, c, d] = address.to_be_bytes();
        writeln!(out, " IN A {a}.{b}.{c}.{d}")?;
        if zone.population.has_aaaa(address) {
            out.write_all(&label)?;
            writeln!(out, " IN AAAA {}", NamePopulation::own_aaaa(address))?;
        }
    }
    Ok(())
}

/// Returns the number of lines of the zone file, which determines the effort of loading it. An A record has about 35 octets, an AAAA record about 50.
pub fn lines(zone: &AddressZone, names: Names) -> u64 {
    // The share among every hundred numbers is exact, so only the rest must be counted.
    let (hundreds, first) = (names.count() / 100, u64::from(u32::from(names.first())));
    let rest = first + hundreds * 100..first + names.count();
    let with_aaaa = rest
        .filter(|address| zone.population.has_aaaa(*address as u32))
        .count() as u64;
    HEAD + names.count() + hundreds * u64::from(zone.population.with_aaaa.min(100)) + with_aaaa
}

fn addresses(names: Names) -> impl Iterator<Item = u32> {
    let first = u64::from(u32::from(names.first()));
    (first..first + names.count()).map(|address| address as u32)
}

#[cfg(test)]
mod tests {
    use super::super::names::Domain;
    use super::*;
    use std::process::Command;

    fn zone(with_aaaa: u8) -> AddressZone {
        let domain = Domain::new("dns64perf.test").expect("a domain");
        AddressZone {
            domain,
            population: NamePopulation { with_aaaa },
            ttl_s: 3600,
        }
    }

    fn text(zone: &AddressZone, names: &str) -> String {
        let mut text = Vec::new();
        write_zone(&mut text, zone, names.parse().expect("names")).expect("memory");
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn a_zone_of_two_names_reads_as_people_write_them() {
        let expected = "\
$ORIGIN dns64perf.test.
$TTL 3600
@ IN SOA ns hostmaster 1 86400 7200 3600000 3600
@ IN NS ns
ns IN A 127.0.0.1
ns IN AAAA ::1
010-000-000-000 IN A 10.0.0.0
010-000-000-000 IN AAAA 2001:2:0:aaaa::a00:0
010-000-000-001 IN A 10.0.0.1
010-000-000-001 IN AAAA 2001:2:0:aaaa::a00:1
";
        assert_eq!(text(&zone(100), "10.0.0.0/31"), expected);
    }

    #[test]
    fn the_number_of_lines_is_known_before() {
        for (share, names) in [
            (0, "10.0.0.0/24"),
            (20, "10.0.0.128/25"),
            (37, "255.255.252.0/22"),
            (100, "10.0.0.1/32"),
        ] {
            let zone = zone(share);
            assert_eq!(
                text(&zone, names).lines().count() as u64,
                lines(&zone, names.parse().expect("names")),
                "{share} {names}"
            );
        }
        assert_eq!(
            lines(&zone(100), "0.0.0.0/0".parse().expect("names")),
            6 + (2 << 32)
        );
    }

    #[test]
    fn nsd_finds_no_fault_with_it() {
        let path = std::env::temp_dir().join(format!("sixbench-zone-{}", std::process::id()));
        std::fs::write(&path, text(&zone(20), "10.0.0.0/22")).expect("written");
        let checked = Command::new("nsd-checkzone")
            .arg("dns64perf.test")
            .arg(&path)
            .output();
        std::fs::remove_file(&path).expect("removed");
        // The checker is not installed everywhere.
        let Ok(checked) = checked else { return };
        let said = String::from_utf8_lossy(&checked.stdout).into_owned()
            + &String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success() && said.contains("is ok"), "{said}");
    }
}
