//! The notation of vectors: files in TOML, whose frames are written layer by layer. Mistakes are reported at their lines, all at once.

mod built_in;
mod dns;
mod file;
mod frame_text;
mod mistake;
mod table;

pub use built_in::built_in;
pub use file::{Alternative, RequiredAnswer, RequirementFile, RequirementLevel, Vector, read};
pub use frame_text::{FieldValue, FrameSpec, LayerFill, LayerSpec, Operand, SpecValue, SumTerm};
pub use mistake::{FrameMistake, Mistake, MistakeKind, NotationError};
