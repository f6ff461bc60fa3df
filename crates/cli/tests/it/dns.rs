//! `sixbench dns64` against `sixbench authority` on loopback, and plans for DNS servers, as users run them. Rates are low, so that nothing depends on
//! the speed of the machine. The tests that run a plan need root; without it they fail, they do not skip.

use crate::common::plans::{self, DNS_LIMITED, DNS64};
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, facts, kill, namespaces_of, output, records, sixbench,
    start, text, until_the_first_trial,
};
use serde_json::Value;
use sixbench_method::bottleneck::{Cause, explain};
use sixbench_method::record::{CoreRole, CoreWatch, CpuSample, TrialRecord, Watch};
use sixbench_method::terms::LossRatio;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Output, Stdio};

/// A `sixbench authority` on a free port, ended when dropped.
struct Authority {
    child: Child,
    port: String,
}

impl Authority {
    fn start(more: &[&str]) -> Self {
        let arguments = [
            &["authority", "--listen", "[::1]:0", "--threads", "1"],
            more,
        ]
        .concat();
        let mut child = sixbench(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sixbench");
        let mut first = String::new();
        BufReader::new(child.stderr.take().expect("stderr"))
            .read_line(&mut first)
            .expect("a line");
        let at = first
            .split(' ')
            .find_map(|word| word.strip_prefix("[::1]:"))
            .unwrap_or_else(|| panic!("{first}"));
        Self {
            child,
            port: at.to_owned(),
        }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends 100 queries in half a second.
fn ask(port: &str, more: &[&str]) -> Output {
    output(
        &[
            &[
                "dns64", "::1", "--port", port, "--rate", "200", "--for", "500ms",
            ],
            more,
        ]
        .concat(),
    )
}

#[test]
fn an_authority_that_is_asked_as_one_answers_everything_rightly() {
    let _guard = ONE_AT_A_TIME.lock();
    let authority = Authority::start(&["--with-aaaa", "40%"]);
    let output = ask(&authority.port, &["--authoritative", "--with-aaaa", "40%"]);
    assert_ran(&output);
    let said = text(&output.stdout);
    assert!(said.starts_with("200 queries/s for 500ms: "), "{said}");
    assert!(said.contains("sent 100, received 100, valid "), "{said}");
    assert!(
        said.contains("round-trip time ") && said.contains("instead of 0.495000 s"),
        "{said}"
    );
    assert!(!said.contains("wrong") && !said.contains("empty"), "{said}");
}

#[test]
fn queries_of_a_file_over_tcp_are_answered_and_counted_by_response_code() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("query-file"));
    let authority = Authority::start(&["--with-aaaa", "100%"]);
    let queries = "010-000-000-001.dns64perf.test AAAA\nother.dns64perf.test A ; none\n";
    let (file, csv) = (
        scratch.write("queries.txt", queries),
        scratch.path("queries.csv"),
    );
    for transport in [&["-m", "udp"][..], &["-m", "tcp", "-c", "2"]] {
        let more = ["--authoritative", "-d", &file, "--csv", &csv];
        let output = ask(&authority.port, &[&more, transport].concat());
        assert_ran(&output);
        let said = text(&output.stdout);
        assert!(said.contains("sent 100, received 100, valid "), "{said}");
        assert!(
            said.contains("  response codes NOERROR 50, NXDOMAIN 50\n"),
            "{said}"
        );
        let has_connections = said.contains("  TCP            2 connections: opened 2, refused 0");
        assert_eq!(has_connections, transport.len() == 4, "{said}");
        let csv = fs::read_to_string(&csv).expect("a file");
        assert!(csv.contains("\n1,other.dns64perf.test A,"), "{csv}");
    }
}

#[test]
fn lines_of_a_file_that_are_no_queries_are_shown_before_anything_is_sent() {
    let scratch = Scratch::new("no-queries");
    let file = scratch.write("queries.txt", "a.test A\nb..test AAAA\nc.test IN A\n");
    let output = output(&["dns64", "::1", "--port", "9", "--queries", &file]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    for told in [
        "queries.txt:2:1",
        "queries.txt:3:11",
        "the name has an empty label",
        "`A` is one word too many",
        "queries.txt has 2 mistakes; nothing was touched",
    ] {
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[test]
fn the_file_of_a_plan_lies_beside_it_and_is_shown_where_it_is_wrong() {
    let scratch = Scratch::new("file-of-a-plan");
    scratch.write("right.txt", "dns64perf.test SOA\n");
    scratch.write("wrong.txt", "dns64perf.test SAO\n");
    let checked = |file: &str| {
        let test = format!("dut = \"unbound-dns64\"\nmeasure = \"dns64\"\nqueries = \"{file}\"");
        let plan = scratch.write("plan.toml", &plans::of_test(&test));
        output(&["check", &plan])
    };
    assert_ran(&checked("right.txt"));
    for (file, told) in [
        ("wrong.txt", "`SAO` is no type of records"),
        (
            "none.txt",
            "cannot read the queries of none.txt: No such file",
        ),
        (
            "/etc/hostname",
            "a plan names files in its own folder and below",
        ),
        (
            "../right.txt",
            "a plan names files in its own folder and below",
        ),
        (".", "it is no file"),
    ] {
        let output = checked(file);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{file}: {error}");
        assert!(error.contains(told), "{file}: {error}");
    }
}

#[test]
fn every_query_has_its_line_in_the_csv() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("csv"));
    let authority = Authority::start(&["--with-aaaa", "100%"]);
    let path = scratch.path("queries.csv");
    assert_ran(&ask(
        &authority.port,
        &["--authoritative", "--with-aaaa", "100%", "--csv", &path],
    ));
    let csv = fs::read_to_string(&path).expect("a file");
    assert_eq!(
        csv.lines().count(),
        101,
        "a line for each query below the heading: {csv}"
    );
    let columns = |line: &str| line.split(',').count();
    assert!(
        csv.lines()
            .all(|line| columns(line) == columns(csv.lines().next().unwrap_or_default())),
        "{csv}"
    );
}

#[test]
fn everything_that_was_counted_can_be_had_as_json() {
    let _guard = ONE_AT_A_TIME.lock();
    let authority = Authority::start(&["--with-aaaa", "40%"]);
    let output = ask(
        &authority.port,
        &["--authoritative", "--with-aaaa", "40%", "--json"],
    );
    assert_ran(&output);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let answers = &result["dns"]["answers"];
    let number = |value: &Value| value.as_u64().expect("a number");
    assert_eq!(answers["sent"], 100);
    assert_eq!(
        number(&answers["right"]) + number(&answers["late"]),
        100,
        "{answers}"
    );
    assert_eq!(result["dns"]["server"], format!("[::1]:{}", authority.port));
    assert!(
        (20..60).contains(&number(&result["dns"]["existing"])),
        "{result}"
    );
    assert_eq!(result["directions"][0]["offered"], 100);
}

#[test]
fn a_port_where_nobody_listens_is_told_and_exit_code_3() {
    // A server had this port until now, so no other process has it.
    let port = Authority::start(&[]).port.clone();
    let output = ask(&port, &[]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains(&format!(
            "[::1]:{port}: query for AAAA 000-000-000-000.dns64perf.test"
        )),
        "{error}"
    );
    assert!(
        error.contains(&format!("nothing listens at ::1 port {port}")),
        "{error}"
    );
    assert!(
        error.contains("is the server up, and does it listen on that address and port?"),
        "{error}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_server_without_tls_is_told_with_what_it_sent() {
    let server = TcpListener::bind("[::1]:0").expect("a server");
    let port = server.local_addr().expect("an address").port().to_string();
    // Ends with this process.
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let _ = stream
                .expect("a connection")
                .write_all(b"220 mail.test\r\n");
        }
    });
    let output = ask(&port, &["-m", "tls"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    for told in [
        &format!("::1 port {port} accepts connections over TCP, but TLS fails there: "),
        "does the server speak TLS 1.2 or 1.3 on that port, usually 853",
    ] {
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn an_authority_that_is_asked_for_synthesised_addresses_is_asked_whether_dns64_is_enabled() {
    let authority = Authority::start(&[]);
    let output = ask(&authority.port, &[]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("expected AAAA 64:ff9b::,") && error.contains("is DNS64 enabled"),
        "{error}"
    );
}

#[test]
fn a_zone_that_is_not_there_is_told() {
    let authority = Authority::start(&[]);
    let output = ask(
        &authority.port,
        &["--authoritative", "--domain", "elsewhere.test"],
    );
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("is the zone loaded, with all names of the plan?"),
        "{error}"
    );
}

#[test]
fn a_port_in_use_is_told_by_both_commands() {
    let authority = Authority::start(&[]);
    let at = format!("[::1]:{}", authority.port);
    for arguments in [
        &["authority", "--listen", &at][..],
        &["dns64", "::1", "--port", "9", "--authority", &at],
    ] {
        let output = output(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {error}");
        assert!(
            error.contains(&format!("cannot listen on {at}: address already in use")),
            "{arguments:?}: {error}"
        );
    }
}

#[test]
fn a_search_that_nothing_stops_ends_at_its_highest_rate_or_more() {
    let _guard = ONE_AT_A_TIME.lock();
    let authority = Authority::start(&["--with-aaaa", "100%"]);
    let output = ask(
        &authority.port,
        &["--authoritative", "--with-aaaa", "100%", "--search"],
    );
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert_ran(&output);
    assert!(error.contains("200/s"), "each trial is told: {error}");
    if output.status.code() == Some(0) && said.starts_with("200 ") {
        assert_eq!(
            said,
            "at least 200 queries/s, all answered correctly within 1s; --rate is the highest that was tried\n"
        );
    }
}

#[test]
fn what_cannot_be_asked_is_a_mistake_of_usage() {
    let told = |arguments: &[&str], what: &str| {
        let output = output(&[&["dns64", "::1", "--port", "9"], arguments].concat());
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(what), "{arguments:?}: {error}");
    };
    told(
        &["--timeout", "2s"],
        "expected a timeout of up to 1s (RFC 8219 section 9.2)",
    );
    told(
        &["--from", "127.0.0.1"],
        "--from and the server ::1 have addresses of different IP versions",
    );
    told(
        &["--rate", "1", "--for", "1ms"],
        "no query would be sent: raise --rate or --for",
    );
    told(
        &["--threads", "1000"],
        "--threads 1000: this process may use",
    );
    told(
        &["--authoritative", "--cached", "20%"],
        "cannot be used with",
    );
    told(&["--search", "--csv", "x"], "cannot be used with");
    told(&["-c", "2"], "need --transport tcp or tls");
    told(
        &["-m", "quic"],
        "expected the transport of queries (udp, tcp, tls)",
    );
    told(&["--tls-ca", "/none"], "--tls-ca needs --transport tls");
    told(&["-m", "tls", "--tls-name", "x"], "--tls-ca <FILE>");
    told(
        &["-m", "dot", "--tls-ca", "/none"],
        "cannot read the certificates of /none: No such file",
    );
    told(
        &["-m", "tls", "--tls-ca", "/etc/hostname"],
        "--tls-ca /etc/hostname: there is no certificate in it",
    );
    told(
        &["-d", "/none"],
        "cannot read the queries of /none: No such file",
    );
    told(&["--names", "10.0.0.1/8"], "did you mean 10.0.0.0/8?");
}

#[test]
fn the_help_of_the_commands_of_dns_stays_as_it_was_reviewed() {
    insta::assert_snapshot!("dns64_help", text(&output(&["dns64", "--help"]).stdout));
    insta::assert_snapshot!(
        "authority_help",
        text(&output(&["authority", "--help"]).stdout)
    );
}

fn certificates(results: &str, dut: &str) -> usize {
    facts(results)["duts"][dut]["certificates"]
        .as_array()
        .map_or(0, Vec::len)
}

#[test]
fn a_run_of_dns_servers_leaves_its_self_tests_its_trials_and_a_report() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("run"));
    let (plan, results) = (scratch.write("plan.toml", DNS64), scratch.path("results"));
    let child = start(&["run", &plan, "-o", &results]);
    let pid = child.id();
    let output = child.wait_with_output().expect("ended");
    assert_ran(&output);
    for record in records(&results) {
        let Some(answers) = record["result"]["dns"]["answers"].as_object() else {
            continue;
        };
        let of = |fate: &str| answers[fate].as_u64().expect("a number");
        // A busy machine may leave the server too little time, but a wrong answer is always an error.
        assert_eq!(
            of("right") + of("late") + of("unanswered"),
            of("sent"),
            "{record}"
        );
    }
    let tests: Vec<String> = records(&results)
        .iter()
        .map(|record| record["point"]["test"].to_string())
        .collect();
    assert!(
        ["unbound", "real", "nsd"]
            .iter()
            .all(|test| tests.contains(&format!("\"{test}\""))),
        "{tests:?}"
    );
    assert_eq!(
        certificates(&results, "unbound-dns64"),
        2,
        "one with each authority"
    );
    let report = fs::read_to_string(Path::new(&results).join("report.html")).expect("a report");
    assert!(report.contains("queries/s") && report.contains("9.2.1"));
    assert!(
        Path::new(&results)
            .join("recipes/nsd-authority.toml")
            .exists(),
        "a resumed run needs the authority's recipe"
    );
    assert!(
        text(&output.stderr).contains("certified for "),
        "{}",
        text(&output.stderr)
    );
    assert!(namespaces_of(pid).is_empty());
}

#[test]
fn a_killed_run_of_a_dns_server_goes_on_and_keeps_the_self_test_of_before() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("kill"));
    // A repetition may be a single trial: several repetitions leave some for after the kill.
    let only_ours = plans::dns64_alone().replace("repetitions = 2", "repetitions = 5");
    let (plan, results) = (
        scratch.write("plan.toml", &only_ours),
        scratch.path("results"),
    );
    let mut child = start(&["run", &plan, "-o", &results]);
    until_the_first_trial(&mut child, &results);
    kill(&mut child);
    let (pid, before) = (child.id(), records(&results));
    assert_eq!(certificates(&results, "unbound-dns64"), 1);
    let output = output(&["run", "--resume", &results]);
    assert_ran(&output);
    let after = records(&results);
    assert_eq!(after[..before.len()], before, "what was measured stays");
    assert!(after.len() > before.len(), "and the rest was measured");
    assert_eq!(
        certificates(&results, "unbound-dns64"),
        2,
        "each part of the run has its own"
    );
    assert!(
        namespaces_of(pid).is_empty(),
        "what the killed run left was swept up"
    );
}

