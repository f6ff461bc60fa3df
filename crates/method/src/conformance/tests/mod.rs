//! Plans with one deviation each, and the resulting clauses.

mod dns;
mod standards;

use super::*;
use crate::clause::RFC_9693;
use crate::clause::numbers::SECOND_NS;
use crate::plan::*;
use crate::repeat::Repetition;
use crate::search::{CapacityEstimate, Certainty, RepetitionStart, SearchMethod, SearchSettings};
use crate::terms::*;
use crate::trial::TrialSettings;
use std::num::NonZeroU32;

/// All sizes of RFC 8219 section 5.1.1, with 84 instead of 64.
const SIZES: [u16; 13] = [
    84, 128, 256, 512, 768, 1024, 1280, 1518, 1522, 2048, 4096, 8192, 9216,
];

/// The clauses of papers, which come after those of the RFCs.
const PAPER: &str = "Lencse and Répás 2013 section ";

fn test(name: &str, measure: Measure) -> Test {
    Test {
        measure,
        frame_sizes: SIZES.into_iter().map(FrameSize).collect(),
        repetitions: Repetition::Fixed(20),
        ..Test::new(name, "tayga")
    }
}

fn with_256_networks(test: Test) -> Test {
    let traffic = TrafficSettings {
        left_networks: 256,
        right_networks: 256,
        ..test.traffic
    };
    Test {
        name: format!("{}-networks", test.name),
        traffic,
        ..test
    }
}

/// Returns a plan with every setting as the RFCs require, on gigabit Ethernet.
fn plan(tests: Vec<Test>) -> Plan {
    Plan {
        name: "conformance".into(),
        profile: Profile::Rfc,
        seed: 42,
        trial: TrialSettings {
            duration_ns: 60 * SECOND_NS,
            residual_ns: 2 * SECOND_NS,
            rest_ns: 5 * SECOND_NS,
            frame_timeout_ns: 0,
            stall_ns: 1_000_000,
        },
        search: SearchSettings {
            method: SearchMethod::Binary,
            minimum: FrameRate(1_000),
            maximum: FrameRate(2_000_000),
            width: 0.005,
            goals: vec![LossRatio::ZERO],
            max_invalid: 4,
            start: RepetitionStart::Dithered,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        },
        patience_ns: Plan::USUAL_PATIENCE_NS,
        link_rate: Some(1_000_000_000),
        interleave: false,
        exports: Vec::new(),
        reference: None,
        tests,
    }
}

fn with_filters(test: &Test, filters: u32) -> Test {
    Test {
        name: format!("{}-filters{filters}", test.name),
        filters,
        ..test.clone()
    }
}

fn with_bursts(test: &Test, frames: u32) -> Test {
    let mut test = Test {
        name: format!("{}-burst{frames}", test.name),
        ..test.clone()
    };
    test.traffic.burst = NonZeroU32::new(frames).filter(|_| test.measure.has_held_load());
    test
}

/// Returns a plan with this measurement, first with one pair of addresses, then with 256 networks, under the conditions of RFC 2544 section 11, and with the
/// bursts of section 21.
fn plan_of(measure: Measure) -> Plan {
    let one = test(measure.name(), measure);
    let conditions = [1, 25].map(|filters| with_filters(&one, filters));
    let bursts = [16, 64, 256, 1024].map(|frames| with_bursts(&one, frames));
    let mut broadcast = Test {
        name: format!("{}-broadcast", one.name),
        ..one.clone()
    };
    if broadcast.measure.can_have_broadcasts() {
        broadcast.traffic.broadcast_every = Some(100);
    }
    let mut tests = vec![one.clone(), with_256_networks(one), broadcast];
    tests.extend(bursts);
    tests.extend(conditions);
    plan(tests)
}

fn latency() -> Latency {
    Latency {
        load: Load::OfThroughput(1.0),
        duration_ns: 120 * SECOND_NS,
        tag_after_ns: 60 * SECOND_NS,
        tagged: 50_000,
    }
}

