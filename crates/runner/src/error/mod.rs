//! The errors of a run or a part of it, distinguished by what a caller can do about them. Messages mention no commands, because only the program
//! that shows an error knows what its user can call.

pub(crate) mod agent;
pub(crate) mod lock;
pub(crate) mod merge;
pub(crate) mod ports;
pub(crate) mod records;
pub(crate) mod robustness;
pub(crate) mod selection;
pub(crate) mod store;
pub(crate) mod writer;

use agent::AgentError;
use lock::LockError;
use merge::MergeError;
use ports::OpenError;
use robustness::RobustnessError;
use selection::SelectionError;
use sixbench_engine::MeasureError;
use sixbench_engine::dns::DnsError;
use sixbench_engine::tcp::TcpError;
use sixbench_method::isolation::Forbidden;
use sixbench_method::record::CodeFile;
use sixbench_method::replay::ReplayMismatch;
use sixbench_method::text::visible;
use sixbench_method::trial::TrialSpec;
use sixbench_method::units::{counted, show_ns, show_rate};
use sixbench_plan::{FilterRefusal, VectorLoadRefusal};
use sixbench_report::ReportError;
use sixbench_testbed::TestbedError;
use sixbench_testbed::doctor::is_root;
use sixbench_wire::WireError;
use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use store::StoreError;

/// The reason why a run, or a part of it, was not possible.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum RunError {
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
    /// The plan requires something that its devices cannot do or store.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is no recipe with this name, or it cannot run on this host.
    #[error("{}", unknown(.0))]
    UnknownRecipe(String),
    /// There are no vectors of requirements for a device like this.
    #[error(
        "there are no vectors for {recipe}: those of today are for stateless translators between IPv4 and IPv6, and for relays and AFTRs with subscribers"
    )]
    NoVectors {
        /// The name of its recipe.
        recipe: String,
    },
    /// No malformed frames can be sent.
    #[error(transparent)]
    Robustness(#[from] RobustnessError),
    /// The translation of a recipe is wrong.
    #[error("recipe {recipe}: [translation]: {error}")]
    Translation {
        /// The name of the recipe.
        recipe: String,
        /// The mistake.
        error: sixbench_wire::WireError,
    },
    /// The device is set up by hand, and the plan does not say to which interfaces it is cabled.
    #[error("the device {0} is set up by hand: name the interfaces to which it is cabled")]
    SetUpByHand(String),
    /// The device needs a different operating system than this machine's, and the plan names no machine for it.
    #[error(
        "{recipe} needs a machine of its own that runs {system}: name it ([testbed] host = \"ssh:NAME\", see docs/PLANS.md#key-testbed-host)"
    )]
    NeedsMachine {
        recipe: String,
        system: &'static str,
    },
    /// The largest trial of a test needs more memory than is available.
    #[error(transparent)]
    Memory(#[from] Box<NotEnoughMemory>),
    /// Test traffic would go where it must not, unless the environment is declared isolated.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The device itself would send to where test traffic must not go, unless the environment is declared isolated.
    #[error("{0}")]
    ForbiddenInRecipe(String),
    /// A device cannot be asked under load, or not over its links.
    #[error(transparent)]
    Load(#[from] VectorLoadRefusal),
    /// A device cannot have filters.
    #[error(transparent)]
    Filters(#[from] FilterRefusal),
    /// The part of the plan to measure does not exist, or cannot be measured separately.
    #[error(transparent)]
    Selection(Box<SelectionError>),
    /// Results cannot be merged.
    #[error(transparent)]
    Merge(Box<MergeError>),
    /// The records of an earlier part of the run do not match this plan.
    #[error(transparent)]
    Mismatch(#[from] Box<ReplayMismatch>),
    /// Connections or queries are required on ports that are not interfaces of the kernel.
    #[error(
        "connections and queries are made by the kernel's own sockets, which need two interfaces: other ports carry frames only"
    )]
    NeedsInterfaces,
    /// The plan names a core that this process may not use.
    #[error("core {core} is not among the cores this process may use ({})", listed(.allowed))]
    ForeignCore { core: u32, allowed: Vec<u32> },
    /// The device has fewer cores than the plan requires.
    #[error("the plan requires {} for the DUT, {}", counted(*.wanted, "core"), of_the_dut(.own))]
    FewCores { wanted: usize, own: Vec<u32> },
    /// A virtual machine of the kernel lab has only one core, and the plan requires more.
    #[error("the plan requires {wanted} cores for the DUT, but a virtual machine of the lab has only one; {}", more_cores(*.is_row))]
    OneCore { wanted: u32, is_row: bool },
    /// A program of the device is not installed.
    #[error("{program} is not installed: {cure}")]
    NotInstalled { program: String, cure: String },
    /// A limit of this process leaves too little memory for the tester.
    #[error(
        "this process may use only {} MiB more memory (ulimit -v), but the tester needs {} MiB; raise the limit: ulimit -v unlimited",
        mebioctets(*.left), mebioctets(*.needed)
    )]
    MemoryLimit { left: u64, needed: u64 },
    /// This process lacks the privileges for a run.
    #[error("namespaces and raw sockets need root: run it with sudo")]
    NeedsRoot,
    /// A capture file for the first frames of a port cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Capture { path: PathBuf, error: io::Error },
    /// A port of the tester cannot be opened.
    #[error(transparent)]
    Port(#[from] OpenError),
    /// A network namespace of the tester cannot be entered.
    #[error(transparent)]
    Namespace(io::Error),
    /// A device on the plan's interfaces does not answer.
    #[error(
        "{side}: no answer from {address} within {within_s} s; is the DUT up, and is that its address on this link?"
    )]
    NoAnswer {
        side: String,
        address: IpAddr,
        within_s: u64,
    },
    /// The authority's machine does not answer on the tester's link to it.
    #[error(
        "right: no answer from {machine} at {address} within {within_s} s: is `right` of [testbed] cabled to the interface `self-test` of \
         [testbed.authority]?"
    )]
    NoAuthority {
        machine: String,
        address: IpAddr,
        within_s: u64,
    },
    /// The testbed could not be built, or failed.
    #[error(transparent)]
    Testbed(Box<TestbedError>),
    /// The tester's other machine cannot be used.
    #[error(transparent)]
    Agent(AgentError),
    /// A trial could not be performed.
    #[error(transparent)]
    Trial(Box<TrialError>),
    /// The results directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report cannot be generated.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A frame cannot be built.
    #[error(transparent)]
    Frame(#[from] WireError),
    /// Another run has exclusive use of something that this one needs.
    #[error(transparent)]
    Lock(Box<LockError>),
    /// The plan brings files with commands that are not trusted.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// A testbed cannot be held, found or ended.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// Another system call failed.
    #[error(transparent)]
    System(#[from] io::Error),
    /// An error of one test of the plan.
    #[error("test {test}")]
    OfTest { test: String, source: Box<RunError> },
}

impl RunError {
    /// Adds the name of the test that caused the error.
    pub(crate) fn of_test(self, test: &str) -> Self {
        Self::OfTest {
            test: test.to_owned(),
            source: Box::new(self),
        }
    }

    /// Returns the error itself, without the names of tests.
    pub fn root(&self) -> &Self {
        match self {
            Self::OfTest { source, .. } => source.root(),
            error => error,
        }
    }

    /// Returns the outcome of a run whose results are in this `place`. If they were removed or moved meanwhile, that is the cause of every error in
    /// writing them, whichever file was the first that could not be written.
    pub(crate) fn of_place(
        outcome: Result<(), Self>,
        place: Result<(), StoreError>,
    ) -> Result<(), Self> {
        match (outcome, place) {
            (Ok(()), place) => Ok(place?),
            (Err(error), Err(displaced)) if error.root().is_of_files() => Err(displaced.into()),
            (outcome, _) => outcome,
        }
    }

    fn is_of_files(&self) -> bool {
        matches!(
            self,
            Self::Store(_) | Self::Report(_) | Self::Capture { .. } | Self::System(_)
        )
    }
}

impl From<MergeError> for RunError {
    fn from(error: MergeError) -> Self {
        Self::Merge(Box::new(error))
    }
}

impl From<SelectionError> for RunError {
    fn from(error: SelectionError) -> Self {
        Self::Selection(Box::new(error))
    }
}

impl From<LockError> for RunError {
    fn from(error: LockError) -> Self {
        Self::Lock(Box::new(error))
    }
}

impl From<TestbedError> for RunError {
    fn from(error: TestbedError) -> Self {
        match error {
            TestbedError::Interrupted => Self::Interrupted,
            error => Self::Testbed(Box::new(error)),
        }
    }
}

impl From<AgentError> for RunError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Interrupted => Self::Interrupted,
            error => Self::Agent(error),
        }
    }
}

