//! The command line.

use crate::exit;
use clap::{Args, Parser, Subcommand};
use sixbench_engine::dns::names::Domain;
use sixbench_io::Backend;
use sixbench_method::plan::{DOMAIN, Names, Payload, Profile};
use sixbench_method::terms::{Directions, FrameRate, FrameSize, Share};
use sixbench_method::units;
use sixbench_runner::{VERSION, version_with_features};
use sixbench_siitperf_import as import;
use sixbench_wire::Prefix6052;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

/// Measures IPv6 transition technologies: RFC 8219 throughput of NAT64, SIIT and routers, every frame verified.
#[derive(Debug, Parser)]
#[command(name = "sixbench", after_help = exit::TABLE, max_term_width = 100)]
#[command(version = VERSION, long_version = version_with_features())]
pub(crate) struct Arguments {
    /// Plain sentences for a screen reader, a log or a narrow terminal: no colour, no bars, no tables
    #[arg(long, global = true)]
    pub(crate) plain: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure real devices on this machine, no file needed: builds a testbed in namespaces, writes a report (about 5 minutes)
    Quickstart(Quickstart),
    /// Run a plan
    Run(RunArgs),
    /// Show what a plan would do: trials, hours, and which clauses are met, bent or broken
    Plan(PlanArgs),
    /// Check a plan file and do nothing
    Check {
        /// The plan file, or the name of a plan that comes with sixbench
        plan: PathBuf,
        /// Further recipes: a directory of TOML files
        #[arg(long, value_name = "DIR")]
        recipes: Vec<PathBuf>,
    },
    /// Check whether this host is fit to measure, with a fix for each problem
    Doctor,
    /// Measure the tester's own limit, without a DUT
    Selftest(Selftest),
    /// Perform one trial
    Trial(TrialArgs),
    /// Compare two results directories, or measure two devices turn by turn: exit code 5 when B is shown to be worse than A
    Compare(Compare),
    /// Query a DNS64 server at an exact rate and check every answer, or search for the highest rate that it can sustain
    Dns64(Dns64),
    /// Run the authoritative name server of DNS tests on its own, or write its zone as a file
    Authority(AuthorityArgs),
    /// Convert a configuration file of siitperf into a plan
    Import(Import),
    /// Write the report of one or more results directories again
    Report {
        /// Results directories
        #[arg(required = true)]
        results: Vec<PathBuf>,
    },
    /// List the known devices, measures or plans
    List {
        /// Which list
        #[arg(value_name = "duts|measures|plans")]
        what: Listed,
    },
    /// Explain a term or a measurement: definition, clause, how it is measured here, unit
    Explain {
        /// The term, or the heading of a report, in one or more words; without it, all terms are listed
        term: Vec<String>,
    },
    /// Show a results directory as a live page: of a run that goes on, was killed or has ended
    Live {
        /// The results directory
        results: PathBuf,
        #[arg(value_name = "ADDRESS:PORT", default_value_t = sixbench_live::DEFAULT_ADDRESS, value_parser = page_address)]
        address: SocketAddr,
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
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
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
    /// Print one JSON object per event to stdout instead of progress to stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// A label of the run, shown in every report; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = sixbench_runner::label)]
    pub(crate) labels: Vec<(String, String)>,
    /// Show the run as a page in browsers, with a token in the address that is printed [default: 127.0.0.1:8219, this machine alone]
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, value_parser = page_address,
        default_missing_value = "127.0.0.1:8219")]
    pub(crate) live: Option<SocketAddr>,
    /// For DNS tests, write a file for each trial to queries/, with one line per query: due time, time sent, delay and verdict
    #[arg(long)]
    pub(crate) queries: bool,
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
    /// Continue an interrupted run: its directory
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
pub(crate) struct PlanArgs {
    /// The plan file, or the name of a plan that comes with sixbench
    pub(crate) plan: PathBuf,
    /// Show the plan as if it were run with this profile
    #[arg(long, value_parser = sixbench_plan::profile)]
    pub(crate) profile: Option<Profile>,
    /// Also show the clauses that are met, not only those bent or broken
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
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repetitions: Option<u32>,
    /// Durations of this profile: smoke, draft or rfc
    #[arg(long, value_parser = sixbench_plan::profile)]
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
pub(crate) struct Dns64 {
    /// The server's address, IPv6 (RFC 8219 section 9.1) or IPv4
    #[arg(value_parser = address)]
    pub(crate) server: IpAddr,
    /// Its port
    #[arg(short, long, default_value_t = 53)]
    pub(crate) port: u16,
    /// Queries per second; with --search the highest that is tried
    #[arg(long, default_value = "1k", value_parser = units::rate)]
    pub(crate) rate: FrameRate,
    /// How long to send queries
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = units::duration_ns)]
    pub(crate) duration_ns: u64,
    /// Search for the highest rate at which every answer is correct and in time, with trials as long as --for says
    #[arg(long)]
    pub(crate) search: bool,
    /// Names to query, one for each address of a network [default: 0.0.0.0/0; 10.0.0.0/16 with --authoritative]
    #[arg(long, value_name = "NETWORK")]
    pub(crate) names: Option<Names>,
    /// The domain they are in
    #[arg(long, default_value = DOMAIN, value_parser = Domain::new)]
    pub(crate) domain: Domain,
    /// The server's DNS64 prefix (RFC 6052)
    #[arg(long, default_value = Prefix6052::WELL_KNOWN)]
    pub(crate) prefix: Prefix6052,
    /// The server is authoritative: correct answers are its own AAAA records, and an empty answer for a name that has none
    #[arg(long, conflicts_with_all = ["prefix", "authority", "cached"])]
    pub(crate) authoritative: bool,
    /// Names that have an AAAA record of their own, per cent [default: 0%; 100% with --authoritative]
    #[arg(long, value_name = "PERCENT", value_parser = units::whole_percent)]
    pub(crate) with_aaaa: Option<u8>,
    /// Queries for names that were resolved before the trial, per cent
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = units::whole_percent)]
    pub(crate) cached: u8,
    /// An answer after this time is late; at most 1s (RFC 8219 section 9.2)
    #[arg(long = "timeout", value_name = "TIME", default_value = "1s", value_parser = units::dns_timeout)]
    pub(crate) timeout_ns: u64,
    /// The authority's time to live; an answer with a longer one is wrong
    #[arg(long = "ttl", value_name = "TIME", default_value = "1h", value_parser = units::ttl_s)]
    pub(crate) ttl_s: u32,
    /// Source ports of each thread
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) source_ports: u16,
    /// Threads, each on a core of its own
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) threads: NonZeroUsize,
    /// Source address of the queries [default: the system's choice]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) from: Option<IpAddr>,
    /// Also act as the authority to which the server forwards the domain, after a self-test that must pass
    #[arg(long, value_name = "ADDR:PORT", value_parser = socket_address)]
    pub(crate) authority: Option<SocketAddr>,
    /// Write one line per query: due time, time sent, delay and verdict
    #[arg(long, value_name = "FILE", conflicts_with = "search")]
    pub(crate) csv: Option<PathBuf>,
    /// Print all counts as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuthorityArgs {
    /// Where to listen, over UDP and TCP; may be given several times
    #[arg(long, value_name = "ADDR:PORT", default_value = "[::1]:5300", value_parser = socket_address)]
    pub(crate) listen: Vec<SocketAddr>,
    /// The domain: names are those of dns64perf++, 010-000-000-001.DOMAIN for 10.0.0.1
    #[arg(long, default_value = DOMAIN, value_parser = Domain::new)]
    pub(crate) domain: Domain,
    /// Names that have an AAAA record of their own, per cent
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = units::whole_percent)]
    pub(crate) with_aaaa: u8,
    /// Time to live of the records and of negative answers
    #[arg(long = "ttl", value_name = "TIME", default_value = "1h", value_parser = units::ttl_s)]
    pub(crate) ttl_s: u32,
    /// Threads for each address; clients are distributed among them [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Do not listen: write a zone file with these names to stdout, e.g. 10.0.0.0/16
    #[arg(long, value_name = "NAMES", conflicts_with_all = ["listen", "threads"])]
    pub(crate) zone_file: Option<Names>,
    /// Listen on any address. RFC 6815: only in an isolated test environment
    #[arg(long, conflicts_with = "zone_file")]
    pub(crate) force: bool,
}

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
        }
    }
}

