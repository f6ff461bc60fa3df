//! Fuzz targets: each is a function that takes octets that an untrusted peer could send, has sixbench parse them, and panics if a property does
//! not hold. The test `corpus` runs them on the files in `corpus`; `scripts/fuzz` looks for new inputs. See `docs/FUZZING.md`.
#![forbid(unsafe_code)]

mod input;
mod targets;

/// A target.
pub struct FuzzTarget {
    /// Its name, which is also that of its directory in `corpus`.
    pub name: &'static str,
    /// Parses the octets. Panics if a property does not hold.
    pub run: fn(&[u8]),
}

/// The targets; those that parse network input come first.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget {
        name: "frames",
        run: targets::frames::run,
    },
    FuzzTarget {
        name: "neighbours",
        run: targets::neighbours::run,
    },
    FuzzTarget {
        name: "dns-answers",
        run: targets::dns_answers::run,
    },
    FuzzTarget {
        name: "dns-queries",
        run: targets::dns_queries::run,
    },
    FuzzTarget {
        name: "dns-stream",
        run: targets::dns_queries::run_stream,
    },
    FuzzTarget {
        name: "http",
        run: targets::http::run,
    },
    FuzzTarget {
        name: "memif-messages",
        run: targets::memif::run_messages,
    },
    FuzzTarget {
        name: "memif-rings",
        run: targets::memif::run_rings,
    },
    FuzzTarget {
        name: "agent",
        run: targets::agent::run,
    },
    FuzzTarget {
        name: "live-page",
        run: targets::live_page::run,
    },
    FuzzTarget {
        name: "trials",
        run: targets::records::run_trials,
    },
    FuzzTarget {
        name: "facts",
        run: targets::records::run_facts,
    },
    FuzzTarget {
        name: "report",
        run: targets::report::run,
    },
    FuzzTarget {
        name: "plan",
        run: targets::plan::run,
    },
    FuzzTarget {
        name: "recipe",
        run: targets::recipe::run,
    },
    FuzzTarget {
        name: "siitperf",
        run: targets::siitperf::run,
    },
    FuzzTarget {
        name: "traffic-profile",
        run: targets::plan::run_traffic_profile,
    },
    FuzzTarget {
        name: "words",
        run: targets::words::run,
    },
];

/// Returns the function of a target.
///
/// # Panics
/// No target has this name.
pub const fn function(name: &str) -> fn(&[u8]) {
    let mut nth = 0;
    while nth < TARGETS.len() {
        if is_same(TARGETS[nth].name.as_bytes(), name.as_bytes()) {
            return TARGETS[nth].run;
        }
        nth += 1;
    }
    panic!("no target has this name");
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