fn pdv(seconds: u64) -> Measure {
    Measure::Pdv(PdvStream {
        load: Load::OfThroughput(1.0),
        duration_ns: seconds * SECOND_NS,
    })
}

fn ipdv(seconds: u64) -> Measure {
    Measure::Ipdv(IpdvStream {
        load: Load::OfThroughput(1.0),
        duration_ns: seconds * SECOND_NS,
    })
}

fn scan(percents: &[u64]) -> LossScan {
    LossScan {
        rates: percents
            .iter()
            .map(|percent| FrameRate(1_201_923 * percent / 100))
            .collect(),
        until_lossless: true,
    }
}

fn bursts() -> BackToBack {
    BackToBack {
        rate: FrameRate(2_000_000),
        longest_ns: 2 * SECOND_NS,
        step_frames: 16,
    }
}

fn overload() -> Recovery {
    Recovery {
        overload: 1.1,
        duration_ns: 60 * SECOND_NS,
        after_ns: 30 * SECOND_NS,
    }
}

fn restart() -> Reset {
    Reset {
        load: Load::OfThroughput(1.0),
        before_ns: 15 * SECOND_NS,
        after_ns: 15 * SECOND_NS,
    }
}

fn measures() -> Vec<Measure> {
    vec![
        Measure::Throughput,
        Measure::FrameLossRate(scan(&[100, 90, 80, 70, 60, 50, 40, 30, 20, 10])),
        Measure::Latency(latency()),
        pdv(60),
        ipdv(60),
        Measure::BackToBack(bursts()),
        Measure::Recovery(overload()),
        Measure::Reset(restart()),
    ]
}

/// Returns the measures of connections, which are defined by other RFCs.
fn of_connections() -> Vec<Measure> {
    let tcp = Tcp {
        object_octets: 64,
        time_limit_ns: SECOND_NS,
        close: Default::default(),
        server_ports: (80, 80),
    };
    let (start, most, error) = (1_000_000, 64_000_000, 10_000);
    vec![
        Measure::EstablishmentRate,
        Measure::TearDownRate,
        Measure::TableCapacity(Capacity {
            start,
            most,
            exponential_share: 0.1,
            binary_share: 0.5,
            error,
        }),
        Measure::TcpEstablishmentRate(tcp),
        Measure::TcpCapacity(TcpCapacity {
            tcp,
            start,
            most,
            error,
            rate: FrameRate(1_000),
        }),
    ]
}

fn every_measure() -> Vec<Measure> {
    let dns =
        [DnsRole::Dns64, DnsRole::Authority].map(|role| Measure::Dns(DnsTest::required(role)));
    let response = ResponseTime {
        rate_per_client: FrameRate(15_000),
        duration_ns: 60 * SECOND_NS,
        outstanding: None,
    };
    measures()
        .into_iter()
        .chain(of_connections())
        .chain(dns)
        .chain([Measure::ResponseTime(response)])
        .collect()
}

/// Returns the clauses that the first test does not fully meet: conformance, level, clause, actual behaviour.
fn departures(plan: &Plan) -> Vec<String> {
    let clauses = of_the_test(plan, &plan.tests[0]);
    departed(&clauses)
}

/// Returns the same as `departures` for the clauses of RFC 9693, judged as if its sections had been read.
fn departures_from_rfc_9693(plan: &Plan) -> Vec<String> {
    departed(&judged(plan, &plan.tests[0]))
        .into_iter()
        .filter(|told| told.contains(RFC_9693))
        .collect()
}

/// Returns the same without those from RFC 2544 section 11, which no test of the plan repeats under its conditions.
fn apart_from_conditions(plan: &Plan) -> Vec<String> {
    departures(plan)
        .into_iter()
        .filter(|told| {
            !told.contains("RFC 2544 section 11.") && !told.contains("RFC 2544 section 21:")
        })
        .collect()
}

