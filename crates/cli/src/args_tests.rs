//! Tests of the arguments.

use crate::args::*;
use clap::{CommandFactory, Parser};
use sixbench_method::plan::Payload;
use sixbench_method::terms::FrameRate;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

#[test]
fn the_arguments_are_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn the_help_stays_as_it_was_reviewed() {
    insta::assert_snapshot!(Arguments::command().render_long_help().to_string());
}

impl Compare {
    /// Returns the arguments of `sixbench compare A B`. The tests of other modules need them with every default, which only the parser knows.
    pub(crate) fn parse_sides(a: &str, b: &str) -> Self {
        let Ok(Arguments {
            command: Command::Compare(compare),
            ..
        }) = Arguments::try_parse_from(["sixbench", "compare", a, b])
        else {
            panic!("two names are enough");
        };
        compare
    }
}

#[test]
fn a_trial_of_phase_1_alone_needs_connections_and_no_time() {
    let trial = |more: &[&str]| {
        let words = ["sixbench", "trial", "nft-nat44", "--rate", "20k"]
            .iter()
            .chain(more);
        match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
            Ok(Command::Trial(trial)) => Some((
                trial.load.connections,
                trial.load.phase_1_rate,
                trial.establish,
            )),
            _ => None,
        }
    };
    assert_eq!(trial(&[]), Some((None, FrameRate(20_000), false)));
    assert_eq!(
        trial(&["--connections", "4M", "--establish"]),
        Some((Some(4_000_000), FrameRate(20_000), true))
    );
    assert_eq!(trial(&["--establish"]), None);
    assert_eq!(trial(&["--phase-1-rate", "1k"]), None);
    assert_eq!(
        trial(&["--connections", "1k", "--establish", "--for", "1s"]),
        None
    );
}

#[test]
fn a_trial_of_requests_has_no_direction_and_no_connections() {
    let trial = |more: &[&str]| {
        let words = [
            "sixbench",
            "trial",
            "linux-ipv6",
            "--rate",
            "1k",
            "--response",
        ]
        .iter()
        .chain(more);
        match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
            Ok(Command::Trial(trial)) => Some((
                trial.load.payload,
                trial.load.subscribers.map(NonZeroU32::get),
            )),
            _ => None,
        }
    };
    assert_eq!(trial(&[]), Some((Payload::Udp, None)));
    assert_eq!(
        trial(&["--payload", "echo", "--subscribers", "10"]),
        Some((Payload::Echo, Some(10)))
    );
    assert_eq!(trial(&["--payload", "tcp"]), None);
    assert_eq!(trial(&["--subscribers", "0"]), None);
    assert_eq!(trial(&["--directions", "forward"]), None);
    assert_eq!(trial(&["--connections", "10"]), None);
}

#[test]
fn an_authority_serves_20_percent_or_writes_a_file() {
    let authority = |more: &[&str]| {
        let words = ["sixbench", "authority"].iter().chain(more);
        match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
            Ok(Command::Authority(a)) => Some((
                a.listen.len(),
                a.with_aaaa,
                a.ttl_s,
                a.zone_file.map(|n| n.count()),
            )),
            _ => None,
        }
    };
    assert_eq!(authority(&[]), Some((1, 0, 3600, None)));
    let both = [
        "--listen",
        "[::1]:53",
        "--listen",
        "127.0.0.1:53",
        "--with-aaaa",
        "20%",
        "--ttl",
        "1m",
    ];
    assert_eq!(authority(&both), Some((2, 20, 60, None)));
    assert_eq!(
        authority(&["--zone-file", "10.0.0.0/16"]).and_then(|a| a.3),
        Some(65_536)
    );
    assert_eq!(
        authority(&["--zone-file", "10.0.0.0/16", "--threads", "2"]),
        None
    );
    assert_eq!(authority(&["--domain", "a..b"]), None);
    assert_eq!(authority(&["--listen", "localhost"]), None);
}

#[test]
fn run_needs_a_plan_or_a_directory_to_resume() {
    assert!(Arguments::try_parse_from(["sixbench", "run"]).is_err());
    assert!(Arguments::try_parse_from(["sixbench", "run", "--resume", "results/x"]).is_ok());
    assert!(
        Arguments::try_parse_from(["sixbench", "run", "p.toml", "--profile", "quick"]).is_err()
    );
}

/// Returns the plan and the address of the live page, as typed behind `sixbench run`.
fn live(words: &[&str]) -> Result<(Option<PathBuf>, Option<String>), String> {
    let words = ["sixbench", "run"].iter().chain(words).map(OsString::from);
    match Arguments::try_parse_from(with_joined_address(words)).map(|arguments| arguments.command) {
        Ok(Command::Run(run)) => Ok((run.plan, run.output.live.map(|address| address.to_string()))),
        Ok(_) => panic!("this is a run"),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_plan_may_stand_behind_live_and_an_address_between_them() {
    let plan = |address: &str| Ok((Some(PathBuf::from("p.toml")), Some(address.to_owned())));
    assert_eq!(live(&["p.toml", "--live"]), plan("127.0.0.1:8219"));
    assert_eq!(live(&["--live", "p.toml"]), plan("127.0.0.1:8219"));
    assert_eq!(
        live(&["--live", "0.0.0.0:80", "p.toml"]),
        plan("0.0.0.0:80")
    );
    assert_eq!(live(&["p.toml", "--live", "[::1]:80"]), plan("[::1]:80"));
    assert_eq!(live(&["--live=[::1]:80", "p.toml"]), plan("[::1]:80"));
    assert_eq!(
        live(&["--live", "--json", "p.toml"]),
        plan("127.0.0.1:8219")
    );
}

#[test]
fn a_mistaken_address_of_the_live_page_is_told_with_one_that_works() {
    for mistaken in ["localhost:80", "80", ":80", "example.com:80"] {
        let error = live(&["--live", mistaken, "p.toml"]).expect_err(mistaken);
        assert!(error.contains("type 127.0.0.1:80"), "{error}");
    }
    let error = live(&["p.toml", "--live=localhost"]).expect_err("no port");
    assert!(error.contains("type 127.0.0.1:8219"), "{error}");
}

#[test]
fn the_words_of_another_program_are_left_alone() {
    let words = ["testbed", "exec", "p.toml", "--", "x", "--live", "80"].map(OsString::from);
    assert_eq!(with_joined_address(words.clone().into_iter()), words);
}
