//! What a measurement finds: quantities with their unit and direction, and the outcome of one repetition.

use crate::plan::{Measure, Point};
use crate::search::{Bracket, Limit};
use crate::terms::{Direction, FrameRate};
use crate::throughput::LoadSource;
use serde::{Deserialize, Serialize};

/// A quantity the RFCs define. Times are nanoseconds here and milliseconds or seconds in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Frames not received over frames offered, per cent (RFC 2544 section 26.3).
    FrameLossRate,
    /// TL: the median latency of the tagged frames (RFC 8219 section 7.2), ns.
    TypicalLatency,
    /// WCL: the 99.9th percentile of their latencies (RFC 8219 section 7.2), ns.
    WorstCaseLatency,
    /// D99.9 - Dmin (RFC 8219 section 7.3.1), ns.
    Pdv,
    /// Dmin of the stream, ns.
    MinimumDelay,
    /// D99.9 of the stream, ns.
    HighDelay,
    /// The smallest IPDV of the stream (RFC 8219 section 7.3.2), ns.
    IpdvMinimum,
    /// The median IPDV of the stream, ns.
    IpdvMedian,
    /// The largest IPDV of the stream, ns.
    IpdvMaximum,
    /// The longest burst without loss, frames (RFC 9004 section 6.2).
    BackToBackFrames,
    /// From the drop of the rate to the last frame lost (RFC 2544 section 26.5), ns.
    RecoveryTime,
    /// Frames lost over the offered rate (RFC 6201 section 1.3), ns.
    ResetTimeByLoss,
    /// From the last frame before to the first frame after (RFC 6201 section 1.3), ns.
    ResetTimeByTimestamps,
    /// Connections over the time their deletion took (RFC 9693), connections per second.
    TearDownRate,
    /// The largest number of connections that was held (RFC 9693).
    TableCapacity,
    /// A number of connections that was held on the way there; its load is their establishment rate.
    ConnectionsHeld,
    /// The largest number of TCP connections that were all open and alive at once (RFC 3511 section 5.2).
    TcpConnections,
    /// Requests without a right reply in time over requests, per cent, whichever way they were lost on.
    RequestLoss,
    /// The average time from a request's departure to its reply's arrival, ns.
    ResponseTime,
    /// Its standard deviation, ns.
    ResponseTimeDeviation,
    /// Requests and replies the DUT forwarded, frames/s of both directions together.
    ForwardedFrames,
    /// The average load of the DUT's processors over the trial's samples, per cent.
    ProcessorLoad,
    /// Its standard deviation, per cent of a processor, not of the average.
    ProcessorLoadDeviation,
    /// By how much the DUT's memory in use grew over that before the first frame, octets.
    MemoryGrowth,
}

impl Quantity {
    /// The quantity that repetitions of a measure are judged by. `None` of the throughput and the establishment rate, which are searched, and of the frame loss rate,
    /// which is a curve.
    pub fn headline_of(measure: &Measure) -> Option<Self> {
        match measure {
            Measure::Throughput | Measure::EstablishmentRate | Measure::TcpEstablishmentRate(_) | Measure::Dns(_) => None,
            Measure::FrameLossRate(_) => None,
            Measure::Latency(_) => Some(Self::TypicalLatency),
            Measure::Pdv(_) => Some(Self::Pdv),
            Measure::Ipdv(_) => Some(Self::IpdvMaximum),
            Measure::BackToBack(_) => Some(Self::BackToBackFrames),
            Measure::Recovery(_) => Some(Self::RecoveryTime),
            Measure::Reset(_) => Some(Self::ResetTimeByLoss),
            Measure::TearDownRate => Some(Self::TearDownRate),
            Measure::TableCapacity(_) => Some(Self::TableCapacity),
            Measure::TcpCapacity(_) => Some(Self::TcpConnections),
            Measure::ResponseTime(_) => Some(Self::ResponseTime),
        }
    }

    /// Every quantity.
    pub const ALL: [Self; 24] = [
        Self::FrameLossRate,
        Self::TypicalLatency,
        Self::WorstCaseLatency,
        Self::Pdv,
        Self::MinimumDelay,
        Self::HighDelay,
        Self::IpdvMinimum,
        Self::IpdvMedian,
        Self::IpdvMaximum,
        Self::BackToBackFrames,
        Self::RecoveryTime,
        Self::ResetTimeByLoss,
        Self::ResetTimeByTimestamps,
        Self::TearDownRate,
        Self::TableCapacity,
        Self::ConnectionsHeld,
        Self::TcpConnections,
        Self::RequestLoss,
        Self::ResponseTime,
        Self::ResponseTimeDeviation,
        Self::ForwardedFrames,
        Self::ProcessorLoad,
        Self::ProcessorLoadDeviation,
        Self::MemoryGrowth,
    ];

