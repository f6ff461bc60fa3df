//! What the machine of the plan and the agent say to each other. Both are the same version of sixbench, so there are no optional fields, and what
//! cannot be read ends the connection.

use super::clocks::ClockReading;
use serde::{Deserialize, Serialize};
use sixbench_engine::profile::TrafficProfile;
use sixbench_engine::{DistantPort, EndResult, EndTrial, SentShare};
use sixbench_method::terms::Direction;
use sixbench_method::trial::TrialSettings;
use sixbench_testbed::NicSetting;
use sixbench_testbed::existing::OwnAddresses;
use sixbench_testbed::monitor::Occupant;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// An order to the agent. Each but `Start` and `Sent`, which belong to a trial, has one answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Say whether the interface of this name may be taken.
    Check(String, OwnAddresses),
    /// Take an interface, which is up then.
    Lend(Box<EndRequest>),
    /// Open the interface, when the device is there.
    Open,
    /// Say what the clock shows, nanoseconds.
    TellTime,
    /// Read the tester's clock and the system's.
    ReadClocks,
    /// Say who else has the cores of this end, which are named as the plan names them.
    Look(Vec<u32>),
    /// Send and receive this traffic from now on.
    Take(Box<EndJob>),
    /// Make this end's part of a trial, with the clock set forward by so many nanoseconds.
    Make { trial: EndTrial, set_forward_ns: i64 },
    /// The first frame of the trial is due when the clock shows this, nanoseconds.
    Start(u64),
    /// This was sent in the trial by the machine of the plan.
    Sent(Vec<SentShare>),
}

/// An answer of the agent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum AgentAnswer {
    /// It is so, or was done.
    Done,
    Opened(Box<OpenedEnd>),
    /// The clock shows this, nanoseconds.
    Time(u64),
    Clocks(Box<ClockReading>),
    /// Somebody has a core of the agent's, or nobody has.
    Seen(Option<Occupant>),
    /// All threads of the trial are on their cores.
    Ready,
    /// This was sent in the trial by the agent.
    Sent(Vec<SentShare>),
    /// The agent's part of the trial.
    Made(Box<EndResult>),
    /// It cannot be done; in words that need no name of the machine.
    Failed(String),
}

/// The end of the tester that the agent is to be.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndRequest {
    /// The direction that it sends.
    pub(super) sends: Direction,
    pub(super) interface: String,
    /// The word for the backend.
    pub(super) io: String,
    pub(super) queues: Option<NonZeroU32>,
    pub(super) busy_poll: bool,
    pub(super) own_addresses: OwnAddresses,
    pub(super) nic: Vec<NicSetting>,
    pub(super) governor: Option<String>,
    /// Cores of its threads; if empty, they are chosen there.
    pub(super) cores: Vec<u32>,
    /// Octets of the longest datagram.
    pub(super) longest_datagram: u32,
}

/// The end of the tester that the agent has become.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenedEnd {
    pub(super) port: DistantPort,
    /// A sentence on how it sends and receives, and by which cores.
    pub(super) how: String,
    pub(super) facts: BTreeMap<String, String>,
    pub(super) warnings: Vec<String>,
}

/// Traffic, and how it is to be sent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndJob {
    pub(super) profile: TrafficProfile,
    pub(super) settings: TrialSettings,
    /// True if the user has declared that test traffic cannot leave the environment.
    pub(super) is_isolated: bool,
    /// The port of the machine of the plan.
    pub(super) other: DistantPort,
}
