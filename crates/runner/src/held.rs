//! A testbed held without measuring, so that users can inspect it: how it is held, how another process finds it, and how commands run in it. Each
//! process that holds a testbed describes it in a directory of its own. A lock on a file there shows that the process is alive.

use crate::code::{self, Trusted};
use crate::error::{HeldError, RunError};
use crate::profile;
use crate::request::{SessionRequest, Site};
use crate::run::built::BuiltTestbed;
use crate::run::manager::session_request;
use crate::run::session::Session;
use crate::stop;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Plan, Test};
use sixbench_plan::{LoadedPlan, plans};
use sixbench_testbed::{
    LOOP_ENDS, Library, Recipe, Shell, ShellAccess, holder_directories, make_holder_directory,
    sweep,
};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LOCK: &str = "lock";
const STATE: &str = "state.json";

/// The pause between two checks of a held device, or of a process that is to do something.
const PAUSE: Duration = Duration::from_millis(50);

/// The timeout for a testbed to be undone.
const UNDOING: Duration = Duration::from_secs(60);

/// A testbed that a process holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldTestbed {
    /// The path of the plan, which identifies the testbed.
    pub plan: String,
    /// The name of the test.
    pub test: String,
    /// The process that holds it.
    pub process: u32,
    /// The tester's ends, then the devices from left to right. Empty until all of them are up.
    pub parts: Vec<TestbedPart>,
    /// Sentences about the layout.
    pub layout: Vec<String>,
}

/// A part of a testbed in which commands can be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestbedPart {
    /// `tester`, or `left` and `right` if its ends are separate, or the name of a device.
    pub name: String,
    /// A description of its ports and addresses for users.
    pub links: String,
    access: ShellAccess,
}

impl HeldTestbed {
    /// Returns a description of the testbed, with one line per part.
    pub fn describe(&self) -> String {
        let line = |part: &TestbedPart| {
            format!(
                "  {:<12} {}: {}\n",
                part.name, part.access.location, part.links
            )
        };
        let head = format!(
            "test {} of {} is up, held by process {}\n",
            self.test, self.plan, self.process
        );
        let layout = self.layout.iter().map(|sentence| format!("  {sentence}\n"));
        [head]
            .into_iter()
            .chain(self.parts.iter().map(line))
            .chain(layout)
            .collect()
    }

    /// Returns the process that runs a command in the named part, by default the first.
    fn command(&self, part: Option<&str>, words: &[String]) -> Result<Command, HeldError> {
        let found = self
            .parts
            .iter()
            .find(|known| part.is_none_or(|name| known.name == name));
        let names = || self.parts.iter().map(|part| part.name.clone()).collect();
        let unknown = || HeldError::UnknownPart {
            name: part.unwrap_or_default().to_owned(),
            names: names(),
        };
        if self.parts.is_empty() {
            return Err(HeldError::NotReady(self.plan.clone()));
        }
        Ok(found.ok_or_else(unknown)?.access.command(words))
    }
}

/// Returns the held testbed of a plan, given the path of the plan's file or the name of a predefined plan.
fn find(path: &Path) -> Result<HeldTestbed, HeldError> {
    let HolderState { held, is_alive } = holder_of(path)?;
    if is_alive {
        Ok(held)
    } else {
        Err(HeldError::HolderKilled {
            plan: held.plan,
            process: held.process,
        })
    }
}

/// Returns the state of the holder of a plan's testbed: of one that is alive, if there is one, else of one that was killed.
fn holder_of(path: &Path) -> Result<HolderState, HeldError> {
    let plan = identity(path);
    let of_plan = holders().filter(|found| found.held.plan == plan);
    of_plan
        .max_by_key(|found| found.is_alive)
        .ok_or(HeldError::NotUp(plan))
}

/// Returns the states of all holders of this user, also of those that were killed.
fn holders() -> impl Iterator<Item = HolderState> {
    holder_directories()
        .into_iter()
        .filter_map(|directory| read(&directory))
}

