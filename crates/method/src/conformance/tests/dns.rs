//! Tests of the clauses of RFC 8219 section 9.

use super::*;

fn of_dns64(change: impl Fn(&mut DnsTest)) -> Plan {
    let mut dns = DnsTest::required(DnsRole::Dns64);
    change(&mut dns);
    let mut plan = plan_of(Measure::Dns(dns));
    plan.tests.truncate(1);
    plan
}

#[test]
fn a_dns64_test_as_the_rfc_has_it_is_unconditionally_compliant_and_faces_no_clause_of_frames() {
    let plan = of_dns64(|_| ());
    assert_eq!(departures(&plan), [""; 0]);
    assert_eq!(verdict(&plan), Compliance::Unconditional);
    let told: Vec<&str> = clauses(&plan, &plan.tests[0])
        .iter()
        .map(|clause| clause.clause)
        .collect();
    let is_of_frames = |clause: &&&str| {
        [
            "RFC 4814",
            "RFC 2544 section 9",
            "RFC 2544 section 10",
            "RFC 8219 section 5.1.1",
            "RFC 8219 section 5.3",
            "RFC 2544 section 1",
        ]
        .iter()
        .any(|rfc| clause.starts_with(rfc))
    };
    assert_eq!(told.iter().find(is_of_frames), None, "{told:?}");
    for section in ["9.1", "9.2", "9.2.1"] {
        assert!(
            told.contains(&format!("RFC 8219 section {section}").as_str()),
            "{section}"
        );
    }
}

#[test]
fn an_optional_point_needs_the_required_one() {
    let optional = of_dns64(|dns| (dns.cached, dns.with_aaaa) = (40, 20));
    assert_eq!(
        departures(&optional),
        ["broken MUST RFC 8219 section 9.2: the plan has no such test of this server"]
    );
    let mut both = optional.clone();
    both.tests.push(test(
        "required",
        Measure::Dns(DnsTest::required(DnsRole::Dns64)),
    ));
    assert_eq!(departures(&both), [""; 0]);
    both.tests[1].dut = "another".into();
    assert_eq!(departures(&both).len(), 1, "it is of another server");
}

#[test]
fn a_long_timeout_and_a_short_trial_are_bent() {
    let mut plan = of_dns64(|dns| dns.timeout_ns = 2 * SECOND_NS);
    plan.trial.duration_ns = 10 * SECOND_NS;
    assert_eq!(
        departures(&plan),
        [
            "bent SHOULD RFC 8219 section 9.2: 10 s",
            "bent SHOULD RFC 8219 section 9.2: 2 s"
        ]
    );
}

#[test]
fn bursts_of_queries_are_an_estimate_and_each_at_its_own_time_is_not() {
    let of = |burst| {
        departures(&of_dns64(|dns| {
            dns.burst = std::num::NonZeroU32::new(burst).unwrap();
        }))
    };
    assert_eq!(of(1), [""; 0]);
    let told = "bent SHOULD Lencse and Bakai 2017 section 4.4: bursts of 10, sent back to back: the result is an estimate";
    assert_eq!(of(10), [told]);
}

#[test]
fn an_authoritative_server_has_no_clauses_of_caching() {
    let plan = plan(vec![test(
        "authority",
        Measure::Dns(DnsTest::required(DnsRole::Authority)),
    )]);
    let told = of_the_test(&plan, &plan.tests[0]);
    assert!(
        !told
            .iter()
            .any(|clause| clause.requirement.contains("cached")
                || clause.requirement.contains("different names"))
    );
    assert!(
        told.iter()
            .any(|clause| clause.level == Level::May
                && clause.actual.contains("not part of RFC 8219"))
    );
}

#[test]
fn behind_a_real_authority_names_must_outlast_their_time_to_live() {
    let behind_nsd = |names: &str, ttl_s| {
        let mut plan = of_dns64(|dns| {
            (dns.authority, dns.names, dns.ttl_s) =
                (Some("nsd".into()), names.parse().expect("names"), ttl_s);
        });
        plan.search.maximum = FrameRate(50_000);
        departures(&plan)
    };
    let lasting = behind_nsd("10.0.0.0/14", 5);
    assert!(
        lasting.len() == 1 && lasting[0].starts_with("bent MUST RFC 8219 section 9.2.1"),
        "its zone is that of the test: {lasting:?}"
    );
    let broken = behind_nsd("10.0.0.0/14", 3600);
    let is_told = |told: &String| {
        told.contains("may be used again while they are cached, without being noticed behind nsd")
    };
    assert!(
        broken.len() == 2 && broken.iter().any(is_told),
        "{broken:?}"
    );
}

#[test]
fn an_authority_on_another_machine_passes_the_self_test_and_sees_no_cache() {
    let mut plan = of_dns64(|dns| dns.authority_on = Some("auth".into()));
    plan.search.maximum = FrameRate(50_000);
    assert_eq!(departures(&plan), [""; 0]);
    let told = of_the_test(&plan, &plan.tests[0]);
    let is_self_test =
        |clause: &&Clause| clause.clause.ends_with("9.2.1") && clause.level == Level::Must;
    let self_test = told.iter().find(is_self_test).expect("a clause");
    assert!(
        self_test
            .actual
            .contains("over a link of its own to the machine auth"),
        "{}",
        self_test.actual
    );
    let names = told
        .iter()
        .find(|clause| clause.requirement.contains("different names"))
        .expect("a clause");
    assert!(
        names
            .actual
            .ends_with("last longer than their time to live behind the authority on auth"),
        "{}",
        names.actual
    );
}

#[test]
fn a_self_test_over_a_veth_pair_is_bent_and_one_over_a_cable_past_the_device_is_not() {
    let is_told = |plan: &Plan| {
        let clauses = of_the_instrument(&plan.tests[0]);
        clauses.iter().any(|clause| {
            clause
                .requirement
                .contains("the Tester is looped back (leaving out DUT)")
        })
    };
    assert!(is_told(&of_dns64(|_| ())));
    assert!(
        is_told(&of_dns64(|dns| dns.authority = Some("nsd".into()))),
        "a real one at the tester's end"
    );
    assert!(!is_told(&of_dns64(
        |dns| dns.authority_on = Some("auth".into())
    )));
}

#[test]
fn an_authoritative_server_is_tested_without_the_self_test_and_the_table_says_so() {
    let plan = plan_of(Measure::Dns(DnsTest::required(DnsRole::Authority)));
    let departures = departures(&plan);
    assert!(
        departures.len() == 1
            && departures[0].starts_with("broken MUST RFC 8219 section 9.2.1: none"),
        "{departures:?}"
    );
}