fn departed(clauses: &[Clause]) -> Vec<String> {
    let departed = clauses
        .iter()
        .filter(|clause| clause.conformance != Conformance::Met);
    departed
        .map(|c| format!("{} {} {}: {}", c.conformance, c.level, c.clause, c.actual))
        .collect()
}

fn verdict(plan: &Plan) -> Compliance {
    compliance(&of_the_test(plan, &plan.tests[0]))
}

#[test]
fn a_fully_conformant_latency_test_is_unconditionally_compliant_apart_from_the_instrument() {
    let plan = plan_of(Measure::Latency(latency()));
    assert_eq!(departures(&plan), [""; 0]);
    assert_eq!(verdict(&plan), Compliance::Unconditional);
    let all = clauses(&plan, &plan.tests[0]);
    assert_eq!(
        all.len(),
        of_the_test(&plan, &plan.tests[0]).len() + of_the_instrument(&plan.tests[0]).len()
    );
    assert_eq!(
        compliance(&all),
        Compliance::No,
        "no routing update is sent: RFC 2544 section 13"
    );
}

#[test]
fn so_are_the_others_where_they_can_be() {
    for measure in measures() {
        let name = measure.name();
        let mut plan = plan_of(measure);
        plan.tests.push(test("rate", Measure::Throughput));
        plan.tests[0].repetitions = Repetition::Fixed(50);
        match name {
            // The same absolute rates are not 100 % of the medium at every size.
            "frame-loss-rate" => plan.tests[0].frame_sizes = vec![FrameSize(84)],
            "reset" => plan.tests[0].frame_sizes = vec![FrameSize(84)],
            _ => {}
        }
        match name {
            "frame-loss-rate" => assert_eq!(
                verdict(&plan),
                Compliance::Conditional,
                "{:?}",
                departures(&plan)
            ),
            _ => assert_eq!(
                verdict(&plan),
                Compliance::Unconditional,
                "{name}: {:?}",
                departures(&plan)
            ),
        }
    }
}

#[test]
fn ten_seconds_bend_what_should_be_longer_and_break_what_must() {
    let at = |measure: Measure| {
        let mut plan = plan_of(measure);
        plan.trial.duration_ns = 10 * SECOND_NS;
        departures(&plan)
    };
    assert_eq!(
        at(Measure::Throughput),
        ["bent SHOULD RFC 2544 section 24: 10 s"]
    );
    let short = Latency {
        duration_ns: 10 * SECOND_NS,
        tag_after_ns: 5 * SECOND_NS,
        ..latency()
    };
    assert_eq!(
        at(Measure::Latency(short)),
        [
            "bent SHOULD RFC 8219 section 7.2: 10 s",
            "bent SHOULD RFC 8219 section 7.2: 50000 tags after 5 s",
            "bent SHOULD RFC 2544 section 24: 10 s",
        ]
    );
    assert!(at(pdv(10)).contains(&"bent SHOULD RFC 8219 section 7.3.1: 10 s".to_owned()));
    let short = Recovery {
        duration_ns: 10 * SECOND_NS,
        ..overload()
    };
    assert!(
        at(Measure::Recovery(short))
            .contains(&"broken MUST RFC 2544 section 26.5: 10 s".to_owned())
    );
    let short = Reset {
        before_ns: 10 * SECOND_NS,
        ..restart()
    };
    assert!(
        at(Measure::Reset(short)).contains(&"broken MUST RFC 6201 section 4.2.2: 10 s".to_owned())
    );
}

