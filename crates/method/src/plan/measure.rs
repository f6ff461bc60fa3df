//! What a test measures, with the settings each measurement has of its own.

use super::{Dns, DnsRole};
use crate::terms::FrameRate;
use crate::trial::tcp::Close;
use serde::{Deserialize, Serialize};

/// What a test measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// RFC 2544 section 26.1, RFC 8219 section 7.1: the highest rate without loss.
    Throughput,
    /// RFC 2544 section 26.3, RFC 8219 section 7.4: the loss at each of several rates.
    FrameLossRate(LossScan),
    /// RFC 8219 section 7.2: typical and worst-case latency of tagged frames.
    Latency(Latency),
    /// RFC 8219 section 7.3.1: packet delay variation of all frames.
    Pdv(AtRate),
    /// RFC 8219 section 7.3.2: inter packet delay variation.
    Ipdv(AtRate),
    /// RFC 9004: the longest burst at the minimum gap that is forwarded without loss.
    BackToBack(BackToBack),
    /// RFC 2544 section 26.5, RFC 8219 section 7.6: how long losses go on after an overload.
    Recovery(Recovery),
    /// RFC 6201, RFC 8219 section 7.7: how long the DUT forwards nothing around a reset.
    Reset(Reset),
    /// RFC 9693: the highest rate at which every frame of phase 1 opens a connection that works.
    EstablishmentRate,
    /// RFC 9693: how fast the DUT deletes its connections.
    TearDownRate,
    /// RFC 9693: how many connections the DUT's connection tracking table holds.
    TableCapacity(Capacity),
    /// RFC 3511 section 5.3, RFC 8219 section 8: the highest rate of TCP connections that all succeed.
    TcpEstablishmentRate(Tcp),
    /// RFC 3511 section 5.2, RFC 8219 section 8: how many TCP connections can be open at once.
    TcpCapacity(TcpCapacity),
    /// RFC 8219 section 9: the highest rate of DNS queries that are all answered rightly and in time.
    Dns(Dns),
    /// Loss and response time of requests that the tester's right end answers, at a load that grows with the clients: the measurement of
    /// "Performance Analysis and Comparison of 6to4 Relay Implementations" (Lencse and Répás, IJACSA 4(9), 2013).
    ResponseTime(ResponseTime),
}

impl Measure {
    /// The word for it in plans and results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::FrameLossRate(_) => "frame-loss-rate",
            Self::Latency(_) => "latency",
            Self::Pdv(_) => "pdv",
            Self::Ipdv(_) => "ipdv",
            Self::BackToBack(_) => "back-to-back",
            Self::Recovery(_) => "recovery",
            Self::Reset(_) => "reset",
            Self::EstablishmentRate => "establishment-rate",
            Self::TearDownRate => "tear-down-rate",
            Self::TableCapacity(_) => "table-capacity",
            Self::TcpEstablishmentRate(_) => "tcp-establishment-rate",
            Self::TcpCapacity(_) => "tcp-capacity",
            Self::Dns(Dns { role: DnsRole::Dns64, .. }) => "dns64",
            Self::Dns(Dns { role: DnsRole::Authority, .. }) => "dns-authority",
            Self::Dns(Dns { role: DnsRole::Through, .. }) => "dns-queries",
            Self::ResponseTime(_) => "response-time",
        }
    }

    /// Whether delays decide, so that a tester that looked late spoils the result even without loss.
    pub fn is_of_delay(&self) -> bool {
        matches!(self, Self::Latency(_) | Self::Pdv(_) | Self::Ipdv(_) | Self::ResponseTime(_))
    }

    /// Whether the result is a rate that was searched: frames, connections or queries per second.
    pub fn is_searched_rate(&self) -> bool {
        matches!(self, Self::Throughput | Self::EstablishmentRate | Self::TcpEstablishmentRate(_) | Self::Dns(_))
    }

    /// Whether it is made at the throughput, or at a share of it.
    pub fn is_at_throughput(&self) -> bool {
        let load = match self {
            Self::Latency(latency) => latency.load,
            Self::Pdv(at) | Self::Ipdv(at) => at.load,
            Self::Reset(reset) => reset.load,
            Self::Recovery(_) => return true,
            Self::Throughput | Self::FrameLossRate(_) | Self::BackToBack(_) | Self::ResponseTime(_) => return false,
            Self::EstablishmentRate | Self::TearDownRate | Self::TableCapacity(_) => return false,
            Self::TcpEstablishmentRate(_) | Self::TcpCapacity(_) | Self::Dns(_) => return false,
        };
        matches!(load, Load::OfThroughput(_))
    }

    /// What its rates are of: `frames`, `connections`, `queries`.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Dns(_) => "queries",
            measure if measure.counts_connections() => "connections",
            _ => "frames",
        }
    }

    /// Whether its rates are of connections, which have no direction: only the Initiator opens them.
    pub fn counts_connections(&self) -> bool {
        self.is_of_connections() || self.tcp().is_some()
    }

    /// How TCP connections are made, where the test is one of those rather than of frames.
    pub fn tcp(&self) -> Option<&Tcp> {
        match self {
            Self::TcpEstablishmentRate(tcp) => Some(tcp),
            Self::TcpCapacity(capacity) => Some(&capacity.tcp),
            _ => None,
        }
    }

    /// Which DNS queries are made, where the test is of a DNS server.
    pub fn dns(&self) -> Option<&Dns> {
        match self {
            Self::Dns(dns) => Some(dns),
            _ => None,
        }
    }

    /// Whether the tester's ends are hosts with sockets of the kernel's rather than ports for frames.
    pub fn needs_hosts(&self) -> bool {
        self.tcp().is_some() || self.dns().is_some()
    }

    /// Whether phase 1 of a stateful test is all there is of it: nothing is sent in phase 2.
    pub fn is_of_connections(&self) -> bool {
        matches!(self, Self::EstablishmentRate | Self::TearDownRate | Self::TableCapacity(_))
    }
}

