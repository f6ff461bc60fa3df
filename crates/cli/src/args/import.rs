//! The arguments of `sixbench import`.

use clap::Args;
use sixbench_method::terms::{FrameRate, FrameSize, Share};
use sixbench_method::units;
use sixbench_siitperf_import as import;
use std::num::NonZeroU32;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The configuration file of siitperf (siitperf.conf)
    pub(crate) file: PathBuf,
    /// Where plan.toml and recipes/siitperf.toml are written
    #[arg(short, long, value_name = "DIR", default_value = "imported")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) siitperf: Siitperf,
}

/// What siitperf takes on its command line.
#[derive(Debug, Args)]
pub(crate) struct Siitperf {
    /// Frame sizes, octets of the IPv6 frame with FCS [default: 84,128,256,512,768,1024,1280,1518]
    #[arg(long = "sizes", value_name = "SIZES", value_delimiter = ',', value_parser = units::frame_size)]
    pub(crate) frame_sizes: Vec<FrameSize>,
    /// Time of sending, e.g. 60s [default: the profile's]
    #[arg(long = "duration", value_name = "TIME", value_parser = units::duration_ns)]
    pub(crate) duration_ns: Option<u64>,
    /// siitperf's global timeout: the longest wait for frames after sending, e.g. 2s [default: the profile's]
    #[arg(long = "timeout", value_name = "TIME", value_parser = units::duration_ns)]
    pub(crate) timeout_ns: Option<u64>,
    /// siitperf's m and n: m of every n frames are foreground, e.g. 9/10 [default: all of them]
    #[arg(long, value_name = "M/N", value_parser = import::foreground)]
    pub(crate) foreground: Option<Share>,
    /// siitperf-pdv's frame timeout, e.g. 10ms: adds a throughput test in which later frames count as lost
    #[arg(long = "frame-timeout", value_name = "TIME", value_parser = units::duration_ns)]
    pub(crate) frame_timeout_ns: Option<u64>,
    /// siitperf's parameters of phase 1 of stateful tests
    #[arg(long = "phase-1", value_name = "N,M,R,T,D", value_parser = import::phase_1)]
    pub(crate) phase_1: Option<import::Phase1>,
    /// siitperf-lat's delay before the first tagged frame, e.g. 60s [default: the measure's]
    #[arg(long = "delay", value_name = "TIME", value_parser = units::duration_ns)]
    pub(crate) delay_ns: Option<u64>,
    /// siitperf-lat's timestamps: how many frames are tagged, e.g. 50000 [default: the measure's]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) timestamps: Option<u64>,
    /// `max` of the scripts: the highest rate that the search tries, e.g. 8M [default: the plan's, 2M]
    #[arg(long = "max", value_name = "RATE", value_parser = units::rate)]
    pub(crate) maximum: Option<FrameRate>,
    /// `e` of the scripts: the distance of the bounds at which the search ends, e.g. 1000 [default: the profile's]
    #[arg(long = "error", value_name = "RATE", value_parser = units::rate)]
    pub(crate) error: Option<FrameRate>,
    /// `sleept` of the scripts: the rest between trials, e.g. 10s [default: the profile's]
    #[arg(long = "sleep", value_name = "TIME", value_parser = units::duration_ns)]
    pub(crate) rest_ns: Option<u64>,
    /// `no_exp` of the scripts: the number of repetitions [default: the profile's]
    #[arg(long = "experiments", value_name = "NUMBER")]
    pub(crate) repetitions: Option<NonZeroU32>,
    /// `rate_start`, `rate_end` and `rate_step` of the script for frame loss, e.g. 100k 1M 100k
    #[arg(long, num_args = 3, value_names = ["START", "END", "STEP"], value_parser = units::rate)]
    pub(crate) rates: Vec<FrameRate>,
}

impl Siitperf {
    /// Returns the options as the import takes them.
    pub(crate) fn options(&self) -> import::Options {
        import::Options {
            frame_sizes: self.frame_sizes.clone(),
            duration_ns: self.duration_ns,
            timeout_ns: self.timeout_ns,
            foreground: self.foreground,
            frame_timeout_ns: self.frame_timeout_ns,
            phase_1: self.phase_1,
            delay_ns: self.delay_ns,
            timestamps: self.timestamps,
            scripts: import::ScriptOptions {
                maximum: self.maximum,
                error: self.error,
                rest_ns: self.rest_ns,
                repetitions: self.repetitions.map(NonZeroU32::get),
                rates: self.rates.clone().try_into().ok(),
            },
        }
    }
}
