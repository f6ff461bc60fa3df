//! The largest trial that a test may ask for, known before anything is measured: its duration, and the maximum number of frames.

use super::procedure::Conditions;
use super::{Measure, SendingTime};
use crate::plan::{Plan, Test};
use crate::trial::{TrialKind, TrialSpec};

impl Measure {
    /// Returns the sending time of the measure's longest trial, in nanoseconds; `searched_ns` is that of the trials of a search.
    fn longest_trial_ns(&self, searched_ns: u64) -> u64 {
        let own_ns = match self.sending() {
            SendingTime::AsPlanned => searched_ns,
            SendingTime::For(ns) | SendingTime::AtMost(ns) => ns,
            // Determined by the number of connections instead.
            SendingTime::UntilConnected => 0,
        };
        // These measures search for the load first.
        if self.is_at_throughput() {
            own_ns.max(searched_ns)
        } else {
            own_ns
        }
    }
}

impl Test {
    /// Returns the sending time of the longest trial, in nanoseconds, without phase 1 of a stateful test and the wait for residual frames.
    pub fn longest_trial_ns(&self, plan: &Plan) -> u64 {
        self.largest_trial(plan).duration_ns
    }

    /// Returns a trial that is at least as long, and has at least as high a rate, as any trial of the test.
    pub fn largest_trial(&self, plan: &Plan) -> TrialSpec {
        let measure = &self.measure;
        let context = self.context(plan);
        let rate = measure.loads().highest_rate(&context);
        let kind = measure.largest_kind(self.stateful);
        let longest_ns = measure.longest_trial_ns(context.trial.duration_ns);
        let of_connections = |connections| TrialSpec {
            kind,
            ..TrialSpec::burst(rate, connections)
        };
        match kind {
            TrialKind::Establish { connections, .. }
            | TrialKind::TearDown { connections }
            | TrialKind::TcpCapacity { connections } => of_connections(connections),
            TrialKind::Constant => {
                Conditions::new(&context).apply(TrialSpec::constant(rate, longest_ns))
            }
            kind => {
                let outstanding = measure.loads().most_outstanding(&context);
                TrialSpec {
                    kind,
                    outstanding,
                    ..TrialSpec::constant(rate, longest_ns)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{
        Latency, Load, LossScan, PdvStream, Profile, Recovery, Reset, ResponseTime, Stateful,
    };
    use crate::search::{CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings};
    use crate::terms::{FrameRate, LossRatio, SECOND_NS};
    use crate::trial::TrialSettings;

    /// Returns a plan with a search up to 1 M frames/s by trials of 10 s.
    fn plan(measure: Measure) -> Plan {
        let test = Test {
            measure,
            ..Test::new("test", "device")
        };
        Plan {
            name: "plan".into(),
            profile: Profile::Custom,
            seed: 1,
            trial: TrialSettings {
                duration_ns: 10 * SECOND_NS,
                residual_ns: 0,
                rest_ns: 0,
                frame_timeout_ns: 0,
                stall_ns: 1,
            },
            search: SearchSettings {
                method: SearchMethod::Binary,
                minimum: FrameRate(1),
                maximum: FrameRate(1_000_000),
                width: 0.01,
                goals: vec![LossRatio::ZERO],
                max_invalid: 3,
                start: RepetitionStart::Cold,
                estimate: CapacityEstimate::Bounded,
                certainty: None,
            },
            patience_ns: Plan::USUAL_PATIENCE_NS,
            link_rate: None,
            interleave: false,
            exports: Vec::new(),
            reference: None,
            tests: vec![test],
        }
    }

    fn longest_s(measure: Measure) -> u64 {
        let plan = plan(measure);
        plan.tests[0].longest_trial_ns(&plan) / SECOND_NS
    }

    fn frames(measure: Measure) -> u64 {
        let plan = plan(measure);
        plan.tests[0].largest_trial(&plan).frames()
    }

    #[test]
    fn a_reset_lasts_as_long_as_the_time_before_and_after_it() {
        let reset = |load| {
            Measure::Reset(Reset {
                load,
                before_ns: 15 * SECOND_NS,
                after_ns: 30 * SECOND_NS,
            })
        };
        assert_eq!(longest_s(reset(Load::OfThroughput(1.0))), 45);
        assert_eq!(longest_s(reset(Load::Rate(FrameRate(1)))), 45);
        let recovery = Recovery {
            overload: 1.1,
            duration_ns: 60 * SECOND_NS,
            after_ns: 20 * SECOND_NS,
        };
        assert_eq!(longest_s(Measure::Recovery(recovery)), 80);
    }

    #[test]
    fn the_search_before_a_measurement_counts_and_that_of_a_given_rate_does_not() {
        let at = |load| {
            Measure::Pdv(PdvStream {
                load,
                duration_ns: SECOND_NS,
            })
        };
        assert_eq!(
            (
                longest_s(at(Load::OfThroughput(1.0))),
                longest_s(at(Load::Rate(FrameRate(5))))
            ),
            (10, 1)
        );
        assert_eq!(
            (
                frames(at(Load::OfThroughput(1.0))),
                frames(at(Load::Rate(FrameRate(5))))
            ),
            (10_000_000, 5)
        );
        let latency = Latency {
            load: Load::Rate(FrameRate(7)),
            duration_ns: 120 * SECOND_NS,
            tag_after_ns: 0,
            tagged: 1,
        };
        assert_eq!(frames(Measure::Latency(latency)), 840);
    }

    #[test]
    fn the_largest_trial_has_the_frames_of_the_highest_rate() {
        assert_eq!(frames(Measure::Throughput), 10_000_000);
        let rates = vec![FrameRate(10), FrameRate(30), FrameRate(20)];
        assert_eq!(
            frames(Measure::FrameLossRate(LossScan {
                rates,
                until_lossless: false
            })),
            300
        );
        let response = ResponseTime {
            rate_per_client: FrameRate(100),
            duration_ns: 3 * SECOND_NS,
            outstanding: None,
        };
        assert_eq!(frames(Measure::ResponseTime(response)), 300);
    }

    #[test]
    fn requests_that_wait_are_those_of_all_clients() {
        let outstanding = std::num::NonZeroU32::new(8);
        let response = ResponseTime {
            rate_per_client: FrameRate(100),
            duration_ns: 3 * SECOND_NS,
            outstanding,
        };
        let plan = plan(Measure::ResponseTime(response));
        assert_eq!(plan.tests[0].largest_trial(&plan).outstanding, Some(8));
    }

    #[test]
    fn connections_are_as_many_as_the_test_opens() {
        let mut plan = plan(Measure::EstablishmentRate);
        plan.tests[0].stateful = Some(Stateful::new(400_000, FrameRate(1_000), 0));
        let trial = plan.tests[0].largest_trial(&plan);
        assert_eq!(
            (
                trial.frames(),
                trial.opens().map(|phase_one| phase_one.connections)
            ),
            (400_000, Some(400_000))
        );
        plan.tests[0].measure = Measure::Throughput;
        let trial = plan.tests[0].largest_trial(&plan);
        assert_eq!(
            (
                trial.frames(),
                trial.opens().map(|phase_one| phase_one.connections)
            ),
            (10_000_000, Some(400_000))
        );
    }
}
