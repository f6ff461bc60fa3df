//! A stateful trial: phase 1, then the following phases (RFC 9693). Phase 2 never begins unless phase 1 has opened every connection.

use super::StatefulGateway;
use super::conversation::{Conversation, ConversationStep};
use super::mapping::mapping;
use crate::error::MeasureError;
use crate::frames::profile::TrafficProfile;
use crate::frames::tasks::TrialPhase;
use crate::frames::tester::FrameTester;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::{
    Connections, Fault, PhaseOne, TrialKind, TrialOutcome, TrialResult, TrialSpec,
};
use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The most pairs of colliding connections that are reported.
const EXAMPLES: usize = 5;

impl FrameTester {
    /// Runs phase 1 with `phase_one`, and then what `spec` requires.
    pub(crate) fn converse(
        &mut self,
        spec: &TrialSpec,
        phase_one: PhaseOne,
    ) -> Result<TrialResult, MeasureError> {
        let gateway = self
            .profile
            .gateway
            .clone()
            .ok_or(MeasureError::Stateless)?;
        let conversation = Conversation::new(&self.profile, &gateway, phase_one.connections)
            .ok_or_else(|| combinations(&self.profile, &gateway, phase_one.connections))?;
        let began_ns = self.clock.now_ns();
        let opened = self.one_way(&conversation, &gateway, gateway.opens, phase_one)?;
        self.has_delivered |= opened
            .directions
            .iter()
            .any(|d| d.received + d.mistranslated + d.corrupt > 0);
        if !self.has_delivered {
            return Err(nothing_arrived(phase_one.connections, &opened));
        }
        let mut result = self.opened(spec, phase_one, &conversation, opened)?;
        if matches!(spec.kind, TrialKind::TearDown { .. }) {
            return Ok(result);
        }
        // Frames that the sender left out have not opened connections either.
        let missing: u64 = result
            .directions
            .iter()
            .map(|d| d.intended.saturating_sub(d.received))
            .sum();
        match spec.kind {
            TrialKind::Establish { validation, .. } if missing == 0 => {
                self.validate(&gateway, &conversation, validation, &mut result)?;
            }
            TrialKind::Establish { .. } => {}
            _ if missing == 0 => {
                self.wait_until(began_ns + gateway.settings.delay_ns(phase_one))?;
                let delay_ns = self.clock.now_ns() - began_ns;
                self.use_connections(spec, &conversation, &mut result)?;
                if let Some(connections) = result.phase_one_result_mut() {
                    connections.delay_ns = delay_ns;
                }
            }
            _ => give_up_phase_two(phase_one, missing, &mut result),
        }
        let counted_after = self.counted()?;
        if let Some(connections) = result.phase_one_result_mut() {
            connections.counted_after = counted_after;
        }
        Ok(result)
    }

    /// Sends one frame for each connection, in one direction.
    fn one_way(
        &mut self,
        conversation: &Conversation,
        gateway: &StatefulGateway,
        direction: Direction,
        PhaseOne { connections, rate }: PhaseOne,
    ) -> Result<TrialResult, MeasureError> {
        // Of the burst, only the exact number of frames is needed.
        let spec = TrialSpec {
            kind: TrialKind::Constant,
            ..TrialSpec::burst(rate, connections)
        };
        let residual_ns = gateway.settings.timeout_ns;
        let conversation = Some(conversation);
        self.exchange(&TrialPhase {
            spec: &spec,
            loaded: &[direction],
            residual_ns,
            frame_timeout_ns: 0,
            conversation,
            burst: NonZeroU32::MIN,
        })
    }

