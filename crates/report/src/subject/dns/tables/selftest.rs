//! The self-test of RFC 8219 section 9.2.1, which limits the rates at which a DUT may be tested.

use crate::digest::Digest;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::trial::dns::{Certificate, CertificateTrial};

/// A trial of a self-test that is valid for some servers.
struct SelfTestRow<'d> {
    servers: String,
    certificate: &'d Certificate,
    trial: CertificateTrial,
}

/// Returns a table of the deciding trials of each server's self-tests.
pub(super) fn table(digest: &Digest) -> Table {
    let certificates = certificates(digest);
    let mut paths: Vec<&str> = certificates
        .iter()
        .map(|(_, certificate)| certificate.path.as_str())
        .collect();
    paths.dedup();
    let over = format!("Looped over {}.", paths.join("; "));
    let rows = certificates.iter().flat_map(|(servers, certificate)| {
        let trials = deciding(&certificate.trials).into_iter();
        trials.map(|trial| SelfTestRow {
            servers: servers.clone(),
            certificate,
            trial,
        })
    });
    Table::new("The tester's self-test (RFC 8219 section 9.2.1)", columns(), rows)
        .with_note(
            "Client and authority connected directly, without the device. To test at r queries/s, the tester must answer 2 (r + \
             d) with d = 0.1 r, all of them within a quarter of the timeout t. Shown are the highest rate that passed and the \
             lowest rate above it that did not.",
        )
        .with_note(over)
}

fn columns<'d>() -> Vec<Column<'d, SelfTestRow<'d>>> {
    vec![
        Column::text("Server", |row: &SelfTestRow| row.servers.clone()),
        Column::number("Timeout", |row: &SelfTestRow| {
            Cell::Time(row.certificate.timeout_ns)
        }),
        Column::number("Certified r", |row: &SelfTestRow| {
            Cell::Count(row.certificate.rate)
        }),
        Column::number("Looped (queries/s)", |row: &SelfTestRow| {
            Cell::Count(row.trial.rate)
        }),
        Column::number("Sent", |row: &SelfTestRow| Cell::Count(row.trial.sent)),
        Column::number("In t/4", |row: &SelfTestRow| Cell::Count(row.trial.in_time)),
        Column::number("Slowest (ms)", |row: &SelfTestRow| {
            Cell::Decimals(row.trial.slowest_ns as f64 / 1e6, 3)
        }),
        Column::text("Schedule", |row: &SelfTestRow| {
            if row.trial.is_paced { "kept" } else { "missed" }
        }),
        Column::text("Trial", |row: &SelfTestRow| {
            if row.trial.passed() {
                "passed"
            } else {
                "failed"
            }
        }),
    ]
}

/// Returns every self-test of the run with the servers for which it is valid.
fn certificates<'a>(digest: &Digest<'a>) -> Vec<(String, &'a Certificate)> {
    let duts = each_once(
        digest
            .dns_points()
            .map(|(point, _)| (point.test.dut.as_str(), digest.dut_title(point.test))),
    );
    let certificates = duts
        .iter()
        .flat_map(|(dut, title)| digest.certificates(dut).iter().map(|found| (found, *title)));
    by_key(certificates)
        .into_iter()
        .map(|(certificate, servers)| (servers.join(", "), certificate))
        .collect()
}

fn deciding(trials: &[CertificateTrial]) -> Vec<CertificateTrial> {
    let passed = trials
        .iter()
        .filter(|trial| trial.passed())
        .max_by_key(|trial| trial.rate);
    let above = passed.map_or(0, |trial| trial.rate);
    let failed = trials
        .iter()
        .filter(|trial| !trial.passed() && trial.rate > above)
        .min_by_key(|trial| trial.rate);
    passed.into_iter().chain(failed).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_trial_that_passed_and_the_lowest_above_it_that_did_not_decide() {
        let trial = |rate, in_time| CertificateTrial {
            rate,
            sent: rate,
            in_time,
            is_paced: true,
            slowest_ns: 1,
        };
        let trials = [trial(22, 22), trial(88, 80), trial(44, 44), trial(66, 65)];
        let rates: Vec<u64> = deciding(&trials).iter().map(|trial| trial.rate).collect();
        assert_eq!(rates, [44, 66]);
        assert_eq!(
            deciding(&trials[1..2]).len(),
            1,
            "where none passed the lowest failing one is told"
        );
    }
}