#[test]
fn nineteen_repetitions_break_latency_and_pdv_but_not_throughput() {
    let with = |measure, repetitions| {
        let mut plan = plan_of(measure);
        plan.tests[0].repetitions = repetitions;
        departures(&plan)
    };
    let nineteen = Repetition::Fixed(19);
    assert_eq!(
        with(Measure::Latency(latency()), nineteen),
        ["broken MUST RFC 8219 section 7.2: 19 repetitions"]
    );
    assert_eq!(
        with(pdv(60), nineteen),
        ["broken MUST RFC 8219 section 7.3.1: 19 repetitions"]
    );
    assert_eq!(with(Measure::Throughput, nineteen), [""; 0]);
    assert_eq!(
        with(Measure::Throughput, Repetition::Fixed(1)),
        ["bent SHOULD RFC 8219 section 12: 1 repetition"]
    );
    let adaptive = with(ipdv(60), Repetition::ADAPTIVE);
    let until = "6 to 20 repetitions, until the median is known within 1 %";
    assert_eq!(
        adaptive,
        [format!("broken MUST RFC 8219 section 7.3.2: {until}")]
    );
}

#[test]
fn a_rate_with_loss_is_no_throughput() {
    let mut plan = plan_of(Measure::Throughput);
    plan.search.goals = vec![LossRatio(0.001)];
    let loss = "bent SHOULD RFC 9971 section 4.5.5: that of the direction which lost more, so that no load passes which RFC 9971 would not let pass";
    assert_eq!(
        departures(&plan),
        ["broken MUST RFC 2544 section 26.1: goal: 0.1 % of loss"]
    );
    plan.search.goals.push(LossRatio::ZERO);
    assert_eq!(
        departures(&plan),
        [loss],
        "the goal of zero loss is among them"
    );
    plan.search.goals = vec![LossRatio::ZERO];
    assert_eq!(departures(&plan), [""; 0]);
    plan.search.method = SearchMethod::Mlrsearch;
    plan.search.certainty = Some(Certainty {
        duration_sum_ns: 2 * plan.trial.duration_ns,
        exceed_ratio: 0.5,
    });
    let tolerant = departures(&plan);
    assert_eq!(tolerant.len(), 1, "{tolerant:?}");
    assert!(
        tolerant[0].starts_with("broken MUST RFC 2544 section 26.1: goal: 0 % of loss, which 50 %"),
        "{tolerant:?}"
    );
}

#[test]
fn delays_at_another_load_than_the_throughput_are_not_the_rfcs() {
    let mut plan = plan_of(Measure::Latency(Latency {
        load: Load::OfThroughput(0.9),
        ..latency()
    }));
    assert_eq!(
        departures(&plan),
        ["broken MUST RFC 8219 section 7.2: 90 % of it"]
    );
    plan.tests[0].measure = Measure::Latency(Latency {
        load: Load::Rate(FrameRate(1000)),
        ..latency()
    });
    let says = [
        "broken MUST RFC 8219 section 7.2: 1000 frames/s, as the plan says",
        "bent SHOULD RFC 8219 section 7.2: not determined",
    ];
    assert_eq!(departures(&plan), says);
}

#[test]
fn steps_of_twenty_per_cent_break_the_loss_scan() {
    let mut plan = plan_of(Measure::FrameLossRate(scan(&[100, 80, 60, 40, 20, 10])));
    plan.tests[0].frame_sizes = vec![FrameSize(84)];
    let broken: Vec<String> = departures(&plan)
        .into_iter()
        .filter(|line| line.starts_with("broken"))
        .collect();
    assert_eq!(
        broken,
        ["broken MUST RFC 2544 section 26.3: steps of at most 20.0 % of 1201923 frames/s"]
    );
}

#[test]
fn without_the_rate_of_the_medium_bursts_have_no_maximum_rate() {
    let mut plan = plan_of(Measure::BackToBack(bursts()));
    plan.tests[0].repetitions = Repetition::Fixed(50);
    plan.tests.push(test("rate", Measure::Throughput));
    plan.link_rate = None;
    assert_eq!(
        departures(&plan),
        [
            "broken MUST RFC 9004 section 5: the plan does not know the rate of the medium",
            "bent MUST RFC 9004 section 6.2: at 2000000 frames/s; whether the medium carries more is not known",
            "bent SHOULD RFC 9004 section 7: not without the rate of the medium",
        ]
    );
}

