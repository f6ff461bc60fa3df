//! The views of a run of DNS servers (RFC 8219 section 9).

use crate::formats::{csv, figures, html, json, latex, markdown, terminal};
use crate::sample::Sample;
use sixbench_method::plan::{QueryFile, QueryTransport};
use sixbench_method::record::{LossCounter, LossSource, Watch};
use sixbench_method::search::Limit;
use sixbench_method::terms::{FrameRate, LossRatio};
use sixbench_method::trial::dns::{TcpCounts, TlsCounts};
use sixbench_method::trial::{DelayBounds, TrialOutcome};

#[test]
fn the_views_of_dns_servers() {
    let sample = Sample::of_dns_servers();
    sample.keep("dns");
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    insta::assert_snapshot!("terminal", terminal(&sample.input(), 100, false));
    insta::assert_snapshot!("csv", csv(&sample.input()));
    let few = sample.only(&["unbound.aaaa0.cached0", "nsd"]);
    insta::assert_snapshot!("json", json(&few.input()));
    insta::assert_snapshot!("terminal-narrow", terminal(&few.input(), 50, false));
}

fn page(sample: &Sample) -> String {
    html(&sample.input()).expect("a page")
}

fn figure(sample: &Sample, name: &str) -> Option<String> {
    figures(&sample.input())
        .into_iter()
        .find(|(file, _)| *file == format!("{name}.svg"))
        .map(|(_, svg)| svg)
}

#[test]
fn a_round_trip_time_that_may_be_too_long_by_a_tenth_has_its_sign() {
    let mut sample = Sample::of_dns_servers();
    let round_trips = |sample: &Sample| {
        let text = markdown(&sample.input()).replace('\u{a0}', " ");
        let rows: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("| BIND") && line.contains(" 1."))
            .map(str::to_owned)
            .collect();
        rows.iter()
            .map(|row| row.matches("≤ ").count())
            .max()
            .expect("rows of round trips")
    };
    assert_eq!(round_trips(&sample), 0);
    for result in sample.records.iter_mut().map(|record| &mut record.result) {
        if let TrialOutcome::Queries(Some(dns)) = &mut result.outcome {
            dns.rtt.bounds_ns = Some(dns.rtt.sum_ns / 5);
        }
        let delays = result
            .directions
            .iter_mut()
            .filter_map(|direction| direction.delay.as_mut());
        delays.for_each(|delay| {
            delay.bounds = Some(DelayBounds {
                p999_ns: delay.p999_ns / 2,
                ..DelayBounds::default()
            });
        });
    }
    // The average and the 99.9th percentile; the deviation has no bound, and that of the median is zero.
    assert_eq!(round_trips(&sample), 2);
    let text = markdown(&sample.input());
    assert!(
        text.contains("≤: the true value may be lower, because the tester saw"),
        "{text}"
    );
    let trial = sample
        .records
        .iter()
        .find(|record| record.result.directions.iter().any(|d| d.delay.is_some()))
        .expect("a trial");
    let words = sixbench_report::trial_words::queries(&trial.result).replace('\u{a0}', " ");
    assert_eq!(words.matches("≤ ").count(), 2, "{words}");
}

#[test]
fn a_server_whose_port_is_closed_is_told_by_its_address_on_the_page_and_in_the_terminal() {
    let mut sample = Sample::of_dns_servers();
    for result in sample.records.iter_mut().map(|record| &mut record.result) {
        if let TrialOutcome::Queries(Some(dns)) = &mut result.outcome {
            dns.server = "[2001:db8::1]:53".to_owned();
            (dns.answers.unreachable, dns.answers.port_unreachable) = (8, 8);
        }
    }
    let result = &sample.records[0].result;
    let page = markdown(&sample.input()).replace('\u{a0}', " ");
    let line = sixbench_report::event_words::trial(result, result.verdict(LossRatio::ZERO));
    for text in [
        page.clone(),
        line,
        sixbench_report::trial_words::queries(result),
    ] {
        assert!(text.contains("at least 8 of "), "{text}");
        assert!(
            text.contains("met ICMP port unreachable: nothing listens at 2001:db8::1 port 53"),
            "{text}"
        );
    }
    assert!(
        page.contains(" network errors, ") && page.contains(" of the queries offered, in "),
        "{page}"
    );
}

