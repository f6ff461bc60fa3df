//! The quantities that the RFCs define, each with its name, its unit and which way is better.

use crate::terms::{Direction, FrameRate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_stats::CensoredValue;

/// The better one of two values, which decides the formula of degradation (RFC 8219 section 10.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BetterValue {
    Higher,
    Lower,
}

/// Makes the enumeration of all quantities: each line has the variant, its name in records and plans, its title in reports, the unit it is
/// stored in, and which way is better.
macro_rules! quantities {
    ($($(#[$doc:meta])* $variant:ident: $name:literal, $title:literal, $unit:ident, $better:ident;)+) => {
        /// A quantity the RFCs define. Times are nanoseconds here and milliseconds or seconds in reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Quantity {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl Quantity {
            /// Every quantity.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            const fn row(self) -> (&'static str, &'static str, Unit, BetterValue) {
                match self {
                    $(Self::$variant => ($name, $title, Unit::$unit, BetterValue::$better),)+
                }
            }
        }
    };
}

impl Quantity {
    /// Returns whether it follows from the delays of frames on their way through the DUT, from one clock to another.
    pub fn is_of_one_way_delays(self) -> bool {
        matches!(
            self,
            Self::TypicalLatency
                | Self::WorstCaseLatency
                | Self::Pdv
                | Self::MinimumDelay
                | Self::HighDelay
                | Self::IpdvMinimum
                | Self::IpdvMedian
                | Self::IpdvMaximum
        )
    }
}

quantities! {
    /// Frames not received over frames offered, per cent (RFC 2544 section 26.3).
    FrameLossRate: "frame-loss-rate", "Frame loss rate", Percent, Lower;
    /// TL: the median latency of the tagged frames (RFC 8219 section 7.2), ns.
    TypicalLatency: "typical-latency", "Typical latency (TL)", Nanoseconds, Lower;
    /// WCL: the 99.9th percentile of their latencies (RFC 8219 section 7.2), ns.
    WorstCaseLatency: "worst-case-latency", "Worst-case latency (WCL)", Nanoseconds, Lower;
    /// D99.9 - Dmin (RFC 8219 section 7.3.1), ns.
    Pdv: "pdv", "PDV", Nanoseconds, Lower;
    /// Dmin of the stream, ns.
    MinimumDelay: "minimum-delay", "Dmin", Nanoseconds, Lower;
    /// D99.9 of the stream, ns.
    HighDelay: "high-delay", "D99.9", Nanoseconds, Lower;
    /// The smallest IPDV of the stream (RFC 8219 section 7.3.2), ns.
    IpdvMinimum: "ipdv-minimum", "IPDV Dmin", Nanoseconds, Lower;
    /// The median IPDV of the stream, ns.
    IpdvMedian: "ipdv-median", "IPDV Dmed", Nanoseconds, Lower;
    /// The largest IPDV of the stream, ns.
    IpdvMaximum: "ipdv-maximum", "IPDV Dmax", Nanoseconds, Lower;
    /// The longest burst without loss, frames (RFC 9004 section 6.2).
    BackToBackFrames: "back-to-back-frames", "Back-to-back frames", Frames, Higher;
    /// From the drop of the rate to the last frame lost (RFC 2544 section 26.5), ns.
    RecoveryTime: "recovery-time", "System recovery time", Nanoseconds, Lower;
    /// Frames lost over the offered rate (RFC 6201 section 1.3), ns.
    ResetTimeByLoss: "reset-time-by-loss", "Reset time (frame loss)", Nanoseconds, Lower;
    /// From the last frame before to the first frame after (RFC 6201 section 1.3), ns.
    ResetTimeByTimestamps: "reset-time-by-timestamps", "Reset time (timestamps)", Nanoseconds, Lower;
    /// Connections over the time their deletion took (RFC 9693), connections per second.
    TearDownRate: "tear-down-rate", "Connection tear-down rate", ConnectionsPerSecond, Higher;
    /// The largest number of connections that was held (RFC 9693).
    TableCapacity: "table-capacity", "Capacity of the connection tracking table", Connections, Higher;
    /// A number of connections that was held on the way there; its load is their establishment rate.
    ConnectionsHeld: "connections-held", "Connections held", Connections, Higher;
    /// The largest number of TCP connections that were all open and alive at once (RFC 3511 section 5.2).
    TcpConnections: "tcp-connections", "Concurrent TCP connections", Connections, Higher;
    /// Requests without a right reply in time over requests, per cent, whichever way they were lost on.
    RequestLoss: "request-loss", "Frame loss", Percent, Lower;
    /// The average time from a request's departure to its reply's arrival, ns.
    ResponseTime: "response-time", "Response time, average", Nanoseconds, Lower;
    /// Its standard deviation, ns.
    ResponseTimeDeviation: "response-time-deviation", "Response time, standard deviation", Nanoseconds, Lower;
    /// Requests and replies the DUT forwarded, frames/s of both directions together.
    ForwardedFrames: "forwarded-frames", "Forwarded frames", FramesPerSecond, Higher;
    /// The average load of the DUT's processors over the trial's samples, per cent.
    ProcessorLoad: "processor-load", "CPU load, average", Percent, Lower;
    /// Its standard deviation, per cent of a processor, not of the average.
    ProcessorLoadDeviation: "processor-load-deviation", "CPU load, standard deviation", Percent, Lower;
    /// By how much the DUT's memory in use grew over that before the first frame, octets.
    MemoryGrowth: "memory-growth", "Memory growth", Octets, Lower;
    /// Frames not received over frames offered in hours at one load, per cent.
    SoakLoss: "soak-loss", "Frame loss over the soak", Percent, Lower;
    /// The growth of the DUT's memory, octets per hour, negative where it shrinks.
    MemoryGrowthRate: "memory-growth-rate", "Memory growth per hour", OctetsPerHour, Lower;
    /// The lower end of its 95 % interval, octets per hour.
    MemoryGrowthLeast: "memory-growth-least", "Memory growth per hour, lower end", OctetsPerHour, Lower;
    /// The upper end, octets per hour.
    MemoryGrowthMost: "memory-growth-most", "Memory growth per hour, upper end", OctetsPerHour, Lower;
    /// The growth of the memory of the kernel under the DUT that cannot be reclaimed, octets per hour.
    KernelGrowthRate: "kernel-memory-growth-rate", "Kernel memory growth per hour", OctetsPerHour, Lower;
    /// The lower end of its 95 % interval, octets per hour.
    KernelGrowthLeast: "kernel-memory-growth-least", "Kernel memory growth per hour, lower end", OctetsPerHour, Lower;
    /// The upper end, octets per hour.
    KernelGrowthMost: "kernel-memory-growth-most", "Kernel memory growth per hour, upper end", OctetsPerHour, Lower;
    /// Connections in the kernel's table at the end, less those after the warm-up.
    TableGrowth: "table-growth", "Connections gained", Connections, Lower;
    /// The most connections that were in the kernel's table at any sample.
    TableLargest: "table-largest", "Most connections in the table", Connections, Lower;
    /// Connections that failed over those attempted, per cent, in hours at one rate.
    FailedConnections: "failed-connections", "Connections failed over the soak", Percent, Lower;
    /// Connections that were opened and brought their object, per second, over the soak.
    ConnectionsOpened: "connections-opened", "Connections opened per second", ConnectionsPerSecond, Higher;
    /// Connections that were closed in order and in time, per second, over the soak.
    ConnectionsClosed: "connections-closed", "Connections closed per second", ConnectionsPerSecond, Higher;
    /// Requirements of RFCs that the device meets.
    RequirementsMet: "requirements-met", "Requirements met", Requirements, Higher;
    /// Requirements that the device violates.
    RequirementsViolated: "requirements-violated", "Requirements violated", Requirements, Lower;
    /// Those among them whose text says MUST.
    MustsViolated: "musts-violated", "MUSTs violated", Requirements, Lower;
    /// Requirements that the device violates, quietly or under load, although neither its recipe nor the plan names them.
    NewViolations: "new-violations", "New violations", Requirements, Lower;
    /// Requirements that the device violates under load and not quietly.
    ViolatedUnderLoad: "violated-under-load", "Requirements violated under load alone", Requirements, Lower;
}