/// Returns the help of `--io`.
fn io_help() -> String {
    let mut words: Vec<&str> = Backend::words().map(|(word, _)| word).collect();
    let last = words.pop().unwrap_or_default();
    format!("Backend: {} or {last}", words.join(", "))
}

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
    #[arg(long, help = io_help(), default_value = "auto", value_parser = sixbench_plan::backend)]
    pub(crate) io: Backend,
    /// Frame size, octets of the IPv6 frame with FCS
    #[arg(long, default_value = "84", value_parser = units::frame_size)]
    pub(crate) size: FrameSize,
    /// One JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrialArgs {
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
    #[arg(long, default_value = "both", value_parser = sixbench_plan::directions)]
    pub(crate) directions: Directions,
    /// Native IPv6 background traffic, per cent of all frames
    #[arg(long, default_value = "0%", value_parser = units::background)]
    pub(crate) background: Share,
    /// Payload of the datagrams: udp or echo (ICMPv6)
    #[arg(long, default_value = "udp", value_parser = sixbench_plan::payload)]
    pub(crate) payload: Payload,
    /// For a device with [subscribers]: how many of them send [default: the number in its recipe, or one with --response]
    #[arg(long, value_name = "N")]
    pub(crate) subscribers: Option<NonZeroU32>,
    /// Treat frames from left to right as requests: the right end answers each of them, and the response time is measured
    #[arg(long, conflicts_with_all = ["directions", "connections"])]
    pub(crate) response: bool,
    /// For a stateful device: connections that phase 1 opens, each with one frame (RFC 9693): 1000, 100k, 4M
    #[arg(long, value_name = "N", value_parser = units::connections)]
    pub(crate) connections: Option<u64>,
    /// Connections opened per second
    #[arg(long, value_name = "R", default_value = "20k", value_parser = units::rate, requires = "connections")]
    pub(crate) phase_1_rate: FrameRate,
    /// Only phase 1: open the connections at --rate, then validate each of them
    #[arg(long, requires = "connections", conflicts_with_all = ["phase_1_rate", "duration_ns", "directions"])]
    pub(crate) establish: bool,
    #[arg(long, help = io_help(), default_value = "auto", value_parser = sixbench_plan::backend)]
    pub(crate) io: Backend,
    /// Interfaces of the tester, instead of namespaces: LEFT,RIGHT
    #[arg(long, value_name = "LEFT,RIGHT")]
    pub(crate) interfaces: Option<String>,
    /// Save the first frames of both ports to DIR/left.pcap and DIR/right.pcap
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
    /// Send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "expected an IPv6 or IPv4 address such as 2001:db8::1 (names are not resolved)".to_owned())
}

fn page_address(text: &str) -> Result<SocketAddr, String> {
    let mistaken = |_| "expected an address and a port such as 127.0.0.1:8219; a plan stands before --live".to_owned();
    text.parse().map_err(mistaken)
}

fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address and a port such as [::1]:5300 or 127.0.0.1:5300".to_owned())
}