    /// Returns the result after phase 1.
    fn opened(
        &mut self,
        spec: &TrialSpec,
        phase_one: PhaseOne,
        conversation: &Conversation,
        mut opened: TrialResult,
    ) -> Result<TrialResult, MeasureError> {
        let counted = self.counted()?;
        let (mapping, collisions) = self.on_own_core(|| mapping(conversation))?;
        let mixed_up = |(one, other): &(u64, u64)| {
            let [one, other] = [*one, *other].map(|connection| conversation.describe(connection));
            format!("{one} and {other} have the same four-tuple behind the DUT")
        };
        let mut examples: Vec<String> = collisions.iter().take(EXAMPLES).map(mixed_up).collect();
        if let Some(forward) = opened.directions.first_mut() {
            examples.append(&mut forward.examples);
            // A reply on it would reach the other connection: this one was not established.
            let collided = mapping.collisions.min(forward.received);
            forward.received -= collided;
            forward.mistranslated += collided;
            if collided > 0 {
                *forward
                    .wrong_fields
                    .entry("four-tuple".to_owned())
                    .or_default() += collided;
            }
        }
        let (offered, established) = opened
            .directions
            .first()
            .map_or((0, 0), |forward| (forward.offered, forward.received));
        let icmp_errors = opened
            .directions
            .first()
            .map_or_else(Vec::new, |forward| forward.icmp_errors.clone());
        let connections = Connections {
            offered,
            established,
            rate: phase_one.rate,
            state_table: conversation.table.len(),
            mapping,
            counted,
            icmp_errors,
            examples,
            ..Connections::default()
        };
        Ok(TrialResult {
            spec: *spec,
            outcome: TrialOutcome::Frames(Some(Box::new(connections))),
            ..opened
        })
    }

    /// Runs phase 2, whose directions and faults become those of the result.
    fn use_connections(
        &mut self,
        spec: &TrialSpec,
        conversation: &Conversation,
        result: &mut TrialResult,
    ) -> Result<(), MeasureError> {
        let used = conversation.at(ConversationStep::Use);
        let phase_two = self.exchange(&self.whole(spec, Some(&used)))?;
        result.directions = phase_two.directions;
        result.faults = phase_two.faults;
        Ok(())
    }

    /// Makes the Responder send a frame on every connection that it knows; this is the second direction of the result.
    fn validate(
        &mut self,
        gateway: &StatefulGateway,
        conversation: &Conversation,
        rate: FrameRate,
        result: &mut TrialResult,
    ) -> Result<(), MeasureError> {
        let phase_one = PhaseOne {
            connections: conversation.table.len(),
            rate,
        };
        let back = self.one_way(
            &conversation.at(ConversationStep::Validate),
            gateway,
            gateway.opens.opposite(),
            phase_one,
        )?;
        let lost = back
            .directions
            .iter()
            .flat_map(|direction| direction.examples.iter().cloned());
        if let Some(connections) = result.phase_one_result_mut() {
            connections.examples.extend(lost);
        }
        result.directions.extend(back.directions);
        result.faults.extend(back.faults);
        Ok(())
    }

    fn counted(&mut self) -> Result<Option<u64>, MeasureError> {
        let counted = self.counter.as_mut().map_or(Ok(None), |counter| counter());
        // A request to stop also ends the counter's command.
        counted.map_err(|error| {
            if self.stop.load(Ordering::Relaxed) {
                MeasureError::Interrupted
            } else {
                MeasureError::Counter(error)
            }
        })
    }

    /// Sleeps until a given time of the clock; ends early if the user asks to stop.
    fn wait_until(&self, moment_ns: u64) -> Result<(), MeasureError> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted);
            }
            let left_ns = moment_ns.saturating_sub(self.clock.now_ns());
            if left_ns == 0 {
                return Ok(());
            }
            // In short sleeps, so that a request to stop is noticed.
            std::thread::sleep(Duration::from_nanos(left_ns.min(20_000_000)));
        }
    }
}

/// Returns the error of a first phase in which no frame came back.
fn nothing_arrived(connections: u64, opened: &TrialResult) -> MeasureError {
    MeasureError::NothingArrived {
        connections,
        errors: opened
            .directions
            .iter()
            .flat_map(|direction| direction.icmp_errors.clone())
            .collect(),
    }
}

/// Makes the trial one without a phase 2, because connections that phase 1 had to open are missing.
fn give_up_phase_two(phase_one: PhaseOne, missing: u64, result: &mut TrialResult) {
    result.directions.clear();
    let fault = Fault::PhaseOneIncomplete {
        lost: missing,
        of: phase_one.connections,
        rate: phase_one.rate.0,
    };
    result.faults.insert(0, fault);
}

fn combinations(
    profile: &TrafficProfile,
    gateway: &StatefulGateway,
    connections: u64,
) -> MeasureError {
    let ports = profile.ports(gateway.opens);
    let (source, destination) = profile.variations(gateway.opens);
    let counts = [
        ports.source.count(),
        ports.destination.count(),
        source.count(),
        destination.count(),
    ];
    MeasureError::Combinations {
        connections,
        combinations: counts.iter().map(|count| u128::from(*count)).product(),
    }
}
