//! The plans for tests of the binary. None waits for a busy machine to become quiet, since the tests check what a run does, not its results.

/// The `[trial]` and `[search]` of a plan: the time in which a trial sends and that in which it waits, and the loads and the width of a binary search.
/// Stalls of this machine are tolerated.
macro_rules! settings {
    ($duration:literal + $residual:literal, $minimum:literal to $maximum:literal, $width:literal) => {
        concat!(
            "[trial]\npatience = \"0s\"\nrest = \"0s\"\nstall = \"2s\"\nduration = \"",
            $duration,
            "\"\nresidual = \"",
            $residual,
            "\"\n[search]\nmethod = \"binary\"\nminimum = \"",
            $minimum,
            "\"\nmaximum = \"",
            $maximum,
            "\"\nwidth = \"",
            $width,
            "\"\n"
        )
    };
}
#[allow(unused_imports, reason = "`long` uses a part of it")]
pub(crate) use settings;

/// A plan of very few, very short trials on kernel forwarding.
pub(crate) const KERNEL: &str = concat!(
    "name = \"short\"\n",
    settings!("50ms" + "20ms", "1k" to "2k", "50%"),
    r#"[[test]]
name = "kernel"
dut = "linux-ipv4"
frame-sizes = [84]
repetitions = 1
"#
);

/// A plan of a few short trials on kernel forwarding.
pub(crate) const KERNEL_TWO_SIZES: &str = concat!(
    "name = \"short\"\n",
    settings!("100ms" + "50ms", "1k" to "8k", "30%"),
    r#"[[test]]
name = "kernel"
dut = "linux-ipv4"
frame-sizes = [84, 128]
repetitions = 3
"#
);

/// A short test, and a test whose only trial lasts a minute; `BACKEND` must be replaced.
pub(crate) const SHORT_THEN_LONG: &str = concat!(
    r#"name = "long"
[testbed]
io = "BACKEND"
"#,
    settings!("100ms" + "50ms", "1k" to "2k", "50%"),
    r#"[[test]]
name = "short"
dut = "linux-ipv4"
frame-sizes = [84]
repetitions = 1
[[test]]
name = "long"
dut = "linux-ipv4"
measure = "pdv"
rate = "1k"
duration = "60s"
frame-sizes = [84]
repetitions = 1
"#
);

/// A plan for a stateful gateway named `rigged`.
pub(crate) const STATEFUL: &str = concat!(
    "name = \"short\"\n",
    settings!("100ms" + "50ms", "1k" to "8k", "30%"),
    r#"[[test]]
name = "rigged"
dut = "rigged"
frame-sizes = [84]
repetitions = 1
connections = "100"
phase-1-rate = "1k"
"#
);

/// A few short trials of a DNS64 server with the tester's authority, of one with a real authority, and of that authority alone.
pub(crate) const DNS64: &str = concat!(
    "name = \"dns\"\n",
    settings!("200ms" + "100ms", "50" to "400", "40%"),
    r#"[[test]]
name = "unbound"
dut = "unbound-dns64"
measure = "dns64"
repetitions = 2
[[test]]
name = "real"
dut = "unbound-dns64"
measure = "dns64"
authority = "nsd-authority"
names = "10.0.0.0/20"
repetitions = 1
[[test]]
name = "nsd"
dut = "nsd-authority"
measure = "dns-authority"
names = "10.0.0.0/20"
repetitions = 1
"#
);

/// Trials of several seconds of queries to a server of the test's own.
pub(crate) const DNS_LIMITED: &str = concat!(
    "name = \"limited\"\nrecipes = [\"recipes\"]\n",
    settings!("2400ms" + "100ms", "50" to "1600", "40%"),
    r#"max-invalid = 1
[[test]]
name = "limited"
dut = "limited"
measure = "dns-authority"
names = "10.0.0.0/20"
repetitions = 1
"#
);

/// Slow trials on a router, a translator and a gateway.
pub(crate) const REMOTE_TESTS: &str = concat!(
    settings!("300ms" + "500ms", "400" to "1000", "20%"),
    r#"[[test]]
name = "router"
dut = "linux-ipv4"
frame-sizes = [84]
repetitions = 1

[[test]]
name = "siit"
dut = "tayga-siit"
frame-sizes = [84]
repetitions = 1

[[test]]
name = "nat"
dut = "nft-nat44"
frame-sizes = [84]
connections = 100
phase-1-rate = 500
repetitions = 1
"#
);

/// Returns [`DNS64`] with the tester's authority alone.
pub(crate) fn dns64_alone() -> &'static str {
    DNS64
        .split("[[test]]\nname = \"real\"")
        .next()
        .expect("a plan")
}

/// Returns the plan with a thousand repetitions instead of one, so that its run only ends when the test ends it.
pub(crate) fn that_lasts(plan: &str) -> String {
    assert!(plan.contains("repetitions = 1\n"), "{plan}");
    plan.replace("repetitions = 1\n", "repetitions = 1000\n")
}

/// Returns the smallest plan of a test with these lines, which start at line 4.
pub(crate) fn of_test(lines: &str) -> String {
    format!("name = \"p\"\n[[test]]\nname = \"t\"\n{lines}\n")
}

/// The highest rate that the search of [`through`] tries; the lowest is half of it.
pub(crate) const MAXIMUM: u64 = 100;

/// Returns a plan of one test with these lines, through interfaces of this machine, at low rates.
pub(crate) fn through([left, right]: [&str; 2], lines: &str) -> String {
    let settings = settings!("200ms" + "500ms", "50" to "100", "50%");
    let testbed = format!("[testbed]\nleft = \"{left}\"\nright = \"{right}\"\n");
    format!(
        "name = \"cabled\"\n{settings}{testbed}[[test]]\nname = \"t\"\nrepetitions = 1\n{lines}"
    )
}