impl Quantity {
    /// Returns its name as records and plans spell it.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns its name as reports print it.
    pub fn title(self) -> &'static str {
        self.row().1
    }

    /// Returns the unit that values are stored in.
    pub fn unit(self) -> Unit {
        self.row().2
    }

    /// Returns whether a higher value is the better one.
    pub fn is_higher_better(self) -> bool {
        self.row().3 == BetterValue::Higher
    }
}

/// The unit of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds; reports print milliseconds (RFC 5481) or seconds.
    Nanoseconds,
    /// Per cent.
    Percent,
    /// Frames.
    Frames,
    /// Connections.
    Connections,
    /// Connections per second.
    ConnectionsPerSecond,
    /// Frames per second, of both directions together.
    FramesPerSecond,
    /// Octets; reports print kB of 1000.
    Octets,
    /// Octets per hour; reports print kB of 1000 per hour.
    OctetsPerHour,
    /// Requirements of RFCs on a device.
    Requirements,
}

impl Unit {
    /// Returns the name in machine-readable output.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Percent => "%",
            Self::Frames => "frames",
            Self::Connections => "connections",
            Self::ConnectionsPerSecond => "connections/s",
            Self::FramesPerSecond => "frames/s",
            Self::Octets => "octets",
            Self::OctetsPerHour => "octets/h",
            Self::Requirements => "requirements",
        }
    }
}

/// One number a repetition came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Value {
    /// The quantity that was measured.
    pub quantity: Quantity,
    /// The direction it belongs to.
    pub direction: Direction,
    /// The load it was measured at, frames per second per direction.
    pub load: FrameRate,
    /// The value, in the quantity's unit.
    pub value: f64,
    /// True if the true value may be higher: the trial ended before the DUT had recovered, or the burst was as long as the
    /// plan allows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_at_least: bool,
    /// True if the true value may be lower: the tester may have added a sensible share of a delay, or others had the DUT's processors while it was
    /// measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_at_most: bool,
}

impl Value {
    /// Returns it as a value of a sample.
    pub fn censored(&self) -> CensoredValue {
        let Self {
            value,
            is_at_least,
            is_at_most,
            ..
        } = *self;
        CensoredValue {
            value,
            is_at_least,
            is_at_most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    #[test]
    fn the_name_of_a_quantity_is_that_of_the_records() {
        for &quantity in Quantity::ALL {
            let name: StrDeserializer<'_, Error> = quantity.name().into_deserializer();
            assert_eq!(Quantity::deserialize(name), Ok(quantity));
        }
        let names: std::collections::BTreeSet<_> = Quantity::ALL
            .iter()
            .map(|quantity| quantity.name())
            .collect();
        assert_eq!(names.len(), Quantity::ALL.len());
    }
}
