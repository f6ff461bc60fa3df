//! The command line.

use crate::config::units;
use crate::exit;
use clap::{Args, Parser, Subcommand};
use sixbench_method::plan::Profile;
use sixbench_method::terms::{Directions, FrameRate, FrameSize};
use std::path::PathBuf;

/// Measures IPv6 transition technologies: RFC 8219 throughput of NAT64, SIIT and routers, every frame verified.
#[derive(Debug, Parser)]
#[command(name = "sixbench", version, after_help = exit::TABLE, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure real devices on this machine, no file needed: builds a testbed in namespaces, writes a report (about 5 minutes)
    Quickstart(Quickstart),
    /// Run a plan
    Run(Run),
    /// Show what a plan would do: trials, hours, clauses met and bent
    Plan(Plan),
    /// Check a plan file and do nothing
    Check {
        /// The plan file
        plan: PathBuf,
    },
    /// Is this host fit to measure? Each finding comes with its cure
    Doctor,
    /// Measure the tester's own ceiling, without a DUT
    Selftest(Selftest),
    /// Perform one trial
    Trial(Trial),
    /// Compare two results directories, or measure two devices turn by turn: exit code 5 when B is shown to be worse than A
    Compare(Compare),
    /// Turn the configuration file of siitperf into a plan
    Import(Import),
    /// Write the report of one or more results directories again
    Report {
        /// Results directories
        #[arg(required = true)]
        results: Vec<PathBuf>,
    },
    /// List what is known
    List {
        /// Which list
        what: Listed,
    },
    /// Explain a term or a measurement: definition, clause, how it is measured here, unit
    Explain {
        /// The term, e.g. throughput; without one, all terms are listed
        term: Option<String>,
    },
    /// Remove what a killed run left behind (namespaces sb-* whose run is gone)
    Sweep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Listed {
    /// Devices under test that have a recipe, and whether they can run here
    Duts,
    /// What can be measured
    Measures,
    /// Plans that come with sixbench
    Plans,
}

/// Where results go and how progress is shown.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Results directory [default: results/<plan>-<time>]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// One JSON object for each event on stdout instead of progress on stderr
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Quickstart {
    #[command(flatten)]
    pub(crate) output: Output,
    /// Only the tests whose name matches (`*` stands for anything)
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Option<String>,
    /// Go on with an interrupted run
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) resume: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The plan file; not needed with --resume
    #[arg(required_unless_present = "resume")]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Only the tests whose name matches (`*` stands for anything)
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Option<String>,
    /// Durations and repetitions of this profile instead of the plan's own: smoke, draft or rfc
    #[arg(long, value_parser = crate::config::profile)]
    pub(crate) profile: Option<Profile>,
    /// Go on with an interrupted run: its directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "only", "profile", "plan"])]
    pub(crate) resume: Option<PathBuf>,
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
    /// Send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The plan file
    pub(crate) plan: PathBuf,
    /// As if run with this profile
    #[arg(long, value_parser = crate::config::profile)]
    pub(crate) profile: Option<Profile>,
    /// Also the clauses that are met, not only those bent or broken
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the commands that would build the testbed
    #[arg(long)]
    pub(crate) shell: bool,
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// A results directory, a device (its recipe), or with --plan a test
    pub(crate) a: String,
    /// The same, to be compared with A
    pub(crate) b: String,
    /// Compare two tests of this plan
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["measure", "size", "repetitions"])]
    pub(crate) plan: Option<PathBuf>,
    /// What is measured (see `sixbench list measures`)
    #[arg(long, default_value = "throughput")]
    pub(crate) measure: String,
    /// Frame size, octets of the IPv6 frame with FCS
    #[arg(long, default_value = "84", value_parser = units::frame_size)]
    pub(crate) size: FrameSize,
    /// Repetitions of each [default: 7]
    #[arg(long)]
    pub(crate) repetitions: Option<u32>,
    /// Durations of this profile: smoke, draft or rfc
    #[arg(long, value_parser = crate::config::profile)]
    pub(crate) profile: Option<Profile>,
    /// Differences up to this share do not count
    #[arg(long, default_value = "0%", value_parser = units::ratio)]
    pub(crate) tolerance: f64,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
    /// Send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: siitperf.conf
    pub(crate) file: PathBuf,
    /// Where plan.toml and recipes/siitperf.toml are written
    #[arg(short, long, value_name = "DIR", default_value = "imported")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) options: crate::import::Options,
}

