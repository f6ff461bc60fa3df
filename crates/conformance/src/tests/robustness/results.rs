//! What is told of a device, and read again.

use crate::frame::Side;
use crate::robustness::{
    CarriedProtocol, CrashRecord, CrashSign, DatagramGroup, DeviceMemory, DrawnLength,
    FrameCoverage, KeptFrame, MalformedKind, MemoryCourse, MemoryOwner, MemoryVerdict, Mutation,
    ProbeOutcome, RobustnessResults, kept_frames,
};

const MEBIOCTET: u64 = 1 << 20;

fn lived() -> ProbeOutcome {
    ProbeOutcome {
        seed: Some(7),
        wanted: 10_000,
        sent: 10_000,
        batches: 313,
        came: 4321,
        has_kernel_log: true,
        coverage: coverage(),
        memory: Some(course(MemoryOwner::Guest, [40, 41, 41])),
        crash: None,
    }
}

/// Returns the coverage of two frames.
fn coverage() -> FrameCoverage {
    let mut coverage = FrameCoverage::default();
    let kind = MalformedKind {
        group: DatagramGroup {
            side: Side::Ipv6,
            protocol: CarriedProtocol::Tcp,
        },
        length: DrawnLength::LinkMtu,
        mistake: Some(Mutation::Options),
    };
    coverage.add(kind);
    coverage.add(MalformedKind {
        length: DrawnLength::HeadersAlone,
        ..kind
    });
    coverage
}

fn course(owner: MemoryOwner, mebioctets: [u64; 3]) -> MemoryCourse {
    MemoryCourse::new(mebioctets.map(|mebioctets| DeviceMemory {
        owner,
        octets: mebioctets * MEBIOCTET,
    }))
}

fn crashed(octets: &str) -> ProbeOutcome {
    let frame = KeptFrame {
        index: 812,
        side: Side::Ipv6,
        vector: "64-udp".to_owned(),
        mistakes: vec!["ipv6.len=0x0".to_owned(), "udp.len=0x1".to_owned()],
        octets: octets.to_owned(),
    };
    let sign = CrashSign::Ended {
        how: "TAYGA ended by itself (signal: 11)".to_owned(),
    };
    let crash = CrashRecord {
        sign,
        after: 1472,
        is_repeatable: true,
        attempts: 41,
        is_minimal: true,
        frames: vec![frame],
    };
    ProbeOutcome {
        sent: 1472,
        memory: None,
        crash: Some(crash),
        ..lived()
    }
}

fn results(outcome: ProbeOutcome) -> RobustnessResults {
    RobustnessResults::new("d", "Device", "1.0", outcome)
}

#[test]
fn the_text_of_a_device_that_lives_says_what_was_looked_at_and_within_what() {
    let text = results(lived()).text("");
    assert_eq!(
        text,
        "Device (1.0): 10000 malformed frames (seed 7), and it lives
  control frames          passed after each of 313 batches; 4321 frames came for the malformed ones
  kernel log              no warning, bug or oops
  made from               2 TCP on 6
  their lengths           1 about the MTU, 1 headers alone
  first mistakes          2 options
  memory of its machine   40.0 MiB before, 41.0 MiB at half, 41.0 MiB after: what it was, within 4.0 MiB (a leak of less than 419 octets in a frame would not show)
"
    );
}

#[test]
fn the_text_of_a_crash_names_the_frames_and_the_command() {
    let mut results = results(crashed("60"));
    results.capture = Some("out/robustness.pcap".to_owned());
    assert_eq!(
        results.text("sixbench conformance --replay out/robustness.json d"),
        "Device (1.0): 1472 malformed frames (seed 7), and it crashed
  seen                    TAYGA ended by itself (signal: 11)
  frames                  the fewest that make it: 1 frame, found in 41 attempts
                          812 on 6, from 64-udp: ipv6.len=0x0; udp.len=0x1
  kept                    as sent in out/robustness.pcap
  once more               sixbench conformance --replay out/robustness.json d
"
    );
}

#[test]
fn memory_is_judged_only_where_it_is_the_devices_own() {
    let kernel = course(MemoryOwner::ThisKernel, [100, 200, 400]);
    assert_eq!(kernel.verdict, MemoryVerdict::Shared);
    let process = course(MemoryOwner::Processes, [100, 105, 110]);
    assert_eq!(process.verdict, MemoryVerdict::Unchanged, "a tenth");
    let text = results(ProbeOutcome {
        memory: Some(course(MemoryOwner::Processes, [2, 4, 8])),
        ..lived()
    });
    assert!(text.text("").contains("and its memory grows\n"));
}

#[test]
fn the_frames_of_a_crash_are_read_again_as_they_were() {
    let text = serde_json::to_string(&results(crashed("6000aBff"))).expect("JSON");
    let frames = kept_frames(&text).expect("frames");
    assert_eq!(frames[0].octets, [0x60, 0, 0xab, 0xff]);
    assert_eq!((frames[0].index, frames[0].side), (812, Side::Ipv6));
}

#[test]
fn what_has_no_frames_is_refused_with_the_reason() {
    let reason = |text: &str| kept_frames(text).expect_err("refused").to_string();
    let json = |outcome| serde_json::to_string(&results(outcome)).expect("JSON");
    assert!(reason("{\"vectors\": []}").starts_with("it is no robustness.json"));
    assert!(reason(&json(lived())).starts_with("it has no crash"));
    let newer = json(lived()).replace("\"format\":1", "\"format\":2");
    assert!(reason(&newer).starts_with("it has format 2"));
    let long = "00".repeat(1501);
    for octets in ["", "6", "zz", "+1", &long] {
        let told = reason(&json(crashed(octets)));
        assert!(
            told.starts_with("frame 812 of it does not have 1 to 1500"),
            "{told}"
        );
    }
}