#[test]
fn queries_of_a_file_over_tcp_have_their_codes_and_connections_in_every_format() {
    let mut sample = Sample::of_dns_servers();
    for test in &mut sample.plan.tests {
        let dns = test.measure.dns_mut().expect("queries");
        dns.transport = QueryTransport::Tcp;
        dns.queries = QueryFile::read("log.txt", "a.test A\nb.test AAAA\n").ok();
    }
    for result in sample.records.iter_mut().map(|record| &mut record.result) {
        if let TrialOutcome::Queries(Some(dns)) = &mut result.outcome {
            dns.rcodes = [("NOERROR".to_owned(), 1200), ("NXDOMAIN".to_owned(), 34)].into();
            dns.not_looked_up = 5;
            dns.tcp = Some(TcpCounts {
                connections: 10,
                opened: 12,
                closed: 2,
                interrupted: 7,
                held_back: 8,
                ..TcpCounts::default()
            });
        }
    }
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    for told in [
        "Response codes of the queries of files",
        "NOERROR 1,200, NXDOMAIN 34",
        "2 queries of log.txt (digest ",
        "Connections of queries over TCP",
        "queries of a file, over TCP",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let result = &sample.records[0].result;
    let words = sixbench_report::trial_words::queries(result);
    for told in [
        "  response codes NOERROR 1200, NXDOMAIN 34\n",
        "  not looked up  5 names: ",
        "  TCP            10 connections: opened 12, refused 0, closed by the server 2, queries interrupted 7, queries held back 8, misframed 0\n",
    ] {
        assert!(words.contains(told), "{told}: {words}");
    }
}

#[test]
fn sessions_of_queries_over_tls_are_told_by_version_and_cipher_suite() {
    let mut sample = Sample::of_dns_servers();
    for test in &mut sample.plan.tests {
        test.measure.dns_mut().expect("queries").transport = QueryTransport::Tls;
    }
    for result in sample.records.iter_mut().map(|record| &mut record.result) {
        if let TrialOutcome::Queries(Some(dns)) = &mut result.outcome {
            let suite = "TLS 1.3 TLS_AES_256_GCM_SHA384".to_owned();
            let tls = TlsCounts {
                suites: [(suite, 12)].into(),
                resumed: 2,
                handshakes_failed: 1,
                first_error: Some("unexpected end".to_owned()),
                ..TlsCounts::default()
            };
            dns.tcp = Some(TcpCounts {
                connections: 10,
                opened: 12,
                tls: Some(tls),
                ..TcpCounts::default()
            });
        }
    }
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    for told in [
        ", over TLS",
        "TLS sessions of queries",
        "TLS 1.3 TLS_AES_256_GCM_SHA384: 12",
        "unexpected end",
    ] {
        assert!(text.replace("\\_", "_").contains(told), "{told}: {text}");
    }
    let words = sixbench_report::trial_words::queries(&sample.records[0].result);
    let told = "  TLS            TLS 1.3 TLS_AES_256_GCM_SHA384: 12; resumed 2, handshakes failed 1, broken 0; certificate not verified\n  \
                first error    unexpected end\n";
    assert!(words.contains(told), "{words}");
}

#[test]
fn each_part_of_a_dns_run_is_on_the_page_once() {
    let page = page(&Sample::of_dns_servers());
    for id in ["dns", "dns-trials", "evidence", "faults"] {
        assert_eq!(
            page.matches(&format!("<section id=\"{id}\">")).count(),
            1,
            "{id}"
        );
    }
    for id in [
        "dns",
        "dns-servers",
        "search",
        "repetitions",
        "delay",
        "timeout",
        "loss",
        "headroom",
        "processor",
    ] {
        assert_eq!(
            page.matches(&format!("<figure id=\"figure-{id}\">"))
                .count(),
            1,
            "{id}"
        );
    }
    assert!(!page.contains("NaN") && !page.contains("<tbody>\n</tbody>"));
}

#[test]
fn a_run_of_dns_servers_speaks_of_queries_and_of_no_frames_sizes_or_directions() {
    let sample = Sample::of_dns_servers();
    for text in [
        markdown(&sample.input()),
        terminal(&sample.input(), 100, false),
    ] {
        assert!(
            text.contains("queries/s") && !text.contains("frames/s"),
            "{text}"
        );
        assert!(
            !text.contains("bytes")
                && !text.contains("forward only")
                && !text.contains("per direction"),
            "{text}"
        );
    }
    for (name, svg) in figures(&sample.input()) {
        assert!(!svg.contains("frames") && !svg.contains("bytes"), "{name}");
    }
    assert!(
        csv(&sample.input())
            .lines()
            .skip(1)
            .all(|line| line.contains(",queries/s,"))
    );
}

#[test]
fn servers_are_ranked_under_the_same_conditions_the_required_one_first() {
    let text = markdown(&Sample::of_dns_servers().input());
    let first = text
        .lines()
        .find(|line| line.starts_with("- "))
        .expect("a verdict");
    assert!(
        first.contains("Unbound answered 9.")
            && first.contains("DNS64 queries/s, all of them correctly and within 1\u{a0}s")
            && first.ends_with("(nothing cached, no AAAA records)."),
        "{first}"
    );
    assert!(
        text.contains("- BIND reached 84\u{a0}% of that: 7."),
        "{text}"
    );
    assert!(
        text.contains("- With nothing cached, AAAA records for 40\u{a0}% of the names: Unbound"),
        "{text}"
    );
    assert!(
        text.contains("- Unbound: with 100\u{a0}% of the names cached"),
        "{text}"
    );
    let unranked = text
        .lines()
        .filter(|line| line.contains("NSD reached") || line.contains("Unbound reached"));
    assert_eq!(
        unranked.count(),
        0,
        "an authoritative server is compared with its like only"
    );
}

/// Sets an accepted loss for tests of DNS servers.
fn accept_loss(sample: &mut Sample, duts: &[&str], goal: f64) {
    let tests = sample
        .plan
        .tests
        .iter_mut()
        .filter(|test| duts.contains(&test.dut.as_str()));
    tests.for_each(|test| test.own_goals = Some(vec![LossRatio(goal)]));
    let tests: Vec<&str> = sample
        .plan
        .tests
        .iter()
        .filter(|test| test.own_goals.is_some())
        .map(|test| &*test.name)
        .collect();
    let outcomes = sample
        .outcomes
        .iter_mut()
        .filter(|outcome| tests.contains(&outcome.point.test.as_str()));
    outcomes
        .flat_map(|outcome| &mut outcome.brackets)
        .for_each(|bracket| bracket.goal = LossRatio(goal));
}

#[test]
fn a_server_that_may_leave_queries_unanswered_is_told_with_how_many_beside_one_that_may_not() {
    let mut sample =
        Sample::of_dns_servers().only(&["unbound.aaaa0.cached0", "bind.aaaa0.cached0"]);
    accept_loss(&mut sample, &["bind"], 0.0001);
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    for words in [
        "DNS64 queries/s, all of them correctly and within 1 s (nothing cached",
        "DNS64 queries/s, all but at most 0.01 % of them correctly and within 1 s (nothing cached",
        "no more queries than the first loss goal of the test allows were without a correct answer within the timeout",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        !text.contains("% of that"),
        "rates at different losses are not compared: {text}"
    );
    accept_loss(&mut sample, &["unbound"], 0.0001);
    let text = markdown(&sample.input());
    assert!(
        text.contains("cached reached 84\u{a0}% of that"),
        "of the same loss they are: {text}"
    );
}

#[test]
fn a_server_that_reached_no_rate_is_not_told_to_owe_every_answer_where_some_may_be_missing() {
    let mut sample = Sample::of_dns_servers().only(&["nsd"]);
    sample
        .outcomes
        .iter_mut()
        .flat_map(|outcome| &mut outcome.brackets)
        .for_each(|bracket| {
            (bracket.lower, bracket.upper, bracket.limit) =
                (None, Some(FrameRate(1_000)), Limit::Dut);
        });
    assert!(
        markdown(&sample.input())
            .contains("NSD did not answer every query even at the lowest rate")
    );
    accept_loss(&mut sample, &["nsd"], 0.01);
    let text = markdown(&sample.input());
    assert!(
        text.contains(
            "NSD left more queries without a correct answer than its loss goal allows even at"
        ),
        "{text}"
    );
}

#[test]
fn a_server_faster_than_the_self_test_allows_is_at_least_that_fast() {
    let sample = Sample::of_dns_servers().only(&["nsd"]);
    let text = markdown(&sample.input());
    assert!(
        text.contains("NSD answered at least 5") || text.contains("NSD answered at least 60"),
        "{text}"
    );
    assert!(
        text.contains("limited by the tester: the device may be better"),
        "{text}"
    );
    assert!(
        text.contains("above the certified rate")
            || page(&sample).contains("above the certified rate")
    );
    assert!(text.contains("not part of RFC 8219"), "{text}");
}

#[test]
fn a_cache_that_forgets_is_not_laid_at_the_testers_door() {
    let sample = Sample::of_dns_servers().only(&["forgets"]);
    let text = markdown(&sample.input());
    assert!(
        text.contains(". The names were not cached as planned"),
        "{text}"
    );
    assert!(text.contains("names not as asked, no result 3×"), "{text}");
    assert!(json(&sample.input()).contains("\"hindered_by_names\": true"));
    assert!(
        page(&sample)
            .contains("invalid: the tester fell short, or names were not cached as intended")
    );
}

#[test]
fn the_grid_has_the_percentages_in_both_headings() {
    let text = latex(&Sample::of_dns_servers().input());
    assert!(
        text.contains("\\multicolumn{3}{c}{Names with AAAA}"),
        "{text}"
    );
    assert!(
        text.contains("Cached & 0~\\% & 40~\\% & 100~\\% \\\\"),
        "{text}"
    );
}

#[test]
fn an_excerpt_of_the_grid_names_the_fixed_percentage() {
    let sample = Sample::of_dns_servers().only(&[
        "bind.aaaa40.cached0",
        "bind.aaaa40.cached40",
        "bind.aaaa40.cached100",
    ]);
    let graph = figure(&sample, "dns").expect("a graph");
    assert!(
        graph.contains("40\u{a0}% with AAAA") && graph.contains("names cached (%)"),
        "{graph}"
    );
    assert!(
        figure(&sample, "dns-servers").is_none(),
        "there is no other server to compare with"
    );
    let text = markdown(&sample.input());
    assert!(text.contains("Names with AAAA: 40\u{a0}%"), "{text}");
}

#[test]
fn only_trials_with_errors_are_in_the_table_of_errors() {
    let text = markdown(&Sample::of_dns_servers().input());
    let errors = text
        .split("## Errors, and additional answers")
        .nth(1)
        .expect("the table");
    let rows: Vec<&str> = errors
        .split("\n\n")
        .nth(1)
        .expect("rows")
        .lines()
        .skip(2)
        .collect();
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row.contains("| failed |")),
        "{rows:?}"
    );
}

