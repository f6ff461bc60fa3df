//! Faults of the tester itself during a trial.

use crate::terms::Direction;
use crate::text::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way in which the tester, not the DUT, fell short. Durations are in nanoseconds or milliseconds, as the names of the fields say; rates are
/// per second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "kebab-case")]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum Fault {
    /// Sending took longer than 1.00001 of its nominal time: the offered load was not the intended load.
    #[error("{direction}: sending took {:.3} ms instead of {:.3} ms", ms(*.took_ns), ms(*.nominal_ns))]
    SentTooSlowly {
        direction: Direction,
        nominal_ns: u64,
        took_ns: u64,
    },
    /// The sender was away and then caught up by a burst: at most so many losses as frames left in it can be the tester's doing.
    #[error("{direction}: the sender stalled for {:.2} ms; {} sent late", ms(*.worst_lateness_ns), were(*.frames))]
    SenderStalled {
        direction: Direction,
        worst_lateness_ns: u64,
        frames: u64,
    },
    /// The receiver did not look at its port for too long: at most so many losses as frames were due in the gaps above the bound can be the
    /// tester's doing.
    #[error("{direction}: the receiver stalled for {:.2} ms, during which {} due", ms(*.worst_gap_ns), were(*.frames))]
    ReceiverStalled {
        direction: Direction,
        worst_gap_ns: u64,
        frames: u64,
    },
    /// The receive ring was full: these frames reached the tester and were not counted.
    #[error("{direction}: the tester's receive ring was full; {} not counted", were(*.frames))]
    ReceiveRingOverrun { direction: Direction, frames: u64 },
    /// The network card at an end of the tester counted frames as dropped: frames that came and never reached the tester, or that it sent and that
    /// never left. `counter` is the kernel's name of the counter that grew most, as in `/sys/class/net/*/statistics`.
    #[error("{direction}: {} dropped by the tester's own {interface} ({counter})", were(*.frames))]
    DroppedByPort {
        direction: Direction,
        interface: String,
        counter: String,
        frames: u64,
    },
    /// The network card at an end of the tester counted frames that its link lost: they arrived damaged, or could not be sent for want of a carrier.
    #[error(
        "{direction}: {} lost on the link of {interface} ({counter}): a cable, a transceiver, or the device's end of it",
        were(*.frames)
    )]
    LostOnLink {
        direction: Direction,
        interface: String,
        counter: String,
        frames: u64,
    },
    /// The link at an end of the tester had no carrier: it lost it so often during the trial, or, if it is 0 times, had lost it before.
    #[error(
        "the link of {interface} {}: a cable, a transceiver, or the device's end of it",
        was_down(*.times)
    )]
    LinkWentDown { interface: String, times: u64 },
    /// These frames had arrived before they were sent, by the clocks of both ends and by more than these are known to differ: delays of the direction
    /// are wrong by as much, or the DUT has changed the time in the frames.
    #[error(
        "{direction}: {} arrived up to {:.1} us before being sent: the clocks of the tester's cores differ, or the DUT \
         changed the time in the frames",
        counted(*.frames, "frame"), *.worst_ns as f64 / 1e3
    )]
    ArrivedBeforeSent {
        direction: Direction,
        frames: u64,
        worst_ns: u64,
    },
    /// The DUT had lost the tester's hardware address and asked for it again during the trial; the frames of the direction had to wait for
    /// the answer.
    #[error("{direction}: the DUT asked for the hardware address of {address} during the trial")]
    NeighbourWentStale {
        direction: Direction,
        address: String,
    },
    /// The host of a virtual machine took processor time away from the DUT, as the kernel there counts it (steal): that of the worst core. What
    /// was due meanwhile may be missing for that reason.
    #[error("the host of the virtual machine took {milliseconds} ms from the DUT's core")]
    CpuStolen { milliseconds: u64 },
    /// Other processes ran on the DUT's cores, all of them together, for longer than goes unnoticed.
    #[error("other programs used the DUT's cores for {milliseconds} ms")]
    CpuTaken { milliseconds: u64 },
    /// Other processes, or the host of this virtual machine, had the tester's core while it had something to do: that of the thread that
    /// waited longest. The tester fell short for that reason, as far as the time goes.
    #[error("other programs used the tester's core for {:.1} ms", *.microseconds as f64 / 1e3)]
    TesterKeptOff { microseconds: u64 },
    /// Others disturbed the trial, and it was made again: it decides nothing.
    #[error("repeated: other programs disturbed it")]
    MadeAgain {
        /// True if the only reason was that all of its loss occurred at one moment, which is excused once at each load.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_accident: bool,
    },
    /// A fault of the machine that has one end of a tester on two machines, by the name of that machine; those of the other machine bear no name.
    #[error("{of} (on {machine})")]
    OnMachine { machine: String, of: Box<Fault> },
    /// The trial needs more open sockets and files than this process may have: nothing was sent.
    #[error(
        "{needed} open sockets and files are needed, but this process may only have {allowed} (ulimit -Hn)"
    )]
    TooFewDescriptors { needed: u64, allowed: u64 },
    /// The trial needs more pairs of addresses and ports than the tester has: nothing was sent.
    #[error(
        "{needed} pairs of addresses and ports are needed, but the tester only has {has}: use more `server-ports`, or addresses that vary"
    )]
    TooFewAddresses { needed: u64, has: u64 },
    /// Phase 1 did not open all of its N connections at the rate R, so there was no phase 2 (RFC 9693: in phase 2 no frame opens one).
    #[error(
        "{lost} of {of} frames of phase 1 were lost at {rate} frames/s, so there was no phase 2; lower the plan's \
         `phase-1-rate`, or check whether the DUT's table holds {of} connections"
    )]
    PhaseOneIncomplete { lost: u64, of: u64, rate: u64 },
    /// The trial, from before phase 1 to its end, took longer than the DUT keeps an idle connection: what is missing may have timed out.
    #[error(
        "the trial took {:.1} s, but the DUT keeps an idle connection for only {:.1} s: raise its timeout, or open connections faster",
        *.took_ms as f64 / 1e3,
        *.timeout_ms as f64 / 1e3
    )]
    LongerThanTimeout { took_ms: u64, timeout_ms: u64 },
    /// The rate is above what the self-test of RFC 8219 section 9.2.1 certifies the tester for.
    #[error(
        "{rate} queries/s are more than the {certified} queries/s that the tester's self-test certified (RFC 8219 section 9.2.1)"
    )]
    AboveCertified { rate: u64, certified: u64 },
    /// The names that were to be cached could not all be resolved before the trial: nothing was sent.
    #[error(
        "{} that were to be cached had no correct answer after three attempts, so there was no trial",
        crate::text::part_of(*.failed as usize, *.of as usize, "name")
    )]
    PreloadFailed { failed: u64, of: u64 },
    /// More, or fewer, names were answered from the DUT's cache, without the authority having been asked, than were meant to be.
    #[error("{observed} of {} came from the DUT's cache, but {intended} were intended to: {}", crate::text::counted(*.of, "answer"), hits(*.intended, *.observed))]
    HitsDiffer {
        intended: u64,
        observed: u64,
        of: u64,
    },
    /// The trial has more queries than the namespace has names, or names would be repeated that the DUT may still have in its cache:
    /// nothing was sent.
    #[error(
        "{needed} names are needed within their time to live, but the plan's `names` are only {has}: choose a \
         shorter prefix, or a shorter `ttl`"
    )]
    TooFewNames { needed: u64, has: u64 },
    /// The DUT has not opened as many connections as arrived, or some came or went after phase 1: one of the two extremes of RFC 9693 does
    /// not hold.
    #[error("the DUT counts {} {}", crate::text::counted(*.counted, "connection"), when(*.expected, *.counted, *.after_phase_2))]
    ConnectionsDiffer {
        expected: u64,
        counted: u64,
        after_phase_2: bool,
    },
}

