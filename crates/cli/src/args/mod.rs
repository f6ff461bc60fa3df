//! The arguments of the command line: their names, help and forms. What they ask for is done in `command`.

mod conformance;
mod device;
mod dns;
mod import;
mod robustness;
mod trial;

pub(crate) use conformance::ConformanceArgs;
pub(crate) use device::{DeviceOptions, ForceOption, RecipesOption, WaitOption, io_help};
pub(crate) use dns::{AuthorityArgs, Dns64};
pub(crate) use import::Import;
pub(crate) use robustness::RobustnessOptions;
pub(crate) use trial::{FindArgs, LoadOptions, Selftest, TrialArgs};

use crate::exit;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use sixbench_live::DEFAULT_ADDRESS;
use sixbench_method::plan::Profile;
use sixbench_method::terms::FrameSize;
use sixbench_method::units;
use sixbench_report::{ExportFormat, PaperStyle};
use sixbench_runner::owner::FileUse;
use sixbench_runner::{VERSION, version_with_features};
use std::ffi::OsString;
use std::iter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measures IPv6 transition technologies: RFC 8219 throughput of NAT64, SIIT and routers, every frame verified.
#[derive(Debug, Parser)]
#[command(name = "sixbench", after_help = exit::TABLE, max_term_width = 100)]
#[command(version = VERSION, long_version = version_with_features())]
pub(crate) struct Arguments {
    /// Plain sentences for a screen reader, a log or a narrow terminal: no colour, no bars, no tables
    #[arg(long, global = true)]
    pub(crate) plain: bool,
    /// No progress: warnings, errors and the results alone
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure real devices on this machine without a plan file: builds a testbed in namespaces and writes a report within 6 minutes (or --within)
    Quickstart(Quickstart),
    /// Run a plan
    Run(RunArgs),
    /// Show what a plan would do: hours, trials, tests, and which clauses are met, bent or broken
    Plan(PlanArgs),
    /// Ask for a device, where it is, what to measure and for how long, and write a plan
    Init {
        /// Where to write it; an existing file is not overwritten
        #[arg(default_value = "plan.toml")]
        plan: PathBuf,
    },
    /// Check a plan file without running it
    Check {
        /// The plan file, or the name of a plan that comes with sixbench
        plan: PathBuf,
        #[command(flatten)]
        further: RecipesOption,
    },
    /// Check whether this host is fit to measure, with a fix for each problem
    Doctor {
        /// Print each finding as a JSON object on its own line
        #[arg(long)]
        json: bool,
        /// Write what others must know to help with this machine and its network cards to one file, without addresses, names and serial numbers
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "sixbench-doctor.tar.zst")]
        bundle: Option<PathBuf>,
    },
    /// Measure the tester's own limit, without a DUT
    Selftest(Selftest),
    /// Perform one trial, or repeat it until Ctrl-C
    Trial(TrialArgs),
    /// Search for the throughput of a device, in less than a minute and without a plan
    Find(FindArgs),
    /// Check a device against the RFCs, clause by clause: send it vectors, and compare what comes back field by field
    Conformance(ConformanceArgs),
    /// Compare two sets of results, or measure two devices turn by turn: exit code 5 when B is shown to be worse than A
    Compare(Compare),
    /// Show how results changed over time: a page with one chart per device and measure, from all runs in a folder
    History {
        /// The folder
        folder: PathBuf,
        /// The page; its data is written beside it, as JSON [default: FOLDER/history.html]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Order the runs by this label, such as commit, and name them by it
        #[arg(long, value_name = "KEY")]
        label: Option<String>,
    },
    /// Query a DNS64 server at an exact rate and check every answer, or search for the highest rate that it can sustain
    Dns64(Dns64),
    /// Run the authoritative name server of DNS tests on its own, or write its zone as a file
    Authority(AuthorityArgs),
    /// Convert a configuration file of siitperf into a plan
    Import(Import),
    /// Rewrite the reports of one or more results directories
    Report {
        /// Results directories
        #[arg(required = true)]
        results: Vec<PathBuf>,
        /// Also write exports/latex, for a paper with this number of columns
        #[arg(long, value_name = "one-column|two-column")]
        style: Option<PaperStyle>,
    },
    /// Write the results of a run in further formats, each to its folder DIR/exports/FORMAT
    Export {
        /// The results directory
        results: PathBuf,
        /// The formats, separated by commas
        #[arg(long = "to", value_name = "FORMAT", required = true, value_delimiter = ',', value_parser = export_format())]
        formats: Vec<ExportFormat>,
    },
    /// Pack the results directory of a run into one file for a repository of data such as Zenodo; the same results give the same file
    Archive {
        /// The results directory
        results: PathBuf,
        /// The archive [default: DIR.tar.zst beside the directory]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Merge the results of a plan that was measured in parts (--shard, --measurements) into one report
    Merge {
        /// Results directories
        #[arg(required = true)]
        results: Vec<PathBuf>,
        /// A new directory for the merged results
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Estimate how many subscribers a device carries, from the results of a run (or show which limits a plan would measure)
    Dimension {
        /// A results directory; or a plan file, or the name of a plan that comes with sixbench
        #[arg(value_name = "PLAN|DIR")]
        of: PathBuf,
        /// The traffic of a subscriber: the name of a profile (see `sixbench list traffic`), or a file
        #[arg(long, value_name = "NAME|FILE", default_value = sixbench_plan::traffic_profile::USUAL)]
        traffic: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a JSON Schema: of files for an editor (plan-file, recipe), or of what sixbench writes (trial, facts, results, plan, event, conformance)
    Schema {
        #[arg(value_name = "NAME", value_parser = sixbench_runner::schema::text)]
        text: String,
    },
    /// List the known devices, measures, plans or traffic profiles
    List(ListArgs),
    /// Explain a term or a measurement: definition, clause, how it is measured here, unit
    Explain {
        /// The term, or the heading of a report, in one or more words; without it, all terms are listed
        term: Vec<String>,
    },
    /// Show a results directory as a live page, during its run or afterwards
    Live {
        /// The results directory
        results: PathBuf,
        #[arg(value_name = "ADDRESS:PORT", default_value_t = DEFAULT_ADDRESS, value_parser = page_address)]
        address: SocketAddr,
    },
    /// Act as one end of a tester whose other end is on another machine (see `agent` in docs/PLANS.md)
    ///
    /// The other machine starts it over ssh, for a plan with `agent = "ssh:NAME"`; it is not meant to be started by hand. It reads orders from standard
    /// input, answers on standard output, opens no network port, and ends when its input does. Then it restores whatever it changed on this machine.
    #[command(hide = true)]
    Agent {
        /// Also end after this long without an order
        #[arg(long = "silence", value_name = "TIME", default_value = "30s", value_parser = units::duration_ns)]
        silence_ns: u64,
    },
    /// Manage the kernel lab: virtual routers for devices that need kernel modules, such as Jool
    Lab {
        /// What to do with it
        #[command(subcommand)]
        what: LabCommand,
    },
    /// Remove what a killed run left behind (namespaces sb-* whose run is gone)
    Sweep,
    /// Bring up the testbed of a plan without measuring, so that you can look into it
    Testbed {
        /// What to do with it
        #[command(subcommand)]
        what: TestbedCommand,
    },
    /// Print the manual page, or write the pages of all commands to a directory
    Man {
        /// The directory
        dir: Option<PathBuf>,
    },
    /// Print the completions for a shell: bash, zsh or fish
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Returns the parser of an export's format, which lists all and suggests a similar one. Parquet is not listed, but is answered with the way to it.
fn export_format() -> impl TypedValueParser<Value = ExportFormat> {
    PossibleValuesParser::new(
        ExportFormat::WORDS
            .map(|word| PossibleValue::new(word).hide(word == ExportFormat::PARQUET)),
    )
    .try_map(|word| word.parse::<ExportFormat>())
}

impl Command {
    /// Returns the files and directories that a command is about which never needs root, and what it does with each; `None` of all that measures or
    /// sets something up.
    pub(crate) fn without_root(&self) -> Option<Vec<(&Path, FileUse)>> {
        fn read(path: &Path) -> (&Path, FileUse) {
            (path, FileUse::Read)
        }
        fn write(path: &Path) -> (&Path, FileUse) {
            (path, FileUse::Write)
        }
        let paths = match self {
            Self::Plan(PlanArgs { plan, .. })
            | Self::Check { plan, .. }
            | Self::Dimension { of: plan, .. } => vec![read(plan)],
            Self::Report { results, .. } => results.iter().map(|path| write(path)).collect(),
            Self::Live { results: path, .. }
            | Self::Export { results: path, .. }
            | Self::Init { plan: path } => vec![write(path)],
            Self::Merge { results, output } => iter::once(write(output))
                .chain(results.iter().map(|path| read(path)))
                .collect(),
            Self::Import(import) => vec![write(&import.output)],
            Self::History { folder, output, .. } => {
                vec![write(output.as_ref().unwrap_or(folder)), read(folder)]
            }
            Self::Archive { results, output } => {
                let beside = results.parent().unwrap_or(results);
                vec![write(output.as_deref().unwrap_or(beside)), read(results)]
            }
            Self::Man { dir: Some(path) } => vec![write(path)],
            Self::Compare(compare) if Path::new(&compare.a).is_dir() => {
                let pages = compare.page.iter().map(|page| write(page));
                let sides = [&compare.a, &compare.b].map(|side| read(Path::new(side)));
                pages.chain(sides).collect()
            }
            Self::Schema { .. }
            | Self::List(_)
            | Self::Explain { .. }
            | Self::Man { dir: None }
            | Self::Completions { .. } => Vec::new(),
            Self::Quickstart(_)
            | Self::Run(_)
            | Self::Trial(_)
            | Self::Find(_)
            | Self::Conformance(_)
            | Self::Selftest(_)
            | Self::Compare(_)
            | Self::Dns64(_) => return None,
            // It gives root up when it listens.
            Self::Authority(_)
            | Self::Doctor { .. }
            | Self::Lab { .. }
            | Self::Sweep
            | Self::Testbed { .. }
            | Self::Agent { .. } => return None,
        };
        Some(paths)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum TestbedCommand {
    /// Build the namespaces and links of a test and start its device as a run does, and hold them until Ctrl-C or `testbed down`
    Up(TestbedUp),
    /// Run a command in the tester's namespace, or at a device
    Exec {
        /// The plan as it was named to `testbed up`
        plan: PathBuf,
        /// The device, as `testbed up` lists it; or left or right, where the tester's ends are apart
        #[arg(long, value_name = "NAME")]
        device: Option<String>,
        /// The command with its arguments
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// End the testbed and undo everything
    Down {
        /// The plan as it was named to `testbed up`
        plan: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TestbedUp {
    /// The plan file, or the name of a plan that comes with sixbench
    pub(crate) plan: PathBuf,
    /// The test [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Option<String>,
    /// Return when the testbed is up, and hold it in the background until `testbed down`
    #[arg(long)]
    pub(crate) background: bool,
    /// The SHA-256 of the files of the plan that may be run, and of no others: those that the user agreed to in the process that started this one
    #[arg(
        long,
        hide = true,
        value_name = "DIGESTS",
        value_delimiter = ',',
        require_equals = true
    )]
    pub(crate) agreed: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) waiting: WaitOption,
    #[command(flatten)]
    pub(crate) further: FurtherRecipes,
    /// Let a device send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Install missing packages, then build what no package provides (1 to 2 minutes, once; needs 1 GB during that time)
    Build {
        /// Where labs are kept [default: SIXBENCH_LAB, or /var/cache/sixbench/lab]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Source code of Jool to use instead of Debian's package; MAP-T needs Jool 4.2
        #[arg(long, value_name = "DIR|ARCHIVE")]
        jool: Option<PathBuf>,
        /// Build VPP from this source instead of the lab, for the devices vpp-* (12 to 25 minutes on two cores)
        #[arg(long, value_name = "DIR|ARCHIVE", conflicts_with = "jool")]
        vpp: Option<PathBuf>,
    },
    /// Show what was built
    List {
        /// Where labs are kept [default: SIXBENCH_LAB, or /var/cache/sixbench/lab]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Remove everything that was built
    Clean {
        /// Where labs are kept [default: SIXBENCH_LAB, or /var/cache/sixbench/lab]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Which list
    #[arg(value_name = "duts|measures|plans|traffic")]
    pub(crate) what: Listed,
    /// Only rows that contain this word, in upper or lower case
    pub(crate) word: Option<String>,
    /// Only devices of this technology, such as `nat64`
    #[arg(long)]
    pub(crate) technology: Option<String>,
    /// Print each row as a JSON object on its own line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Listed {
    /// Devices under test that have a recipe, and whether they can run here
    Duts,
    /// What can be measured
    Measures,
    /// Plans that come with sixbench
    Plans,
    /// Traffic profiles of subscribers that come with sixbench
    Traffic,
}

/// Recipes that do not come with sixbench, and the permission to run those of a plan.
#[derive(Debug, Args)]
pub(crate) struct FurtherRecipes {
    #[command(flatten)]
    pub(crate) named: RecipesOption,
    /// Run the commands of recipes that come with the plan, without asking; otherwise you are asked, or the plan is refused
    #[arg(long)]
    pub(crate) trust_recipes: bool,
}

/// Where results go and how progress is shown.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Results directory [default: results/<plan>-<time>]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object per event to stdout instead of progress to stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// A label of the run, shown in every report; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = sixbench_runner::label)]
    pub(crate) labels: Vec<(String, String)>,
    /// Show the run as a page in browsers, with a token in the address that is printed [default: 127.0.0.1:8219, this machine alone]
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, require_equals = true, value_parser = page_address,
        default_missing_value = "127.0.0.1:8219")]
    pub(crate) live: Option<SocketAddr>,
    /// For DNS tests, write a file for each trial to queries/, with one line per query: due time, time sent, delay and verdict
    #[arg(long)]
    pub(crate) queries: bool,
    #[command(flatten)]
    pub(crate) waiting: WaitOption,
    /// End within this time with what has been measured by then, such as 10m: fewer repetitions, and the last devices not at all if there is no time
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    pub(crate) within: Option<WithinTime>,
}

/// The time that a run is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithinTime {
    Within(Duration),
    /// As long as it takes.
    None,
}

impl WithinTime {
    pub(crate) fn within(self) -> Option<Duration> {
        match self {
            Self::Within(time) => Some(time),
            Self::None => None,
        }
    }
}

fn time_limit(text: &str) -> Result<WithinTime, String> {
    if text == "none" {
        return Ok(WithinTime::None);
    }
    let ns = units::duration_ns(text)
        .map_err(|error| format!("{error}; `none` is as long as it takes"))?;
    if ns < 1_000_000_000 {
        return Err("a second is the least; `none` is as long as it takes".to_owned());
    }
    Ok(WithinTime::Within(Duration::from_nanos(ns)))
}

#[derive(Debug, Args)]
pub(crate) struct Quickstart {
    #[command(flatten)]
    pub(crate) output: Output,
    /// Only the tests whose name matches (`*` stands for anything)
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Option<String>,
    /// Continue an interrupted run
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) resume: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The plan file, or the name of a plan that comes with sixbench; not needed with --resume
    #[arg(required_unless_present = "resume")]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Only the tests whose name matches (`*` stands for anything)
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Option<String>,
    /// Use the durations and repetitions of this profile instead of the plan's own: smoke, draft or rfc
    #[arg(long, value_parser = sixbench_plan::profile)]
    pub(crate) profile: Option<Profile>,
    /// Measure part I of N parts of the plan, which take about the same time; `sixbench merge` merges their results
    #[arg(long, value_name = "I/N", value_parser = sixbench_runner::campaign::shard_of, conflicts_with = "measurements")]
    pub(crate) shard: Option<(usize, usize)>,
    /// Measure only the points listed in FILE, one TEST/SIZE or TEST/SIZE/REPETITION a line (`sixbench plan --json` prints them)
    #[arg(long, value_name = "FILE")]
    pub(crate) measurements: Option<PathBuf>,
    /// Continue an interrupted run: its directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "only", "profile", "plan", "shard", "measurements"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) further: FurtherRecipes,
    #[command(flatten)]
    pub(crate) isolation: ForceOption,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The plan file, or the name of a plan that comes with sixbench
    pub(crate) plan: PathBuf,
    /// Show the plan as if it were run with this profile
    #[arg(long, value_parser = sixbench_plan::profile)]
    pub(crate) profile: Option<Profile>,
    /// Also show the clauses that are broken, bent or unchecked, each with what the plan does
    #[arg(long)]
    pub(crate) clauses: bool,
    /// Show all clauses, including those that are met
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the commands that would build the testbed
    #[arg(long)]
    pub(crate) shell: bool,
    /// Print as JSON the parts that can be measured separately, with their trials and seconds
    #[arg(long, conflicts_with = "shell")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) further: RecipesOption,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// A results directory, a folder of several of one plan, a device (its recipe), or with --plan a test
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
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repetitions: Option<u32>,
    /// Durations of this profile: smoke, draft or rfc
    #[arg(long, value_parser = sixbench_plan::profile)]
    pub(crate) profile: Option<Profile>,
    /// The margin of a regression: differences up to this share do not count
    #[arg(long, alias = "tolerance", value_name = "SHARE", default_value = "0%", value_parser = units::share)]
    pub(crate) margin: f64,
    /// The test of a device that did not change, instead of the plans' `reference`: shows whether the machine changed between the runs, if they were not in turns
    #[arg(long, value_name = "TEST", conflicts_with = "plan")]
    pub(crate) reference: Option<String>,
    /// Write a page of the comparison, or Markdown where the file's name ends with .md; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) further: FurtherRecipes,
    #[command(flatten)]
    pub(crate) isolation: ForceOption,
}

fn page_address(text: &str) -> Result<SocketAddr, String> {
    let port = text
        .rsplit(':')
        .next()
        .and_then(|port| port.parse::<u16>().ok())
        .unwrap_or(DEFAULT_ADDRESS.port());
    text.parse().map_err(|_| {
        format!("expected an address and a port; for this machine alone, type 127.0.0.1:{port}")
    })
}

/// Returns the arguments with `--live ADDRESS:PORT` as `--live=ADDRESS:PORT`. A word without a port is not `--live`'s value: it may be the plan.
pub(crate) fn with_joined_address(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let has_port = |text: &str| {
            text.rsplit(':')
                .next()
                .is_some_and(|port| port.parse::<u16>().is_ok())
        };
        // Behind `--` are the words of another program.
        let is_ours = joined.iter().all(|word| word != "--");
        match joined.last_mut() {
            Some(last)
                if is_ours && last == "--live" && argument.to_str().is_some_and(has_port) =>
            {
                last.push("=");
                last.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}
