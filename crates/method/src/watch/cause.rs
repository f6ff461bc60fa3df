//! The parts of the machine that can limit a DUT, and the words for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The part that limits a DUT, as far as it can be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bottleneck {
    /// The part at its end.
    pub cause: Cause,
    /// The observations behind the cause, with numbers.
    pub evidence: String,
}

/// Parts of the machine that can be at their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The device answered the frames with ICMP errors, or its kernel counted them as dropped.
    Refused,
    /// The same number of frames passed whatever was offered, although the cores have time to spare.
    RateLimit,
    /// The same number of queries was answered whatever was asked, although the cores have time to spare.
    QueryRateLimit,
    /// Softirqs fill a core, and others have time to spare.
    OneCoreSoftirq,
    /// User and system time of a process come to one core, and others have time to spare.
    OneProcess,
    /// Every core of the DUT is busy.
    AllCores,
    /// Frames were dropped at an interface while the cores had time to spare.
    QueueOverflow,
    /// The connection tracking table was full, or had no place for a connection.
    ConnectionTable,
    /// Phase 1 did not open every connection, or phase 2 did not find it again (RFC 9693).
    PhaseOne,
    /// The names of a DNS server were not cached, or not enough, as the plan has it (RFC 8219 section 9.2).
    Names,
    /// The losses stand in one moment, of at most two neighbouring bins of 100 ms.
    Event,
    /// The host of the virtual machine took time from the DUT.
    HostSteal,
    /// Other work had the DUT's processors in the trials that lost, or in every trial at a load.
    Disturbed,
    /// A link between tester and DUT went down, or frames were damaged on it.
    Link,
    /// The tester could not offer more.
    Tester,
    /// A DNS server did not answer although cores have time to spare, and no interface counted drops.
    Waiting,
    /// The device looks for frames without pause, so that its cores are full at any load and show nothing.
    Polling,
    /// Cores have time to spare, and no interface counted drops.
    Unexplained,
}

const QUERY_RATE_LIMIT: &str = "the server answers the same number of queries whatever is asked, with processor time to spare: look for its limits \
                                for a client (rate-limit of BIND, ip-ratelimit and ratelimit of Unbound, rrl-ratelimit of NSD, mod-rrl of Knot DNS), \
                                or a rule with a limit (nft limit)";

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "the device refuses frames, and says why",
            Self::RateLimit => {
                "the device passes the same number of frames a second whatever is offered, with processor time to spare: look for a policer, \
                 a rule with a limit (nft limit, tc police) or a limit on ICMP"
            }
            Self::QueryRateLimit => QUERY_RATE_LIMIT,
            Self::OneCoreSoftirq => {
                "softirqs fill a core while others are partly idle: the flows are not spread over the cores"
            }
            Self::OneProcess => "a process fills a core while others are partly idle: a daemon with a single thread",
            Self::AllCores => "the device's processor time is used up",
            Self::QueueOverflow => {
                "frames are dropped at an interface while the cores are partly idle: a burst, or a queue that is too short"
            }
            Self::ConnectionTable => "the device's connection tracking table is full",
            Self::PhaseOne => "not all connections of phase 1 were opened or kept, so nothing was measured",
            Self::Names => "the names were not cached as planned, or there were too few of them, so nothing was measured",
            Self::Event => {
                "all losses fall within one moment of the trial, and no core is known to have been full: a single event on the machine, or a pause of the device"
            }
            Self::HostSteal => "the host of this virtual machine takes processor time away from the device",
            Self::Disturbed => "other work on the machine used the device's processors, so the device's own limit is not known",
            Self::Link => "a link between tester and device went down or damaged frames: look at the cable, the transceivers and the device's end of it",
            Self::Tester => "the tester cannot offer more: the device may be better than this",
            Self::Waiting => {
                "the cores have idle time and no interface counts drops: the server is waiting; check its limits on threads, \
                 sockets and outstanding queries"
            }
            Self::Polling => {
                "the device polls: its cores are full at any load, so they do not show whether its processor time is the limit"
            }
            Self::Unexplained => {
                "the cores have idle time and no interface counts drops: look elsewhere, for example at the memory bus or the \
                NIC"
            }
        })
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.cause, self.evidence)
    }
}
