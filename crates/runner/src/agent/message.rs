//! The messages between the machine of the plan and the agent. Both run the same version of sixbench, so there are no optional fields, and a
//! message that cannot be parsed ends the connection.

use super::clocks::ClockReading;
use serde::{Deserialize, Serialize};
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_engine::{DistantPort, EndResult, EndTrial, SentShare};
use sixbench_method::record::Warning;
use sixbench_method::terms::Direction;
use sixbench_method::trial::TrialSettings;
use sixbench_testbed::NicSetting;
use sixbench_testbed::existing::OwnAddresses;
use sixbench_testbed::monitor::Occupant;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// An order to the agent. Each has one answer, except `Start` and `Sent`, which are part of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Check whether the interface with this name may be taken.
    Check(String, OwnAddresses),
    /// Take an interface and bring it up.
    Lend(Box<EndRequest>),
    /// Open the interface, now that the device is there.
    Open,
    /// Return the clock in nanoseconds.
    TellTime,
    /// Read the tester's clock and the system's clock.
    ReadClocks,
    /// Return who else uses the cores of this end, which are given as in the plan.
    Look(Vec<u32>),
    /// Send and receive this traffic from now on.
    Take(Box<EndJob>),
    /// Perform this end's part of a trial, with the clock set forward by this number of nanoseconds.
    Make {
        trial: EndTrial,
        set_forward_ns: i64,
    },
    /// The first frame of the trial is due when the clock shows this time in nanoseconds.
    Start(u64),
    /// The frames that the machine of the plan sent in the trial.
    Sent(Vec<SentShare>),
}

/// An answer of the agent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum AgentAnswer {
    /// The check passed, or the order was carried out.
    Done,
    Opened(Box<OpenedEnd>),
    /// The clock in nanoseconds.
    Time(u64),
    Clocks(Box<ClockReading>),
    /// The occupant of one of the agent's cores, if there is one.
    Seen(Option<Occupant>),
    /// All threads of the trial are running on their cores.
    Ready,
    /// The frames that the agent sent in the trial.
    Sent(Vec<SentShare>),
    /// The agent's part of the trial.
    Made(Box<EndResult>),
    /// The order cannot be carried out. The text does not mention the machine's name.
    Failed(String),
}

/// The end of the tester that the agent is to become.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndRequest {
    /// The direction in which it sends.
    pub(super) sends: Direction,
    pub(super) interface: String,
    /// The name of the backend.
    pub(super) io: String,
    pub(super) queues: Option<NonZeroU32>,
    pub(super) busy_poll: bool,
    pub(super) own_addresses: OwnAddresses,
    pub(super) nic: Vec<NicSetting>,
    pub(super) governor: Option<String>,
    /// The cores of its threads. If empty, the agent chooses them.
    pub(super) cores: Vec<u32>,
    /// The length of the longest datagram in octets.
    pub(super) longest_datagram: u32,
}

/// The end of the tester that the agent has become.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenedEnd {
    pub(super) port: DistantPort,
    /// A sentence about how it sends and receives, and on which cores.
    pub(super) how: String,
    /// Sentences about where the interrupts of its interface are served.
    pub(super) interrupts: Vec<String>,
    pub(super) facts: BTreeMap<String, String>,
    pub(super) warnings: Vec<Warning>,
}

/// Traffic, and the settings for sending it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndJob {
    pub(super) profile: TrafficProfile,
    pub(super) settings: TrialSettings,
    /// True if the user has declared that test traffic cannot leave the environment.
    pub(super) is_isolated: bool,
    /// The port of the machine of the plan.
    pub(super) other: DistantPort,
}
