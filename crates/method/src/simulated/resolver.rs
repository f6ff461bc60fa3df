//! A DNS server as the tester sees it: the results of the queries, and which names it had cached.

use crate::terms::FrameRate;
use crate::trial::dns::{Answers, AuthorityCounts, Cache, DnsResult, RttSums};
use crate::trial::{DirectionResult, Fault, TrialOutcome, TrialResult, TrialSpec};

/// The state of the server's cache of names, and the rate that the tester's self-test covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedResolver {
    /// Queries per second for which the tester is certified.
    pub(super) certified: FrameRate,
    /// The percentage of names resolved before the trial.
    pub(super) cached: u8,
    /// The number of correct answers for such names that are no longer in the cache.
    pub(super) forgotten: u64,
}

impl Default for SimulatedResolver {
    fn default() -> Self {
        Self {
            certified: FrameRate(u64::MAX),
            cached: 0,
            forgotten: 0,
        }
    }
}

impl SimulatedResolver {
    /// Returns the trial in which the queries had this result, with the fault of a sender that was too slow.
    pub(super) fn trial(
        &self,
        spec: &TrialSpec,
        asked: DirectionResult,
        slow: Option<Fault>,
    ) -> TrialResult {
        let rate = spec.rate.0;
        let certified = self.certified.0;
        let is_above = rate > certified;
        let asked = if is_above {
            DirectionResult {
                offered: 0,
                received: 0,
                ..asked
            }
        } else {
            asked
        };
        let dns = self.result(&asked);
        let faults = if is_above {
            vec![Fault::AboveCertified { rate, certified }]
        } else {
            slow.into_iter().chain(dns.hits_differ()).collect()
        };
        let dns = Some(Box::new(dns));
        TrialResult {
            outcome: TrialOutcome::Queries(dns),
            ..TrialResult::new(*spec, vec![asked], faults)
        }
    }

    fn result(&self, asked: &DirectionResult) -> DnsResult {
        let (sent, right) = (asked.offered, asked.received);
        let of_cached = |queries: u64| queries * u64::from(self.cached) / 100;
        let forgotten = self.forgotten.min(of_cached(right));
        let observed = of_cached(right) - forgotten;
        let missed = right - observed;
        let mut rtt = RttSums::default();
        asked
            .delays
            .iter()
            .for_each(|bucket| (0..bucket.frames).for_each(|_| rtt.take(bucket.up_to_ns, None)));
        DnsResult {
            server: "2001:db8::53 port 53".to_owned(),
            timeout_ns: 1_000_000_000,
            answers: Answers {
                sent,
                right,
                unanswered: sent - right,
                ..Answers::default()
            },
            rtt,
            existing: 0,
            cache: Cache {
                intended: of_cached(right),
                observed: Some(observed),
                missed: forgotten,
                preloaded: of_cached(sent),
                ..Cache::default()
            },
            authority: Some(AuthorityCounts {
                aaaa: missed,
                a: missed,
                names: missed,
                ..AuthorityCounts::default()
            }),
            certified: Some(self.certified.0).filter(|&rate| rate < u64::MAX),
            ..DnsResult::default()
        }
    }
}
