//! Mistakes in files of vectors.

use super::wait::DeviceTimer;
use crate::dns::DnsMistake;
use std::fmt;

/// A mistake in the text of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameMistake {
    /// The frame does not say on which side it is.
    #[error("a frame begins with its side, `4:` or `6:`, in steps `in:` or `out:`")]
    NoSide,
    /// There is no layer of this name.
    #[error("there is no layer `{0}`; known are {known}", known = known_layers())]
    UnknownLayer(String),
    /// The layer has no such field.
    #[error("{layer} has no field `{field}`; it has {known}")]
    UnknownField {
        /// The name of the layer.
        layer: &'static str,
        /// The unknown name.
        field: String,
        /// The names of its fields.
        known: String,
    },
    /// A field is given twice.
    #[error("{layer}.{field} is given twice")]
    Repeated {
        /// The name of the layer.
        layer: &'static str,
        /// The name of the field.
        field: String,
    },
    /// A layer has its octets twice.
    #[error("{layer} has its octets already; `{argument}` is one argument too many")]
    SecondFill {
        /// The name of the layer.
        layer: &'static str,
        /// The second argument.
        argument: String,
    },
    /// The value of a field cannot be read.
    #[error("{layer}.{field}: `{value}` is no value of this field; expected {expected}")]
    BadValue {
        /// The name of the layer.
        layer: &'static str,
        /// The name of the field.
        field: String,
        /// The text.
        value: String,
        /// The form that is expected.
        expected: &'static str,
    },
    /// A parenthesis is missing, or there is text after it.
    #[error("cannot read the layer `{0}`; expected `name` or `name(field=value, ...)`")]
    Form(String),
}

fn known_layers() -> String {
    crate::frame::LayerKind::ALL
        .map(crate::frame::LayerKind::name)
        .join(", ")
}

fn known_timers() -> String {
    DeviceTimer::ALL.map(DeviceTimer::name).join(", ")
}

/// A kind of mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MistakeKind {
    /// The text is no TOML.
    #[error("{0}")]
    Toml(String),
    /// A key is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A key is unknown.
    #[error("unknown key `{key}`; expected one of {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The known keys.
        known: String,
    },
    /// A value has another type.
    #[error("`{key}` must be {expected}")]
    Type {
        /// The key.
        key: String,
        /// The type that is expected.
        expected: &'static str,
    },
    /// A word is none of those that the key may have.
    #[error("`{key}`: `{word}` is unknown; expected one of {known}")]
    UnknownWord {
        /// The key.
        key: &'static str,
        /// The word.
        word: String,
        /// The known words.
        known: &'static str,
    },
    /// A name is not in lower-case letters, digits and `-`.
    #[error("the name `{0}` must consist of lower-case letters, digits and `-`")]
    Name(String),
    /// Two vectors have one name.
    #[error("there is already a vector `{0}`")]
    RepeatedName(String),
    /// A list of frames is empty.
    #[error("`{0}` has no frame; silence is written as \"nothing\"")]
    NoFrames(&'static str),
    /// A frame that is sent has a value that only an expectation can have.
    #[error(
        "`send`: {layer}.{field} has no value of its own: `any`, `same` and what was sent are for `expect`"
    )]
    NotSendable {
        /// The name of the layer.
        layer: &'static str,
        /// The name of the field.
        field: &'static str,
    },
    /// A step neither sends nor waits.
    #[error("a step has `send`, or `wait`, or both")]
    EmptyStep,
    /// The time of a wait cannot be read.
    #[error(
        "`wait`: `{0}` is no time; expected seconds or minutes such as 5s and 2m, or a share of a timer such as 60% of udp; timers are {timers}",
        timers = known_timers()
    )]
    Wait(String),
    /// A frame that is sent has a value which only the device chooses, by a name that no step before has given to one.
    #[error("no step before has a value of the device with the name ${0}")]
    Unbound(String),
    /// The frames of a vector name the sides in two ways.
    #[error("the frames of all steps begin with `in:` and `out:`, or all with `4:` and `6:`")]
    StepSide,
    /// A vector without steps has what only steps can have.
    #[error("names such as $port, and the sides `in:` and `out:`, are for vectors with steps")]
    NeedsSteps,
    /// A vector with steps has a key of one without.
    #[error("`{0}` belongs into a step of this vector")]
    BesideSteps(&'static str),
    /// A frame is wrong.
    #[error("{0}")]
    Frame(FrameMistake),
    /// A line of a vector for DNS servers is wrong.
    #[error("{0}")]
    Dns(DnsMistake),
}

/// A mistake and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The kind of the mistake.
    pub kind: MistakeKind,
}

/// The mistakes of a file of vectors, in the order of their lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotationError {
    /// The name of the file.
    pub file: String,
    /// The mistakes; there is at least one.
    pub mistakes: Vec<Mistake>,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self
            .mistakes
            .iter()
            .map(|mistake| format!("{}:{}: {}", self.file, mistake.line, mistake.kind));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}