#[test]
fn a_rate_that_is_repeated_is_told_with_how_often_it_passed_and_how_idle_each_core_was() {
    let sample = Sample::of_repeated_queries(|_| true);
    sample.keep("repeated");
    insta::assert_snapshot!("repeated-markdown", markdown(&sample.input()));
    insta::assert_snapshot!("repeated-terminal", terminal(&sample.input(), 100, false));
    let (text, page) = (
        terminal(&sample.input(), 100, false).replace('\n', " "),
        page(&sample),
    );
    assert!(
        text.contains("Unbound, at the median rate, 1 core: repeated at "),
        "{text}"
    );
    assert!(
        text.contains("the median that unbound.cores1 found: 7 of 10 trials passed; idle time of Unbound: core 1 "),
        "{text}"
    );
    for wrong in [
        "highest rate of the plan",
        "at the median rate, 1 core answered",
        "at the median rate, 2 cores answered",
        "≥",
    ] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    for heading in [
        "Trials that passed when the rate that was found was repeated",
        "Repeated at the rate that was found",
    ] {
        assert_eq!(
            page.matches(&format!("{heading}</h")).count(),
            1,
            "{heading}"
        );
    }
    assert!(text.contains("4 of 4 points have a result"), "{text}");
}

#[test]
fn a_rate_that_a_test_found_itself_is_repeated_without_the_trials_of_its_search() {
    let text = markdown(&Sample::of_repeated_queries(|name| name == "again.cores1").input());
    assert!(
        text.contains("the rate that its own first repetition found: 6 of 9 trials passed"),
        "{text}"
    );
}

