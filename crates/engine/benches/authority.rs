//! Measures how many queries per second one core answers in memory: the authority without its socket.
//!
//! Run `cargo bench -p sixbench-engine --bench authority`. It prints the best of several rounds: on a shared machine the others are slowed down
//! by other programs.

use sixbench_engine::dns::authority::{AddressZone, Answerer, MOST_OCTETS};
use sixbench_engine::dns::names::{Domain, NamePopulation};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

const NAMES: u32 = 1000;
const PASSES: usize = 1000;
const ROUNDS: usize = 7;

const A: u8 = 1;
const MX: u8 = 15;
const AAAA: u8 = 28;

fn main() {
    let domain = Domain::new("dns64perf.test").expect("a domain");
    let answerer = |with_aaaa| {
        let population = NamePopulation { with_aaaa };
        Answerer::new(
            Arc::new(AddressZone {
                domain: domain.clone(),
                population,
                ttl_s: 3600,
            }),
            &[],
        )
    };
    let (without, with) = (answerer(0), answerer(100));
    println!("million answers/s, one core, {NAMES} names in turn");
    let rows = [
        ("A", &without, A, false, PASSES),
        ("AAAA that exists", &with, AAAA, false, PASSES),
        ("AAAA that does not exist", &without, AAAA, false, PASSES),
        (
            "AAAA that does not exist, EDNS",
            &without,
            AAAA,
            true,
            PASSES,
        ),
        ("MX: by the library", &without, MX, false, PASSES / 50),
    ];
    for (what, answerer, rtype, has_edns, passes) in rows {
        let queries: Vec<Vec<u8>> = (0..NAMES)
            .map(|i| query(&domain, i + 0x0a00_0000, rtype, has_edns))
            .collect();
        let best = (0..ROUNDS)
            .map(|_| round(answerer, &queries, passes))
            .fold(0.0, f64::max);
        println!("{what:<34}{best:>8.2}");
    }
}

fn query(domain: &Domain, address: u32, rtype: u8, has_edns: bool) -> Vec<u8> {
    let mut query = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, has_edns.into()];
    for label in domain.name(Ipv4Addr::from(address)).split('.') {
        query.push(label.len() as u8);
        query.extend_from_slice(label.as_bytes());
    }
    query.extend_from_slice(&[0, 0, rtype, 0, 1]);
    if has_edns {
        query.extend_from_slice(&[0, 0, 41, 4, 0xd0, 0, 0, 0x80, 0, 0, 0]);
    }
    query
}

/// Returns the rate in million answers per second.
fn round(answerer: &Answerer, queries: &[Vec<u8>], passes: usize) -> f64 {
    let (start, mut out) = (Instant::now(), [0; MOST_OCTETS]);
    for query in std::iter::repeat_n(queries, passes).flatten() {
        assert!(answerer.answer(black_box(query), &mut out).octets > query.len());
        black_box(&out);
    }
    (passes * queries.len()) as f64 / start.elapsed().as_secs_f64() / 1e6
}
