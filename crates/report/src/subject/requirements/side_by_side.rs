//! What several devices do with the same requirements: for each RFC a table with a column for each device. It lists the requirements that some of them
//! meet and others violate; those on which all agree are counted below it.

use crate::digest::{Digest, PointDigest};
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{enumerated, title};
use sixbench_method::trial::{JudgedVector, VectorResult};
use sixbench_method::units::counted;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The vectors of an RFC that were sent to several devices.
pub(crate) struct ComparedRfc<'d> {
    pub(crate) rfc: u32,
    /// The points of the devices, in the order of the plan.
    pub(crate) points: Vec<&'d PointDigest<'d>>,
    /// The vectors, the strongest requirements first, and among them those that most devices violate.
    pub(crate) vectors: Vec<ComparedVector<'d>>,
}

/// A vector with the finding of each device.
pub(crate) struct ComparedVector<'d> {
    /// The vector as the first of the devices was sent it.
    pub(crate) vector: &'d JudgedVector,
    /// The finding at each point; `None` if the vector was not sent there.
    findings: Vec<Option<VectorResult>>,
}

impl ComparedVector<'_> {
    /// Returns the finding of a device in words; `None` if it has no place in a comparison.
    pub(crate) fn finding(&self, device: usize) -> Option<&'static str> {
        let finding = self.findings[device]?;
        (finding != VectorResult::NotApplicable).then(|| finding.title())
    }

    /// Returns whether some devices meet the requirement and others violate it.
    pub(crate) fn is_contested(&self) -> bool {
        self.met() > 0 && self.violated() > 0
    }

    fn met(&self) -> usize {
        self.count(VectorResult::is_met)
    }

    fn violated(&self) -> usize {
        self.count(VectorResult::is_violation)
    }

    /// Returns the number of devices with a result: those that were sent the vector, apart from those to which it does not apply.
    fn results(&self) -> usize {
        self.count(|finding| finding != VectorResult::NotApplicable)
    }

    /// Returns whether `devices` are all with a result, and several.
    fn is_of_all(&self, devices: usize) -> bool {
        devices > 1 && devices == self.results()
    }

    fn count(&self, condition: fn(VectorResult) -> bool) -> usize {
        let findings = self.findings.iter().flatten();
        findings.filter(|finding| condition(**finding)).count()
    }
}

/// Returns the RFCs whose vectors were sent to several devices, in ascending order.
pub(crate) fn compared<'d>(digest: &'d Digest<'d>) -> Vec<ComparedRfc<'d>> {
    let asked: Vec<AskedPoint> = digest.points.iter().filter_map(AskedPoint::new).collect();
    let rfcs: BTreeSet<u32> = asked
        .iter()
        .flat_map(|asked| asked.vectors.values())
        .map(|vector| vector.rfc)
        .collect();
    rfcs.into_iter()
        .map(|rfc| compared_rfc(rfc, &asked))
        .filter(|compared| compared.points.len() > 1)
        .collect()
}

/// A point with its vectors by name.
struct AskedPoint<'d> {
    point: &'d PointDigest<'d>,
    vectors: BTreeMap<&'d str, &'d JudgedVector>,
}

impl<'d> AskedPoint<'d> {
    fn new(point: &'d PointDigest<'d>) -> Option<Self> {
        let vectors = &point.requirements()?.vectors;
        let named = vectors.iter().map(|vector| (&*vector.name, vector));
        Some(Self {
            point,
            vectors: named.collect(),
        })
    }

    /// Returns whether anything is known of the device and this RFC.
    fn knows(&self, rfc: u32) -> bool {
        self.vectors
            .values()
            .any(|vector| vector.rfc == rfc && vector.result != VectorResult::NotApplicable)
    }
}