/// The load a measurement is made at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// This share of the throughput, which is searched for once for all measurements of the same device, size and traffic. 1: RFC 8219's.
    OfThroughput(f64),
    /// Frames per second per direction.
    Rate(FrameRate),
}

/// One stream at one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AtRate {
    /// At which load.
    pub load: Load,
    /// Time of sending, nanoseconds.
    pub duration_ns: u64,
}

/// Requests from clients, each at the same rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ResponseTime {
    /// Requests per second of each client.
    pub rate_per_client: FrameRate,
    /// Time of sending, nanoseconds.
    pub duration_ns: u64,
}

impl ResponseTime {
    /// Requests per second of all clients together.
    pub fn rate(&self, clients: u32) -> FrameRate {
        FrameRate(self.rate_per_client.0.saturating_mul(u64::from(clients)).max(1))
    }
}

/// RFC 8219 section 7.2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Latency {
    /// At which load.
    pub load: Load,
    /// Time of sending, nanoseconds; at least 120 s by the RFC.
    pub duration_ns: u64,
    /// No frame is tagged before this time, nanoseconds; 60 s by the RFC.
    pub tag_after_ns: u64,
    /// Frames to be tagged, evenly spread over the rest; at least 500 by the RFC. With fewer than 1000 the worst-case latency is the maximum.
    pub tagged: u64,
}

/// RFC 2544 section 26.3: from the highest rate down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LossScan {
    /// The rates, frames per second per direction, in the order of the trials. None: the maximum of each frame size, nine tenths of it,
    /// and so on down to one tenth; the medium's maximum where the plan knows the medium, else that of its search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<FrameRate>,
    /// Whether two successive trials without loss end the scan, as the RFC has it; otherwise every rate is tried.
    pub until_lossless: bool,
}

impl LossScan {
    /// From the highest rate of each frame size down in tenths of it, until two successive trials lose nothing: as the RFC has it.
    pub const RFC_2544: Self = Self { rates: Vec::new(), until_lossless: true };

    /// The rates at a frame size whose highest rate is `maximum`.
    pub fn rates_from(&self, maximum: FrameRate) -> Vec<FrameRate> {
        if self.rates.is_empty() {
            return (1..=10).rev().map(|tenth| FrameRate((maximum.0 * tenth / 10).max(1))).collect();
        }
        self.rates.clone()
    }
}

/// RFC 9004.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BackToBack {
    /// The rate within the burst, frames per second per direction: the medium's maximum by the RFC.
    pub rate: FrameRate,
    /// The longest burst, nanoseconds; up to 30 s must be possible.
    pub longest_ns: u64,
    /// The search ends when it knows the burst to so many frames.
    pub step_frames: u64,
}

/// RFC 2544 section 26.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recovery {
    /// The overload as a share of the throughput: 1.1 by the RFC.
    pub overload: f64,
    /// Time of overload, nanoseconds; at least 60 s by the RFC.
    pub duration_ns: u64,
    /// Time at half of that rate, nanoseconds: losses are looked for in it.
    pub after_ns: u64,
}

/// RFC 6201.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reset {
    /// At which load.
    pub load: Load,
    /// Time before the reset, nanoseconds; at least 15 s by RFC 6201 section 4.
    pub before_ns: u64,
    /// Time after the reset, nanoseconds: the DUT must be back within it.
    pub after_ns: u64,
}

/// RFC 9693: an exponential search for a number of connections that the table cannot hold, then a binary one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Capacity {
    /// C0: connections of the first step.
    pub start: u64,
    /// The largest number tried.
    pub most: u64,
    /// Beta: doubling ends where the establishment rate falls below this share of that of the step before; 0.1 to 0.2 by the RFC.
    pub exponential_share: f64,
    /// Gamma: in the binary phase a number is held where its rate is at least this share of that of the last number held; 0.4 to 0.5.
    pub binary_share: f64,
    /// The search ends when it knows the number to so many connections.
    pub error: u64,
}

/// How TCP connections are made (RFC 3511 sections 5.2.2 and 5.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tcp {
    /// Octets of the object that each GET brings.
    pub object_octets: u32,
    /// The time limit of each connection, nanoseconds. Linux repeats a lost SYN after one second.
    pub time_limit_ns: u64,
    /// How connections are closed.
    pub close: Close,
    /// First and last port the server listens on.
    pub server_ports: (u16, u16),
}

/// How many TCP connections can be open: doubling, then halving, each step a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TcpCapacity {
    /// How they are made.
    pub tcp: Tcp,
    /// Connections of the first trial.
    pub start: u64,
    /// The largest number tried.
    pub most: u64,
    /// The search ends when it knows the number to so many connections.
    pub error: u64,
    /// The rate they are opened at, connections per second; below the establishment rate.
    pub rate: FrameRate,
}
