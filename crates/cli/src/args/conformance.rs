//! The arguments of `sixbench conformance`.

use super::{DeviceOptions, RobustnessOptions};
use clap::Args;
use sixbench_method::terms::FrameRate;
use sixbench_method::units;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    /// The DUT's recipe (see `sixbench list duts`)
    pub(crate) dut: String,
    /// Only the vectors of these RFCs, such as rfc7915, separated by commas
    #[arg(long, value_name = "RFC", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Only these vectors, separated by commas; each is shown in full
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) vector: Vec<String>,
    /// Also send the vectors that wait for the real times of a stateful device: minutes, and hours for TCP. The device keeps its own timers
    #[arg(long)]
    pub(crate) long: bool,
    /// Send the vectors once more while frames are sent at this rate, per direction (1000, 500k), and show what differs. Only for stateless devices
    #[arg(long, value_name = "RATE", value_parser = units::rate, allow_hyphen_values = true, conflicts_with = "long")]
    pub(crate) under_load: Option<FrameRate>,
    #[command(flatten)]
    pub(crate) malformed: RobustnessOptions,
    /// Save the frames of each vector that the device gets wrong to DIR/NAME.pcap, and the results to DIR/conformance.json; of malformed frames, DIR/robustness.json and, after a crash, DIR/robustness.pcap
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: DeviceOptions,
}

impl ConformanceArgs {
    /// Returns the options that decide how a device is asked, as a shell reads them: each with a space before it.
    pub(crate) fn for_repetition(&self) -> String {
        let mut options = self.options.for_repetition();
        if self.long {
            options += " --long";
        }
        if let Some(rate) = self.under_load {
            options += &format!(" --under-load {}", rate.0);
        }
        options
    }
}
