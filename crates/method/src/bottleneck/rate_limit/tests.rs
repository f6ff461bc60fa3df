//! What DNS servers with limits did, as counted in network namespaces in bins of 100 ms with queries from one client.

use crate::bottleneck::tests::{assert_cause, cores, explain_all, spare_cores, trial};
use crate::bottleneck::{Cause, TrialRecord};
use crate::record::{CpuSample, Watch};
use crate::trial::{DirectionDetails, TrialKind};

/// Returns a trial of queries at this rate of which so many were answered in each bin.
fn asked(rate: u64, answered: &[u64], watch: Option<Watch>) -> TrialRecord {
    let mut record = trial(rate, 0, watch);
    let spec = &mut record.result.spec;
    spec.kind = TrialKind::Queries;
    spec.duration_ns = 100_000_000 * answered.len() as u64;
    let sent = spec.frames();
    let lost: Vec<u64> = answered
        .iter()
        .map(|answered| (rate / 10).saturating_sub(*answered))
        .collect();
    let direction = &mut record.result.directions[0];
    (direction.intended, direction.offered) = (sent, sent);
    direction.received = sent - lost.iter().sum::<u64>();
    direction.change_details(|of| DirectionDetails {
        lost_by_bin: lost.clone(),
        ..of
    });
    record
}

/// Unbound 1.17.1 with `ip-ratelimit: 200` and `ip-ratelimit-factor: 0`.
fn unbound(watch: &dyn Fn() -> Option<Watch>) -> [TrialRecord; 3] {
    [
        asked(
            1_600,
            &[
                160, 40, 0, 0, 77, 123, 0, 0, 0, 0, 0, 0, 0, 0, 77, 123, 0, 0, 0, 0, 0, 0, 0, 0,
            ],
            watch(),
        ),
        asked(
            800,
            &[
                80, 43, 0, 80, 80, 40, 0, 0, 0, 0, 0, 0, 0, 79, 80, 41, 0, 0, 0, 0, 0, 0, 0, 79,
            ],
            watch(),
        ),
        asked(
            400,
            &[
                40, 21, 40, 40, 40, 40, 20, 0, 0, 0, 0, 20, 40, 40, 40, 40, 20, 0, 0, 0, 0, 20, 40,
                40,
            ],
            watch(),
        ),
    ]
}

#[test]
fn a_server_that_counts_by_the_second_is_consistent_with_a_limit() {
    let evidence = "consistent with a limit of about 200 queries in each second: in 3 losing trials at 400 to 1.6k queries/s, 180 to 220 passed in a row \
                    5 of 5 times, and 0 % of those after them; in the losing trials cores 1, 2, 3, 4 at 10 %";
    assert_cause(
        &unbound(&|| Some(spare_cores())),
        Cause::QueryRateLimit,
        evidence,
    );
}

/// The same with the default `ip-ratelimit-factor: 10`.
/// Just above the limit, 40 queries are missing at the end of the only second that lies within the trial as a whole.
#[test]
fn a_limit_is_found_although_the_lowest_losing_trial_looks_like_an_event() {
    let mut answered = [24; 24];
    (answered[14], answered[15]) = (8, 0);
    let lowest = asked(240, &answered, Some(spare_cores()));
    let alone = explain_all(std::slice::from_ref(&lowest)).map(|found| found.cause);
    assert_eq!(alone, Some(Cause::Event));
    let trials: Vec<TrialRecord> = unbound(&|| Some(spare_cores()))
        .into_iter()
        .chain([lowest])
        .collect();
    let found = explain_all(&trials).expect("a cause");
    assert_eq!(found.cause, Cause::QueryRateLimit, "{}", found.evidence);
}

#[test]
fn a_limit_beyond_which_one_query_in_ten_is_answered_is_found_as_well() {
    let trials = [
        asked(
            1_600,
            &[
                160, 71, 160, 32, 10, 19, 13, 19, 20, 19, 11, 41, 160, 29, 25, 19, 15, 18, 14, 12,
                19, 37, 160, 34, 20,
            ],
            Some(spare_cores()),
        ),
        asked(
            800,
            &[
                56, 80, 68, 13, 11, 10, 9, 11, 10, 11, 55, 80, 68, 5, 4, 7, 7, 6, 11, 7, 57, 80,
                69, 11, 5,
            ],
            Some(spare_cores()),
        ),
    ];
    let found = explain_all(&trials).expect("a cause");
    assert_eq!(found.cause, Cause::QueryRateLimit, "{}", found.evidence);
    let start = "consistent with a limit of about 195 queries in each second: in 2 losing trials at 800 to 1.6k queries/s, ";
    assert!(found.evidence.starts_with(start), "{}", found.evidence);
}