#[test]
fn bursts_without_a_throughput_of_the_same_traffic_are_broken() {
    let mut plan = plan_of(Measure::BackToBack(bursts()));
    plan.tests[0].repetitions = Repetition::Fixed(50);
    assert_eq!(
        departures(&plan),
        ["broken MUST RFC 9004 section 5: the plan measures no throughput of this device"]
    );
    plan.tests.push(Test {
        directions: Directions::Forward,
        ..test("rate", Measure::Throughput)
    });
    assert_eq!(
        departures(&plan),
        ["broken MUST RFC 9004 section 5: other directions or other traffic"]
    );
}

#[test]
fn one_direction_is_an_addition_to_both_and_no_substitute() {
    let forward = Test {
        directions: Directions::Forward,
        ..test("forward", Measure::Throughput)
    };
    let alone = plan(vec![forward.clone(), with_256_networks(forward.clone())]);
    assert_eq!(
        apart_from_conditions(&alone),
        ["bent SHOULD RFC 8219 section 5.3: forward only"]
    );
    let added = plan(vec![
        forward.clone(),
        with_256_networks(forward),
        test("both", Measure::Throughput),
    ]);
    assert_eq!(apart_from_conditions(&added), [""; 0]);
}

#[test]
fn n_flows_are_compared_with_one() {
    let with = |count: u32, step_ns| {
        let traffic = TrafficSettings {
            flows: Some(Flows { count, step_ns }),
            ..TrafficSettings::RFC_4814
        };
        let series = Some(Series {
            name: "flows".into(),
            by: SeriesBy::Flows,
            at: f64::from(count),
            device: None,
        });
        Test {
            traffic,
            series,
            ..test(&format!("flows-{count}"), Measure::Throughput)
        }
    };
    let many = plan(vec![with(100, 0), with_256_networks(with(100, 0))]);
    assert_eq!(
        apart_from_conditions(&many),
        [
            "broken MUST RFC 8219 section 10.2.1: measured with 100 flows",
            "bent SHOULD RFC 8219 section 10.2.1: not without the result of one flow",
        ]
    );
    let series = plan(
        [100, 1, 25, 50, 75]
            .map(|count| with(count, SECOND_NS))
            .into_iter()
            .chain([with_256_networks(with(1, SECOND_NS))])
            .collect(),
    );
    assert_eq!(apart_from_conditions(&series), [""; 0]);
    let quarters = of_the_test(&series, &series.tests[0])
        .into_iter()
        .find(|clause| clause.actual == "of n = 100");
    assert_eq!(
        quarters.map(|clause| (clause.level, clause.conformance)),
        Some((Level::May, Conformance::Met))
    );
}

#[test]
fn a_series_of_mixes_has_all_four() {
    let with = |percent: u32| {
        let series = Some(Series {
            name: "mix".into(),
            by: SeriesBy::Background,
            at: f64::from(percent),
            device: None,
        });
        let foreground = Share {
            foreground: 100 - percent,
            of: 100,
        };
        Test {
            foreground,
            series,
            ..test(&format!("mix-{percent}"), Measure::Throughput)
        }
    };
    let networks = with_256_networks(test("all", Measure::Throughput));
    let all = plan(
        [0, 10, 50, 90]
            .map(with)
            .into_iter()
            .chain([networks.clone()])
            .collect(),
    );
    assert_eq!(apart_from_conditions(&all), [""; 0]);
    let two = plan([0, 50].map(with).into_iter().chain([networks]).collect());
    assert_eq!(
        apart_from_conditions(&two),
        ["bent SHOULD RFC 8219 section 5.3: 0, 50 % native"]
    );
}

#[test]
fn fixed_ports_and_a_frame_timeout_are_bent() {
    let mut plan = plan_of(Measure::Throughput);
    plan.tests[0].traffic.forward_ports = Ports::FIXED;
    plan.tests[0].frame_timeout_ns = Some(SECOND_NS);
    assert_eq!(
        departures(&plan),
        [
            "bent SHOULD RFC 2544 section 23: 2 s; a frame later than 1 s does not count as received",
            "bent SHOULD RFC 4814 section 4.5: fixed, pseudorandom, seed 42",
            "bent SHOULD RFC 4814 section 4.5: 1 alone, 1 to 49151",
            "bent SHOULD RFC 4814 section 4.5: 1024 alone, 1024 to 65535",
        ]
    );
}