/// Returns the path that identifies a plan, regardless of the working directory.
fn identity(path: &Path) -> String {
    let file = fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    let ready = plans::find(path).filter(|_| !path.exists());
    ready.map_or_else(
        || file.unwrap_or(path.to_owned()).display().to_string(),
        |plan| plan.name.to_owned(),
    )
}

/// What the directory of a holder says of it.
struct HolderState {
    held: HeldTestbed,
    /// False if the process was killed: one that ends by itself removes its directory.
    is_alive: bool,
}

/// Returns the testbed described in the directory of its holder; `None` if the directory is just being made or removed.
fn read(directory: &Path) -> Option<HolderState> {
    let is_alive = matches!(
        File::open(directory.join(LOCK)).ok()?.try_lock_shared(),
        Err(fs::TryLockError::WouldBlock)
    );
    let held = serde_json::from_str(&fs::read_to_string(directory.join(STATE)).ok()?).ok()?;
    Some(HolderState { held, is_alive })
}

/// The directory that describes what this process holds, removed when this is dropped.
struct Holder {
    directory: PathBuf,
    _lock: File,
}

impl Holder {
    fn new(held: &HeldTestbed) -> Result<Self, RunError> {
        let directory = make_holder_directory()?;
        let lock = File::create(directory.join(LOCK))?;
        lock.lock()?;
        let holder = Self {
            directory,
            _lock: lock,
        };
        holder.write(held).map(|()| holder)
    }

