//! The connections of a stateful device around a trial (RFC 9693): none before it, counted during it, and deleted after it if that is measured.

use crate::error::{PlanError, RunError};
use crate::request::SessionRequest;
use sixbench_engine::ConnectionCounter;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::trial::{Fault, TrialKind, TrialResult};
use sixbench_testbed::{ConnectionTable, Devices, Shell};
use std::time::Duration;

/// The connection tracking table of a device and its known properties.
pub(crate) struct TrackedConnections {
    table: ConnectionTable,
    recipe: String,
    /// The minimum time for which the device keeps an idle connection, or `None` if its recipe has no command for it.
    timeout: Option<Duration>,
}

impl TrackedConnections {
    pub(crate) fn new(
        request: &SessionRequest<'_>,
        dut: Option<&Devices>,
        here: &Shell,
    ) -> Result<Option<Self>, RunError> {
        let Some(state) = request.recipe.state.as_ref() else {
            return Ok(None);
        };
        let of_dut = dut.and_then(Devices::connections);
        let table = of_dut.unwrap_or_else(|| {
            ConnectionTable::of_a_manual_device(
                &request.recipe.name,
                state,
                here,
                request.table_size,
            )
        });
        let timeout = table.timeout()?;
        Ok(Some(Self {
            table,
            recipe: request.recipe.name.clone(),
            timeout,
        }))
    }

    /// Returns a function with which the tester counts the connections during a trial.
    pub(crate) fn counter(&self) -> ConnectionCounter {
        let table = self.table.clone();
        Box::new(move || table.count().map_err(|error| error.to_string()))
    }

    /// Deletes all connections left by the previous trial, and returns the number counted then.
    pub(crate) fn empty(&self) -> Result<Option<u64>, RunError> {
        Ok(self.table.empty()?)
    }

    /// Completes a trial: tears connections down, if that is measured, and adds faults if the trial took longer than the timeout or the DUT's count
    /// differs from the tester's.
    pub(crate) fn settle(
        &self,
        result: &mut TrialResult,
        before: Option<u64>,
        took: Duration,
    ) -> Result<(), RunError> {
        if let Some(timeout) = self
            .timeout
            .filter(|timeout| took > *timeout && result.phase_one_result().is_some())
        {
            let [took_ms, timeout_ms] = [took, timeout].map(|time| time.as_millis() as u64);
            result.faults.push(Fault::LongerThanTimeout {
                took_ms,
                timeout_ms,
            });
        }
        let is_tear_down = matches!(result.spec.kind, TrialKind::TearDown { .. });
        // If a connection is lost again, because a full table makes room for others, that is the DUT's loss, which validation detects.
        let is_lost = result.spec.kind.connections().is_some()
            && result.directions.iter().any(|d| d.not_received() > 0);
        if let Some(connections) = result.phase_one_result_mut() {
            connections.counted_before = before;
            if is_tear_down && connections.lost() == 0 {
                connections.torn_down_ns = Some(self.table.tear_down()?.as_nanos() as u64);
            }
            let differing = if is_lost {
                Vec::new()
            } else {
                connections.faults()
            };
            result.faults.extend(differing);
        }
        Ok(())
    }

