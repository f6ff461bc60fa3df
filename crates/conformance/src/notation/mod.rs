//! The notation of vectors: files in TOML, whose frames are written layer by layer. Mistakes are reported at their lines, all at once.

mod answer;
mod built_in;
mod dns;
mod file;
mod frame_text;
mod mistake;
mod named;
mod steps;
mod table;
mod wait;

pub use answer::{Alternative, RequiredAnswer};
pub use built_in::built_in;
pub use file::{RequirementFile, Vector, read};
pub use frame_text::{FieldValue, FrameSpec, LayerFill, LayerSpec, Operand, SpecValue, SumTerm};
pub use mistake::{FrameMistake, Mistake, MistakeKind, NotationError};
pub use named::{NamedValue, NumberClass};
pub use sixbench_method::trial::RequirementLevel;
pub use steps::ExchangeStep;
pub(crate) use steps::named_in;
pub use wait::{DeviceTimer, WaitTime};
