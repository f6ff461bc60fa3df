//! Faults of the tester itself during a trial.

use crate::terms::Direction;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A way in which the tester, not the DUT, fell short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "kebab-case")]
pub enum Fault {
    /// Sending took longer than 1.00001 of its nominal time: the offered load was not the intended load.
    SentTooSlowly {
        /// The direction concerned.
        direction: Direction,
        /// The time by the schedule, nanoseconds.
        nominal_ns: u64,
        /// The actual time, nanoseconds.
        took_ns: u64,
    },
    /// The sender was away and then caught up by a burst.
    SenderStalled {
        /// The direction concerned.
        direction: Direction,
        /// Worst lateness of a frame, nanoseconds.
        worst_lateness_ns: u64,
        /// Frames that left in catching up: at most so many losses can be the tester's doing.
        frames: u64,
    },
    /// The receiver did not look at its port for too long.
    ReceiverStalled {
        /// The direction concerned.
        direction: Direction,
        /// The longest gap, nanoseconds.
        worst_gap_ns: u64,
        /// Frames due in the gaps above the bound: at most so many losses can be the tester's doing.
        frames: u64,
    },
    /// The receive ring was full: these frames reached the tester and were not counted.
    ReceiveRingOverrun {
        /// The direction concerned.
        direction: Direction,
        /// Frames without room.
        frames: u64,
    },
    /// The DUT had lost the tester's hardware address and asked for it again during the trial.
    NeighbourWentStale {
        /// The direction whose frames had to wait for the answer.
        direction: Direction,
        /// The address asked for.
        address: String,
    },
    /// The host of this virtual machine took processor time away from the DUT, as the kernel counts it (steal).
    CpuStolen {
        /// Milliseconds taken on the DUT's worst core: what was due meanwhile may be missing for that reason.
        milliseconds: u64,
    },
    /// Other processes ran on the DUT's cores for longer than goes unnoticed.
    CpuTaken {
        /// Milliseconds, all of the DUT's cores together.
        milliseconds: u64,
    },
    /// The trial needs more open sockets and files than this process may have: nothing was sent.
    TooFewDescriptors {
        /// The number needed at the worst.
        needed: u64,
        /// The hard limit.
        allowed: u64,
    },
    /// The trial needs more pairs of addresses and ports than the tester has: nothing was sent.
    TooFewAddresses {
        /// Pairs needed.
        needed: u64,
        /// Pairs there are.
        has: u64,
    },
    /// Phase 1 did not open all connections, so there was no phase 2 (RFC 9693: in phase 2 no frame opens one).
    PhaseOneIncomplete {
        /// Frames of phase 1 that did not arrive.
        lost: u64,
        /// N.
        of: u64,
        /// R, frames per second.
        rate: u64,
    },
    /// The trial took longer than the DUT keeps an idle connection: what is missing may have timed out.
    LongerThanTimeout {
        /// The time from before phase 1 to the end, milliseconds.
        took_ms: u64,
        /// The least time the DUT keeps a connection, milliseconds.
        timeout_ms: u64,
    },
    /// The rate is above what the self-test of RFC 8219 section 9.2.1 certifies the tester for.
    AboveCertified {
        /// Queries per second of the trial.
        rate: u64,
        /// Queries per second that are certified.
        certified: u64,
    },
    /// The names that were to be cached could not all be resolved before the trial: nothing was sent.
    PreloadFailed {
        /// Names without the right answer.
        failed: u64,
        /// Names in all.
        of: u64,
    },
    /// More, or fewer, names were answered from the DUT's cache than were meant to be.
    HitsDiffer {
        /// Queries for names resolved before, of those rightly answered.
        intended: u64,
        /// Answered without the authority having been asked.
        observed: u64,
        /// Queries that were rightly answered.
        of: u64,
    },
    /// The trial has more queries than the namespace has names, or names would be repeated that the DUT may still have in its cache:
    /// nothing was sent.
    TooFewNames {
        /// Names needed, with those of earlier trials that may be cached.
        needed: u64,
        /// Names there are.
        has: u64,
    },
    /// The DUT has not opened as many connections as arrived: one of the two extremes of RFC 9693 does not hold.
    ConnectionsDiffer {
        /// The number of connections the DUT should have, by the frames received.
        expected: u64,
        /// The number of connections the DUT says it has.
        counted: u64,
        /// True if this was after phase 2, in which no connection may come or go.
        after_phase_2: bool,
    },
}

impl Fault {
    /// The share of the DUT's time that others may have unnoticed, in parts per thousand: a kernel has housekeeping to do,
    /// and the counters tick slowly.
    pub const UNNOTICED_PER_MILLE: u64 = 50;

    /// Returns whether the cause lies outside of DUT and tester: others had the DUT's processors.
    pub fn is_of_the_machine(&self) -> bool {
        self.taken_ms().is_some()
    }

    /// Returns the time for which others had the DUT's processors, milliseconds, where that is the fault, else `None`.
    pub fn taken_ms(&self) -> Option<u64> {
        match self {
            Self::CpuStolen { milliseconds } | Self::CpuTaken { milliseconds } => Some(*milliseconds),
            _ => None,
        }
    }