    /// Checks that table size and timeout are sufficient for the test, as far as they are known.
    pub(crate) fn check(&self, test: &Test, plan: &Plan) -> Result<(), RunError> {
        let Some(stateful) = test.stateful else {
            return Ok(());
        };
        let limit = self.table.limit()?;
        if let Some(limit) = limit.filter(|limit| *limit < stateful.connections) {
            return Err(RunError::Plan(PlanError(format!(
                "test {}: the table of {} holds {limit} connections, but the test opens {}; raise `table-size` or lower `{}`",
                test.name,
                self.recipe,
                stateful.connections,
                test.measure.result_kind().connections_key()
            ))));
        }
        // A search for rates includes low ones, so each of its trials is judged instead.
        let needed_ns = if test.measure.family().ends_with_phase_one() {
            0
        } else {
            needed_ns(test, plan)
        };
        match self
            .timeout
            .filter(|timeout| timeout.as_nanos() < u128::from(needed_ns))
        {
            Some(timeout) => Err(RunError::Plan(PlanError(format!(
                "test {}: {} keeps an idle connection for {} s, but phase 1, the delay and phase 2 take up to {:.1} s \
                 together, so connections would be opened again in phase 2; raise its timeout (in the setup of its recipe), or \
                 shorten the trial",
                test.name,
                self.recipe,
                timeout.as_secs(),
                needed_ns as f64 / 1e9
            )))),
            None => Ok(()),
        }
    }
}

/// Returns the time in nanoseconds from the first frame of phase 1 to the last of phase 2, for the longest trial of the test.
fn needed_ns(test: &Test, plan: &Plan) -> u64 {
    let before_ns = test
        .stateful
        .map_or(0, |stateful| stateful.delay_ns(stateful.phase_one()));
    before_ns + test.longest_trial_ns(plan) + plan.trial.residual_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::{Load, Measure, PdvStream, Profile, Reset, Stateful};
    use sixbench_method::terms::{FrameRate, SECOND_NS};
    use sixbench_method::trial::TrialSettings;
    use sixbench_plan::{standard_search, standard_trial};

    /// Returns the seconds that a test of this measure needs. Trials of a search take 10 s, and the residual time is 2 s.
    fn needed_s(measure: Measure, stateful: Option<Stateful>) -> f64 {
        let trial = TrialSettings {
            duration_ns: 10 * SECOND_NS,
            residual_ns: 2 * SECOND_NS,
            ..standard_trial(Profile::Smoke)
        };
        let test = Test {
            measure,
            stateful,
            ..Test::new("t", "device")
        };
        let plan = Plan {
            name: "plan".to_owned(),
            profile: Profile::Custom,
            seed: 1,
            trial,
            search: standard_search(Profile::Smoke),
            patience_ns: Plan::USUAL_PATIENCE_NS,
            link_rate: None,
            interleave: false,
            exports: Vec::new(),
            reference: None,
            tests: vec![test],
        };
        needed_ns(&plan.tests[0], &plan) as f64 / SECOND_NS as f64
    }

    #[test]
    fn a_connection_must_last_from_the_first_frame_of_phase_1_to_the_last_of_phase_2() {
        // Phase 1 sends for 5 s, followed by two timeouts T of 0.5 s each (RFC 9693).
        let stateful = Stateful::new(10_000, FrameRate(2_000), SECOND_NS / 2);
        assert_eq!(
            needed_s(Measure::Throughput, Some(stateful)),
            6.0 + 10.0 + 2.0
        );
        let settled = Stateful {
            delay_ns: Some(20 * SECOND_NS),
            ..stateful
        };
        assert_eq!(
            needed_s(Measure::Throughput, Some(settled)),
            20.0 + 10.0 + 2.0
        );
        assert_eq!(needed_s(Measure::Throughput, None), 10.0 + 2.0);
    }

    #[test]
    fn the_longest_trial_of_the_test_counts_with_all_that_it_sends() {
        let load = Load::OfThroughput(0.5);
        let stream = |duration_ns| Measure::Pdv(PdvStream { load, duration_ns });
        assert_eq!(needed_s(stream(120 * SECOND_NS), None), 120.0 + 2.0);
        assert_eq!(
            needed_s(stream(4 * SECOND_NS), None),
            10.0 + 2.0,
            "the search for its load takes longer"
        );
        let reset = Measure::Reset(Reset {
            load,
            before_ns: 15 * SECOND_NS,
            after_ns: 40 * SECOND_NS,
        });
        assert_eq!(needed_s(reset, None), 15.0 + 40.0 + 2.0);
    }
}
