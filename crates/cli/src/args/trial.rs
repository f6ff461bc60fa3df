//! The arguments of `sixbench selftest`, `sixbench trial` and `sixbench find`.

use super::{DeviceOptions, WaitOption, io_help};
use clap::Args;
use sixbench_io::Backend;
use sixbench_method::plan::{Payload, SizeMix};
use sixbench_method::terms::{Directions, FrameRate, FrameSize, Share};
use sixbench_method::units;
use std::num::NonZeroU32;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Selftest {
    /// Only frame generation in memory; needs no root
    #[arg(long)]
    pub(crate) generate: bool,
    /// Only reception and verification in memory; needs no root
    #[arg(long)]
    pub(crate) receive: bool,
    /// Only the accuracy of delays, on a reference device of known delay
    #[arg(long, conflicts_with_all = ["generate", "receive"])]
    pub(crate) accuracy: bool,
    /// Only a link with 1, 2, 4 and so on up to this number of queues, each on a core of its own
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["generate", "receive", "accuracy"])]
    pub(crate) queues: Option<NonZeroU32>,
    /// Only DNS over loopback: how exactly queries are sent, and the highest rate for each timeout; needs no root
    #[arg(long, conflicts_with_all = ["generate", "receive", "accuracy", "queues"])]
    pub(crate) queries: bool,
    /// Time of sending in each trial of looped queries; 60s in figure 17 of the SIIT paper
    #[arg(long = "for", value_name = "TIME", default_value = "500ms", value_parser = units::duration_ns, requires = "queries")]
    pub(crate) duration_ns: u64,
    /// Number of searches for each rate of looped queries, whose median is reported; 20 in the paper
    #[arg(long, value_name = "NUMBER", default_value = "1", requires = "queries")]
    pub(crate) times: NonZeroU32,
    /// Loop the queries between two interfaces joined by a cable instead of over loopback; needs root
    #[arg(long, num_args = 2, value_names = ["LEFT", "RIGHT"], requires = "queries")]
    pub(crate) between: Vec<String>,
    #[arg(long, help = io_help(), default_value = "auto", value_parser = sixbench_plan::backend)]
    pub(crate) io: Backend,
    /// Frame size, octets of the IPv6 frame with FCS
    #[arg(long, default_value = "84", value_parser = units::frame_size)]
    pub(crate) size: FrameSize,
    /// One JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) waiting: WaitOption,
}

#[derive(Debug, Args)]
pub(crate) struct TrialArgs {
    /// The DUT's recipe (see `sixbench list duts`)
    pub(crate) dut: String,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// Frames per second, per direction: 1000, 500k, 1.2M
    #[arg(long, value_parser = units::rate, allow_hyphen_values = true)]
    pub(crate) rate: FrameRate,
    /// Time of sending: 10s, 500ms
    #[arg(long = "for", value_name = "TIME", default_value = "1s", value_parser = units::duration_ns)]
    pub(crate) duration_ns: u64,
    /// Repeat the trial until Ctrl-C, with a line for each and a sum at the end
    #[arg(long, conflicts_with_all = ["json", "pcap"])]
    pub(crate) repeat: bool,
    /// Treat frames from left to right as requests: the right end answers each of them, and the response time is measured
    #[arg(long, conflicts_with_all = ["directions", "connections", "mix"])]
    pub(crate) response: bool,
    /// Only phase 1: open the connections at --rate, then validate each of them
    #[arg(long, requires = "connections", conflicts_with_all = ["phase_1_rate", "duration_ns", "directions", "mix"])]
    pub(crate) establish: bool,
    /// Save the first frames of both ports to DIR/left.pcap and DIR/right.pcap
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: DeviceOptions,
}

/// The traffic of a command that asks a single device, apart from its rate.
#[derive(Debug, Args)]
pub(crate) struct LoadOptions {
    /// Frame size, octets of the IPv6 frame with FCS
    #[arg(long, default_value = "84", value_parser = units::frame_size)]
    pub(crate) size: FrameSize,
    /// Frames of several sizes instead: imix, a genome such as imix:aaabg, or sizes with weights, 84:7,594:4,1518:1
    #[arg(long, value_name = "SIZES", conflicts_with = "size", value_parser = str::parse::<SizeMix>)]
    pub(crate) mix: Option<SizeMix>,
    /// both, forward (left to right) or reverse
    #[arg(long, default_value = "both", value_parser = sixbench_plan::directions)]
    pub(crate) directions: Directions,
    /// Native IPv6 background traffic, per cent of all frames
    #[arg(long, default_value = "0%", value_parser = units::background)]
    pub(crate) background: Share,
    /// Payload of the datagrams: udp or echo (ICMP or ICMPv6, as each side is)
    #[arg(long, default_value = "udp", value_parser = sixbench_plan::payload)]
    pub(crate) payload: Payload,
    /// For a device with [subscribers]: how many of them send [default: the number in its recipe, or one with --response]
    #[arg(long, value_name = "N")]
    pub(crate) subscribers: Option<NonZeroU32>,
    /// For a stateful device: connections that phase 1 opens, each with one frame (RFC 9693): 1000, 100k, 4M
    #[arg(long, value_name = "N", value_parser = units::connections)]
    pub(crate) connections: Option<u64>,
    /// Connections opened per second
    #[arg(long, value_name = "R", default_value = "20k", value_parser = units::rate, requires = "connections", allow_hyphen_values = true)]
    pub(crate) phase_1_rate: FrameRate,
}

impl LoadOptions {
    /// Returns the frame size of the point: of a mix its nominal one.
    pub(crate) fn frame_size(&self) -> FrameSize {
        self.mix.map_or(self.size, |mix| mix.nominal())
    }
}

#[derive(Debug, Args)]
pub(crate) struct FindArgs {
    /// The DUT's recipe (see `sixbench list duts`)
    pub(crate) dut: String,
    #[command(flatten)]
    pub(crate) load: LoadOptions,
    /// The highest rate that is tried, frames per second and direction
    #[arg(long, value_name = "RATE", default_value = "2M", value_parser = units::rate, allow_hyphen_values = true)]
    pub(crate) maximum: FrameRate,
    /// Time of sending in each trial: 10s, 500ms
    #[arg(long = "for", value_name = "TIME", default_value = "750ms", value_parser = units::duration_ns)]
    pub(crate) duration_ns: u64,
    /// For a stateful device: search for the new connections that it opens per second instead
    #[arg(long, requires = "connections", conflicts_with_all = ["phase_1_rate", "directions", "mix"])]
    pub(crate) establish: bool,
    #[command(flatten)]
    pub(crate) options: DeviceOptions,
}