    /// Returns whether the DUT's connections were not as asked, rather than the tester having fallen short.
    pub fn is_of_connections(&self) -> bool {
        matches!(self, Self::PhaseOneIncomplete { .. } | Self::LongerThanTimeout { .. } | Self::ConnectionsDiffer { .. })
    }

    /// Returns whether the names were not cached as the plan has it, or could not be asked for so, rather than the tester
    /// having fallen short.
    pub fn is_of_names(&self) -> bool {
        matches!(self, Self::PreloadFailed { .. } | Self::HitsDiffer { .. } | Self::TooFewNames { .. })
    }

    /// Returns whether the same trial would have this fault again: it follows from the load alone.
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::AboveCertified { .. } | Self::TooFewNames { .. })
    }

    /// Returns whether the trial was not the one that was asked for, whatever it counted.
    pub fn always_invalidates(&self) -> bool {
        matches!(
            self,
            Self::SentTooSlowly { .. }
                | Self::TooFewDescriptors { .. }
                | Self::TooFewAddresses { .. }
                | Self::AboveCertified { .. }
                | Self::PreloadFailed { .. }
                | Self::HitsDiffer { .. }
                | Self::TooFewNames { .. }
                | Self::PhaseOneIncomplete { .. }
                | Self::LongerThanTimeout { .. }
                | Self::ConnectionsDiffer { .. }
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: u64| ns as f64 / 1e6;
        match self {
            Self::SentTooSlowly { direction, nominal_ns, took_ns } => {
                write!(f, "{direction}: sending took {:.3} ms instead of {:.3} ms", ms(*took_ns), ms(*nominal_ns))
            }
            Self::SenderStalled { direction, worst_lateness_ns, frames } => {
                write!(
                    f,
                    "{direction}: the sender stalled for {:.2} ms; {frames} frames were sent late",
                    ms(*worst_lateness_ns)
                )
            }
            Self::ReceiverStalled { direction, worst_gap_ns, frames } => write!(
                f,
                "{direction}: the receiver stalled for {:.2} ms, during which {frames} frames were due",
                ms(*worst_gap_ns)
            ),
            Self::ReceiveRingOverrun { direction, frames } => {
                write!(f, "{direction}: the tester's receive ring was full; {frames} frames not counted")
            }
            Self::NeighbourWentStale { direction, address } => {
                write!(f, "{direction}: the DUT asked for the hardware address of {address} during the trial")
            }
            Self::CpuStolen { milliseconds } => {
                write!(f, "the host of this virtual machine took {milliseconds} ms from the DUT's core")
            }
            Self::TooFewDescriptors { needed, allowed } => {
                write!(f, "{needed} open sockets and files are needed, but this process may only have {allowed} (ulimit -Hn)")
            }
            Self::TooFewAddresses { needed, has } => write!(
                f,
                "{needed} pairs of addresses and ports are needed, but the tester only has {has}: use more `server-ports`, or addresses that vary"
            ),
            Self::AboveCertified { rate, certified } => write!(
                f,
                "{rate} queries/s are more than the {certified} queries/s that the tester's self-test certified (RFC 8219 section 9.2.1)"
            ),
            Self::PreloadFailed { failed, of } => write!(
                f,
                "{failed} of the {of} names that were to be cached had no correct answer after three attempts, so there was no trial"
            ),
            Self::HitsDiffer { intended, observed, of } => write!(
                f,
                "{observed} of {of} answers came from the DUT's cache, but {intended} were intended to: {}",
                if observed > intended {
                    "it knows names from before; use more `names` in the plan, or a shorter `ttl`"
                } else {
                    "it does not keep answers for as long as their TTL says, or its cache is too small"
                }
            ),
            Self::TooFewNames { needed, has } => {
                write!(
                    f,
                    "{needed} names are needed within their time to live, but the plan's `names` are only {has}: choose a \
                     shorter prefix, or a shorter `ttl`"
                )
            }
            Self::PhaseOneIncomplete { lost, of, rate } => write!(
                f,
                "{lost} of {of} frames of phase 1 were lost at {rate} frames/s, so there was no phase 2; lower the plan's \
                 `phase-1-rate`, or check whether the DUT's table holds {of} connections"
            ),
            Self::LongerThanTimeout { took_ms, timeout_ms } => write!(
                f,
                "the trial took {:.1} s, but the DUT keeps an idle connection for only {:.1} s: raise its timeout, or open connections faster",
                *took_ms as f64 / 1e3,
                *timeout_ms as f64 / 1e3
            ),
            Self::ConnectionsDiffer { expected, counted, after_phase_2: false } => {
                write!(f, "the DUT counts {counted} connections after phase 1, but {expected} were established")
            }
            Self::ConnectionsDiffer { expected, counted, after_phase_2: true } => {
                let cause = if counted < expected {
                    "some timed out: its timeout must be longer than phase 1, the delay and phase 2 together"
                } else {
                    "some were opened in phase 2"
                };
                write!(f, "the DUT counts {counted} connections at the end, but had {expected} after phase 1: {cause}")
            }
            Self::CpuTaken { milliseconds } => write!(f, "other processes used the DUT's cores for {milliseconds} ms"),
        }
    }
}
