//! The vectors of RFC 7915 against a translator written from the RFC: it is right in all of them. With one fault at a time, it fails the vectors of
//! the clause that the fault breaks, and no other.

pub(crate) mod reference;
mod table;

use crate::frame::PayloadPattern;
use crate::judge::{CameFrame, judge};
use crate::notation::{RequirementFile, Vector, read};
use crate::octets::{Resolver, build};
use crate::tests::patterns::names_meant;
use crate::{ControlFrames, DeviceSetting, Role, RoleAddresses, VectorJudgement, VectorResult};
use reference::translator::{Links, Pair, Rig, Translator};
use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::thread;
use table::{MAPPING_RIGS, NOT_YET_CAUGHT, RIGS, RigRow};

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

pub(crate) fn setting() -> DeviceSetting {
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
        subscribers: None,
    }
}

/// Returns the vectors of a file.
pub(crate) fn vectors_of(name: &str) -> Vec<Vector> {
    let path = folder().join(name);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: RequirementFile = read(name, &text).unwrap_or_else(|error| panic!("{error}"));
    file.vectors
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn vectors() -> Vec<PreparedVector> {
    let vectors = vectors_of("rfc7915.toml").into_iter();
    vectors.map(PreparedVector::new).collect()
}

/// Returns the vectors of the RFCs on addresses.
fn mapping_vectors() -> Vec<PreparedVector> {
    let names = ["rfc6052.toml", "rfc6791.toml", "rfc7757.toml"];
    let vectors = names.into_iter().flat_map(vectors_of);
    vectors.map(PreparedVector::new).collect()
}

/// A vector with the datagrams that it sends, and what leaves the reference translator for them.
struct PreparedVector {
    vector: Vector,
    sent: Vec<CameFrame>,
    reference: Vec<CameFrame>,
}

impl PreparedVector {
    fn new(vector: Vector) -> Self {
        let setting = setting();
        let resolver = Resolver {
            setting: &setting,
            sent: &vector.send[0],
        };
        let octets = |frame| {
            build(frame, PATTERN, &resolver)
                .unwrap_or_else(|error| panic!("{}: {error}", vector.name))
        };
        let frames = vector.send.iter();
        let sent: Vec<CameFrame> = frames
            .map(|frame| CameFrame {
                side: frame.side,
                datagram: octets(frame),
            })
            .collect();
        let reference = answers(&sent, None);
        Self {
            vector,
            sent,
            reference,
        }
    }

    fn judged(&self, came: &[CameFrame]) -> VectorJudgement {
        judge(&self.vector, came, ControlFrames::Came, PATTERN, &setting())
    }

    /// Returns the result with a rig. What the fault does not change is right, as another test says.
    fn with(&self, rig: Rig) -> VectorResult {
        let came = answers(&self.sent, Some(rig));
        if came == self.reference {
            VectorResult::Right
        } else {
            self.judged(&came).result
        }
    }
}

/// Returns the translator of [`setting`].
pub(crate) fn translator(rig: Option<Rig>) -> Translator {
    Translator::new(vec![HOST4, HOST6], DUT, LINKS, rig)
}

/// Returns what leaves the reference translator, or a rigged one.
fn answers(sent: &[CameFrame], rig: Option<Rig>) -> Vec<CameFrame> {
    let mut translator = translator(rig);
    let leaving = sent
        .iter()
        .flat_map(|frame| translator.receive(frame.side, &frame.datagram));
    leaving
        .map(|sent| CameFrame {
            side: sent.side,
            datagram: sent.octets,
        })
        .collect()
}

/// The names of the vectors that a rigged translator fails, and of those in which it makes a choice.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    fails: BTreeSet<String>,
    chooses: BTreeSet<String>,
}

fn outcome(vectors: &[PreparedVector], rig: Rig) -> Outcome {
    let mut outcome = Outcome::default();
    for prepared in vectors {
        let name = || prepared.vector.name.clone();
        match prepared.with(rig) {
            result if result.is_violation() => outcome.fails.insert(name()),
            VectorResult::Allowed => outcome.chooses.insert(name()),
            _ => false,
        };
    }
    outcome
}

/// Returns a line for each row whose rig has another outcome than the table tells.
fn mistakes_in(rows: &[RigRow], vectors: &[PreparedVector]) -> Vec<String> {
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

fn meant_by(patterns: &[&str], vectors: &[PreparedVector]) -> BTreeSet<String> {
    let names = vectors.iter().map(|prepared| prepared.vector.name.as_str());
    names_meant(patterns, names)
}

#[test]
fn the_reference_translator_is_right_in_every_vector() {
    let wrong: Vec<String> = vectors()
        .iter()
        .map(|prepared| (&prepared.vector.name, prepared.judged(&prepared.reference)))
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
fn the_vectors_of_address_mapping_are_right_and_failed_by_their_rigs_alone() {
    let vectors = mapping_vectors();
    let is_right = |prepared: &&PreparedVector| {
        prepared.judged(&prepared.reference).result == VectorResult::Right
    };
    assert_eq!(vectors.iter().filter(is_right).count(), vectors.len());
    let mistakes = mistakes_in(MAPPING_RIGS, &vectors);
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let caught: BTreeSet<String> = MAPPING_RIGS
        .iter()
        .flat_map(|row| meant_by(row.fails, &vectors))
        .collect();
    assert_eq!(caught.len(), vectors.len());
}

#[test]
fn every_file_of_the_folder_is_read_and_no_name_is_used_twice() {
    let mut names = BTreeSet::new();
    let files = fs::read_dir(folder()).expect("the folder of the vectors");
    let files = files.map(|file| {
        file.expect("a file")
            .file_name()
            .into_string()
            .expect("a name")
    });
    for file in files.filter(|name| name.ends_with(".toml")) {
        for vector in vectors_of(&file) {
            assert!(
                vector.sentence.ends_with('.'),
                "{}: {}",
                vector.name,
                vector.sentence
            );
            assert!(
                names.insert(vector.name.clone()),
                "{} is used twice",
                vector.name
            );
        }
    }
    assert!(names.len() >= vectors().len() + mapping_vectors().len());
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
        .filter(|prepared| !caught.contains(&prepared.vector.name))
        .map(|prepared| prepared.vector.name.as_str());
    assert_eq!(free.collect::<Vec<_>>(), NOT_YET_CAUGHT);
}
