//! Datagrams as layers of fields: the table of layers, datagrams taken apart by it, and the pattern of payloads.

mod dissect;
mod layers;
mod pattern;

pub use dissect::{DissectedLayer, dissect};
pub use layers::{FieldForm, FieldInfo, LayerKind, Side};
pub use pattern::{PAYLOAD_MARK, PayloadPattern, vector_number_in};
