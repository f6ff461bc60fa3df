//! The vectors of RFC 7915 against a translator written from the RFC: it is right in all of them. With one fault at a time, it fails the vectors of
//! the clause that the fault breaks, and no other.

mod reference;
mod table;

use crate::frame::PayloadPattern;
use crate::judge::{CameFrame, judge};
use crate::notation::{RequirementFile, Vector, read};
use crate::octets::{Resolver, build};
use crate::{ControlFrames, DeviceSetting, Role, RoleAddresses, VectorJudgement, VectorResult};
use reference::translator::{Links, Pair, Rig, Translator};
use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::thread;
use table::{NOT_YET_CAUGHT, RIGS, RigRow};

const HOST4: Pair = Pair {
    v4: Ipv4Addr::new(198, 51, 100, 2),
    v6: Ipv6Addr::new(0x2001, 0xdb8, 4, 0, 0, 0, 0, 2),
};
const HOST6: Pair = Pair {
    v4: Ipv4Addr::new(192, 0, 2, 2),
    v6: Ipv6Addr::new(0x2001, 0xdb8, 6, 0, 0, 0, 0, 2),
};
const DUT: Pair = Pair {
    v4: Ipv4Addr::new(203, 0, 113, 1),
    v6: Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1),
};
const LINKS: Links = Links {
    mtu4: 1500,
    mtu6: 1500,
};
const PATTERN: PayloadPattern = PayloadPattern { vector: 0x0713 };

fn setting() -> DeviceSetting {
    let both = |role, pair: Pair| RoleAddresses {
        role,
        ipv4: Some(pair.v4),
        ipv6: Some(pair.v6),
    };
    let only4 = |role, last| RoleAddresses {
        role,
        ipv4: Some(Ipv4Addr::new(198, 51, 100, last)),
        ipv6: None,
    };
    let only6 = |role, last| RoleAddresses {
        role,
        ipv4: None,
        ipv6: Some(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, last)),
    };
    let roles = vec![
        both(Role::Host4, HOST4),
        both(Role::Host6, HOST6),
        both(Role::Dut4, DUT),
        both(Role::Dut6, DUT),
        only4(Role::Router4, 77),
        only6(Role::Router6, 0x77),
        only4(Role::Unmapped4, 78),
        only6(Role::Unmapped6, 0x78),
    ];
    DeviceSetting {
        roles,
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: LINKS.mtu4 as u16,
        mtu6: LINKS.mtu6 as u16,
    }
}

fn vectors() -> Vec<Vector> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/rfc7915.toml");
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: RequirementFile =
        read("rfc7915.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    file.vectors
}

/// Returns what the judge says of a vector that goes through the reference translator.
fn judged(vector: &Vector, rig: Option<Rig>) -> VectorJudgement {
    let setting = setting();
    let mut translator = Translator::new(vec![HOST4, HOST6], DUT, LINKS, rig);
    let resolver = Resolver {
        setting: &setting,
        sent: &vector.send[0],
    };
    let mut came = Vec::new();
    for frame in &vector.send {
        let octets = build(frame, PATTERN, &resolver)
            .unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        let sent = translator.receive(frame.side, &octets);
        came.extend(sent.into_iter().map(|sent| CameFrame {
            side: sent.side,
            datagram: sent.octets,
        }));
    }
    judge(vector, &came, ControlFrames::Came, PATTERN, &setting)
}

/// The names of the vectors that a rigged translator fails, and of those in which it makes a choice.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    fails: BTreeSet<String>,
    chooses: BTreeSet<String>,
}

fn outcome(vectors: &[Vector], rig: Rig) -> Outcome {
    let mut outcome = Outcome::default();
    let is_touched = |vector: &&Vector| vector.send.iter().any(|frame| frame.side == rig.from);
    for vector in vectors.iter().filter(is_touched) {
        match judged(vector, Some(rig)).result {
            result if result.is_violation() => outcome.fails.insert(vector.name.clone()),
            VectorResult::Allowed => outcome.chooses.insert(vector.name.clone()),
            _ => false,
        };
    }
    outcome
}

/// Returns a line for each row whose rig has another outcome than the table tells.
fn mistakes_in(rows: &[RigRow], vectors: &[Vector]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for RigRow {
        rig,
        fails,
        chooses,
    } in rows
    {
        let told = Outcome {
            fails: meant_by(fails, vectors),
            chooses: meant_by(chooses, vectors),
        };
        let seen = outcome(vectors, *rig);
        if seen != told {
            mistakes.push(format!(
                "{:?} from {:?}: {seen:?} instead of {told:?}",
                rig.fault, rig.from
            ));
        }
    }
    mistakes
}

/// Returns the names that a list of patterns means: a `*` at the end stands for any rest, a `!` at the begin takes names away.
fn meant_by(patterns: &[&str], vectors: &[Vector]) -> BTreeSet<String> {
    let mut meant = BTreeSet::new();
    for pattern in patterns {
        let (is_taken_away, pattern) = pattern
            .strip_prefix('!')
            .map_or((false, *pattern), |rest| (true, rest));
        let fits = |name: &str| {
            pattern
                .strip_suffix('*')
                .map_or(name == pattern, |begin| name.starts_with(begin))
        };
        let names: Vec<&String> = vectors
            .iter()
            .map(|vector| &vector.name)
            .filter(|name| fits(name))
            .collect();
        assert!(!names.is_empty(), "no vector is called {pattern}");
        names.into_iter().for_each(|name| {
            if is_taken_away {
                meant.remove(name);
            } else {
                meant.insert(name.clone());
            }
        });
    }
    meant
}

#[test]
fn the_reference_translator_is_right_in_every_vector() {
    let wrong: Vec<String> = vectors()
        .iter()
        .map(|vector| (&vector.name, judged(vector, None)))
        .filter(|(_, judgement)| judgement.result != VectorResult::Right)
        .map(|(name, judgement)| format!("{name}: {judgement:#?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rig_fails_the_vectors_of_its_clause_and_no_other() {
    let vectors = vectors();
    let halves = RIGS.split_at(RIGS.len() / 2);
    let mistakes = thread::scope(|scope| {
        let first = scope.spawn(|| mistakes_in(halves.0, &vectors));
        let mut mistakes = mistakes_in(halves.1, &vectors);
        mistakes.extend(first.join().expect("the other half"));
        mistakes
    });
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn every_vector_is_failed_by_a_rig_or_listed_as_not_yet_caught() {
    let vectors = vectors();
    let caught: BTreeSet<String> = RIGS
        .iter()
        .flat_map(|row| meant_by(row.fails, &vectors))
        .collect();
    let free = vectors
        .iter()
        .filter(|vector| !caught.contains(&vector.name))
        .map(|vector| vector.name.as_str());
    assert_eq!(free.collect::<Vec<_>>(), NOT_YET_CAUGHT);
}
