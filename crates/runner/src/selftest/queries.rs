//! Measures how accurately the DNS tester sends, in the form of the tables in dns64perf++'s paper (D. Bakai, G. Lencse, IEICE Trans. Commun.
//! E100-B, 2017), and how many queries it can loop to its own authority, depending on the timeout for an answer (figure 17 of the SIIT paper).

use super::dns;
use super::result::SelftestResult;
use crate::RunError;
use serde::Serialize;
use sixbench_engine::dns::DnsSettings;
use sixbench_io::thread::allowed_cores;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{Measurer, TrialKind, TrialSpec};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The rates in the paper's tables 1 to 3, then those in its table 4.
const RATES: [u64; 8] = [10, 100, 1000, 10_000, 100_000, 200_000, 250_000, 300_000];
/// The queries of a trial are due within one second.
const SECOND_NS: u64 = 1_000_000_000;
const TRIALS: usize = 11;
/// The timeouts in figure 17, in milliseconds.
const TIMEOUTS_MS: [u64; 4] = [200, 100, 50, 25];
/// The self-test of RFC 8219 section 9.2.1 requires all answers within a quarter of the timeout.
const QUARTERS: u64 = 4;

/// The performance of the DNS tester on its own.
#[derive(Serialize)]
pub struct QueryFigures {
    /// The accuracy of sending, for each rate.
    pub sending: Vec<SendingAccuracy>,
    /// The highest rate at which every query was answered in time, for each timeout.
    pub looped: Vec<SelftestResult>,
}

/// The time it took to send the queries of one second at one rate. It ends one interval after the last query, so that it is exactly a second if the
/// tester is accurate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SendingAccuracy {
    /// The intended number of queries per second, which is also the number of queries.
    pub rate: u64,
    /// The smallest number of queries sent in a trial: all of them, unless the tester gave up.
    pub sent: u64,
    /// The mean over the trials in milliseconds.
    pub average_ms: f64,
    /// The standard deviation over the trials in milliseconds.
    pub deviation_ms: f64,
    /// The shortest time in milliseconds.
    pub minimum_ms: f64,
    /// The longest time in milliseconds.
    pub maximum_ms: f64,
    /// Queries per second, from the average.
    pub real_frequency: f64,
}

impl SendingAccuracy {
    /// Returns the accuracy from the trials at `rate`, each with the number of queries sent and the time it took in milliseconds.
    fn of(rate: u64, trials: &[(u64, f64)]) -> Self {
        let n = trials.len() as f64;
        let times = || trials.iter().map(|(_, ms)| *ms);
        let average_ms = times().sum::<f64>() / n;
        let squares = times().map(|ms| (ms - average_ms).powi(2)).sum::<f64>();
        let sent = trials.iter().map(|(sent, _)| *sent as f64).sum::<f64>() / n;
        Self {
            rate,
            sent: trials.iter().map(|(sent, _)| *sent).min().unwrap_or(0),
            average_ms,
            deviation_ms: (squares / (n - 1.0).max(1.0)).sqrt(),
            minimum_ms: times().fold(f64::INFINITY, f64::min),
            maximum_ms: times().fold(0.0, f64::max),
            real_frequency: sent * 1000.0 / average_ms,
        }
    }
}

impl fmt::Display for SendingAccuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate, sent, average_ms, deviation_ms, minimum_ms, maximum_ms, real_frequency } = self;
        write!(
            f,
            "{rate:>9} {average_ms:>10.2} {deviation_ms:>10.2} {minimum_ms:>10.2} {maximum_ms:>10.2} {real_frequency:>12.2}"
        )?;
        if sent < rate { write!(f, "  gave up after {sent} queries") } else { Ok(()) }
    }
}

/// The column headings for [`SendingAccuracy`].
pub const SENDING_COLUMNS: &str = "queries/s    average  deviation    minimum    maximum    frequency";

/// Measures both over the loopback interface, with client and authority on a core each, or on a shared one. Takes about three minutes.
///
/// # Errors
/// The tester cannot be set up, or `stop` was set.
pub(super) fn figures(stop: &Arc<AtomicBool>) -> Result<QueryFigures, RunError> {
    let sending = RATES.iter().map(|rate| accuracy(*rate, stop)).collect::<Result<_, _>>()?;
    let hosts: [(&str, IpAddr); 2] = [("IPv4", Ipv4Addr::LOCALHOST.into()), ("IPv6", Ipv6Addr::LOCALHOST.into())];
    let mut looped = Vec::new();
    for (family, host) in hosts {
        for timeout_ms in TIMEOUTS_MS {
            let timeout_ns = QUARTERS * timeout_ms * 1_000_000;
            let settings = DnsSettings { timeout_ns, window_ns: timeout_ns, ..dns::settings() };
            let what = format!("DNS over loopback, {family}, all answers within {timeout_ms} ms");
            looped.push(dns::looped(what, host, &two_cores()?, settings, stop)?);
        }
    }
    Ok(QueryFigures { sending, looped })
}

fn two_cores() -> Result<Vec<u32>, RunError> {
    Ok(allowed_cores()?.into_iter().take(2).collect())
}

/// Repeatedly sends the queries of one second.
fn accuracy(rate: u64, stop: &Arc<AtomicBool>) -> Result<SendingAccuracy, RunError> {
    let mut tester = dns::tester(Ipv6Addr::LOCALHOST.into(), &two_cores()?, dns::settings(), stop)?;
    let spec = TrialSpec { kind: TrialKind::Queries, ..TrialSpec::constant(FrameRate(rate), SECOND_NS) };
    let mut trials = Vec::with_capacity(TRIALS);
    for _ in 0..TRIALS {
        let result = tester.measure(&spec)?;
        let sent = result.directions.first().map_or((0, 0), |queries| (queries.offered, queries.sending.took_ns));
        let interval_ns = SECOND_NS as f64 / rate as f64;
        trials.push((sent.0, (sent.1 as f64 + interval_ns) / 1e6));
    }
    Ok(SendingAccuracy::of(rate, &trials))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tester_that_takes_longer_has_the_frequency_of_the_papers_table_4() {
        let trials = [(300_000, 1172.25), (300_000, 1176.69), (300_000, 1181.13)];
        let row = SendingAccuracy::of(300_000, &trials);
        assert_eq!((row.minimum_ms, row.maximum_ms, row.sent), (1172.25, 1181.13, 300_000));
        assert!((row.average_ms - 1176.69).abs() < 1e-6 && (row.deviation_ms - 4.44).abs() < 1e-6, "{row:?}");
        assert!((row.real_frequency - 254_952.0).abs() < 1.0, "{row:?}");
        assert_eq!(row.to_string().split_whitespace().count(), SENDING_COLUMNS.split_whitespace().count());
    }

    #[test]
    fn a_tester_that_gave_up_says_after_how_many_queries() {
        let row = SendingAccuracy::of(1000, &[(600, 1100.0), (1000, 1000.0)]);
        assert!(row.to_string().ends_with("gave up after 600 queries"), "{row}");
    }
}