fn was_down(times: u64) -> String {
    match times {
        0 => "was down".to_owned(),
        1 => "went down once during the trial".to_owned(),
        times => format!("went down {times} times during the trial"),
    }
}

fn were(frames: u64) -> String {
    format!(
        "{} {}",
        counted(frames, "frame"),
        if frames == 1 { "was" } else { "were" }
    )
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn hits(intended: u64, observed: u64) -> &'static str {
    if observed > intended {
        "it knows names from before; use more `names` in the plan, or a shorter `ttl`"
    } else {
        "it does not keep answers for as long as their TTL says, or its cache is too small"
    }
}

fn when(expected: u64, counted: u64, after_phase_2: bool) -> String {
    if !after_phase_2 {
        return format!("after phase 1, but {expected} were established");
    }
    let cause = if counted < expected {
        "some timed out: its timeout must be longer than phase 1, the delay and phase 2 together"
    } else {
        "some were opened in phase 2"
    };
    format!("at the end, but had {expected} after phase 1: {cause}")
}

impl Fault {
    /// The share of the DUT's time that others may have unnoticed, in parts per thousand: a kernel has housekeeping to do,
    /// and the counters tick slowly.
    pub const UNNOTICED_PER_MILLE: u64 = 50;

    /// Returns the fault itself, on whichever machine of the tester it was.
    pub fn itself(&self) -> &Self {
        match self {
            Self::OnMachine { of, .. } => of.itself(),
            fault => fault,
        }
    }