fn compared_rfc<'d>(rfc: u32, asked: &[AskedPoint<'d>]) -> ComparedRfc<'d> {
    let asked: Vec<&AskedPoint> = asked.iter().filter(|asked| asked.knows(rfc)).collect();
    let mut named: BTreeMap<&'d str, &'d JudgedVector> = BTreeMap::new();
    for (name, vector) in asked.iter().flat_map(|asked| &asked.vectors) {
        if vector.rfc == rfc {
            named.entry(*name).or_insert(*vector);
        }
    }
    let of_devices = |(name, vector): (&'d str, &'d JudgedVector)| ComparedVector {
        vector,
        findings: asked
            .iter()
            .map(|asked| Some(asked.vectors.get(name)?.result))
            .collect(),
    };
    let mut vectors: Vec<ComparedVector> = named.into_iter().map(of_devices).collect();
    vectors.sort_by_key(|row| (row.vector.level, Reverse(row.violated())));
    ComparedRfc {
        rfc,
        points: asked.iter().map(|asked| asked.point).collect(),
        vectors,
    }
}

/// Returns a table for each RFC on which devices differ.
pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    compared(digest)
        .iter()
        .map(|compared| table(digest, compared))
        .collect()
}

fn table(digest: &Digest, compared: &ComparedRfc) -> Table {
    let contested = compared.vectors.iter().filter(|row| row.is_contested());
    let name = Column::text("Vector", |row: &&ComparedVector| row.vector.name.clone());
    let devices = names(digest, &compared.points).into_iter().enumerate();
    let devices = devices
        .map(|(device, name)| Column::text(name, move |row: &&ComparedVector| row.finding(device)));
    let requirement = [
        Column::text("Level", |row: &&ComparedVector| row.vector.level.word()),
        Column::text("Clause", |row: &&ComparedVector| row.vector.clause.clone()),
        Column::text("Requirement", |row: &&ComparedVector| {
            row.vector.sentence.clone()
        }),
    ];
    let rfc = compared.rfc;
    Table::new(
        format!("RFC {rfc}, device by device"),
        [name].into_iter().chain(devices).chain(requirement),
        contested,
    )
    .with_strong(violations())
    .with_notes(notes(compared))
}

/// Returns the names of the findings that are violations.
fn violations() -> Vec<&'static str> {
    let violations = VectorResult::ALL.into_iter();
    violations
        .filter(|finding| finding.is_violation())
        .map(VectorResult::title)
        .collect()
}

/// Returns the names of the columns: the devices, or the tests if one device was asked by several of them.
fn names(digest: &Digest, points: &[&PointDigest]) -> Vec<String> {
    let duts: BTreeSet<&str> = points.iter().map(|point| &*point.test.dut).collect();
    let is_one_each = duts.len() == points.len();
    let name = |point: &&PointDigest| {
        if is_one_each {
            digest.dut_title(point.test).to_owned()
        } else {
            title(point.test)
        }
    };
    points.iter().map(name).collect()
}

/// Returns notes on the requirements that the table leaves out, and on cells without a finding.
fn notes(compared: &ComparedRfc) -> Vec<String> {
    let has_gaps = compared.vectors.iter().any(|row| {
        row.is_contested() && (0..compared.points.len()).any(|at| row.finding(at).is_none())
    });
    let gaps = has_gaps.then(|| "–: the device was not sent the vector, or cannot be.".to_owned());
    agreed(compared).into_iter().chain(gaps).collect()
}

/// Returns the sentence on the requirements on which all agree.
fn agreed(compared: &ComparedRfc) -> Option<String> {
    let agreed = || compared.vectors.iter().filter(|row| !row.is_contested());
    let met = agreed().filter(|row| row.is_of_all(row.met())).count();
    let violated: Vec<&str> = agreed()
        .filter(|row| row.is_of_all(row.violated()))
        .map(|row| &*row.vector.name)
        .collect();
    let open = agreed().filter(|row| row.results() > 0).count() - met - violated.len();
    let parts = [
        (met, "that every device meets".to_owned()),
        (
            violated.len(),
            format!("that every device violates ({})", violated.join(", ")),
        ),
        (open, "without a result of every device".to_owned()),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .enumerate()
        .map(|(at, (number, which))| {
            // The noun stands once, with the first number.
            let number = if at == 0 {
                counted(number, "requirement")
            } else {
                number.to_string()
            };
            format!("{number} {which}")
        })
        .collect();
    (!parts.is_empty()).then(|| format!("Left out: {}.", enumerated(&parts)))
}
