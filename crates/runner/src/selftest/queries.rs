//! Measures how accurately the DNS tester sends, in the form of the tables in dns64perf++'s paper (D. Bakai, G. Lencse, IEICE Trans. Commun.
//! E100-B, 2017), and how many queries it can loop to its own authority, depending on the timeout for an answer (figure 17 of the SIIT paper).

use super::dns::{self, LoopPath, LoopedTrials};
use super::result::SelftestResult;
use crate::RunError;
use serde::Serialize;
use sixbench_engine::dns::DnsSettings;
use sixbench_io::thread::allowed_cores;
use sixbench_method::terms::{FrameRate, SECOND_NS};
use sixbench_method::trial::{Measurer, TrialKind, TrialSpec};
use sixbench_testbed::existing::OwnAddresses;
use sixbench_testbed::{Hosts, Interfaces, Shell, sweep};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The rates in the paper's tables 1 to 3, then those in its table 4.
const RATES: [u64; 8] = [10, 100, 1000, 10_000, 100_000, 200_000, 250_000, 300_000];
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
    fn from_trials(rate: u64, trials: &[(u64, f64)]) -> Self {
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
        let Self {
            rate,
            sent,
            average_ms,
            deviation_ms,
            minimum_ms,
            maximum_ms,
            real_frequency,
        } = self;
        write!(
            f,
            "{rate:>9} {average_ms:>10.2} {deviation_ms:>10.2} {minimum_ms:>10.2} {maximum_ms:>10.2} {real_frequency:>12.2}"
        )?;
        if sent < rate {
            write!(f, "  gave up after {sent} queries")
        } else {
            Ok(())
        }
    }
}

/// The column headings for [`SendingAccuracy`].
pub const SENDING_COLUMNS: &str =
    "queries/s    average  deviation    minimum    maximum    frequency";

/// How queries are looped to the tester's own authority.
#[derive(Clone, Debug)]
pub struct QueryLoop {
    /// The time of sending in each trial, nanoseconds; the paper's is 60 s.
    pub duration_ns: u64,
    /// The number of searches for each result, which is their median; the paper's is 20.
    pub times: NonZeroU32,
    /// Two interfaces of this machine that a cable joins; `None` for the loopback interface.
    pub between: Option<[String; 2]>,
}

impl Default for QueryLoop {
    fn default() -> Self {
        Self {
            duration_ns: dns::DURATION_NS,
            times: NonZeroU32::MIN,
            between: None,
        }
    }
}

/// Measures the accuracy over the loopback interface, and the highest rates over it or between two interfaces, with client and authority on a core each,
/// or on a shared one. Takes about three minutes with the default settings.
///
/// # Errors
/// The tester or the interfaces cannot be set up, or `stop` was set.
pub(super) fn figures(of: &QueryLoop, stop: &Arc<AtomicBool>) -> Result<QueryFigures, RunError> {
    let sending = RATES
        .iter()
        .map(|rate| accuracy(*rate, stop))
        .collect::<Result<_, _>>()?;
    let looped = match &of.between {
        None => looped(
            [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].map(LoopPath::loopback),
            of,
            stop,
        )?,
        Some([left, right]) => {
            let shell = Shell::new().stopped_by(stop.clone());
            sweep(&shell)?;
            let interfaces = Interfaces::take(
                &shell,
                "selftest",
                [left, right],
                &[],
                OwnAddresses::Refused,
            )?;
            let hosts = Hosts::settle_joined(&interfaces, &two_cores()?)?;
            interfaces.wait_for_carriers()?;
            let name = format!("{left} to {right}");
            let path = |host| LoopPath {
                namespaces: Some(hosts.namespaces()),
                host,
                name: name.clone(),
            };
            looped(Hosts::joined().map(path), of, stop)?
        }
    };
    Ok(QueryFigures { sending, looped })
}

/// Measures the highest rate over each path, for each timeout in the figure.
fn looped(
    paths: [LoopPath; 2],
    of: &QueryLoop,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<SelftestResult>, RunError> {
    let mut results = Vec::new();
    for path in paths {
        let family = if path.host.is_ipv4() { "IPv4" } else { "IPv6" };
        for timeout_ms in TIMEOUTS_MS {
            let timeout_ns = QUARTERS * timeout_ms * 1_000_000;
            let settings = DnsSettings {
                timeout_ns,
                window_ns: timeout_ns,
                ..dns::settings()
            };
            let what = format!(
                "DNS over {}, {family}, all answers within {timeout_ms} ms",
                path.name
            );
            let trials = LoopedTrials {
                settings,
                duration_ns: of.duration_ns,
                times: of.times,
            };
            results.push(dns::looped(what, &path, &two_cores()?, &trials, stop)?);
        }
    }
    Ok(results)
}

fn two_cores() -> Result<Vec<u32>, RunError> {
    Ok(allowed_cores()?.into_iter().take(2).collect())
}

/// Repeatedly sends the queries of one second.
fn accuracy(rate: u64, stop: &Arc<AtomicBool>) -> Result<SendingAccuracy, RunError> {
    let mut tester = dns::tester(
        &LoopPath::loopback(Ipv6Addr::LOCALHOST.into()),
        &two_cores()?,
        dns::settings(),
        stop,
    )?;
    let spec = TrialSpec {
        kind: TrialKind::Queries,
        // The queries of a trial are due within one second.
        ..TrialSpec::constant(FrameRate(rate), SECOND_NS)
    };
    let mut trials = Vec::with_capacity(TRIALS);
    for _ in 0..TRIALS {
        let result = tester.measure(&spec)?;
        let sent = result
            .directions
            .first()
            .map_or((0, 0), |queries| (queries.offered, queries.sending.took_ns));
        let interval_ns = SECOND_NS as f64 / rate as f64;
        trials.push((sent.0, (sent.1 as f64 + interval_ns) / 1e6));
    }
    Ok(SendingAccuracy::from_trials(rate, &trials))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tester_that_takes_longer_has_the_frequency_of_the_papers_table_4() {
        let trials = [(300_000, 1172.25), (300_000, 1176.69), (300_000, 1181.13)];
        let row = SendingAccuracy::from_trials(300_000, &trials);
        assert_eq!(
            (row.minimum_ms, row.maximum_ms, row.sent),
            (1172.25, 1181.13, 300_000)
        );
        assert!(
            (row.average_ms - 1176.69).abs() < 1e-6 && (row.deviation_ms - 4.44).abs() < 1e-6,
            "{row:?}"
        );
        assert!((row.real_frequency - 254_952.0).abs() < 1.0, "{row:?}");
        assert_eq!(
            row.to_string().split_whitespace().count(),
            SENDING_COLUMNS.split_whitespace().count()
        );
    }

    #[test]
    fn a_tester_that_gave_up_says_after_how_many_queries() {
        let row = SendingAccuracy::from_trials(1000, &[(600, 1100.0), (1000, 1000.0)]);
        assert!(
            row.to_string().ends_with("gave up after 600 queries"),
            "{row}"
        );
    }
}
