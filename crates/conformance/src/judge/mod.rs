//! What a vector says about a device: what came is compared with what is expected, field by field.

mod dns;
mod matching;
mod result;
mod wording;

pub use dns::{DnsAnswer, DnsOutcome, judge_dns};
pub use matching::{CameFrame, differences};
pub(crate) use result::is_met;
pub use result::{ControlFrames, VectorJudgement, judge};
pub use sixbench_method::trial::{FieldDifference, JudgedFrame, JudgedStep, VectorResult};
pub use wording::describe;
pub(crate) use wording::value_text;
