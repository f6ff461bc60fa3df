//! The measurements of RFC 8219 section 7 and those beside it, a file for each: its settings and their keys in plans, what it comes to, the
//! trials it asks for and what it makes of them. Like a search, a procedure only decides; so resuming a run, and every report, is feeding
//! recorded results to `learn` again.
//!
//! A new measurement is a file here and a line in the list below. A plan contains measures; what the file of a measure knows of the plan
//! and of the test is a [`TestContext`].
//!
//! # What a file of a measure contains
//!
//! Each measurement has one file in `method::measures`. It contains the settings and how they are read from keys of a plan file, the description (`Info`:
//! name, explanation, noun, quantities, axis label), and the implementation of the trait `Measurement`: load, time of sending, largest trial, clauses,
//! procedure, and how a trial is read. A line in the list `measures!` makes it a variant of `Measure`. Plans contain measures, so a measure knows no
//! plan: what it needs from the plan and its test is a `TestContext`, which `plan::context` creates. All other code uses the trait: `list`, `explain`,
//! units, the tables of the terminal, budgets, checks of recipes and plans. No match over measures has a default arm (`.ci/check-house` counts, and counts the
//! files that single out a measure). What does not depend on settings is a field of `Info`, and none of these has a default. What measures have in
//! common by what they send and by what their result is, is in `family`. Keys are read through the trait `measures::Keys`, which the reader of plan files in `plan`
//! implements: the reader knows TOML and the line of each mistake, and the measurement knows what its keys mean. `Measure::read` finds the measurement by
//! its name. Only the check that needs recipes comes later, in `plan`: the authority of a test of DNS64. Quantities are lines of one table
//! (`measures::quantity`): name, title, unit, which way is better. CONTRIBUTING.md says what each kind of addition touches.

mod clauses;
mod context;
mod family;
mod info;
mod keys;
mod largest_trial;
mod load;
mod loads;
mod measurement;
mod outcome;
mod procedure;
mod quantity;
mod search_goals;
mod tcp;
#[cfg(test)]
mod tests;

pub(crate) use context::PeerTest;
pub use context::TestContext;
pub use family::{Family, Noun, ResultKind};
pub use info::{Demand, Info, SearchedRate, Term, TrafficRequirements};
pub use keys::{Keys, MeasureDefaults};
pub use load::Load;
pub use loads::{Loads, NumberSearch};
pub use measurement::{Measurement, SendingTime};
pub use outcome::{LimitSigns, LoadSource, Outcome, SearchRef};
pub use procedure::{Findings, Judgement, Procedure, ProcedureContext, TrialPurpose, procedure};
pub use quantity::{Quantity, Unit, Value};
pub use tcp::Tcp;

pub use back_to_back::BackToBack;
pub use dns::{connection_count, outstanding_count, query_burst};
pub use frame_loss_rate::LossScan;
pub use ipdv::IpdvStream;
pub use latency::Latency;
pub use pdv::PdvStream;
pub use recovery::Recovery;
pub use requirements::RequirementTest;
pub use reset::Reset;
pub use response_time::ResponseTime;
pub use soak::Soak;
pub use table_capacity::Capacity;
pub use tcp_capacity::TcpCapacity;

use crate::plan::DnsTest;
use crate::terms::bounds::{Bounded, TableBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, RangeInclusive};

