//! What a row of a comparison compares, with its name, its noun and its unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_method::measures::{Noun, Quantity, Unit};
use sixbench_method::plan::Measure;
use sixbench_method::search::AcceptedLoss;
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use std::fmt;

/// The rate or value that a row compares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedValue {
    /// The highest rate at which no more than this is lost; with 0 the throughput of RFC 2544 section 26.1.
    Rate(LossRatio),
    /// The same of connections: the highest rate at which no more than this share of them is not established (RFC 9693, RFC 3511).
    ConnectionRate(LossRatio),
    /// The same of DNS queries: the highest rate at which no more than this share of them is not answered rightly and in time.
    QueryRate(LossRatio),
    /// The same where a share of the trials at a load may lose more than the goal accepts: the loss goal and the exceed ratio (RFC 9971 section 4.6.4).
    TolerantRate(Noun, LossRatio, f64),
    /// A quantity of one direction; with its load where values of several loads stand side by side.
    Value(Quantity, Direction, Option<FrameRate>),
}

impl ComparedValue {
    /// Returns the searched rate of a measure for a loss goal: frames, connections or queries per second.
    pub fn rate(measure: &Measure, goal: AcceptedLoss) -> Self {
        let noun = measure.family().noun();
        if goal.exceed_ratio > 0.0 {
            return Self::TolerantRate(noun, goal.loss_ratio, goal.exceed_ratio);
        }
        let goal = goal.loss_ratio;
        match noun {
            Noun::Queries => Self::QueryRate(goal),
            Noun::Connections => Self::ConnectionRate(goal),
            Noun::Frames => Self::Rate(goal),
        }
    }

    /// Returns whether a higher value is the better one.
    pub fn is_higher_better(&self) -> bool {
        match self {
            Self::Rate(_)
            | Self::ConnectionRate(_)
            | Self::QueryRate(_)
            | Self::TolerantRate(..) => true,
            Self::Value(quantity, ..) => quantity.is_higher_better(),
        }
    }

    /// Returns the things that the values count; `None` for times, shares and octets.
    pub fn noun(&self) -> Option<Noun> {
        match self {
            Self::Rate(_) => Some(Noun::Frames),
            Self::ConnectionRate(_) => Some(Noun::Connections),
            Self::QueryRate(_) => Some(Noun::Queries),
            Self::TolerantRate(noun, ..) => Some(*noun),
            Self::Value(quantity, ..) => match quantity.unit() {
                Unit::Frames | Unit::FramesPerSecond => Some(Noun::Frames),
                Unit::Connections | Unit::ConnectionsPerSecond => Some(Noun::Connections),
                Unit::Nanoseconds
                | Unit::Percent
                | Unit::Octets
                | Unit::OctetsPerHour
                | Unit::Requirements => None,
            },
        }
    }

    /// Returns the unit of its values as they are stored: `frames/s`, `connections/s`, `queries/s`, `ns`, `%`, `frames`, `connections`, `octets`.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Rate(_) => Noun::Frames.per_second(),
            Self::ConnectionRate(_) => Noun::Connections.per_second(),
            Self::QueryRate(_) => Noun::Queries.per_second(),
            Self::TolerantRate(noun, ..) => noun.per_second(),
            Self::Value(quantity, ..) => quantity.unit().symbol(),
        }
    }
}

impl fmt::Display for ComparedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(LossRatio::ZERO) => f.write_str("Throughput"),
            Self::Rate(goal) => write!(f, "Rate at {goal} loss or less"),
            Self::ConnectionRate(LossRatio::ZERO) => f.write_str("Connection establishment rate"),
            Self::ConnectionRate(goal) => {
                write!(f, "Connection establishment rate at {goal} loss or less")
            }
            Self::QueryRate(LossRatio::ZERO) => {
                f.write_str("Rate of queries answered correctly and in time")
            }
            Self::QueryRate(goal) => write!(f, "Rate of queries at {goal} loss or less"),
            Self::TolerantRate(noun, goal, exceed_ratio) => write!(
                f,
                "Rate of {} at {goal} loss or less in at least {} of the trials",
                noun.plural(),
                LossRatio(1.0 - exceed_ratio)
            ),
            Self::Value(quantity, ..)
                if matches!(quantity.unit(), Unit::Connections | Unit::Requirements) =>
            {
                f.write_str(quantity.title())
            }
            Self::Value(quantity, direction, None) => {
                write!(f, "{}, {direction}", quantity.title())
            }
            Self::Value(quantity, direction, Some(load)) => {
                write!(f, "{}, {direction}, at {load}", quantity.title())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::{DnsRole, DnsTest, Tcp};
    use sixbench_method::trial::tcp::Close;

    #[test]
    fn a_rate_is_named_after_what_is_counted() {
        let rate = |measure: &Measure| {
            let subject = ComparedValue::rate(measure, AcceptedLoss::NONE);
            (subject.to_string(), subject.noun().unwrap(), subject.unit())
        };
        let tcp = Tcp {
            object_octets: 64,
            time_limit_ns: 1,
            close: Close::Reset,
            server_ports: (80, 80),
        };
        let connections = (
            "Connection establishment rate".to_owned(),
            Noun::Connections,
            "connections/s",
        );
        assert_eq!(
            rate(&Measure::Throughput),
            ("Throughput".to_owned(), Noun::Frames, "frames/s")
        );
        assert_eq!(rate(&Measure::EstablishmentRate), connections);
        assert_eq!(rate(&Measure::TcpEstablishmentRate(tcp)), connections);
        let (title, noun, unit) = rate(&Measure::Dns(DnsTest::required(DnsRole::Dns64)));
        assert_eq!(
            (title.as_str(), noun, unit),
            (
                "Rate of queries answered correctly and in time",
                Noun::Queries,
                "queries/s"
            )
        );
    }

    #[test]
    fn values_have_the_unit_they_are_stored_in() {
        let of = |quantity| {
            let subject = ComparedValue::Value(quantity, Direction::Forward, None);
            (subject.unit(), subject.noun())
        };
        assert_eq!(of(Quantity::TypicalLatency), ("ns", None));
        assert_eq!(
            of(Quantity::TableCapacity),
            ("connections", Some(Noun::Connections))
        );
        assert_eq!(
            of(Quantity::BackToBackFrames),
            ("frames", Some(Noun::Frames))
        );
    }
}