/// Counted on a machine that was busy with other work: of one second of the first trial, a part was answered in the next one.
#[test]
fn a_second_that_the_server_was_kept_from_does_not_hide_the_limit() {
    let [first, second, third] = unbound(&|| Some(spare_cores()));
    let late = [
        160, 146, 0, 0, 50, 0, 0, 0, 0, 0, 0, 0, 104, 96, 0, 0, 0, 0, 0, 0, 0, 0, 2, 160,
    ];
    let trials = [
        asked(1_600, &late, Some(spare_cores())),
        first,
        second,
        third,
    ];
    let found = explain_all(&trials).expect("a cause");
    assert_eq!(found.cause, Cause::QueryRateLimit, "{}", found.evidence);
    assert!(
        found.evidence.contains("passed in a row 6 of 7 times"),
        "{}",
        found.evidence
    );
    let late = [0, 1, 2].map(|_| asked(1_600, &late, Some(spare_cores())));
    let cause = explain_all(&late).map(|found| found.cause);
    assert_eq!(cause, Some(Cause::Waiting), "half of the seconds");
}

/// BIND 9.18.49 with `rate-limit { all-per-second 200; }`.
#[test]
fn a_server_that_counts_refused_queries_too_is_consistent_with_a_limit() {
    let of_rate =
        |rate, first: [u64; 2]| asked(rate, &[&first[..], &[0; 6]].concat(), Some(spare_cores()));
    let trials = [
        of_rate(1_600, [160, 40]),
        of_rate(800, [0, 0]),
        of_rate(400, [0, 0]),
    ];
    let evidence = "consistent with a rate limit that also counts refused queries: in 3 losing trials at 400 to 1.6k queries/s, at most the first 200 \
                    queries were answered rightly and none of those after them; in 2 of the trials none at all; in the losing trials cores 1, 2, 3, 4 at 10 %";
    assert_cause(&trials, Cause::QueryRateLimit, evidence);
    let silent = [1_600, 800, 400].map(|rate| of_rate(rate, [0, 0]));
    let cause = explain_all(&silent).map(|found| found.cause);
    assert_eq!(cause, Some(Cause::Waiting), "it answered nothing at all");
    let mut again = trials;
    again[1] = asked(800, &[80, 0, 0, 0, 0, 0, 80, 0], Some(spare_cores()));
    let cause = explain_all(&again).map(|found| found.cause);
    assert_eq!(cause, Some(Cause::Waiting), "it answered again");
}

/// A bucket of tokens, such as a rule of netfilter has.
#[test]
fn a_server_behind_a_bucket_of_tokens_answers_the_same_rate_at_any_load() {
    let trials = [8_000, 4_000, 2_000].map(|rate| asked(rate, &[100; 16], Some(spare_cores())));
    let evidence = "consistent with a rate limit at about 1.0k queries/s: as many were answered rightly in each of 3 losing trials at 2.0k to \
                    8.0k queries/s; in the losing trials cores 1, 2, 3, 4 at 10 %";
    assert_cause(&trials, Cause::QueryRateLimit, evidence);
}

#[test]
fn a_server_that_pauses_in_each_second_has_no_limit() {
    let paused = |rate: u64| {
        let second = [rate / 10; 5].into_iter().chain([0; 5]);
        let answered: Vec<u64> = second.cycle().take(24).collect();
        asked(rate, &answered, Some(spare_cores()))
    };
    let trials = [1_600, 800, 400].map(paused);
    let cause = explain_all(&trials).map(|found| found.cause);
    assert_eq!(cause, Some(Cause::Waiting), "more is answered at more load");
}

#[test]
fn nothing_is_said_of_a_limit_of_a_server_whose_cores_are_busy_or_not_known() {
    let busy = || {
        let full = |_| CpuSample {
            user: 1000,
            ..CpuSample::default()
        };
        Some(cores([full; 4]))
    };
    for watch in [&busy as &dyn Fn() -> Option<Watch>, &|| None] {
        let cause = explain_all(&unbound(watch)).map(|found| found.cause);
        assert_ne!(cause, Some(Cause::QueryRateLimit));
    }
    let one_load = unbound(&|| Some(spare_cores())).map(|mut record| {
        record.result.spec.rate.0 = 1_600;
        record
    });
    let cause = explain_all(&one_load).map(|found| found.cause);
    assert_eq!(cause, Some(Cause::Waiting), "loads too near");
}
