//! The reasons why a text is not the value that is wanted.

use crate::terms::FrameSize;
use std::borrow::Cow;
use thiserror::Error;

/// The reason why a text that a user wrote is not the value that is wanted. Each variant has the text.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValueError {
    /// The text has another form.
    #[error("expected {expected}, not `{text}`")]
    Form {
        /// A description of the right form, with an example.
        expected: Cow<'static, str>,
        /// The text.
        text: String,
    },
    /// A rate outside of [`FrameRate::BOUND`](crate::terms::FrameRate::BOUND).
    #[error("a rate must be between 1 and 1000M frames per second, not `{0}`")]
    Rate(String),
    /// A time outside of [`NumberBound::STATED_TIME_NS`](crate::terms::bounds::NumberBound::STATED_TIME_NS).
    #[error("a time of more than a day: `{0}`")]
    Time(String),
    /// A share without its sign, which can only be per cent.
    #[error("`{text}` is a share without its sign: write {percent}%")]
    NoSign {
        /// The text.
        text: String,
        /// Its number.
        percent: f64,
    },
    /// A share without its sign, which is either per cent or a ratio.
    #[error(
        "`{text}` can be read as {percent}% or as {of_ratio}%: write the one that is meant, with its `%`"
    )]
    TwoReadings {
        /// The text.
        text: String,
        /// Its number, as per cent.
        percent: f64,
        /// The per cent of the ratio that the number would be.
        of_ratio: f64,
    },
    /// A share of more than everything.
    #[error("a share is at most 100%, not `{0}`")]
    MoreThanAll(String),
    /// A loss goal that every trial would meet.
    #[error("a loss goal must be below 100%, not `{0}`")]
    TotalLoss(String),
    /// A frame size outside of [`FrameSize::BOUND`], or a part of an octet.
    #[error(
        "a frame size is the octets of the IPv6 frame with FCS, from {least} (84 replaces 64, RFC 8219 section 5.1.1) to {most}, not `{0}`",
        least = FrameSize::MINIMUM.0,
        most = FrameSize::MAXIMUM.0
    )]
    FrameSize(String),
    /// A range whose first value is above its last.
    #[error("the range `{0}` ends before it begins")]
    Backwards(String),
}

/// Returns the error of a text that has another form than the expected one, which is described with an example.
pub fn expected(form: impl Into<Cow<'static, str>>, text: &str) -> ValueError {
    ValueError::Form {
        expected: form.into(),
        text: text.to_owned(),
    }
}