    /// What the repetitions of a measure come to besides the rate that is searched for.
    pub fn of_measure(measure: &Measure) -> &'static [Self] {
        match measure {
            Measure::Throughput | Measure::EstablishmentRate | Measure::TcpEstablishmentRate(_) | Measure::Dns(_) => &[],
            Measure::FrameLossRate(_) => &[Self::FrameLossRate],
            Measure::Latency(_) => &[Self::TypicalLatency, Self::WorstCaseLatency],
            Measure::Pdv(_) => &[Self::Pdv, Self::MinimumDelay, Self::HighDelay],
            Measure::Ipdv(_) => &[Self::IpdvMinimum, Self::IpdvMedian, Self::IpdvMaximum],
            Measure::BackToBack(_) => &[Self::BackToBackFrames],
            Measure::Recovery(_) => &[Self::RecoveryTime],
            Measure::Reset(_) => &[Self::ResetTimeByLoss, Self::ResetTimeByTimestamps],
            Measure::TearDownRate => &[Self::TearDownRate],
            Measure::TableCapacity(_) => &[Self::TableCapacity],
            Measure::TcpCapacity(_) => &[Self::TcpConnections],
            Measure::ResponseTime(_) => &[
                Self::RequestLoss,
                Self::ResponseTime,
                Self::ResponseTimeDeviation,
                Self::ForwardedFrames,
                Self::ProcessorLoad,
                Self::ProcessorLoadDeviation,
                Self::MemoryGrowth,
            ],
        }
    }

    /// As records and plans spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FrameLossRate => "frame-loss-rate",
            Self::TypicalLatency => "typical-latency",
            Self::WorstCaseLatency => "worst-case-latency",
            Self::Pdv => "pdv",
            Self::MinimumDelay => "minimum-delay",
            Self::HighDelay => "high-delay",
            Self::IpdvMinimum => "ipdv-minimum",
            Self::IpdvMedian => "ipdv-median",
            Self::IpdvMaximum => "ipdv-maximum",
            Self::BackToBackFrames => "back-to-back-frames",
            Self::RecoveryTime => "recovery-time",
            Self::ResetTimeByLoss => "reset-time-by-loss",
            Self::ResetTimeByTimestamps => "reset-time-by-timestamps",
            Self::TearDownRate => "tear-down-rate",
            Self::TableCapacity => "table-capacity",
            Self::ConnectionsHeld => "connections-held",
            Self::TcpConnections => "tcp-connections",
            Self::RequestLoss => "request-loss",
            Self::ResponseTime => "response-time",
            Self::ResponseTimeDeviation => "response-time-deviation",
            Self::ForwardedFrames => "forwarded-frames",
            Self::ProcessorLoad => "processor-load",
            Self::ProcessorLoadDeviation => "processor-load-deviation",
            Self::MemoryGrowth => "memory-growth",
        }
    }

    /// As reports call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::FrameLossRate => "Frame loss rate",
            Self::TypicalLatency => "Typical latency (TL)",
            Self::WorstCaseLatency => "Worst-case latency (WCL)",
            Self::Pdv => "PDV",
            Self::MinimumDelay => "Dmin",
            Self::HighDelay => "D99.9",
            Self::IpdvMinimum => "IPDV Dmin",
            Self::IpdvMedian => "IPDV Dmed",
            Self::IpdvMaximum => "IPDV Dmax",
            Self::BackToBackFrames => "Back-to-back frames",
            Self::RecoveryTime => "System recovery time",
            Self::ResetTimeByLoss => "Reset time (frame loss)",
            Self::ResetTimeByTimestamps => "Reset time (timestamps)",
            Self::TearDownRate => "Connection tear-down rate",
            Self::TableCapacity => "Capacity of the connection tracking table",
            Self::ConnectionsHeld => "Connections held",
            Self::TcpConnections => "Concurrent TCP connections",
            Self::RequestLoss => "Frame loss",
            Self::ResponseTime => "Response time, average",
            Self::ResponseTimeDeviation => "Response time, standard deviation",
            Self::ForwardedFrames => "Forwarded frames",
            Self::ProcessorLoad => "CPU load, average",
            Self::ProcessorLoadDeviation => "CPU load, standard deviation",
            Self::MemoryGrowth => "Memory growth",
        }
    }

    /// The unit values are stored in.
    pub fn unit(self) -> Unit {
        match self {
            Self::FrameLossRate | Self::RequestLoss => Unit::Percent,
            Self::ProcessorLoad | Self::ProcessorLoadDeviation => Unit::Percent,
            Self::ForwardedFrames => Unit::FramesPerSecond,
            Self::MemoryGrowth => Unit::Octets,
            Self::BackToBackFrames => Unit::Frames,
            Self::TearDownRate => Unit::ConnectionsPerSecond,
            Self::TableCapacity | Self::ConnectionsHeld | Self::TcpConnections => Unit::Connections,
            _ => Unit::Nanoseconds,
        }
    }

    /// Whether a higher value is the better one: it decides the formula of degradation (RFC 8219 section 10.2.1).
    pub fn is_higher_better(self) -> bool {
        let is_of_connections = matches!(self.unit(), Unit::Connections | Unit::ConnectionsPerSecond);
        is_of_connections || matches!(self, Self::BackToBackFrames | Self::ForwardedFrames)
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
}

