//! The self-test of RFC 8219 section 9.2.1, which limits the rates at which a DUT may be tested.

use super::cells::queries;
use crate::digest::Digest;
use crate::layout::table::Table;
use crate::wording::numbers::{seconds, with_decimals};
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::trial::dns::{Certificate, CertificateTrial};

/// Returns a table of the deciding trials of each server's self-tests.
pub(super) fn table(digest: &Digest) -> Table {
    let columns =
        ["Server", "#Timeout", "#Certified r", "#Looped (queries/s)", "#Sent", "#In t/4", "#Slowest (ms)", "Schedule", "Trial"];
    let certificates = certificates(digest);
    let mut paths: Vec<&str> = certificates.iter().map(|(_, certificate)| certificate.path.as_str()).collect();
    paths.dedup();
    let over = format!("Looped over {}.", paths.join("; "));
    let rows = certificates.iter().flat_map(|(servers, certificate)| rows(servers, certificate));
    Table::new("The tester's self-test (RFC 8219 section 9.2.1)", columns)
        .with_rows(rows)
        .with_note(
            "Client and authority connected directly, without the device. To test at r queries/s, the tester must answer 2 (r + \
             d) with d = 0.1 r, all of them within a quarter of the timeout t. Shown are the highest rate that passed and the \
             lowest rate above it that did not.",
        )
        .with_note(over)
}

/// Returns every self-test of the run with the servers for which it is valid.
fn certificates<'a>(digest: &Digest<'a>) -> Vec<(String, &'a Certificate)> {
    let duts = each_once(digest.dns_points().map(|(point, _)| (point.test.dut.as_str(), digest.dut_title(point.test))));
    let certificates = duts.iter().flat_map(|(dut, title)| digest.certificates(dut).iter().map(|found| (found, *title)));
    by_key(certificates).into_iter().map(|(certificate, servers)| (servers.join(", "), certificate)).collect()
}

fn rows(servers: &str, certificate: &Certificate) -> Vec<Vec<String>> {
    let row = |trial: CertificateTrial| {
        let verdict = if trial.passed() { "passed" } else { "failed" };
        let pace = if trial.is_paced { "kept" } else { "missed" };
        vec![
            servers.to_owned(),
            seconds(certificate.timeout_ns),
            queries(certificate.rate),
            queries(trial.rate),
            queries(trial.sent),
            queries(trial.in_time),
            with_decimals(trial.slowest_ns as f64 / 1e6, 3),
            pace.to_owned(),
            verdict.to_owned(),
        ]
    };
    deciding(&certificate.trials).into_iter().map(row).collect()
}

fn deciding(trials: &[CertificateTrial]) -> Vec<CertificateTrial> {
    let passed = trials.iter().filter(|trial| trial.passed()).max_by_key(|trial| trial.rate);
    let above = passed.map_or(0, |trial| trial.rate);
    let failed = trials.iter().filter(|trial| !trial.passed() && trial.rate > above).min_by_key(|trial| trial.rate);
    passed.into_iter().chain(failed).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_trial_that_passed_and_the_lowest_above_it_that_did_not_decide() {
        let trial = |rate, in_time| CertificateTrial { rate, sent: rate, in_time, is_paced: true, slowest_ns: 1 };
        let trials = [trial(22, 22), trial(88, 80), trial(44, 44), trial(66, 65)];
        let rates: Vec<u64> = deciding(&trials).iter().map(|trial| trial.rate).collect();
        assert_eq!(rates, [44, 66]);
        assert_eq!(deciding(&trials[1..2]).len(), 1, "where none passed the lowest failing one is told");
    }
}