impl From<AgentError> for TrialError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Interrupted => Self::Interrupted,
            error => Self::Agent(error),
        }
    }
}

impl From<TrialError> for RunError {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Interrupted => Self::Interrupted,
            error => Self::Trial(Box::new(error)),
        }
    }
}

/// The reason why a trial could not be performed.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The tester's other machine could not perform its part.
    #[error(transparent)]
    Agent(AgentError),
    /// An error of a trial with frames.
    #[error(transparent)]
    Frames(MeasureError),
    /// An error of a trial with connections.
    #[error(transparent)]
    Tcp(TcpError),
    /// An error of a trial with DNS queries.
    #[error(transparent)]
    Dns(DnsError),
}

/// Converts the errors of testers to those of trials and runs.
macro_rules! of_trials {
    ($($error:ident => $kind:ident,)*) => {$(
        impl From<$error> for TrialError {
            fn from(error: $error) -> Self {
                match error {
                    $error::Interrupted => Self::Interrupted,
                    error => Self::$kind(error),
                }
            }
        }

        impl From<$error> for RunError {
            fn from(error: $error) -> Self {
                TrialError::from(error).into()
            }
        }
    )*};
}

of_trials! {
    MeasureError => Frames,
    TcpError => Tcp,
    DnsError => Dns,
}