impl Unit {
    /// As machines are told it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Percent => "%",
            Self::Frames => "frames",
            Self::Connections => "connections",
            Self::ConnectionsPerSecond => "connections/s",
            Self::FramesPerSecond => "frames/s",
            Self::Octets => "octets",
        }
    }
}

/// One number a repetition came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// What it is.
    pub quantity: Quantity,
    /// Of which direction.
    pub direction: Direction,
    /// The load it was measured at, frames per second per direction.
    pub load: FrameRate,
    /// In the quantity's unit.
    pub value: f64,
    /// Whether the true value may be higher: the trial ended before the DUT had recovered, the burst was as long as the plan allows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_at_least: bool,
}

/// What one repetition of one point came to. Derived from the trials by replaying them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which test and frame size.
    pub point: Point,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// Trials performed, invalid ones included.
    pub trials: u32,
    /// Invalid trials among them.
    pub invalid: u32,
    /// The searches that its load came from, where others made them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSource>,
    /// What a search of the load found, one for each loss goal; empty where this repetition searched none.
    pub brackets: Vec<Bracket>,
    /// What else was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
}

impl Outcome {
    /// The throughput, or the establishment rate, this repetition determined, for the first loss goal.
    pub fn throughput(&self) -> Option<FrameRate> {
        self.brackets.first()?.lower
    }

    /// Returns the throughput that it was made at, from whichever measurement it came.
    pub fn load_throughput(&self) -> Option<FrameRate> {
        self.load.as_ref().map(|load| load.throughput).or_else(|| self.throughput())
    }

    /// Whether it came to no result because the tester never managed a valid trial.
    pub fn is_unfit(&self, measure: &Measure) -> bool {
        let bracket = self.brackets.first();
        let searched_in_vain =
            bracket.is_some_and(|b| b.lower.is_none() && matches!(b.limit, Limit::Tester | Limit::Disturbed));
        let has_a_load = bracket.is_none_or(|b| b.lower.is_some());
        let is_without_value = !measure.is_searched_rate() && self.invalid > 0 && self.values.is_empty();
        searched_in_vain || (is_without_value && has_a_load)
    }

    /// The one number repetitions are judged by: the throughput, or the measure's first quantity in its worst direction.
    /// `None` where the repetition came to nothing, and for the frame loss rate, which is a curve.
    pub fn headline(&self, measure: &Measure) -> Option<f64> {
        if measure.is_searched_rate() {
            return self.throughput().map(|rate| rate.0 as f64);
        }
        let quantity = Quantity::headline_of(measure)?;
        let values = self.values.iter().filter(|value| value.quantity == quantity).map(|value| value.value);
        values.reduce(|a, b| if quantity.is_higher_better() { a.min(b) } else { a.max(b) })
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
        for quantity in Quantity::ALL {
            let name: StrDeserializer<'_, Error> = quantity.name().into_deserializer();
            assert_eq!(Quantity::deserialize(name), Ok(quantity));
        }
        let names: std::collections::BTreeSet<_> = Quantity::ALL.iter().map(|quantity| quantity.name()).collect();
        assert_eq!(names.len(), Quantity::ALL.len());
    }
}