#[test]
fn an_expectation_of_a_dns_server_is_missed_in_queries() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("expect"));
    let one = plans::dns64_alone();
    let plan = scratch.write(
        "plan.toml",
        &one.replace(
            "repetitions = 2",
            "repetitions = 1\nexpect = { at-most = 50 }",
        ),
    );
    let output = output(&["run", &plan, "-o", &scratch.path("results")]);
    // 4 if the tester was never valid on this machine: then nothing was found that could miss an expectation.
    assert!(
        matches!(output.status.code(), Some(5 | 4)),
        "{}",
        text(&output.stderr)
    );
    if output.status.code() == Some(5) {
        let said = text(&output.stdout);
        assert!(
            said.contains(
                "missed: unbound: Rate of queries answered correctly and in time: a median of "
            ) && said.contains("expected at most 50 queries/s"),
            "{said}"
        );
    }
}

#[test]
fn devices_and_authorities_of_another_technology_are_refused_before_anything_is_touched() {
    let scratch = Scratch::new("technology");
    let told = |test: &str, what: &str| {
        let plan = scratch.write("plan.toml", &plans::of_test(test));
        let output = output(&["check", &plan]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{test}: {error}");
        assert!(error.contains(what), "{test}: {error}");
    };
    told(
        "dut = \"nsd-authority\"\nmeasure = \"dns64\"",
        "measure = \"dns64\" does not fit recipe nsd-authority",
    );
    told(
        "dut = \"unbound-dns64\"\nmeasure = \"dns-authority\"",
        "measure = \"dns-authority\" does not fit recipe unbound-dns64",
    );
    told(
        "dut = \"linux-ipv6\"\nmeasure = \"dns64\"",
        "measure = \"dns64\" does not fit recipe linux-ipv6",
    );
    told(
        "dut = \"unbound-dns64\"",
        "it forwards no frames; measure = \"dns64\"",
    );
    told(
        "dut = \"unbound-dns64\"\nmeasure = \"dns64\"\ncached = \"20%\"\nttl = \"1s\"",
        "`ttl` must be longer than two trials",
    );
    let real = "dut = \"unbound-dns64\"\nmeasure = \"dns64\"\nnames = \"10.0.0.0/20\"\nauthority = \"linux-ipv4\"";
    told(
        real,
        "authority = \"linux-ipv4\": that is not an authoritative server",
    );
}

/// A variant of [`DNS64`] with a setting that only affects the rehearsed commands.
#[test]
fn the_commands_of_a_dns_plan_are_those_of_its_domain() {
    let scratch = Scratch::new("shell");
    let plan = scratch.write(
        "plan.toml",
        &DNS64.replace("names =", "domain = \"example.test\"\nnames ="),
    );
    let output = output(&["plan", "--shell", &plan]);
    let script = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        script.contains("name: \"dns64perf.test\"") && script.contains("name: \"example.test\""),
        "{script}"
    );
    let plan = text(
        &sixbench(&["plan", &plan])
            .output()
            .expect("sixbench")
            .stdout,
    );
    assert!(
        plan.contains("dns64 of unbound-dns64: names of 0.0.0.0/0, 2 repetitions"),
        "{plan}"
    );
    assert!(
        plan.contains("between 50 and 400 queries/s") && !plan.contains("frames"),
        "{plan}"
    );
}

