//! The measurements of RFC 8219 section 7 and those beside it, a file for each: its settings and their keys in plans, what it comes to, the
//! trials it asks for and what it makes of them. Like a search, a procedure only decides; so resuming a run, and every report, is feeding
//! recorded results to `learn` again.
//!
//! A new measurement is a file here and a line in the list below.

mod info;
mod keys;
mod largest_trial;
mod load;
mod outcome;
mod procedure;
mod quantity;
#[cfg(test)]
mod tests;

pub use info::{Info, Noun, Searched, Term};
pub use keys::{Keys, MeasureDefaults};
pub use load::Load;
pub use outcome::{LoadSource, Outcome, SearchRef, Value};
pub use procedure::{Findings, Procedure, ProcedureContext, procedure};
pub use quantity::{Quantity, Unit};

pub use back_to_back::BackToBack;
pub use frame_loss_rate::LossScan;
pub use ipdv::IpdvStream;
pub use latency::Latency;
pub use pdv::PdvStream;
pub use recovery::Recovery;
pub use reset::Reset;
pub use response_time::ResponseTime;
pub use table_capacity::Capacity;
pub use tcp_capacity::TcpCapacity;
pub use tcp_establishment_rate::Tcp;

use crate::conformance::Clause;
use crate::plan::{DnsTest, Plan, Profile, Stateful, Test};
use crate::record::TrialRecord;
use crate::terms::{FrameRate, FrameSize, IpVersion};
use crate::trial::TrialKind;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// All that the rest of the program needs to know of a measurement, or what that is derived from.
pub trait Measurement {
    /// Returns what is said of it.
    fn info(&self) -> &'static Info;

    /// Returns the load it is made at; `None` where it finds or names its loads itself.
    fn load(&self) -> Option<Load> {
        None
    }

    /// Returns for how long its trials send.
    fn sending(&self) -> SendingTime;

    /// Returns the highest rate any of its trials has.
    fn highest_rate(&self, plan: &Plan, _test: &Test) -> FrameRate {
        let most = plan.search.maximum;
        self.load().map_or(most, |load| load.highest(most))
    }

    /// Returns what its largest trial is, where that is no constant load.
    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    /// Returns whether delays decide, so that a tester that looked late spoils the result even without loss.
    fn is_of_delay(&self) -> bool {
        false
    }

    /// Returns whether a stateful test consists of phase 1 only: nothing is sent in phase 2.
    fn is_of_connections(&self) -> bool {
        false
    }

    /// Returns how TCP connections are made, where the test is one of those rather than of frames.
    fn tcp(&self) -> Option<&Tcp> {
        None
    }

    /// Returns which DNS queries are made, where the test is of a DNS server.
    fn dns(&self) -> Option<&DnsTest> {
        None
    }

    /// Sets the durations that are its own to those of a profile whose trials last `trial_ns`.
    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    /// Sets the durations that are its own to those the RFCs name. Returns how often it is to be repeated.
    fn lengthen(&mut self) -> u32 {
        20
    }

    /// Returns whether the load of its trials is held for longer than a burst and nothing is done to the DUT.
    fn is_steady(&self) -> bool {
        true
    }

    /// Returns whether its losses show a limit of the DUT: losses that a measurement causes on purpose do not.
    fn finds_a_limit(&self) -> bool {
        self.info().searched.is_some() && self.tcp().is_none()
    }

    /// Returns whether the rate of phase 1 is searched for rather than set.
    fn searches_phase_1(&self) -> bool {
        false
    }

    /// Returns the largest number of connections that phase 1 of any of its trials opens.
    fn most_connections(&self, stateful: Option<Stateful>) -> u64 {
        stateful.map_or(0, |stateful| stateful.connections)
    }

    /// Returns how the capacity of the connection tracking table is searched for, where that is the result.
    fn table_capacity(&self) -> Option<&Capacity> {
        None
    }

    /// Returns the largest number it can find, where that is no rate, and the keys of a plan that set it.
    fn most(&self) -> Option<(f64, &'static str)> {
        None
    }

    /// Returns the loads that it names itself, frames per second per direction.
    fn own_rates(&self) -> &[FrameRate] {
        &[]
    }

    /// Returns what it demands of a device beside forwarding.
    fn demand(&self) -> Option<Demand> {
        None
    }

    /// Returns the requests that are made, where the test is of those and their replies.
    fn response_time(&self) -> Option<&ResponseTime> {
        None
    }

