//! The search of the self-test: the highest rate of which the tester is capable, to a tenth. One trial per rate is enough: the tester itself is
//! tested, and a disturbance during the trial could also occur in a campaign.

use super::client::QueryCounts;
use super::tally::QueryTally;
use crate::pacing::fault::TOLERANCE;
use sixbench_method::search::{Bounds, LoadRange};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::dns::CertificateTrial;

/// The search ends when the distance of the bounds is this share of the upper one.
pub(super) const WIDTH: f64 = 0.1;
/// The number of attempts at a rate, as the machine may have been busy during the first.
const TRIES: u32 = 2;
/// The least time by which sending may exceed its nominal time, if that is more than the tolerance of all trials: this only searches for a rate,
/// and the trials at that rate have their own tolerance.
const LEAST_ALLOWED_NS: u64 = 1_000_000;

/// The search for the certified rate: the rates that are known to pass and to fail, up to the highest rate that is needed.
pub(super) struct CertificateSearch {
    range: LoadRange,
    known: Bounds,
    tries: u32,
}

impl CertificateSearch {
    /// Creates the search before any trial; rates above `most` are not needed. It ends when the distance of the bounds is `width` of the upper one.
    pub(super) fn new(most: u64, width: f64) -> Self {
        // Any tester can send no queries, so the binary search goes down to one query per second and no minimum has to be tried.
        let known = Bounds {
            lower: Some(FrameRate(0)),
            upper: None,
        };
        Self {
            range: LoadRange::new(FrameRate(1), FrameRate(most), width),
            known,
            tries: 0,
        }
    }

    /// Returns the rate to try next, starting with the highest: a tester that passes at it needs no other.
    pub(super) fn next(&self) -> Option<u64> {
        self.range.halve(self.known).map(|rate| rate.0)
    }

    /// Records the result of a trial at `rate`.
    pub(super) fn learn(&mut self, rate: u64, trial: &CertificateTrial) {
        self.tries += 1;
        // Far above the possible rates a second attempt is a waste: the machine may be to blame only if some rate has passed, or if everything
        // was answered and just the pace was not kept.
        let is_doubtful = self.passed() > 0 || trial.in_time == trial.sent;
        match trial.passed() {
            true => self.known.lower = Some(FrameRate(rate)),
            false if self.tries < TRIES && is_doubtful => return,
            false => self.known.upper = Some(FrameRate(rate)),
        }
        self.tries = 0;
    }

    /// Returns the highest rate that passed; 0 if there is none.
    pub(super) fn passed(&self) -> u64 {
        self.known.lower.map_or(0, |rate| rate.0)
    }
}

fn is_paced(part: &QueryCounts) -> bool {
    let nominal_ns = part.sending.nominal_ns;
    part.sending.took_ns
        <= nominal_ns + ((nominal_ns as f64 * TOLERANCE) as u64).max(LEAST_ALLOWED_NS)
}

/// Returns the summary of a trial of `queries` queries at `rate`.
pub(super) fn judged(rate: u64, queries: u64, counted: &[QueryCounts]) -> CertificateTrial {
    let mut tally = QueryTally::new(1);
    for part in counted {
        tally.add(&part.tally);
    }
    CertificateTrial {
        rate,
        sent: tally.answers.sent,
        // A tester that reads an answer too late is not capable of the rate, even if the answer came in time.
        in_time: tally.answers.right - tally.read_late,
        is_paced: tally.answers.sent == queries && counted.iter().all(is_paced),
        slowest_ns: tally.delays.summary().map_or(0, |delay| delay.max_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(most: u64, capacity: u64) -> (u64, u32) {
        let (mut bounds, mut trials) = (CertificateSearch::new(most, WIDTH), 0);
        while let Some(rate) = bounds.next() {
            let in_time = rate.min(capacity);
            bounds.learn(
                rate,
                &CertificateTrial {
                    rate,
                    sent: rate,
                    in_time,
                    is_paced: true,
                    slowest_ns: 1,
                },
            );
            trials += 1;
        }
        (bounds.passed(), trials)
    }

    #[test]
    fn a_tester_fit_for_the_highest_rate_needs_one_trial() {
        assert_eq!(search(100_000, 1_000_000), (100_000, 1));
    }

    #[test]
    fn halving_begins_at_nothing_and_ends_at_one_query_per_second() {
        let (mut bounds, mut tried) = (CertificateSearch::new(1001, WIDTH), Vec::new());
        while let Some(rate) = bounds.next() {
            tried.push(rate);
            bounds.learn(
                rate,
                &CertificateTrial {
                    rate,
                    sent: rate,
                    in_time: 0,
                    is_paced: true,
                    slowest_ns: 1,
                },
            );
        }
        assert_eq!(tried, [1001, 500, 250, 125, 62, 31, 15, 7, 3, 1]);
    }

    #[test]
    fn a_rate_that_was_answered_but_not_paced_is_tried_again() {
        let mut bounds = CertificateSearch::new(1000, WIDTH);
        let trial = |is_paced| CertificateTrial {
            rate: 2200,
            sent: 2200,
            in_time: 2200,
            is_paced,
            slowest_ns: 1,
        };
        bounds.learn(1000, &trial(false));
        assert_eq!(bounds.next(), Some(1000));
        bounds.learn(1000, &trial(true));
        assert_eq!((bounds.next(), bounds.passed()), (None, 1000));
    }

    #[test]
    fn a_limit_is_found_to_a_tenth() {
        let (passed, trials) = search(1_000_000, 123_456);
        assert!(
            (110_000..=123_456).contains(&passed) && trials < 14,
            "{passed} after {trials}"
        );
        assert_eq!(search(1_000, 0).0, 0);
    }
}