/// The error of a trial that does not fit into memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a trial at {}/s for {} takes {} MiB of the tester's memory, but only {} MiB are available{}",
    show_rate(.spec.rate),
    show_ns(.spec.duration_ns),
    mebioctets(*.needed),
    mebioctets(*.available),
    .advice.as_ref().map_or(String::new(), |advice| format!("; {advice}"))
)]
pub struct NotEnoughMemory {
    /// The trial.
    pub spec: Box<TrialSpec>,
    /// The octets that it needs.
    pub needed: u64,
    /// The octets that are available.
    pub available: u64,
    /// Text about which settings of the plan to lower, and to what.
    pub advice: Option<String>,
}

fn mebioctets(octets: u64) -> u64 {
    octets.div_ceil(1 << 20)
}

/// The reason why a testbed cannot be held, found or ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum HeldError {
    /// The plan has no such test.
    #[error("no test is named `{test}`; the plan has: {}", names.join(", "))]
    UnknownTest { test: String, names: Vec<String> },
    /// A process already holds a testbed of the plan.
    #[error("the testbed of {plan} is up: test {test}, held by process {process}")]
    IsUp {
        plan: String,
        test: String,
        process: u32,
    },
    /// No process holds a testbed of the plan.
    #[error("the testbed of {0} is not up")]
    NotUp(String),
    /// The process that held the testbed of the plan was killed, so nothing is undone.
    #[error("the testbed of {plan} is not up: process {process}, which held it, was killed")]
    HolderKilled { plan: String, process: u32 },
    /// The process is still building the testbed.
    #[error("the testbed of {0} is still being built")]
    NotReady(String),
    /// One end of the tester is on this machine, whose agent only takes it for trials.
    #[error(
        "one end of the tester is on {0}: only a testbed with both ends on this machine can be held"
    )]
    OnTwoMachines(String),
    /// The testbed has no such part.
    #[error("the testbed has no `{name}`; it has: {}", names.join(", "))]
    UnknownPart { name: String, names: Vec<String> },
    /// The background process has ended with this message.
    #[error("{0}")]
    Ended(String),
    /// The process does not end.
    #[error("process {0} still holds the testbed")]
    NotEnded(u32),
}

/// The plan's files with commands that are not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan brings along files whose commands {} would run:{}", user(), lines_of(.0))]
pub struct Untrusted(pub Vec<CodeFile>);

fn user() -> &'static str {
    if is_root() { "root" } else { "this user" }
}

fn lines_of(files: &[CodeFile]) -> String {
    // Names come from the plan's author, so control characters in them are shown.
    let line = |file: &CodeFile| {
        let [path, of, sha256] = [&file.path, &file.of, &file.sha256].map(|text| visible(text));
        format!("\n  {path} (of {of}, SHA-256 {sha256})")
    };
    files.iter().map(line).collect()
}

/// The mistakes in a test and its recipes, as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub(crate) String);

fn unknown(name: &str) -> String {
    match name.split_once('@') {
        Some((name, host)) => {
            format!(
                "recipe {name} cannot be moved to the host `{host}`, or runs there by default; leave out `@{host}`"
            )
        }
        None => format!("no recipe is named `{name}`"),
    }
}

fn more_cores(is_row: bool) -> &'static str {
    if is_row {
        // A machine over ssh is a single device.
        "use namespaces (NAME@netns) if the devices in the row do not need kernel modules"
    } else {
        "use a namespace, or a machine over ssh"
    }
}

fn listed(cores: &[u32]) -> String {
    cores
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn of_the_dut(own: &[u32]) -> String {
    match own {
        [] => "but the DUT has a machine of its own, where its cores are set".to_owned(),
        own => format!("but there are only {} ({})", own.len(), listed(own)),
    }
}

/// Returns an error with its causes, each only once, because some errors already include their cause.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text += &format!(": {words}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_lab_is_not_sent_to_a_machine_that_takes_one_device() {
        let told = |is_row| RunError::OneCore { wanted: 2, is_row }.to_string();
        assert!(
            told(false).ends_with("use a namespace, or a machine over ssh"),
            "{}",
            told(false)
        );
        assert!(
            !told(true).contains("ssh") && told(true).contains("NAME@netns"),
            "{}",
            told(true)
        );
    }

    #[test]
    fn results_that_were_removed_are_the_cause_of_what_could_not_be_written() {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let facts = || {
            RunError::from(StoreError::NotWritten {
                path: "results/facts.json".into(),
                error: missing(),
            })
            .of_test("a")
        };
        let removed = || Err(StoreError::Removed("results/trials.jsonl".into()));
        let told = |outcome, place| {
            RunError::of_place(outcome, place).map_err(|error| error.root().to_string())
        };
        for outcome in [Ok(()), Err(facts()), Err(missing().into())] {
            assert!(
                told(outcome, removed())
                    .is_err_and(|told| told.starts_with("results/trials.jsonl was removed while"))
            );
        }
        assert!(
            told(Err(facts()), Ok(()))
                .is_err_and(|told| told.starts_with("cannot write results/facts.json"))
        );
        assert_eq!(
            told(Err(RunError::Interrupted), removed()),
            Err(RunError::Interrupted.to_string())
        );
        assert_eq!(told(Ok(()), Ok(())), Ok(()));
    }
}