    /// Returns whether a scan of loads ends where nothing is lost any more, so that repetitions may try different loads.
    fn ends_when_lossless(&self) -> bool {
        false
    }

    /// Returns which requirements on the test traffic concern it.
    fn traffic_requirements(&self) -> TrafficRequirements {
        match (self.info().noun, self.is_of_connections()) {
            (Noun::Frames, _) => TrafficRequirements::All,
            // Phase 1 of a stateful test has one direction, and none of the sizes is asked for.
            (_, true) => TrafficRequirements::Addresses,
            // TCP connections and DNS queries are not the plan's frames.
            (_, false) => TrafficRequirements::None,
        }
    }

    /// Returns the requirements of the measurement's own sections, and how the test stands to them.
    fn clauses(&self, plan: &Plan, test: &Test) -> Vec<Clause>;

    /// Returns the next repetition of it.
    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure>;

    /// Returns what was seen of the DUT itself during a trial, where the result includes that.
    fn watched(&self, _record: &TrialRecord) -> Vec<Value> {
        Vec::new()
    }
}

/// The demands of a measurement on a device beside forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// It can be reset, and keeps no connections over that.
    Reset,
    /// Its connections can be deleted by a command that is timed.
    TearDown,
    /// It keeps no connections: reverse frames are replies to forward ones of the same trial.
    NoConnections,
}

/// The requirements on the test traffic that concern a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficRequirements {
    /// Sizes, directions, mixes, ports and addresses.
    All,
    /// All but the sizes.
    AnySize,
    /// Those on addresses alone.
    Addresses,
    /// None: it has no test frames.
    None,
}

/// The time for which the trials of a measurement send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendingTime {
    /// As long as the plan says for all trials.
    AsPlanned,
    /// So many nanoseconds, whatever the plan says.
    For(u64),
    /// For bursts of at most so many nanoseconds.
    AtMost(u64),
    /// As long as opening its connections takes.
    UntilConnected,
}

/// Makes the enumeration of all measurements: each line names the file, the variant and, where it has some, its settings, which `read` makes
/// of the keys of a test. `by name` stands where a file has several measures, so that `read` has to be told which.
macro_rules! measures {
    ($($(#[$doc:meta])* $module:ident: $variant:ident $(($bound:ident: $settings:ty $(, by $by:ident)?))?,)+) => {
        $(mod $module;)+

        /// The measure of a test, with the settings that each measurement has of its own.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Measure {
            $($(#[$doc])* $variant $(($settings))?,)+
        }

        impl Measure {
            /// Returns what is said of every measure, in the order of the list.
            pub fn infos() -> impl Iterator<Item = &'static Info> {
                [$(&$module::INFOS[..]),+].into_iter().flatten()
            }

            /// Returns the measure of this name, with the settings that the keys of a test ask for; `None` if no measure has the name. Keys
            /// of other measures are not read.
            pub fn read(name: &str, keys: &impl Keys, defaults: &MeasureDefaults) -> Option<Self> {
                $(if $module::INFOS.iter().any(|info| info.term.name == name) {
                    return Some(measures!(@read name keys defaults $variant $(($settings $(, $by)?))?));
                })+
                None
            }
        }

        impl Deref for Measure {
            type Target = dyn Measurement;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$variant $(($bound))? => measures!(@ref $module $variant $($bound)?),)+
                }
            }
        }

        impl Measure {
            /// Returns the settings that are its own; `None` of a measure without.
            pub fn settings_mut(&mut self) -> Option<&mut dyn Measurement> {
                match self {
                    $(Self::$variant $(($bound))? => measures!(@mut $($bound)?),)+
                }
            }
        }
    };
    (@ref $module:ident $variant:ident) => { &$module::$variant };
    (@ref $module:ident $variant:ident $bound:ident) => { $bound };
    (@read $name:ident $keys:ident $defaults:ident $variant:ident) => { Self::$variant };
    (@read $name:ident $keys:ident $defaults:ident $variant:ident ($settings:ty)) => {
        Self::$variant(<$settings>::read($keys, $defaults))
    };
    (@read $name:ident $keys:ident $defaults:ident $variant:ident ($settings:ty, $by:ident)) => {
        Self::$variant(<$settings>::read($name, $keys, $defaults))
    };
    (@mut) => { None };
    (@mut $bound:ident) => { Some($bound) };
}