/// Returns the trials of a run as they would be on a machine that has time to spare, as that of this test may not: valid, and with an idle core of the
/// device.
fn with_time_to_spare(results: &str) -> Vec<TrialRecord> {
    let idle = CpuSample {
        idle: 1000,
        ..CpuSample::default()
    };
    let core = CoreWatch {
        core: 1,
        role: CoreRole::Dut,
        samples: vec![idle; 24],
    };
    let watch = Watch {
        interval_ns: 100_000_000,
        cores: vec![core],
        ..Watch::default()
    };
    let of_json = |record| serde_json::from_value(record).expect("a record");
    let mut trials: Vec<TrialRecord> = records(results).into_iter().map(of_json).collect();
    for trial in &mut trials {
        trial.result.faults.clear();
        trial.watch = Some(watch.clone().into());
    }
    trials
}

/// Unbound as an authoritative server that answers 200 queries in each second and discards the others.
const LIMITED: &str = r#"name = "limited"
base = "nsd-authority"
title = "Unbound with a limit"
needs = [{ program = "unbound", package = "unbound" }, { program = "dig", package = "bind9-dnsutils" }]
setup = [{ run = "sh {dir}/copy" }]
daemon = { run = "{dir}/unbound -d -c {dir}/unbound.conf" }
version = { run = "dpkg-query -W unbound" }
[[file]]
path = "copy"
content = """
cp "$(command -v unbound)" {dir}/unbound
"""
[[file]]
path = "unbound.conf"
content = """
server:
    directory: "{dir}"
    chroot: ""
    username: ""
    pidfile: ""
    use-syslog: no
    logfile: ""
    do-daemonize: no
    num-threads: 1
    interface: {listen}@{port}
    access-control: ::/0 allow
    module-config: "iterator"
    local-zone: "test." nodefault
    ip-ratelimit: 200
    ip-ratelimit-factor: 0
auth-zone:
    name: "{domain}"
    zonefile: "{zone}"
    for-downstream: yes
    for-upstream: no
remote-control:
    control-enable: no
"""
"#;

#[test]
fn a_rate_limit_of_a_server_is_told_as_what_its_losses_are_consistent_with() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("limited"));
    scratch.write("recipes/limited.toml", LIMITED);
    let plan = scratch.write("plan.toml", DNS_LIMITED);
    let results = scratch.path("results");
    assert_ran(&output(&["run", &plan, "-o", &results, "--trust-recipes"]));
    let records = with_time_to_spare(&results);
    let found = explain(&records.iter().collect::<Vec<_>>(), LossRatio::ZERO);
    let found = found.expect("a limit");
    assert_eq!(found.cause, Cause::QueryRateLimit, "{}", found.evidence);
    assert!(
        found.evidence.contains("queries in each second"),
        "{}",
        found.evidence
    );
}