    /// Returns whether the cause lies outside of DUT and tester: others had the DUT's processors.
    pub fn is_of_the_machine(&self) -> bool {
        self.taken_ms().is_some()
    }

    /// Returns the time for which others had the DUT's processors, milliseconds, where that is the fault, else `None`.
    pub fn taken_ms(&self) -> Option<u64> {
        match self.itself() {
            Self::CpuStolen { milliseconds } | Self::CpuTaken { milliseconds } => {
                Some(*milliseconds)
            }
            _ => None,
        }
    }

    /// Returns by how much the tester was behind its schedule, nanoseconds, where that is the fault, else `None`.
    pub fn lateness_ns(&self) -> Option<u64> {
        match self.itself() {
            Self::SentTooSlowly {
                nominal_ns,
                took_ns,
                ..
            } => Some(took_ns.saturating_sub(*nominal_ns)),
            Self::SenderStalled {
                worst_lateness_ns, ..
            } => Some(*worst_lateness_ns),
            Self::ReceiverStalled { worst_gap_ns, .. } => Some(*worst_gap_ns),
            _ => None,
        }
    }

    /// Returns whether the DUT's connections were not as asked, rather than the tester having fallen short.
    pub fn is_of_connections(&self) -> bool {
        matches!(
            self,
            Self::PhaseOneIncomplete { .. }
                | Self::LongerThanTimeout { .. }
                | Self::ConnectionsDiffer { .. }
        )
    }

    /// Returns whether the names were not cached as the plan has it, or could not be asked for so, rather than the tester
    /// having fallen short.
    pub fn is_of_names(&self) -> bool {
        matches!(
            self,
            Self::PreloadFailed { .. } | Self::HitsDiffer { .. } | Self::TooFewNames { .. }
        )
    }

    /// Returns whether a link between tester and DUT was interrupted or damaged frames, rather than the tester having fallen short.
    pub fn is_of_a_link(&self) -> bool {
        matches!(
            self.itself(),
            Self::LinkWentDown { .. } | Self::LostOnLink { .. }
        )
    }

    /// Returns whether the same trial would have this fault again: it follows from the load alone.
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::AboveCertified { .. } | Self::TooFewNames { .. })
    }

    /// Returns whether the trial was not the one that was asked for, whatever it counted.
    pub fn always_invalidates(&self) -> bool {
        matches!(
            self.itself(),
            Self::SentTooSlowly { .. }
                | Self::LinkWentDown { .. }
                | Self::MadeAgain { .. }
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