/// Makes the enumeration of all measurements: each line names the file, the variant and, where it has some, its settings, which `read` makes
/// of the keys of a test. `by name` stands where a file has several measures, so that `read` needs the name.
macro_rules! measures {
    ($($(#[$doc:meta])* $module:ident: $variant:ident $(($bound:ident: $settings:ty $(, by $by:ident)?))?,)+) => {
        $(mod $module;)+

        /// The measure of a test, with the settings that each measurement has of its own.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Measure {
            $($(#[$doc])* $variant $(($settings))?,)+
        }

        impl Bounded for Measure {
            const BOUNDS: TableBounds = TableBounds {
                tables: &[$($((stringify!($module), &<$settings>::BOUNDS),)?)+],
                ..TableBounds::NONE
            };
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
    /// The requirements of RFCs on the device, vector by vector: no rate, but right or wrong.
    requirements: Requirements(settings: RequirementTest),
    /// One load for hours, frames or new TCP connections: loss, and growth of memory and connections.
    soak: Soak(settings: Soak, by name),
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

    /// Returns whether its trials can have broadcast frames (RFC 2544 section 11.1): the load is constant, and its loss counts. A frame that is tagged for a
    /// delay would be missing where a broadcast frame replaces it.
    pub fn can_have_broadcasts(&self) -> bool {
        let quantities = self.info().quantities;
        self.has_held_load() && !quantities.iter().any(|of| of.is_of_one_way_delays())
    }

    /// Returns whether its trials send a load of frames that is held from the first frame to the last, so that a ramp may precede it, and bursts may make it up
    /// (RFC 2544 section 21).
    pub fn has_held_load(&self) -> bool {
        self.family().can_have_a_ramp() && self.info().is_steady
    }

    /// Returns whether the result is a rate that was searched for: frames, connections or queries per second.
    pub fn is_searched_rate(&self) -> bool {
        self.info().searched.is_some()
    }

    /// Returns what its trials send.
    pub fn family(&self) -> Family {
        self.info().family
    }

    /// Returns what a repetition comes to. Where the load of a rate that is searched for is known, it only repeats the rate.
    pub fn result_kind(&self) -> ResultKind {
        let Info {
            searched, headline, ..
        } = self.info();
        match (searched, headline) {
            (Some(_), _) if self.load().is_some() => ResultKind::RepeatedRate,
            (Some(_), _) => ResultKind::Rate,
            (None, Some(quantity)) if quantity.unit() == Unit::Connections => ResultKind::Number,
            (None, Some(quantity)) if quantity.unit() == Unit::Requirements => {
                ResultKind::Requirements
            }
            (None, Some(_)) => ResultKind::Quantity,
            (None, None) => ResultKind::Curve,
        }
    }

    /// Returns whether it searches for the load at which others are made: the throughput of frames, or the rate of its queries.
    pub fn finds_the_load(&self) -> bool {
        self.result_kind() == ResultKind::Rate && self.family().has_load_for_others()
    }

    /// Returns the load that its result belongs to; `None` if that is searched for, or if there is not one alone.
    pub fn load(&self) -> Option<Load> {
        self.loads().single()
    }

    /// Returns the smallest and the largest number of connections that phase 1 of its trials opens; `None` if the test sets the number.
    pub fn phase_one_connections(&self) -> Option<RangeInclusive<u64>> {
        self.loads().number()?.phase_one
    }

    /// Returns whether it is made at the throughput, or at a share of it.
    pub fn is_at_throughput(&self) -> bool {
        self.load().is_some_and(Load::is_of_throughput)
    }

    /// Returns whether the result is one number for which higher is better: a rate that was searched for, or a rate or number
    /// of connections.
    pub fn is_rated(&self) -> bool {
        let of_connections = |quantity: Quantity| {
            matches!(
                quantity.unit(),
                Unit::Connections | Unit::ConnectionsPerSecond
            )
        };
        self.is_searched_rate() || self.info().headline.is_some_and(of_connections)
    }

    /// Returns which DNS queries are made, where the test is of a DNS server.
    pub fn dns(&self) -> Option<&DnsTest> {
        if let Self::Dns(dns) = self {
            Some(dns)
        } else {
            None
        }
    }

    /// Returns a text that distinguishes the DNS servers of tests with one recipe: it has everything that is in their configuration. `None` where the test
    /// is of another device.
    pub fn server_configuration(&self) -> Option<String> {
        self.dns().map(dns::server_configuration)
    }

    /// Returns whether both ask the same of a device. What is known to be wrong does not change the question.
    pub(crate) fn asks_the_same_as(&self, other: &Self) -> bool {
        match (self.requirements(), other.requirements()) {
            (Some(own), Some(of_other)) => own.selects_as(of_other),
            _ => self == other,
        }
    }

    /// Returns the recipe of the authoritative server that answers behind its device; `None` if the tester answers, or nobody is asked.
    pub fn authority(&self) -> Option<&str> {
        self.dns()?.authority.as_deref()
    }

    /// Returns whether both send the same queries, at whatever rate, or both send none.
    pub(crate) fn sends_queries_of(&self, other: &Self) -> bool {
        self.dns().map(DnsTest::searched) == other.dns().map(DnsTest::searched)
    }

    /// Returns the settings of its TCP connections, or `None` if it sends frames or queries.
    pub fn tcp(&self) -> Option<&Tcp> {
        if let Self::TcpEstablishmentRate(tcp)
        | Self::TcpCapacity(TcpCapacity { tcp, .. })
        | Self::Soak(Soak { tcp: Some(tcp), .. }) = self
        {
            Some(tcp)
        } else {
            None
        }
    }

    /// Returns the queries to be changed.
    pub fn dns_mut(&mut self) -> Option<&mut DnsTest> {
        if let Self::Dns(dns) = self {
            Some(dns)
        } else {
            None
        }
    }

    /// Returns how the capacity of the connection tracking table is searched for, where that is the result.
    pub fn table_capacity(&self) -> Option<&Capacity> {
        if let Self::TableCapacity(capacity) = self {
            Some(capacity)
        } else {
            None
        }
    }

    /// Returns the requests that are made, where the test is of those and their replies.
    pub fn response_time(&self) -> Option<&ResponseTime> {
        if let Self::ResponseTime(response) = self {
            Some(response)
        } else {
            None
        }
    }

    /// Returns which vectors of requirements are sent, where the test is of those.
    pub fn requirements(&self) -> Option<&RequirementTest> {
        if let Self::Requirements(requirements) = self {
            Some(requirements)
        } else {
            None
        }
    }

    /// Returns for how long which load is held, where the test is a soak.
    pub fn soak(&self) -> Option<&Soak> {
        if let Self::Soak(soak) = self {
            Some(soak)
        } else {
            None
        }
    }
}
