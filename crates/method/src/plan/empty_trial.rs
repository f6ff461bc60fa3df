//! Trials so short, at such low loads, that they would send nothing. They lose nothing, so they would pass without meaning anything.

use super::{Plan, Test};
use crate::measures::{Family, Load, SendingTime};
use crate::terms::{FrameRate, SECOND_NS};
use crate::units::{show_ns, show_rate};
use std::fmt;

/// A trial of a test that would send nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyTrial {
    /// Its rate: frames, connections or queries per second.
    pub rate: FrameRate,
    /// Its sending time in nanoseconds.
    pub duration_ns: u64,
    /// True if it belongs to a search, at the lowest rate of the plan.
    pub is_of_search: bool,
}

impl fmt::Display for EmptyTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rate, duration_ns, ..
        } = *self;
        let least = FrameRate(SECOND_NS.div_ceil(duration_ns.max(1)));
        write!(
            f,
            "a trial of {} at {}/s would send nothing, and pass: raise the rate to at least {}/s, or make the trial longer",
            show_ns(duration_ns),
            show_rate(rate),
            least.0
        )
    }
}

impl Test {
    /// Returns a trial of this test that would send nothing, or `None` if there is none.
    pub fn empty_trial(&self, plan: &Plan) -> Option<EmptyTrial> {
        // The first stage of MLRsearch has trials of one second (`goal::initial`), so each lowest rate must send something in that time.
        let search =
            (self.measure.is_searched_rate() || self.measure.is_at_throughput()).then(|| {
                EmptyTrial {
                    rate: plan.search.minimum,
                    duration_ns: plan.trial.duration_ns.min(SECOND_NS),
                    is_of_search: true,
                }
            });
        // If the load is a number of connections, it determines the time.
        let is_timed = self.measure.sending() != SendingTime::UntilConnected;
        let own = || {
            Some(EmptyTrial {
                rate: self.lowest_own_rate(plan)?,
                duration_ns: self.sending_ns(plan)?,
                is_of_search: false,
            })
        };
        search
            .filter(|_| is_timed)
            .into_iter()
            .chain(own())
            .find(|trial| trial.rate.frames_in(trial.duration_ns) == 0)
    }

    /// Returns the lowest rate that the test itself asks for, or the lowest possible one if it is a share of the throughput.
    fn lowest_own_rate(&self, plan: &Plan) -> Option<FrameRate> {
        match self.measure.family() {
            // Requests are sent at one rate, which follows from the number of clients.
            Family::Requests => {
                return Some(self.measure.loads().highest_rate(&self.context(plan)));
            }
            Family::Vectors => return None,
            Family::Frames | Family::PhaseOne | Family::Tcp | Family::Queries => {}
        }
        match self.measure.load() {
            Some(Load::Rate(rate)) => Some(rate),
            Some(Load::OfThroughput(share)) => Some(FrameRate(
                (plan.search.minimum.0 as f64 * share.min(1.0)) as u64,
            )),
            None => self.measure.loads().listed().iter().copied().min(),
        }
    }

    /// Returns the sending time of its trials in nanoseconds; `None` if it depends on how much they send.
    fn sending_ns(&self, plan: &Plan) -> Option<u64> {
        match self.measure.sending() {
            SendingTime::AsPlanned => Some(plan.trial.duration_ns),
            SendingTime::For(duration_ns) => Some(duration_ns),
            SendingTime::AtMost(_) | SendingTime::UntilConnected => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::{Measure, PdvStream, ResponseTime};
    use crate::plan::{DnsRole, DnsTest, LossScan, Profile};
    use crate::search::{CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings};
    use crate::terms::LossRatio;
    use crate::trial::TrialSettings;

    /// Returns a plan with one test, whose searches go down to 100/s in trials of this many milliseconds.
    fn plan(measure: Measure, trial_ms: u64) -> Plan {
        let trial = TrialSettings {
            duration_ns: trial_ms * 1_000_000,
            residual_ns: 0,
            rest_ns: 0,
            frame_timeout_ns: 0,
            stall_ns: 1,
        };
        let search = SearchSettings {
            method: SearchMethod::Binary,
            minimum: FrameRate(100),
            maximum: FrameRate(1_000),
            width: 0.01,
            goals: vec![LossRatio::ZERO],
            max_invalid: 1,
            start: RepetitionStart::Cold,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        };
        Plan::new(
            "p",
            Profile::Smoke,
            trial,
            search,
            vec![Test {
                measure,
                ..Test::new("t", "dut")
            }],
        )
    }

    fn rate_of_empty(plan: &Plan) -> Option<u64> {
        plan.tests[0].empty_trial(plan).map(|trial| trial.rate.0)
    }

    #[test]
    fn a_search_whose_lowest_trial_sends_less_than_one_query_has_an_empty_trial() {
        for measure in [
            Measure::Dns(DnsTest::required(DnsRole::Dns64)),
            Measure::Throughput,
        ] {
            assert_eq!(
                rate_of_empty(&plan(measure.clone(), 9)),
                Some(100),
                "0.9 of a query"
            );
            assert_eq!(rate_of_empty(&plan(measure, 10)), None);
        }
        let told = plan(Measure::Throughput, 9);
        let told = told.tests[0]
            .empty_trial(&told)
            .expect("an empty trial")
            .to_string();
        assert_eq!(
            told,
            "a trial of 9ms at 100/s would send nothing, and pass: raise the rate to at least 112/s, or make the trial longer"
        );
    }

    #[test]
    fn rates_and_durations_of_a_tests_own_are_looked_at_as_well() {
        let scan = |rate| {
            Measure::FrameLossRate(LossScan {
                rates: vec![FrameRate(1_000), FrameRate(rate)],
                until_lossless: false,
            })
        };
        assert_eq!(
            (
                rate_of_empty(&plan(scan(99), 10)),
                rate_of_empty(&plan(scan(100), 10))
            ),
            (Some(99), None)
        );
        let pdv = |load, duration_ns| Measure::Pdv(PdvStream { load, duration_ns });
        assert_eq!(
            rate_of_empty(&plan(pdv(Load::Rate(FrameRate(10)), 90_000_000), 1)),
            Some(10)
        );
        assert_eq!(
            rate_of_empty(&plan(pdv(Load::OfThroughput(0.5), 10_000_000), 1_000)),
            Some(50),
            "if the throughput is 100/s"
        );
        assert_eq!(
            rate_of_empty(&plan(pdv(Load::OfThroughput(0.5), 20_000_000), 1_000)),
            None
        );
        let clients = |count| {
            let response = ResponseTime {
                rate_per_client: FrameRate(10),
                duration_ns: 20_000_000,
                outstanding: None,
            };
            let mut plan = plan(Measure::ResponseTime(response), 1_000);
            plan.tests[0].traffic.subscribers = Some(count);
            rate_of_empty(&plan)
        };
        assert_eq!((clients(4), clients(5)), (Some(40), None));
    }
}
