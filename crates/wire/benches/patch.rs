//! Measures how many frames per second one core patches in memory, and the cost of a checksum.
//!
//! Run `cargo bench -p sixbench-wire`. It prints the best of several rounds: on a shared machine the others are slowed down by other programs.

use std::hint::black_box;
use std::time::Instant;

use sixbench_wire::template::Transport;
use sixbench_wire::{
    Description, IpVersion, MacAddress, StampedTime, Template, Variable, checksum, tag,
};

const BATCH: usize = 64;
const BUFFER: usize = 128;
const BATCHES: u64 = 200_000;
const ROUNDS: usize = 7;

fn main() {
    println!("Mframes/s over {BATCH} buffers of {BUFFER} octets, one time per batch");
    println!("{:<28}{:>10}{:>10}", "", "IPv4 64", "IPv6 84");
    let templates = [
        template("198.18.0.2", "198.19.0.2", 60),
        template("2001:2::2", "2001:2:0:8000::2", 80),
    ];
    // These are only known at run time, as they would be with a plan.
    let (source_port, destination_port) = black_box((4000, 9));
    row("fixed ports", &templates, |sequence, time| Variable {
        source_port,
        destination_port,
        sequence,
        time,
        addresses: None,
        subscriber: None,
    });
    row("random ports", &templates, random_ports);
    row("random ports and addresses", &templates, random_addresses);
    sums();
}

fn template(src: &str, dst: &str, frame_octets: usize) -> Template {
    Template::new(&Description {
        src_mac: MacAddress([2, 0, 0, 0, 0, 2]),
        dst_mac: MacAddress([2, 0, 0, 0, 0, 1]),
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        hop_limit: 64,
        frame_octets,
        stream: 0,
        variable_at: Description::usual_variable_at(IpVersion::of(src.parse().unwrap())),
        transport: Transport::Udp,
        outer: None,
    })
    .unwrap()
}

fn row(name: &str, templates: &[Template; 2], variable: impl Fn(u64, StampedTime) -> Variable) {
    let [ipv4, ipv6] = templates
        .each_ref()
        .map(|template| rate(template, &variable));
    println!("{name:<28}{ipv4:>10.0}{ipv6:>10.0}");
}

/// Returns the best round, in million frames per second.
fn rate(template: &Template, variable: impl Fn(u64, StampedTime) -> Variable) -> f64 {
    let mut buffers = [[0u8; BUFFER]; BATCH];
    for buffer in &mut buffers {
        buffer[..template.frame_octets()].copy_from_slice(template.octets());
    }
    let mut round = || {
        let start = Instant::now();
        for batch in 0..BATCHES {
            let time = StampedTime::new(batch * 1000);
            for (at, buffer) in buffers.iter_mut().enumerate() {
                template.patch(buffer, &variable(batch * BATCH as u64 + at as u64, time));
                // Per frame, as a port takes them: otherwise the compiler patches several at a time.
                black_box(buffer);
            }
        }
        (BATCHES * BATCH as u64) as f64 / start.elapsed().as_secs_f64() / 1e6
    };
    let rate = best(&mut round, f64::max);
    let last = variable(
        BATCHES * BATCH as u64 - 1,
        StampedTime::new((BATCHES - 1) * 1000),
    );
    assert_eq!(
        buffers[BATCH - 1][..template.frame_octets()],
        *template.patched(&last)
    );
    rate
}

fn random_ports(sequence: u64, time: StampedTime) -> Variable {
    let random = splitmix64(sequence);
    let (source_port, destination_port) = (random as u16 | 1024, (random >> 16) as u16 | 1);
    Variable {
        source_port,
        destination_port,
        sequence,
        time,
        addresses: None,
        subscriber: None,
    }
}

fn random_addresses(sequence: u64, time: StampedTime) -> Variable {
    let random = splitmix64(sequence);
    let addresses = Some(((random >> 32) as u32, random as u32));
    Variable {
        addresses,
        ..random_ports(sequence, time)
    }
}

fn splitmix64(sequence: u64) -> u64 {
    let mut z = sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Measures the nanoseconds needed to sum and to compare 1500 octets.
fn sums() {
    let mut octets = [0; 1500];
    tag::fill_pattern(&mut octets);
    let sum = best(
        || nanoseconds(|| checksum::sum(black_box(&octets)) != 0),
        f64::min,
    );
    let whole = best(
        || nanoseconds(|| tag::pattern_is_whole(black_box(&octets))),
        f64::min,
    );
    println!("1500 octets: checksum {sum:.0} ns, pattern {whole:.0} ns");
}

fn nanoseconds(what: impl Fn() -> bool) -> f64 {
    const TIMES: u32 = 1_000_000;
    let start = Instant::now();
    for _ in 0..TIMES {
        black_box(what());
    }
    start.elapsed().as_nanos() as f64 / f64::from(TIMES)
}

fn best(mut round: impl FnMut() -> f64, better: fn(f64, f64) -> f64) -> f64 {
    (1..ROUNDS).fold(round(), |best, _| better(best, round()))
}
