//! The client's counts of a trial, from events to the result. It knows no sockets.

use super::connection::{ConnectionStep, Failure};
use super::times::Stopwatch;
use sixbench_method::trial::tcp::{
    Check, ConnectionCounts, KernelCounts, Pace, ServerCounts, TcpResult, TcpSpec, TcpTrial,
};

/// The most failed connections that are reported individually.
const EXAMPLES: usize = 4;

/// The client's phase in the trial. All phases except the last are paced; each begins when everything in the previous one is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientPhase {
    /// The client waits until the server is ready.
    Waiting,
    Opening,
    /// Capacity trial: the second GET on each connection.
    Checking,
    /// Capacity trial: the close of each connection.
    Closing,
    Over,
}

/// The way in which a connection ends if not as intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// A socket error.
    Failed(Failure),
    /// The other end's FIN.
    Ended,
    /// The time limit is over.
    Late,
    /// The response is not the requested one.
    Wrong(&'static str),
}

/// The counts of the client.
pub(super) struct TcpTally {
    pub connections: ConnectionCounts,
    pub check: Check,
    pub connect: Stopwatch,
    pub complete: Stopwatch,
    pub pace: Pace,
    /// The time at which the first attempt was made, in nanoseconds.
    first_ns: Option<u64>,
    examples: Vec<String>,
}

impl TcpTally {
    pub(super) fn new(intended: u64, nominal_ns: u64, stall_ns: u64) -> Self {
        Self {
            connections: ConnectionCounts {
                intended,
                ..ConnectionCounts::default()
            },
            check: Check::default(),
            connect: Stopwatch::new(),
            complete: Stopwatch::new(),
            pace: Pace {
                nominal_ns,
                stall_ns,
                ..Pace::default()
            },
            first_ns: None,
            examples: Vec::with_capacity(EXAMPLES),
        }
    }

    /// Counts a SYN that left the tester.
    pub(super) fn attempt(&mut self, due_ns: u64, now_ns: u64) {
        let lateness_ns = now_ns.saturating_sub(due_ns);
        self.connections.attempted += 1;
        self.pace.took_ns = now_ns - *self.first_ns.get_or_insert(now_ns);
        self.pace.worst_lateness_ns = self.pace.worst_lateness_ns.max(lateness_ns);
        self.pace.late += u64::from(lateness_ns > self.pace.stall_ns);
    }

    /// Counts a connection that was lost at this step.
    pub(super) fn lose(&mut self, phase: ClientPhase, step: &ConnectionStep, loss: Loss) {
        *self.counter(phase, step, loss) += 1;
    }

    fn counter(&mut self, phase: ClientPhase, step: &ConnectionStep, loss: Loss) -> &mut u64 {
        let (connections, check) = (&mut self.connections, &mut self.check);
        match (phase, step, loss) {
            (ClientPhase::Closing, ..) | (_, ConnectionStep::Closing, _) => {
                &mut connections.unclosed
            }
            (_, ConnectionStep::Open, _) => &mut check.ended,
            (ClientPhase::Checking, _, Loss::Late) => &mut check.timed_out,
            (ClientPhase::Checking, _, Loss::Wrong(_)) => &mut check.wrong,
            (ClientPhase::Checking, ..) => &mut check.ended,
            (_, _, Loss::Failed(Failure::Refused)) => &mut connections.refused,
            (_, _, Loss::Failed(Failure::Reset)) => &mut connections.reset,
            (_, _, Loss::Failed(Failure::Unreachable)) => &mut connections.unreachable,
            (_, ConnectionStep::Connecting, Loss::Late | Loss::Failed(Failure::TimedOut)) => {
                &mut connections.timed_out
            }
            (_, _, Loss::Late | Loss::Failed(Failure::TimedOut)) => &mut connections.unverified,
            (_, _, Loss::Wrong(_) | Loss::Ended) => &mut connections.wrong,
        }
    }

    /// Keeps a line about a connection; only the first few lines are kept, or even composed.
    pub(super) fn note(&mut self, line: impl FnOnce() -> String) {
        if self.examples.len() < EXAMPLES {
            self.examples.push(line());
        }
    }

    pub(super) fn finish(
        self,
        spec: TcpSpec,
        server: Option<ServerCounts>,
        kernel: KernelCounts,
    ) -> TcpResult {
        TcpResult {
            spec,
            server_address: None,
            connections: self.connections,
            check: (spec.trial == TcpTrial::Capacity).then_some(self.check),
            connect: self.connect.times(),
            complete: self.complete.times(),
            pace: self.pace,
            server,
            kernel,
            examples: self.examples,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_behind_the_stall_bound_is_late_and_the_time_taken_is_from_first_to_last() {
        let mut tally = TcpTally::new(3, 2_000, 500);
        for (due, now) in [(1_000, 1_100), (2_000, 2_501), (3_000, 3_050)] {
            tally.attempt(due, now);
        }
        assert_eq!(
            tally.pace,
            Pace {
                nominal_ns: 2_000,
                took_ns: 1_950,
                worst_lateness_ns: 501,
                late: 1,
                stall_ns: 500,
                worst_gap_ns: 0
            }
        );
        assert_eq!(tally.connections.attempted, 3);
    }

    #[test]
    fn the_fate_of_a_connection_depends_on_how_far_it_had_come() {
        let mut tally = TcpTally::new(9, 0, 0);
        tally.lose(
            ClientPhase::Opening,
            &ConnectionStep::Connecting,
            Loss::Late,
        );
        tally.lose(
            ClientPhase::Opening,
            &ConnectionStep::Connecting,
            Loss::Failed(Failure::Refused),
        );
        tally.lose(ClientPhase::Opening, &ConnectionStep::Open, Loss::Ended);
        tally.lose(
            ClientPhase::Checking,
            &ConnectionStep::Open,
            Loss::Failed(Failure::Reset),
        );
        tally.lose(ClientPhase::Opening, &ConnectionStep::Closing, Loss::Late);
        tally.lose(ClientPhase::Closing, &ConnectionStep::Open, Loss::Ended);
        assert_eq!(
            tally.connections,
            ConnectionCounts {
                intended: 9,
                timed_out: 1,
                refused: 1,
                unclosed: 2,
                ..ConnectionCounts::default()
            }
        );
        assert_eq!(
            tally.check,
            Check {
                ended: 2,
                ..Check::default()
            }
        );
    }
}