#[test]
fn every_measure_has_a_clause_of_its_own() {
    let of = |measure: Measure| {
        let plan = plan_of(measure);
        plan.tests[0]
            .measure
            .clauses(&plan.tests[0].context(&plan))
            .into_iter()
            .map(|clause| (clause.clause, clause.requirement))
            .collect::<Vec<_>>()
    };
    let all: Vec<_> = measures().into_iter().map(of).collect();
    for (at, own) in all.iter().enumerate() {
        let others = || {
            all.iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .flat_map(|(_, clauses)| clauses)
        };
        assert!(
            own.iter()
                .any(|clause| others().all(|other| other != clause)),
            "{:?}",
            measures()[at].name()
        );
    }
}

#[test]
fn every_clause_names_a_section_of_an_rfc_of_the_table_or_of_the_paper() {
    for measure in every_measure() {
        let mut plan = plan_of(measure);
        plan.tests[0].stateful = Some(Stateful::new(1_000_000, FrameRate(100_000), SECOND_NS));
        for clause in clauses(&plan, &plan.tests[0]) {
            let rfc = order::place(clause.clause).map(|(rfc, _)| rfc);
            let is_of_paper = clause.clause.starts_with(PAPER);
            assert!(
                is_of_paper || rfc.is_some_and(|rfc| order::RFCS.contains(&rfc)),
                "{}",
                clause.clause
            );
        }
    }
}

#[test]
fn deviations_have_words_name_measures_and_break_only_a_must() {
    let names: Vec<&str> = Measure::infos().map(|info| info.term.name).collect();
    for entry in deviation::all() {
        assert!(
            !entry.quote.is_empty() && !entry.here.is_empty() && !entry.reason.is_empty(),
            "{}",
            entry.clause
        );
        assert!(
            entry
                .measures
                .iter()
                .all(|name| names.contains(&name.as_str())),
            "{}",
            entry.clause
        );
    }
    for measure in every_measure() {
        for clause in of_the_instrument(&test("t", measure)) {
            assert!(
                clause.conformance != Conformance::Violated || clause.level == Level::Must,
                "{}",
                clause.clause
            );
        }
    }
}

#[test]
fn traffic_with_extension_headers_is_missing_for_routers_and_excused_for_translators() {
    let told = |change: fn(&mut Test)| {
        let mut test = test("t", Measure::Throughput);
        change(&mut test);
        let clauses = of_the_instrument(&test)
            .into_iter()
            .filter(|clause| clause.clause == "RFC 5180 section 7");
        clauses
            .map(|clause| (clause.conformance, clause.actual))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told(|test| test.ipv6_forwarded = true),
        [(
            Conformance::Violated,
            "no extension headers (the tester sends none)".into()
        )]
    );
    let translator = told(|_| ());
    assert!(
        translator.len() == 1
            && translator[0].0 == Conformance::Partial
            && translator[0].1.contains("RFC 8219 section 5.2")
    );
    assert!(
        told(|test| test.ipv4_only = true).is_empty(),
        "RFC 5180 is about IPv6"
    );
}

