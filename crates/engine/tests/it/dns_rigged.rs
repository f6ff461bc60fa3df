//! The DNS tester with rigged servers on loopback: every fault of a server must be counted, exactly, under its own name.

use crate::common::dns::*;
use crate::common::dns64::{Dns64, Knows, Reply, Rig, at_record, each, error, honest, record};
use sixbench_engine::dns::DnsSettings;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::dns::Answers;
use sixbench_method::trial::{TrialResult, Verdict};
use std::sync::atomic::Ordering;
use std::time::Duration;

const TENTH: u64 = QUERIES / 10;

/// Returns the counts if all answers except every tenth are right.
fn but_for_a_tenth() -> Answers {
    Answers {
        sent: QUERIES,
        right: QUERIES - TENTH,
        ..Answers::default()
    }
}

fn set_rcode(rcode: u8) -> Answers {
    every_tenth(move |answer| {
        *answer = error(std::mem::take(answer), rcode);
    })
}

#[test]
fn an_honest_server_answers_every_query_rightly() {
    let result = queries(honest);
    assert_eq!(
        counted(&result).answers,
        Answers {
            sent: QUERIES,
            right: QUERIES,
            ..Answers::default()
        }
    );
}

#[test]
fn another_prefix_is_a_wrong_address_told_in_one_line() {
    let rig = || {
        each(|_, mut right| {
            let at = at_record(&right) + 12;
            right[at + 1] = 0x65;
            vec![right]
        })
    };
    let result = queries(rig);
    assert_eq!(
        counted(&result).answers,
        Answers {
            sent: QUERIES,
            wrong_address: QUERIES,
            ..Answers::default()
        }
    );
    assert_eq!(result.directions[0].mistranslated, QUERIES);
    // The probe has used the first name.
    let expected = "010-000-000-001.dns64perf.test: expected AAAA 64:ff9b::a00:1, got \
                    010-000-000-001.dns64perf.test: NOERROR, AAAA 65:ff9b::a00:1 TTL 60";
    assert_eq!(result.directions[0].examples[0], expected);
    assert_eq!(
        result.directions[0].examples.len(),
        5,
        "the first few are kept"
    );
}

