//! What measures send and what their results are: the properties by which the rest of the program tells measures apart. Each property is a match that
//! lists all families or all kinds of results, so the compiler asks a new one for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The traffic that the trials of a measure send, and so the tester that makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Test frames, which the device forwards; those of phase 2 where it is stateful.
    Frames,
    /// Test frames as requests, which the tester's other end answers.
    Requests,
    /// Only test frames of phase 1 (RFC 9693): each opens a connection, so rates count connections though frames are sent.
    PhaseOne,
    /// TCP connections, made by the kernel's sockets.
    Tcp,
    /// DNS queries, sent by the kernel's sockets.
    Queries,
    /// The frames of vectors of requirements, one vector after the other: there is no load.
    Vectors,
}

/// The things a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Noun {
    /// Test frames, in each direction.
    Frames,
    /// Connections, which have no direction: only the Initiator, or the client, opens them.
    Connections,
    /// DNS queries, which have no direction either.
    Queries,
}

/// The form of the result of one repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// The highest rate at which a trial passes, which is searched for.
    Rate,
    /// A rate that another test has found, at which a trial passes or not.
    RepeatedRate,
    /// The largest number of connections, which is searched for.
    Number,
    /// A quantity of the trials at a load.
    Quantity,
    /// A quantity at each of several loads.
    Curve,
    /// Requirements, each of which is met or violated.
    Requirements,
}

impl Family {
    /// Returns the noun that its rates count.
    pub fn noun(self) -> Noun {
        match self {
            Self::Frames | Self::Requests | Self::Vectors => Noun::Frames,
            Self::PhaseOne | Self::Tcp => Noun::Connections,
            Self::Queries => Noun::Queries,
        }
    }

    /// Returns whether its trials have a load: a rate at which something is sent, for a time that the plan knows.
    pub fn has_load(self) -> bool {
        match self {
            Self::Frames | Self::Requests | Self::PhaseOne | Self::Tcp | Self::Queries => true,
            Self::Vectors => false,
        }
    }

    /// Returns whether the tester's ends are hosts with sockets of the kernel rather than ports for frames.
    pub fn needs_hosts(self) -> bool {
        match self {
            Self::Frames | Self::Requests | Self::PhaseOne | Self::Vectors => false,
            Self::Tcp | Self::Queries => true,
        }
    }

    /// Returns whether its frames have the sizes of the plan. Those that the kernel's sockets send, and those of vectors, have the size that they have.
    pub fn has_frame_sizes(self) -> bool {
        match self {
            Self::Frames | Self::Requests | Self::PhaseOne => true,
            Self::Tcp | Self::Queries | Self::Vectors => false,
        }
    }

    /// Returns whether its results are expected to depend on the frame size. Opening a connection costs a device the same at any size.
    pub fn depends_on_frame_size(self) -> bool {
        match self {
            Self::Frames | Self::Requests => true,
            Self::PhaseOne | Self::Tcp | Self::Queries | Self::Vectors => false,
        }
    }

    /// Returns whether its trials end with phase 1 and the validation of its connections: nothing is sent in phase 2.
    pub fn ends_with_phase_one(self) -> bool {
        match self {
            Self::PhaseOne => true,
            Self::Frames | Self::Requests | Self::Tcp | Self::Queries | Self::Vectors => false,
        }
    }

    /// Returns whether a ramp can precede its trials: frames at a load that rises to that of the trial. Where each frame opens a connection, or waits for an
    /// answer, the ones before the trial would not be like those of it.
    pub fn can_have_a_ramp(self) -> bool {
        match self {
            Self::Frames => true,
            Self::Requests | Self::PhaseOne | Self::Tcp | Self::Queries | Self::Vectors => false,
        }
    }

    /// Returns whether the frames of a trial can be of several sizes. A reply is as long as its request, and opening a connection costs a device the same
    /// at any size.
    pub fn can_mix_sizes(self) -> bool {
        match self {
            Self::Frames => true,
            Self::Requests | Self::PhaseOne | Self::Tcp | Self::Queries | Self::Vectors => false,
        }
    }

    /// Returns whether its trials are answered: what may be late or missing are answers, neither frames nor connections.
    pub fn is_answered(self) -> bool {
        match self {
            Self::Queries => true,
            Self::Frames | Self::Requests | Self::PhaseOne | Self::Tcp | Self::Vectors => false,
        }
    }

    /// Returns whether the tester's other end sends what arrives back as replies, whose delays are those of both ways.
    pub fn has_replies(self) -> bool {
        match self {
            Self::Requests => true,
            Self::Frames | Self::PhaseOne | Self::Tcp | Self::Queries | Self::Vectors => false,
        }
    }

    /// Returns whether the rate that such a measure finds is the load at which others are made.
    pub(crate) fn has_load_for_others(self) -> bool {
        match self {
            Self::Frames | Self::Queries => true,
            Self::Requests | Self::PhaseOne | Self::Tcp | Self::Vectors => false,
        }
    }
}

impl Noun {
    /// Returns the plural: `frames`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Frames => "frames",
            Self::Connections => "connections",
            Self::Queries => "queries",
        }
    }

    /// Returns the unit of a rate: `frames/s`.
    pub fn per_second(self) -> &'static str {
        match self {
            Self::Frames => "frames/s",
            Self::Connections => "connections/s",
            Self::Queries => "queries/s",
        }
    }

    /// Returns the unit of a rate with its direction, which only frames have: `frames/s per direction`.
    pub fn per_second_and_direction(self) -> &'static str {
        match self {
            Self::Frames => "frames/s per direction",
            Self::Connections | Self::Queries => self.per_second(),
        }
    }
}

impl ResultKind {
    /// Returns whether its repetitions are values with a spread. Where a rate is repeated, passing or not is the result; so it is of a requirement.
    pub fn has_spread(self) -> bool {
        match self {
            Self::Rate | Self::Number | Self::Quantity | Self::Curve => true,
            Self::RepeatedRate | Self::Requirements => false,
        }
    }

    /// Returns whether a repetition is a trial at a rate that another test has found.
    pub fn repeats_a_rate(self) -> bool {
        match self {
            Self::RepeatedRate => true,
            Self::Rate | Self::Number | Self::Quantity | Self::Curve | Self::Requirements => false,
        }
    }

    /// Returns whether two results differ by chance, so that only their repetitions show a difference. A requirement is met or violated.
    pub fn varies(self) -> bool {
        match self {
            Self::Rate | Self::RepeatedRate | Self::Number | Self::Quantity | Self::Curve => true,
            Self::Requirements => false,
        }
    }

    /// Returns whether a repetition has a value for each of several loads rather than one value.
    pub fn has_several_loads(self) -> bool {
        match self {
            Self::Curve => true,
            Self::Rate
            | Self::RepeatedRate
            | Self::Number
            | Self::Quantity
            | Self::Requirements => false,
        }
    }

    /// Returns whether a result of zero has no value on record: a search for a number whose smallest one was not held ends with the DUT losing.
    pub(crate) fn is_zero_unrecorded(self) -> bool {
        match self {
            Self::Number => true,
            Self::Rate | Self::RepeatedRate | Self::Quantity | Self::Curve | Self::Requirements => {
                false
            }
        }
    }

    /// Returns the plan key that sets the smallest number of connections of a test.
    pub fn connections_key(self) -> &'static str {
        match self {
            Self::Number => "start",
            Self::Rate | Self::RepeatedRate | Self::Quantity | Self::Curve | Self::Requirements => {
                "connections"
            }
        }
    }
}