#[test]
fn compliance_takes_the_words_of_rfc_2544_section_5() {
    let must = |is_met| Clause::must("RFC 2544 section 5", "", "", is_met);
    let should = |is_met| Clause::should("RFC 2544 section 5", "", "", is_met);
    assert_eq!(
        compliance(&[must(true), should(true)]).to_string(),
        "unconditionally compliant"
    );
    assert_eq!(
        compliance(&[must(true), should(false)]).to_string(),
        "conditionally compliant"
    );
    assert_eq!(
        compliance(&[must(false), should(true)]).to_string(),
        "not compliant"
    );
    assert_eq!(
        compliance(&[must(false).or_in_part(true)]),
        Compliance::No,
        "a MUST met in part is not met"
    );
    let unread = |clause: Clause| {
        standard::as_read(Clause {
            clause: RFC_9693,
            ..clause
        })
    };
    assert_eq!(
        compliance(&[must(true), unread(must(true))]),
        Compliance::Unchecked
    );
    assert_eq!(
        compliance(&[must(true), unread(should(true))]),
        Compliance::Conditional,
        "it may not be met"
    );
    assert_eq!(
        compliance(&[must(false), unread(must(false))]),
        Compliance::No
    );
}

#[test]
fn the_table_of_a_plan_merges_what_its_tests_share() {
    let mut plan = plan(vec![
        test("rate", Measure::Throughput),
        Test {
            repetitions: Repetition::Fixed(7),
            ..test("delay", Measure::Latency(latency()))
        },
    ]);
    plan.tests
        .iter_mut()
        .for_each(|test| test.frame_sizes.truncate(8));
    plan.trial.duration_ns = 10 * SECOND_NS;
    plan.link_rate = None;
    let line = |(clause, tests): (Clause, Vec<String>)| {
        let Clause {
            clause,
            level,
            requirement,
            actual,
            conformance,
        } = clause;
        format!(
            "{conformance:<6} {level:<6} {clause}: {requirement}\n       here: {actual} [{}]\n",
            tests.join(", ")
        )
    };
    insta::assert_snapshot!(of_plan(&plan).into_iter().map(line).collect::<String>());
}

#[test]
fn a_plan_by_the_letter_of_rfc_9693_departs_from_nothing_of_it() {
    for measure in every_measure() {
        let mut plan = plan_of(measure);
        plan.tests[0].stateful = Some(Stateful::new(1_000_000, FrameRate(100_000), 2 * SECOND_NS));
        let of_9693 = departures_from_rfc_9693(&plan);
        assert!(of_9693.is_empty(), "{of_9693:?}");
    }
}

#[test]
fn orders_goals_and_shares_that_depart_from_rfc_9693_are_told() {
    let depart = |measure, change: fn(&mut Plan)| {
        let mut plan = plan_of(measure);
        plan.tests[0].stateful = Some(Stateful::new(1_000, FrameRate(100), SECOND_NS));
        change(&mut plan);
        departures_from_rfc_9693(&plan)
    };
    let linear = |plan: &mut Plan| {
        plan.tests[0].stateful.iter_mut().for_each(|s| {
            (s.enumeration, s.responder) = (ValueOrder::Increasing, ValueOrder::Fixed);
        });
    };
    let told = depart(Measure::Throughput, linear);
    assert_eq!(
        told,
        [
            "bent SHOULD RFC 9693: in order",
            "bent SHOULD RFC 9693: in the plan's order"
        ]
    );
    let lossy = |plan: &mut Plan| plan.search.goals = vec![LossRatio(0.01)];
    assert_eq!(depart(Measure::EstablishmentRate, lossy).len(), 1);
    let small = |plan: &mut Plan| {
        plan.tests[0]
            .stateful
            .iter_mut()
            .for_each(|s| s.state_table = 10);
    };
    assert!(
        depart(Measure::EstablishmentRate, small)[0].starts_with("broken MUST RFC 9693: at 50 %")
    );
    let capacity = Capacity {
        start: 1,
        most: 2,
        exponential_share: 0.5,
        binary_share: 0.9,
        error: 1,
    };
    assert_eq!(depart(Measure::TableCapacity(capacity), |_| ()).len(), 2);
}