measures! {
    /// RFC 2544 section 26.1, RFC 8219 section 7.1: the highest rate without loss.
    #[default]
    throughput: Throughput,
    /// RFC 2544 section 26.3, RFC 8219 section 7.4: the loss at each of several rates.
    frame_loss_rate: FrameLossRate(settings: LossScan),
    /// RFC 8219 section 7.2: typical and worst-case latency of tagged frames.
    latency: Latency(settings: Latency),
    /// RFC 8219 section 7.3.1: packet delay variation of all frames.
    pdv: Pdv(settings: PdvStream),
    /// RFC 8219 section 7.3.2: inter packet delay variation.
    ipdv: Ipdv(settings: IpdvStream),
    /// RFC 9004: the longest burst at the minimum gap that is forwarded without loss.
    back_to_back: BackToBack(settings: BackToBack),
    /// RFC 2544 section 26.5, RFC 8219 section 7.6: how long losses go on after an overload.
    recovery: Recovery(settings: Recovery),
    /// RFC 6201, RFC 8219 section 7.7: how long the DUT forwards nothing around a reset.
    reset: Reset(settings: Reset),
    /// RFC 9693: the highest rate at which every frame of phase 1 opens a connection that works.
    establishment_rate: EstablishmentRate,
    /// RFC 9693: how fast the DUT deletes its connections.
    tear_down_rate: TearDownRate,
    /// RFC 9693: how many connections the DUT's connection tracking table holds.
    table_capacity: TableCapacity(settings: Capacity),
    /// RFC 3511 section 5.3, RFC 8219 section 8: the highest rate of TCP connections that all succeed.
    tcp_establishment_rate: TcpEstablishmentRate(settings: Tcp),
    /// RFC 3511 section 5.2, RFC 8219 section 8: how many TCP connections can be open at once.
    tcp_capacity: TcpCapacity(settings: TcpCapacity),
    /// RFC 8219 section 9: the highest rate of DNS queries that are all answered rightly and in time.
    dns: Dns(settings: DnsTest, by name),
    /// Loss and response time of requests that the tester's right end answers, at a load that grows with the clients: the measurement of
    /// "Performance Analysis and Comparison of 6to4 Relay Implementations" (Lencse and Répás, IJACSA 4(9), 2013).
    response_time: ResponseTime(settings: ResponseTime),
}

impl Measure {
    /// Returns the word for it in plans and results.
    pub fn name(&self) -> &'static str {
        self.info().term.name
    }

    /// Returns whether it is the throughput of frames, at which other measurements are made.
    pub fn is_throughput(&self) -> bool {
        *self == Self::Throughput
    }

    /// Returns whether the result is a rate that was searched for: frames, connections or queries per second.
    pub fn is_searched_rate(&self) -> bool {
        self.info().searched.is_some()
    }

    /// Returns whether it is made at the throughput, or at a share of it.
    pub fn is_at_throughput(&self) -> bool {
        self.load().is_some_and(Load::is_of_throughput)
    }

    /// Returns whether the result is one number for which higher is better: a rate that was searched for, or a rate or number
    /// of connections.
    pub fn is_rated(&self) -> bool {
        let of_connections = |quantity: Quantity| matches!(quantity.unit(), Unit::Connections | Unit::ConnectionsPerSecond);
        self.is_searched_rate() || self.info().headline.is_some_and(of_connections)
    }

    /// Returns whether the result is a curve over loads.
    pub fn is_curve(&self) -> bool {
        self.info().searched.is_none() && self.info().headline.is_none()
    }

    /// Returns whether it searches for the largest number of connections.
    pub fn is_capacity(&self) -> bool {
        self.info().headline.is_some_and(|quantity| quantity.unit() == Unit::Connections)
    }

    /// Returns whether its rates count connections.
    pub fn counts_connections(&self) -> bool {
        self.info().noun == Noun::Connections
    }

    /// Returns whether the tester's ends are hosts with sockets of the kernel rather than ports for frames.
    pub fn needs_hosts(&self) -> bool {
        self.tcp().is_some() || self.dns().is_some()
    }
}

/// Returns the highest rate of the medium for the largest frames that a test has on either link, where the plan knows the medium.
pub fn theoretical(plan: &Plan, test: &Test, frame_size: FrameSize) -> Option<FrameRate> {
    let version = if test.ipv4_only { IpVersion::Ipv4 } else { IpVersion::Ipv6 };
    Some(FrameRate::theoretical_maximum(plan.link_rate?, frame_size.with_fcs(version)))
}
