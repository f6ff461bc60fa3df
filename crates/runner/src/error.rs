//! Why a run, or a part of it, was not possible: told apart by what a caller can do about it. No message names a command of a program;
//! whoever shows an error knows what its user can call.

use super::agent::AgentError;
use super::campaign::SelectionError;
use super::locks::LockError;
use super::merge::MergeError;
use super::ports::OpenError;
use super::store::StoreError;
use sixbench_engine::MeasureError;
use sixbench_engine::dns::DnsError;
use sixbench_engine::tcp::TcpError;
use sixbench_method::isolation::Forbidden;
use sixbench_method::record::CodeFile;
use sixbench_method::replay::ReplayMismatch;
use sixbench_method::text::visible;
use sixbench_method::trial::TrialSpec;
use sixbench_method::units::{show_ns, show_rate};
use sixbench_report::ReportError;
use sixbench_testbed::TestbedError;
use sixbench_testbed::doctor::is_root;
use sixbench_wire::WireError;
use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

/// The reason why a run, or a part of it, was not possible.
#[derive(Debug, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum RunError {
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
    /// The plan asks for what its devices cannot do, or cannot hold.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is no recipe of this name, or none for this host.
    #[error("{}", unknown(.0))]
    UnknownRecipe(String),
    /// The device is set up by hand, and the plan does not say to which interfaces it is cabled.
    #[error("the device {0} is set up by hand: name the interfaces to which it is cabled")]
    SetUpByHand(String),
    /// The device is of another system than this machine, and the plan names no machine for it.
    #[error(
        "{recipe} needs a machine of its own that runs {system}: name it ([testbed] host = \"ssh:NAME\", see docs/PLANS.md)"
    )]
    NeedsMachine { recipe: String, system: &'static str },
    /// The largest trial of a test takes more memory than there is.
    #[error(transparent)]
    Memory(#[from] Box<NotEnoughMemory>),
    /// Test traffic would go where it must not go, unless the environment is declared isolated.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The device itself would send where test traffic must not go, unless the environment is declared isolated.
    #[error("{0}")]
    ForbiddenInRecipe(String),
    /// The part of the plan that a run is to measure does not exist, or cannot be measured apart.
    #[error(transparent)]
    Selection(Box<SelectionError>),
    /// Results that cannot be united.
    #[error(transparent)]
    Merge(Box<MergeError>),
    /// The records of an earlier part of the run are not those of this plan.
    #[error(transparent)]
    Mismatch(#[from] Box<ReplayMismatch>),
    /// Connections or queries on ports that are no interfaces of the kernel.
    #[error(
        "connections and queries are made by the kernel's own sockets, which need two interfaces: other ports carry frames only"
    )]
    NeedsInterfaces,
    /// A core of the plan that this process may not use.
    #[error("core {core} is not among the cores this process may use ({allowed:?})")]
    ForeignCore { core: u32, allowed: Vec<u32> },
    /// The device has fewer cores than the plan wants for it.
    #[error("the plan requires {wanted} cores for the DUT, {}", of_the_dut(.own))]
    FewCores { wanted: usize, own: Vec<u32> },
    /// A virtual machine of the kernel lab has one core, and the plan wants more.
    #[error("the plan requires {wanted} cores for the DUT, but a virtual machine of the lab has only one; {}", more_cores(*.is_row))]
    OneCore { wanted: u32, is_row: bool },
    /// A program of the device is not installed.
    #[error("{program} is not installed: {cure}")]
    NotInstalled { program: String, cure: String },
    /// This process may not do what a run does.
    #[error("namespaces and raw sockets need root: run it with sudo")]
    NeedsRoot,
    /// A file for the first frames of a port cannot be made.
    #[error("cannot write {}: {error}", path.display())]
    Capture { path: PathBuf, error: io::Error },
    /// A port of the tester cannot be opened.
    #[error(transparent)]
    Port(#[from] OpenError),
    /// A network namespace of the tester cannot be entered.
    #[error(transparent)]
    Namespace(io::Error),
    /// A device on interfaces of the plan does not answer.
    #[error("{side}: no answer from {address} within {within_s} s; is the DUT up, and is that its address on this link?")]
    NoAnswer { side: String, address: IpAddr, within_s: u64 },
    /// The testbed could not be built, or broke.
    #[error(transparent)]
    Testbed(TestbedError),
    /// The other machine of the tester cannot be used.
    #[error(transparent)]
    Agent(AgentError),
    /// A trial could not be made.
    #[error(transparent)]
    Trial(Box<TrialError>),
    /// The results directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report cannot be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A frame cannot be made.
    #[error(transparent)]
    Frame(#[from] WireError),
    /// Another run has what this one needs for itself.
    #[error(transparent)]
    Lock(Box<LockError>),
    /// The plan brings along files with commands that nobody trusts.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// A testbed cannot be held, found or ended.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// The system refused something else.
    #[error(transparent)]
    System(#[from] io::Error),
    /// An error of one test of the plan.
    #[error("test {test}")]
    OfTest { test: String, source: Box<RunError> },
}

impl RunError {
    /// Adds the name of the test that the error is of.
    pub(crate) fn of_test(self, test: &str) -> Self {
        Self::OfTest { test: test.to_owned(), source: Box::new(self) }
    }

    /// Returns the error itself, without the name of its test.
    pub fn root(&self) -> &Self {
        match self {
            Self::OfTest { source, .. } => source.root(),
            error => error,
        }
    }
}

impl From<TestbedError> for RunError {
    fn from(error: TestbedError) -> Self {
        match error {
            TestbedError::Interrupted => Self::Interrupted,
            error => Self::Testbed(error),
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

/// The reason why there was no trial.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The other machine of the tester could not make its part.
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

/// Makes the errors of testers into those of trials and runs.
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

/// A trial that does not fit into memory.
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
    /// The octets that it takes.
    pub needed: u64,
    /// The octets that are available.
    pub available: u64,
    /// The settings of the plan to lower, and to what, in words.
    pub advice: Option<String>,
}

fn mebioctets(octets: u64) -> u64 {
    octets.div_ceil(1 << 20)
}

/// The reason why a testbed cannot be held, found or ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum HeldError {
    /// The plan has no such test.
    #[error("no test is named `{test}`; the plan has: {}", names.join(", "))]
    UnknownTest { test: String, names: Vec<String> },
    /// A process holds a testbed of the plan already.
    #[error("the testbed of {plan} is up: test {test}, held by process {process}")]
    IsUp { plan: String, test: String, process: u32 },
    /// No process holds a testbed of the plan.
    #[error("the testbed of {0} is not up")]
    NotUp(String),
    /// The process that builds the testbed is not ready.
    #[error("the testbed of {0} is still being built")]
    NotReady(String),
    /// One end of the tester is on this machine, and the agent there takes it for trials alone.
    #[error("one end of the tester is on {0}: only a testbed with both ends on this machine can be held")]
    OnTwoMachines(String),
    /// The testbed has no such part.
    #[error("the testbed has no `{name}`; it has: {}", names.join(", "))]
    UnknownPart { name: String, names: Vec<String> },
    /// The process in the background has ended; in its words.
    #[error("{0}")]
    Ended(String),
    /// The process does not end.
    #[error("process {0} still holds the testbed")]
    NotEnded(u32),
}

/// The files with commands that a plan brings along and nobody trusts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan brings along files whose commands {} would run:{}", user(), lines_of(.0))]
pub struct Untrusted(pub Vec<CodeFile>);

fn user() -> &'static str {
    if is_root() { "root" } else { "this user" }
}

fn lines_of(files: &[CodeFile]) -> String {
    // They are named by whoever wrote the plan: nothing in a name may look like a word of ours.
    let line = |file: &CodeFile| {
        let [path, of, sha256] = [&file.path, &file.of, &file.sha256].map(|text| visible(text));
        format!("\n  {path} (of {of}, SHA-256 {sha256})")
    };
    files.iter().map(line).collect()
}

/// What is wrong with a test and the recipes it names, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub(crate) String);

fn unknown(name: &str) -> String {
    match name.split_once('@') {
        Some((name, host)) => {
            format!("recipe {name} cannot be moved to the host `{host}`, or runs there by default; leave out `@{host}`")
        }
        None => format!("no recipe is named `{name}`"),
    }
}

fn more_cores(is_row: bool) -> &'static str {
    match is_row {
        false => "use a namespace, or a machine over ssh",
        // A machine over ssh is one device.
        true => "use namespaces (NAME@netns) if the devices in the row do not need kernel modules",
    }
}

fn of_the_dut(own: &[u32]) -> String {
    match own {
        [] => "but the DUT has a machine of its own, where its cores are set".to_owned(),
        own => format!("but there are only {} ({own:?})", own.len()),
    }
}

/// Returns an error with its causes, each only once: some errors already name their cause.
pub fn in_words(error: &(dyn Error + 'static)) -> String {
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
        assert!(told(false).ends_with("use a namespace, or a machine over ssh"), "{}", told(false));
        assert!(!told(true).contains("ssh") && told(true).contains("NAME@netns"), "{}", told(true));
    }
}