#[test]
fn one_wrong_bit_of_the_address_in_every_tenth_answer_is_seen() {
    let answers = every_tenth(|answer| *answer.last_mut().expect("octets") ^= 1);
    assert_eq!(
        answers,
        Answers {
            wrong_address: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn two_records_are_one_too_many() {
    let answers = every_tenth(|answer| {
        answer[7] = 2;
        answer.extend(record(60, "64:ff9b::1".parse().expect("an address")));
    });
    assert_eq!(
        answers,
        Answers {
            wrong_address: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn a_time_to_live_above_the_authoritys_is_wrong() {
    let answers = every_tenth(|answer| {
        let at = at_record(answer) + 6;
        answer[at..at + 4].copy_from_slice(&61u32.to_be_bytes());
    });
    assert_eq!(
        answers,
        Answers {
            wrong_ttl: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn an_answer_without_recursion_available_has_a_wrong_form() {
    assert_eq!(
        every_tenth(|answer| answer[3] &= 0x7f),
        Answers {
            wrong_form: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn response_codes_are_told_apart() {
    assert_eq!(
        set_rcode(2),
        Answers {
            servfail: TENTH,
            ..but_for_a_tenth()
        }
    );
    assert_eq!(
        set_rcode(3),
        Answers {
            nxdomain: TENTH,
            ..but_for_a_tenth()
        }
    );
    assert_eq!(
        set_rcode(5),
        Answers {
            refused: TENTH,
            ..but_for_a_tenth()
        }
    );
    assert_eq!(
        set_rcode(4),
        Answers {
            other_rcode: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn an_answer_without_a_record_is_empty() {
    assert_eq!(
        set_rcode(0),
        Answers {
            empty: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn a_record_of_another_name_is_none_of_this_one() {
    // The owner of the record is the domain.
    let answers = every_tenth(|answer| {
        let at = at_record(answer) + 1;
        answer[at] += 16;
    });
    assert_eq!(
        answers,
        Answers {
            empty: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn truncated_answers_are_counted_as_such() {
    assert_eq!(
        every_tenth(|answer| answer[2] |= 2),
        Answers {
            truncated: TENTH,
            ..but_for_a_tenth()
        }
    );
}

#[test]
fn loops_of_compression_and_counts_that_lie_are_malformed() {
    let malformed = Answers {
        malformed: TENTH,
        ..but_for_a_tenth()
    };
    let to_itself = every_tenth(|answer| {
        let at = at_record(answer);
        answer[at..at + 2].copy_from_slice(&(0xc000 | at as u16).to_be_bytes());
    });
    assert_eq!(to_itself, malformed);
    assert_eq!(every_tenth(|answer| answer[7] = 200), malformed);
    assert_eq!(every_tenth(|answer| answer[11] = 1), malformed);
    assert_eq!(every_tenth(|answer| answer.truncate(40)), malformed);
    assert_eq!(
        every_tenth(|answer| answer.truncate(answer.len() - 1)),
        malformed
    );
    assert_eq!(
        every_tenth(|answer| answer.push(0)),
        malformed,
        "longer than it says"
    );
}

/// Answers with another identifier, or that are too short for one, belong to no query.
#[test]
fn what_nobody_asked_for_answers_nothing() {
    let unasked = Answers {
        unanswered: TENTH,
        unasked: TENTH,
        ..but_for_a_tenth()
    };
    // Identifiers are far apart: the next one is not in use.
    assert_eq!(every_tenth(|answer| answer[1] ^= 1), unasked);
    assert_eq!(
        every_tenth(|answer| answer[2] &= 0x7f),
        unasked,
        "a query, sent back"
    );
    assert_eq!(every_tenth(|answer| answer.truncate(11)), unasked);
    assert_eq!(every_tenth(Vec::clear), unasked);
}

#[test]
fn the_answer_to_another_question_answers_nothing() {
    let mismatched = Answers {
        unanswered: TENTH,
        mismatched: TENTH,
        ..but_for_a_tenth()
    };
    assert_eq!(every_tenth(|answer| answer[13] = b'9'), mismatched);
    let type_a = every_tenth(|answer| {
        let at = at_record(answer) - 3;
        answer[at] = 1;
    });
    assert_eq!(type_a, mismatched);
    assert_eq!(
        every_tenth(|answer| answer[5] = 2),
        mismatched,
        "two questions"
    );
    assert_eq!(every_tenth(|answer| answer[5] = 0), mismatched, "none");
}

#[test]
fn an_answer_from_another_port_does_not_count() {
    let rig = || -> Rig {
        Box::new(|number, right| {
            vec![Reply {
                is_from_elsewhere: number % 10 == 5,
                ..right.into()
            }]
        })
    };
    let result = queries(rig);
    assert_eq!(
        counted(&result).answers,
        Answers {
            unanswered: TENTH,
            ..but_for_a_tenth()
        }
    );
    assert_eq!(result.directions[0].foreign, 0);
}

#[test]
fn the_second_answer_is_a_duplicate_and_the_first_decides() {
    let rig = || {
        each(|number, right| {
            let mut wrong = right.clone();
            *wrong.last_mut().expect("octets") ^= 1;
            match number % 10 {
                // This leaves out the last queries, because messages after the last answer are awaited only for a moment.
                3 => vec![right.clone(), right],
                4 => vec![right, wrong],
                5 => vec![wrong, right],
                _ => vec![right],
            }
        })
    };
    let result = queries(rig);
    let expected = Answers {
        wrong_address: TENTH,
        duplicate: 3 * TENTH,
        ..but_for_a_tenth()
    };
    assert_eq!(counted(&result).answers, expected);
}

/// A flood may take the room in the socket from other answers. That is not a loss by the server: the trial is then invalid.
#[test]
fn a_hundred_thousand_answers_to_one_query_are_its_duplicates_and_take_no_other_away_unsaid() {
    const COPIES: u64 = 100_000;
    let rig = || {
        let flood = |number: u64, right: Vec<u8>| -> Vec<Reply> {
            let copies = if number == 0 { COPIES } else { 0 };
            let copy = |n| Reply {
                after: Duration::from_micros(5 * n),
                ..right.clone().into()
            };
            (0..=copies).map(copy).collect()
        };
        (Box::new(flood) as Rig, u64::MAX)
    };
    // The flood is sent first, so the other answers wait until it is over.
    let settings = DnsSettings {
        timeout_ns: 30_000 * MS,
        window_ns: 30_000 * MS,
        ..settings()
    };
    let result = trial(&settings, &[], &spec(200, 1500), rig);
    let (answers, overruns) = (
        counted(&result).answers,
        result.directions[0].receiving.overruns,
    );
    assert!(
        answers.duplicate > COPIES / 10 && answers.duplicate <= COPIES,
        "{answers:?}"
    );
    if overruns == 0 {
        assert_eq!(
            answers,
            Answers {
                sent: 300,
                right: 300,
                duplicate: COPIES,
                ..Answers::default()
            }
        );
    } else if answers.right < answers.sent {
        assert_eq!(
            result.verdict(LossRatio::ZERO),
            Verdict::Invalid,
            "{result:?}"
        );
    }
}

#[test]
fn answers_to_nobody_take_nothing_away() {
    let rig = || {
        each(|_, right| {
            let mut foreign = right.clone();
            foreign[1] ^= 1;
            vec![foreign, right]
        })
    };
    let result = queries(rig);
    assert_eq!(
        counted(&result).answers,
        Answers {
            sent: QUERIES,
            right: QUERIES,
            unasked: QUERIES,
            ..Answers::default()
        }
    );
    assert_eq!(result.directions[0].foreign, QUERIES);
}

fn late(settings: &DnsSettings, late: u64, after: Duration) -> TrialResult {
    trial(settings, &[], &spec(200, 1500), || {
        let rig = move |number, right: Vec<u8>| {
            let after = if number < late { after } else { Duration::ZERO };
            vec![Reply {
                after,
                ..right.into()
            }]
        };
        (Box::new(rig), u64::MAX)
    })
}

const MS: u64 = 1_000_000;

#[test]
fn answers_after_the_timeout_are_late() {
    let settings = DnsSettings {
        timeout_ns: 400 * MS,
        window_ns: 3000 * MS,
        ..settings()
    };
    let result = late(&settings, 20, Duration::from_millis(800));
    assert_eq!(
        counted(&result).answers,
        Answers {
            sent: 300,
            right: 280,
            late: 20,
            ..Answers::default()
        }
    );
    let direction = &result.directions[0];
    assert_eq!((direction.received, direction.late), (280, 20));
    assert_eq!(
        direction
            .delays
            .iter()
            .map(|bucket| bucket.frames)
            .sum::<u64>(),
        300
    );
}

#[test]
fn answers_that_are_waited_for_no_longer_are_not_asked_for() {
    let settings = DnsSettings {
        timeout_ns: 400 * MS,
        window_ns: 400 * MS,
        ..settings()
    };
    let result = late(&settings, 20, Duration::from_millis(900));
    let expected = Answers {
        sent: 300,
        right: 280,
        unanswered: 20,
        unasked: 20,
        ..Answers::default()
    };
    assert_eq!(counted(&result).answers, expected);
}

#[test]
fn silence_for_every_tenth_query_is_seen_and_placed_in_time() {
    let rig = || {
        each(|number, right| {
            if number % 10 == 5 {
                vec![]
            } else {
                vec![right]
            }
        })
    };
    let result = queries(rig);
    assert_eq!(
        counted(&result).answers,
        Answers {
            unanswered: TENTH,
            ..but_for_a_tenth()
        }
    );
    let direction = &result.directions[0];
    assert_eq!(direction.lost_by_bin, [TENTH / 2, TENTH / 2]);
    assert_eq!(direction.last_missing_ns, Some(195 * MS));
    let judged = TrialResult {
        faults: vec![],
        ..result
    };
    assert_eq!(judged.verdict(LossRatio::ZERO), Verdict::Lost);
}

#[test]
fn a_server_that_dies_in_the_middle_is_told_by_the_network() {
    let result = trial(&settings(), &[], &spec(QUERIES * 5, 200), || {
        (honest(), 100)
    });
    let answers = counted(&result).answers;
    assert_eq!((answers.right, answers.unanswered), (100, QUERIES - 100));
    assert_eq!(
        (answers.port_unreachable, answers.host_unreachable),
        (answers.unreachable, 0)
    );
    assert!(
        answers.unreachable > 0 && result.directions[0].icmp == answers.unreachable,
        "{answers:?}"
    );
}

#[test]
fn a_single_query_is_a_trial() {
    let result = trial(&settings(), &[0, 1], &spec(1, 1000), || {
        (honest(), u64::MAX)
    });
    assert_eq!(
        counted(&result).answers,
        Answers {
            sent: 1,
            right: 1,
            ..Answers::default()
        }
    );
}

/// Returns a rig with each fault in one of ten answers.
fn mixed() -> Rig {
    each(|number, mut right| match number % 10 {
        1 => {
            right[3] |= 2;
            vec![right]
        }
        2 => vec![],
        3 => {
            *right.last_mut().expect("octets") ^= 1;
            vec![right]
        }
        4 => {
            right[2] |= 2;
            vec![right]
        }
        _ => vec![right],
    })
}

fn of_mixed() -> Answers {
    let (sent, right, each) = (QUERIES, QUERIES * 6 / 10, TENTH);
    Answers {
        sent,
        right,
        servfail: each,
        unanswered: each,
        wrong_address: each,
        truncated: each,
        ..Answers::default()
    }
}

#[test]
fn two_threads_count_what_one_does() {
    for cores in [&[][..], &[0], &[0, 1]] {
        let result = trial(&settings(), cores, &spec(QUERIES * 5, 200), || {
            (mixed(), u64::MAX)
        });
        assert_eq!(counted(&result).answers, of_mixed(), "{cores:?}");
    }
}

#[test]
fn the_record_of_every_query_says_what_the_counts_say() {
    let path = std::env::temp_dir().join(format!("sixbench-rigged-{}.csv", std::process::id()));
    let settings = DnsSettings {
        records: Some(path.clone()),
        ..settings()
    };
    let result = trial(&settings, &[0, 1], &spec(QUERIES * 5, 200), || {
        (mixed(), u64::MAX)
    });
    assert_eq!(counted(&result).answers, of_mixed());
    let text = std::fs::read_to_string(&path).expect("records");
    std::fs::remove_file(&path).expect("removed");
    let mut lines: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    lines.sort_by_key(|line| line[0].parse::<u64>().expect("a number"));
    let numbers: Vec<String> = (0..QUERIES).map(|number| number.to_string()).collect();
    assert!(
        lines
            .iter()
            .map(|line| line[0])
            .eq(numbers.iter().map(String::as_str)),
        "each query has a line, and one only"
    );
    let of = |verdict| lines.iter().filter(|line| line[5] == verdict).count() as u64;
    let verdicts = [
        "right",
        "servfail",
        "unanswered",
        "wrong-address",
        "truncated",
    ]
    .map(of);
    assert_eq!(verdicts, [QUERIES * 6 / 10, TENTH, TENTH, TENTH, TENTH]);
    // Names are used in turn; the probe has used the first.
    let names: Vec<String> = (0..QUERIES)
        .map(|number| format!("10.0.0.{}", number + 1))
        .collect();
    assert!(
        lines
            .iter()
            .map(|line| line[1])
            .eq(names.iter().map(String::as_str))
    );
}

#[test]
fn answers_of_the_trial_before_are_none_of_this_one() {
    let mut before = Vec::new();
    let rig = each(move |number, right| {
        if number < QUERIES {
            before.push(right);
            return vec![];
        }
        // As if the kernel had chosen the same port again.
        let stale = before.pop();
        stale.into_iter().chain([right]).collect()
    });
    let server = Dns64::start(Knows::All, rig, u64::MAX);
    let mut tester = tester(
        server.address,
        None,
        DnsSettings {
            window_ns: 0,
            timeout_ns: 500 * MS,
            ..settings()
        },
        &[],
    );
    alone(|| tester.probe(Duration::from_secs(5))).expect("an answer");
    server.is_rigged.store(true, Ordering::Relaxed);
    let spec = spec(QUERIES * 5, 200);
    let first = counted(&measure(&mut tester, &spec)).answers;
    let second = counted(&measure(&mut tester, &spec)).answers;
    assert_eq!(
        (first.right, second.right, first.unanswered),
        (0, second.sent, first.sent)
    );
    assert_eq!(second.unasked + second.mismatched, first.sent);
}

#[test]
fn a_server_that_refuses_is_not_flooded_by_the_probe() {
    let server = Dns64::start(Knows::All, each(|_, right| vec![error(right, 5)]), u64::MAX);
    server.is_rigged.store(true, Ordering::Relaxed);
    let mut tester = tester(server.address, None, settings(), &[]);
    let said = alone(|| tester.probe(Duration::from_millis(500)))
        .expect_err("it refuses")
        .to_string();
    assert!(said.contains("refuses recursion for this client"), "{said}");
    // Each name is asked for three times, at twenty names per second.
    let asked = server.asked.load(Ordering::Relaxed);
    assert!((3..=36).contains(&asked), "{asked}");
}

/// More than this machine can send or the server can answer: everything is accounted for, and the trial does not pass.
#[test]
fn a_rate_beyond_everything_is_no_result() {
    let server = Dns64::start(Knows::All, honest(), u64::MAX);
    let settings = DnsSettings {
        names: "10.0.0.0/8".parse().expect("names"),
        ..settings()
    };
    let mut tester = tester(server.address, None, settings, &[]);
    let result = measure(&mut tester, &spec(20_000_000, 5));
    let answers = counted(&result).answers;
    assert_eq!(result.directions[0].intended, 100_000);
    assert!(answers.sent > 0);
    assert_ne!(result.verdict(LossRatio::ZERO), Verdict::Passed);
}

/// Returns pseudorandom numbers that are the same each time (xorshift).
fn random(mut state: u64) -> impl FnMut() -> u64 + Clone + Send {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Fuzzing: answers with octets changed, truncated and appended, and messages that are just noise.
#[test]
fn no_noise_from_a_server_disturbs_the_count() {
    for seed in 1..=8u64 {
        let rig = || {
            let mut next = random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            each(move |_, right| {
                let noise = (0..next() % 100).map(|_| next() as u8).collect();
                let mut changed = right.clone();
                for _ in 0..next() % 4 {
                    let at = next() as usize % changed.len();
                    changed[at] = next() as u8;
                }
                if next().is_multiple_of(4) {
                    changed.truncate(next() as usize % 90);
                }
                vec![noise, changed, right]
            })
        };
        let result = queries(rig);
        let answers = counted(&result).answers;
        // The right answer arrives at the end.
        assert_eq!(
            (answers.sent, answers.unanswered),
            (QUERIES, 0),
            "{answers:?}"
        );
        let beside = answers.duplicate + answers.mismatched + answers.unasked;
        assert!(
            (answers.settled() + beside).abs_diff(3 * QUERIES) <= 2,
            "{answers:?}"
        );
    }
}