    /// Replaces the state atomically.
    fn write(&self, held: &HeldTestbed) -> Result<(), RunError> {
        let (path, new) = (self.directory.join(STATE), self.directory.join("state.new"));
        fs::write(&new, serde_json::to_string(held).map_err(io::Error::from)?)?;
        Ok(fs::rename(new, path)?)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Refuses to bring up a second testbed of the same plan, which was read from `path`.
///
/// # Errors
/// The testbed that is already up.
pub fn check_not_up(path: &Path) -> Result<(), HeldError> {
    match find(path) {
        Ok(HeldTestbed {
            plan,
            test,
            process,
            ..
        }) => Err(HeldError::IsUp {
            plan,
            test,
            process,
        }),
        Err(_) => Ok(()),
    }
}

/// Removes all tests from a plan except the named one, by default the first.
///
/// # Errors
/// There is no such test, or the tester is on two machines.
pub fn choose(loaded: &mut LoadedPlan, test: Option<&str>) -> Result<(), RunError> {
    let names: Vec<String> = loaded
        .plan
        .tests
        .iter()
        .map(|test| test.name.clone())
        .collect();
    let name = test
        .or(names.first().map(String::as_str))
        .unwrap_or_default()
        .to_owned();
    loaded.plan.tests.retain(|test| test.name == name);
    if loaded.plan.tests.is_empty() {
        return Err(HeldError::UnknownTest { test: name, names }.into());
    }
    match &loaded.links.agent {
        Some(agent) => Err(HeldError::OnTwoMachines(agent.remote.destination().to_owned()).into()),
        None => Ok(()),
    }
}

/// Brings up the testbed of the only test of a plan, as a run does. [`crate::check`] must have accepted the plan. Then calls `told`, and holds the
/// testbed until a stop is requested. If `waits`, it waits until other runs no longer need other values of this machine's sysctls. Ports for frames are not opened, so that other programs can use the tester's interfaces.
///
/// # Errors
/// The plan brings code that is not trusted, the testbed cannot be built, or a device ends. Everything is undone.
pub fn hold(
    loaded: &LoadedPlan,
    library: &Library,
    path: &Path,
    isolation: Isolation,
    waits: bool,
    trusted: &Trusted,
    told: impl FnOnce(&HeldTestbed) -> io::Result<()>,
) -> Result<(), RunError> {
    let (plan, test) = (&loaded.plan, &loaded.plan.tests[0]);
    code::check(&code::of_plan(plan, &loaded.links, library)?, trusted)?;
    let stop = stop::install()?;
    let shell = Shell::new()
        .stopped_by(stop.clone())
        .waiting_for_other_runs(waits);
    sweep(&shell)?;
    let (parts, layout) = (Vec::new(), Vec::new());
    let mut held = HeldTestbed {
        plan: identity(path),
        test: test.name.clone(),
        process: std::process::id(),
        parts,
        layout,
    };
    let holder = Holder::new(&held)?;
    let site = Site {
        shell,
        links: &loaded.links,
        stop,
        isolation,
        pcap: None,
    };
    let request = session_request(plan, library, test, String::new())?;
    let mut testbed = OpenTestbed::open(&site, &request, plan, test)?;
    held.parts = testbed.parts(&site, request.recipe);
    held.layout.clone_from(&testbed.built().layout);
    holder.write(&held)?;
    told(&held)?;
    loop {
        match stop::rest(&site.stop, PAUSE) {
            Err(RunError::Interrupted) => return Ok(()),
            rested => rested?,
        }
        testbed.check_alive()?;
    }
}

/// A testbed that is up. If its test needs hosts at its ends, they come with the tester; otherwise there is no tester.
enum OpenTestbed {
    WithHosts(Box<Session>),
    Bare(Box<BuiltTestbed>),
}

impl OpenTestbed {
    fn open(
        site: &Site<'_>,
        request: &SessionRequest<'_>,
        plan: &Plan,
        test: &Test,
    ) -> Result<Self, RunError> {
        if !test.measure.family().needs_hosts() {
            return Ok(Self::Bare(Box::new(BuiltTestbed::build(
                site, request, true,
            )?)));
        }
        let job = profile::job(
            request.recipe,
            test,
            request.largest,
            plan.seed,
            test.trial_settings(plan),
        )?;
        Ok(Self::WithHosts(Box::new(Session::open(
            site, request, job,
        )?)))
    }

    fn built(&self) -> &BuiltTestbed {
        match self {
            Self::WithHosts(session) => session.testbed(),
            Self::Bare(testbed) => testbed,
        }
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        match self {
            Self::WithHosts(session) => session.check_alive(),
            Self::Bare(testbed) => Ok(testbed.check_alive()?),
        }
    }

    /// Returns the tester's ends, followed by the devices.
    fn parts(&self, site: &Site<'_>, recipe: &Recipe) -> Vec<TestbedPart> {
        let hosts = match self {
            Self::WithHosts(session) => session.hosts(),
            Self::Bare(_) => None,
        };
        let ends = self.built().links.ends().into_iter();
        let mut ends: Vec<_> = ends
            .map(|(namespace, port)| (namespace.map(str::to_owned), port.to_string()))
            .collect();
        if let Some((left, right)) = hosts {
            [ends[0].0, ends[1].0] = [Some(left), Some(right)];
        }
        // If the authority is on a third machine, the right end is on a separate cable.
        let right = site.links.authority.as_ref().map_or_else(
            || recipe.right.tester.clone(),
            |_| vec![LOOP_ENDS[0].into()],
        );
        let links = [
            with(&ends[0].1, &recipe.left.tester),
            with(&ends[1].1, &right),
        ];
        let [left, right] = [&ends[0].0, &ends[1].0].map(|namespace| match namespace {
            Some(name) => site.shell.within(name).access(),
            None => site.shell.outside().access(),
        });
        let mut parts = if left == right {
            vec![TestbedPart::new("tester", links.join(", "), left)]
        } else {
            let [left_links, right_links] = links;
            vec![
                TestbedPart::new("left", left_links, left),
                TestbedPart::new("right", right_links, right),
            ]
        };
        parts.extend(self.devices(recipe));
        parts
    }

    /// Returns the devices, none if the plan has none of its own.
    fn devices(&self, recipe: &Recipe) -> Vec<TestbedPart> {
        let accesses = self.built().dut.iter().flat_map(|dut| dut.accesses());
        accesses
            .zip(recipe.devices())
            .map(|((name, access), recipe)| {
                let links = [
                    with("left", &recipe.left.dut),
                    with("right", &recipe.right.dut),
                ];
                TestbedPart::new(name, links.join(", "), access)
            })
            .collect()
    }
}

impl TestbedPart {
    fn new(name: &str, links: String, access: ShellAccess) -> Self {
        Self {
            name: name.to_owned(),
            links,
            access,
        }
    }
}

/// Returns the name of a port with its addresses.
fn with<A: ToString>(port: &str, addresses: &[A]) -> String {
    let addresses = addresses
        .iter()
        .map(|address| format!(" {}", address.to_string()));
    [port.to_owned()].into_iter().chain(addresses).collect()
}

/// Starts this program again without the word `--background` of its command line, and returns as soon as that process holds a testbed. That process
/// cannot ask, and it reads the files again: `agreed` is the option of its command line for the digests of what the user has agreed to here, so that it
/// refuses what is another by then.
///
/// # Errors
/// The process ended before; in its words.
pub fn hold_in_background(agreed: &str, trusted: &Trusted) -> Result<HeldTestbed, RunError> {
    let words = std::env::args_os()
        .skip(1)
        .filter(|word| word != "--background");
    let digests: Vec<&str> = trusted.iter().map(String::as_str).collect();
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(words)
        .arg(format!("{agreed}={}", digests.join(",")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn()?;
    loop {
        let mut ready = holders().filter(|found| found.is_alive && !found.held.parts.is_empty());
        if let Some(found) = ready.find(|found| found.held.process == child.id()) {
            return Ok(found.held);
        }
        if child.try_wait()?.is_some() {
            let mut told = String::new();
            child
                .stderr
                .take()
                .map_or(Ok(0), |mut error| error.read_to_string(&mut told))?;
            let last = told.rsplit("error: ").next().unwrap_or_default().trim_end();
            return Err(HeldError::Ended(last.to_owned()).into());
        }
        std::thread::sleep(PAUSE);
    }
}

/// Replaces this process by a command in a part of a plan's testbed. Returns only if that fails.
pub fn exec(path: &Path, part: Option<&str>, words: &[String]) -> RunError {
    match find(path).and_then(|held| held.command(part, words)) {
        Ok(mut command) => command.exec().into(),
        Err(error) => error.into(),
    }
}

/// How a testbed came down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// Its holder undid everything and ended.
    Undone(HeldTestbed),
    /// Its holder had been killed, so what it left was removed here.
    Swept {
        /// What it had held.
        held: HeldTestbed,
        /// The names of namespaces and directories.
        removed: Vec<String>,
    },
}

/// Ends the process that holds the testbed of a plan, and waits until everything is undone. If that process was killed, removes what it left.
///
/// # Errors
/// No process holds it, or the process does not end within a minute.
pub fn release(path: &Path) -> Result<Released, RunError> {
    let HolderState { held, is_alive } = holder_of(path)?;
    if !is_alive {
        return swept(held);
    }
    let pid = i32::try_from(held.process)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| HeldError::NotUp(held.plan.clone()))?;
    kill_process(pid, Signal::TERM).map_err(io::Error::from)?;
    let end = Instant::now() + UNDOING;
    loop {
        match holder_of(path) {
            Ok(now) if now.held.process != held.process => return Ok(Released::Undone(held)),
            Err(_) => return Ok(Released::Undone(held)),
            // Somebody killed it while it was undoing.
            Ok(HolderState {
                held,
                is_alive: false,
            }) => return swept(held),
            Ok(_) if Instant::now() > end => return Err(HeldError::NotEnded(held.process).into()),
            Ok(_) => std::thread::sleep(PAUSE),
        }
    }
}

fn swept(held: HeldTestbed) -> Result<Released, RunError> {
    let removed = sweep(&Shell::new())?;
    Ok(Released::Swept { held, removed })
}
