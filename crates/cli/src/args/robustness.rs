//! The options of `sixbench conformance` for malformed frames.

use clap::Args;
use std::path::PathBuf;

/// The most malformed frames of one run: an hour of them.
const MOST_FRAMES: u64 = 1_000_000;

#[derive(Debug, Args)]
pub(crate) struct RobustnessOptions {
    /// Send N malformed frames instead, made from those of the vectors: the device must live, forward and leak no memory. Namespaces and kernel lab only
    #[arg(long, value_name = "N", conflicts_with = "long", value_parser = clap::value_parser!(u64).range(1..=MOST_FRAMES))]
    pub(crate) robustness: Option<u64>,
    /// The seed of malformed frames: each frame depends on it and its number alone
    #[arg(long, value_name = "S", default_value_t = 1, requires = "robustness")]
    pub(crate) seed: u64,
    /// Send the malformed frames of a crash once more: FILE is the robustness.json of its run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["robustness", "long", "only", "vector"])]
    pub(crate) replay: Option<PathBuf>,
}