#[test]
fn the_measurement_of_the_6to4_paper_says_in_what_it_is_another() {
    let response = |payload, subscribers: &[u32]| {
        let settings = ResponseTime {
            rate_per_client: FrameRate(15_000),
            duration_ns: 10 * SECOND_NS,
            outstanding: None,
        };
        let of = |&count: &u32| {
            let mut step = test("clients", Measure::ResponseTime(settings));
            step.frame_sizes = vec![FrameSize(118)];
            (step.traffic.payload, step.traffic.subscribers) = (payload, Some(count));
            step.series = Some(Series {
                name: "clients".into(),
                by: SeriesBy::Subscribers,
                at: count.into(),
                device: None,
            });
            step
        };
        let plan = plan(subscribers.iter().map(of).collect());
        let clauses = of_the_test(&plan, &plan.tests[0]);
        assert_eq!(
            clauses
                .iter()
                .rev()
                .take(7)
                .filter(|c| c.clause.starts_with(PAPER))
                .count(),
            7,
            "they stand last"
        );
        apart_from_conditions(&plan)
    };
    let open_loop = "bent SHOULD Lencse and Répás 2013 section VI: every client sends 15000 requests/s for 10 s, whether \
                     replies come or not (open loop), so an overloaded relay gets no relief";
    let addresses = "bent SHOULD Lencse and Répás 2013 section VI: 1 destination";
    let order = "bent SHOULD Lencse and Répás 2013 section VI: requests in the order that the plan gives the addresses, all \
                 answered by the tester's right end";
    assert_eq!(
        response(Payload::Echo, &[1, 2, 3]),
        [open_loop, addresses, order]
    );
    let udp = response(Payload::Udp, &[4]);
    assert_eq!(
        udp[0],
        "bent SHOULD Lencse and Répás 2013 section VI: clients: 4"
    );
    assert_eq!(
        udp[4],
        "bent SHOULD Lencse and Répás 2013 section VIII: UDP, 118 octets of Ethernet frame"
    );
}

#[test]
fn every_measure_of_frames_and_connections_is_judged_by_the_conditions_of_rfc_2544_section_11() {
    let cited = |measure: &Measure, is_ipv6: bool| {
        let mut plan = plan(vec![test("t", measure.clone())]);
        plan.tests[0].ipv6_forwarded = is_ipv6;
        let all = clauses(&plan, &plan.tests[0]);
        ["11", "11.1", "11.2", "11.3", "11.4", "21"].map(|section| {
            let cited = format!("RFC 2544 section {section}");
            all.iter().any(|clause| clause.clause == cited)
        })
    };
    for measure in every_measure() {
        let is_of_frames = measure.dns().is_none();
        assert_eq!(
            cited(&measure, false),
            [is_of_frames; 6],
            "{}",
            measure.name()
        );
    }
    assert!(
        !cited(&Measure::Throughput, true)[1],
        "IPv6 has no broadcast: RFC 5180 section 6"
    );
}

#[test]
fn a_test_without_conditions_is_told_what_is_missing_and_one_with_25_filters_where_the_last_is() {
    let one = test("t", Measure::Throughput);
    let plain = plan(vec![one.clone(), with_256_networks(one.clone())]);
    assert_eq!(
        departures(&plain),
        [
            "bent SHOULD RFC 2544 section 11.1: no test with `broadcast = \"1%\"`",
            "bent SHOULD RFC 2544 section 11.4: no test with `filters = 1`",
            "bent SHOULD RFC 2544 section 11.4: no test with `filters = 25`",
            "bent SHOULD RFC 2544 section 21: no test with `burst = [16, 64, 256, 1024]`",
        ]
    );
    let some = [64, 256].map(|frames| with_bursts(&one, frames));
    let of_some = departures(&plan([vec![one.clone()], some.to_vec()].concat()));
    let wanted = "bent SHOULD RFC 2544 section 21: bursts of 64, 256; none of 16, 1024";
    assert!(of_some.iter().any(|told| told == wanted), "{of_some:?}");
    let mut filtered = plan_of(Measure::Throughput);
    filtered.tests.rotate_right(1);
    assert_eq!(
        departures(&filtered),
        [
            "bent SHOULD RFC 2544 section 11.4.1: the last one does, as section 11.4 says, which this sequence contradicts"
        ]
    );
}