#[derive(Debug, Args)]
pub(crate) struct Selftest {
    /// Only frame generation in memory; needs no root
    #[arg(long)]
    pub(crate) generate: bool,
    /// Only the accuracy of delays, on a reference device of known delay
    #[arg(long, conflicts_with = "generate")]
    pub(crate) accuracy: bool,
    /// Backend: auto, packet or xdp
    #[arg(long, default_value = "auto", value_parser = crate::config::backend)]
    pub(crate) io: crate::config::Backend,
    /// Frame size, octets of the IPv6 frame with FCS
    #[arg(long, default_value = "84", value_parser = units::frame_size)]
    pub(crate) size: FrameSize,
    /// One JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Trial {
    /// The DUT's recipe (see `sixbench list duts`)
    pub(crate) dut: String,
    /// Frame size, octets of the IPv6 frame with FCS
    #[arg(long, default_value = "84", value_parser = units::frame_size)]
    pub(crate) size: FrameSize,
    /// Frames per second, per direction: 1000, 500k, 1.2M
    #[arg(long, value_parser = units::rate)]
    pub(crate) rate: FrameRate,
    /// Time of sending: 10s, 500ms
    #[arg(long = "for", value_name = "TIME", default_value = "1s", value_parser = units::duration_ns)]
    pub(crate) duration_ns: u64,
    /// both, forward (left to right) or reverse
    #[arg(long, default_value = "both", value_parser = crate::config::directions)]
    pub(crate) directions: Directions,
    /// Native IPv6 background traffic, per cent of all frames
    #[arg(long, default_value = "0%")]
    pub(crate) background: String,
    /// Of a stateful device: connections that phase 1 opens, each by one frame (RFC 9693): 1000, 100k, 4M
    #[arg(long, value_name = "N", value_parser = crate::config::connections)]
    pub(crate) connections: Option<u64>,
    /// Connections opened per second
    #[arg(long, value_name = "R", default_value = "20k", value_parser = units::rate, requires = "connections")]
    pub(crate) phase_1_rate: FrameRate,
    /// Phase 1 alone: open the connections at --rate, then try each of them
    #[arg(long, requires = "connections", conflicts_with_all = ["phase_1_rate", "duration_ns", "directions"])]
    pub(crate) establish: bool,
    /// Backend: auto, packet or xdp
    #[arg(long, default_value = "auto", value_parser = crate::config::backend)]
    pub(crate) io: crate::config::Backend,
    /// The tester's interfaces, if not namespaces: LEFT,RIGHT
    #[arg(long, value_name = "LEFT,RIGHT")]
    pub(crate) interfaces: Option<String>,
    /// Keep the first frames of both ports in DIR/left.pcap and DIR/right.pcap
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
    /// Send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
    /// The result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_help_stays_as_it_was_reviewed() {
        insta::assert_snapshot!(Arguments::command().render_long_help().to_string());
    }

    impl Compare {
        /// As typed with two names and nothing else.
        pub(crate) fn of(a: &str, b: &str) -> Self {
            let Ok(Arguments { command: Command::Compare(compare) }) = Arguments::try_parse_from(["sixbench", "compare", a, b])
            else {
                panic!("two names are enough");
            };
            compare
        }
    }

    #[test]
    fn a_trial_of_phase_1_alone_needs_connections_and_no_time() {
        let trial = |more: &[&str]| {
            let words = ["sixbench", "trial", "nft-nat44", "--rate", "20k"].iter().chain(more);
            match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
                Ok(Command::Trial(trial)) => Some((trial.connections, trial.phase_1_rate, trial.establish)),
                _ => None,
            }
        };
        assert_eq!(trial(&[]), Some((None, FrameRate(20_000), false)));
        assert_eq!(trial(&["--connections", "4M", "--establish"]), Some((Some(4_000_000), FrameRate(20_000), true)));
        assert_eq!(trial(&["--establish"]), None);
        assert_eq!(trial(&["--phase-1-rate", "1k"]), None);
        assert_eq!(trial(&["--connections", "1k", "--establish", "--for", "1s"]), None);
    }

    #[test]
    fn run_needs_a_plan_or_a_directory_to_resume() {
        assert!(Arguments::try_parse_from(["sixbench", "run"]).is_err());
        assert!(Arguments::try_parse_from(["sixbench", "run", "--resume", "results/x"]).is_ok());
        assert!(Arguments::try_parse_from(["sixbench", "run", "p.toml", "--profile", "quick"]).is_err());
    }
}