#[test]
fn percentages_of_aaaa_records_alone_are_the_axis() {
    let sample = Sample::of_dns_servers().only(&[
        "unbound.aaaa0.cached0",
        "unbound.aaaa40.cached0",
        "bind.aaaa0.cached0",
    ]);
    let graph = figure(&sample, "dns").expect("a graph");
    assert!(
        graph.contains("names with AAAA records (%)") && graph.contains("0\u{a0}% cached"),
        "{graph}"
    );
}

#[test]
fn a_run_of_frames_and_of_queries_keeps_them_apart() {
    let mut sample =
        Sample::of_dns_servers().only(&["unbound.aaaa0.cached0", "bind.aaaa0.cached0"]);
    let frames = Sample::complete();
    sample.plan.tests.extend(frames.plan.tests);
    sample.records.extend(frames.records);
    sample.outcomes.extend(frames.outcomes);
    let page = page(&sample);
    assert!(
        page.contains("failed (frames lost or queries unanswered)")
            && page.contains("forward, or queries")
    );
    assert!(page.contains("All frame rates are per direction."));
    let strip = figure(&sample, "repetitions").expect("a strip");
    assert!(
        strip.contains("84\u{a0}bytes") && strip.contains("DNS queries"),
        "{strip}"
    );
    let text = markdown(&sample.input());
    let headline = text
        .split("## ")
        .find(|part| part.starts_with("Throughput"))
        .expect("a table");
    assert!(!headline.contains("Unbound"), "{headline}");
    assert!(text.contains("DNS64 queries/s") && text.contains("frames/s per direction"));
}

#[test]
fn a_counter_of_the_servers_kernel_is_told_of_queries_and_with_their_rate() {
    let mut sample = Sample::of_dns_servers();
    for record in sample
        .records
        .iter_mut()
        .filter(|record| record.result.not_received() > 0)
    {
        let frames = record.result.not_received();
        let counter = LossCounter {
            device: None,
            source: LossSource::Ip,
            name: "Udp6RcvbufErrors".to_owned(),
            frames,
        };
        record.watch = Some(
            Watch {
                losses: vec![counter],
                ..Watch::default()
            }
            .into(),
        );
    }
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    let told: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("queries without a right answer"))
        .collect();
    assert!(
        !told.is_empty() && told.iter().all(|line| line.contains(" queries/s: of ")),
        "{told:?}"
    );
    assert!(!text.contains("missing frames"), "{text}");
}
