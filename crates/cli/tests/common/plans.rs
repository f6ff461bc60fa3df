//! The plans of the tests of the binary. None waits until a busy machine is quiet: the tests ask what a run does, and not what it finds.

/// A plan of very few, very short trials on kernel forwarding.
pub(crate) const KERNEL: &str = r#"
name = "short"
[trial]
patience = "0s"
duration = "50ms"
residual = "20ms"
rest = "0s"
[search]
method = "binary"
minimum = "1k"
maximum = "2k"
width = "50%"
[[test]]
name = "kernel"
dut = "linux-ipv4"
frame-sizes = [84]
repetitions = 1
"#;

/// A plan of a few short trials on kernel forwarding.
pub(crate) const KERNEL_TWO_SIZES: &str = r#"
name = "short"
[trial]
patience = "0s"
duration = "100ms"
residual = "50ms"
rest = "0s"
[search]
method = "binary"
minimum = "1k"
maximum = "8k"
width = "30%"
[[test]]
name = "kernel"
dut = "linux-ipv4"
frame-sizes = [84, 128]
repetitions = 3
"#;

/// A short test, and a test whose only trial lasts a minute; `BACKEND` is to be replaced.
pub(crate) const SHORT_THEN_LONG: &str = r#"
name = "long"
[testbed]
io = "BACKEND"
[trial]
patience = "0s"
duration = "100ms"
residual = "50ms"
rest = "0s"
[search]
method = "binary"
minimum = "1k"
maximum = "2k"
width = "50%"
[[test]]
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
"#;

/// Of a stateful gateway named `rigged`.
pub(crate) const STATEFUL: &str = r#"
name = "short"
[trial]
patience = "0s"
duration = "100ms"
residual = "50ms"
rest = "0s"
[search]
method = "binary"
minimum = "1k"
maximum = "8k"
width = "30%"
[[test]]
name = "rigged"
dut = "rigged"
frame-sizes = [84]
repetitions = 1
connections = "100"
phase-1-rate = "1k"
"#;

/// A few short trials of a DNS64 server with the tester's authority, with a real one, and of that one alone. Stalls of this machine are tolerated.
pub(crate) const DNS64: &str = r#"
name = "dns"
[trial]
patience = "0s"
duration = "200ms"
residual = "100ms"
rest = "0s"
stall = "2s"
[search]
method = "binary"
minimum = "50"
maximum = "400"
width = "40%"
[[test]]
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
"#;

/// Slow trials by a tester that may stall, on a router, a translator and a gateway.
pub(crate) const REMOTE_TESTS: &str = r#"
[trial]
patience = "0s"
duration = "300ms"
residual = "500ms"
rest = "20ms"
stall = "200ms"

[search]
minimum = "400"
maximum = "1000"
width = "20%"

[[test]]
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
"#;

/// Returns [`DNS64`] with the tester's authority alone.
pub(crate) fn dns64_alone() -> &'static str {
    DNS64.split("[[test]]\nname = \"real\"").next().expect("a plan")
}

/// Returns the smallest plan of a test with these lines; the first of them is line 4.
pub(crate) fn of_test(lines: &str) -> String {
    format!("name = \"p\"\n[[test]]\nname = \"t\"\n{lines}\n")
}

/// The highest rate that the search of [`through`] tries; the lowest is half of it.
pub(crate) const MAXIMUM: u64 = 100;

/// Returns a plan of one test with these lines, through interfaces of this machine. It is slow, and the tester may stall.
pub(crate) fn through([left, right]: [&str; 2], lines: &str) -> String {
    let minimum = MAXIMUM / 2;
    format!(
        r#"
name = "cabled"
[trial]
patience = "0s"
duration = "200ms"
residual = "500ms"
rest = "0s"
stall = "2s"
[search]
method = "binary"
minimum = "{minimum}"
maximum = "{MAXIMUM}"
width = "50%"
[testbed]
left = "{left}"
right = "{right}"
[[test]]
name = "t"
repetitions = 1
{lines}"#
    )
}
