//! The arguments of `sixbench conformance`.

use super::WaitOption;
use clap::Args;
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
    /// Also send the vectors that wait for the real times of a stateful device: minutes, and hours for TCP. It keeps its own timers
    #[arg(long)]
    pub(crate) long: bool,
    /// Save the frames of each vector that is not right to DIR/NAME.pcap, and the results to DIR/conformance.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
    /// Send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) waiting: WaitOption,
}
