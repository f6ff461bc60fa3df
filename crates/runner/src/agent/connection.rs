//! The machine of the plan's view of the agent, which is started over ssh and ended when this is dropped.

use super::channel::Channel;
use super::clocks::{
    BoundedClocks, ClockComparison, ClockReading, ClocksUnbounded, bounded, compared,
};
use super::message::{AgentAnswer, EndJob, EndRequest, OpenedEnd, Order};
use super::service::GREETING;
use crate::error::RunError;
use crate::error::agent::AgentError;
use crate::stop;
use crate::version::VERSION;
use sixbench_engine::{EndResult, EndTrial};
use sixbench_io::clock::Clock;
use sixbench_method::plan::Test;
use sixbench_plan::AgentMachine;
use sixbench_testbed::existing::OwnAddresses;
use sixbench_testbed::monitor::Occupant;
use sixbench_testbed::{ProgramCommand, RemoteProgram, Shell};
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time without a heartbeat after which the agent is considered lost.
const SILENCE: Duration = Duration::from_secs(30);

/// The time for the program to start once the session is established. Some machines look up names first.
const GREETING_TIMEOUT: Duration = Duration::from_secs(20);

/// The timeout for answers, except those during a trial: an interface that is taken may have to autonegotiate.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);

/// Timeout for the agent to return its interface after the order to end.
const TIME_TO_END: Duration = Duration::from_secs(20);

/// The number of times that the agent's clock is read. The shortest round trip counts.
const LOOKS_AT_THE_CLOCK: usize = 16;

/// The octets kept of the end of the program's standard error: what it said last is what it died of.
const MOST_SAID: usize = 4_096;

/// The agent. Fields are dropped in the order of declaration: closing the channel makes the program end, which is then waited for.
pub(crate) struct Agent {
    channel: Channel<AgentAnswer>,
    _program: RemoteProgram,
    pub(super) machine: String,
    /// The program's output on standard error.
    said: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
}

/// Checks, before anything is touched, that the agent's machine has the same sixbench and an interface that may be taken. If a test that measures
/// delays is given, also checks that the clocks of both machines are known.
///
/// # Errors
/// The first missing requirement, with advice.
pub(crate) fn check(
    machine: &AgentMachine,
    own: OwnAddresses,
    of_delays: Option<&Test>,
) -> Result<(), RunError> {
    let shell = Shell::new();
    let agent = Agent::start(machine, &shell, &Arc::default())?;
    agent
        .ask(&Order::Check(machine.interface.clone(), own))
        .and_then(|answer| agent.expect_done(answer))?;
    if let Some(test) = of_delays {
        let known = agent.bounded_clocks(&Clock::new(), &shell)?;
        known.map_err(|why| AgentError::Clocks {
            test: test.name.clone(),
            why: why.to_string(),
        })?;
    }
    Ok(())
}

impl Agent {
    /// Starts the agent on its machine.
    ///
    /// # Errors
    /// The machine cannot be reached, or does not have the same sixbench.
    pub(super) fn start(
        machine: &AgentMachine,
        shell: &Shell,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, AgentError> {
        let words = [machine.program.clone(), "agent".to_owned()];
        let mut program = RemoteProgram::start(&machine.remote, shell, &words, TIME_TO_END)?;
        let (input, output, errors) = program.take_pipes().expect("they are taken once");
        let said = collected(errors);
        let name = machine.remote.destination().to_owned();
        let output = match greeted(output, stop)? {
            Some((version, output)) if version == VERSION => output,
            Some((theirs, _)) => return Err(other_version(machine, theirs)),
            None => return Err(not_begun(machine, &program, shell, &said)),
        };
        Ok(Self {
            channel: Channel::new(output, input, SILENCE),
            _program: program,
            machine: name,
            said,
            stop: stop.clone(),
        })
    }

    /// Makes the agent take its interface.
    pub(super) fn lend(&self, request: EndRequest) -> Result<(), AgentError> {
        self.ask(&Order::Lend(Box::new(request)))
            .and_then(|answer| self.expect_done(answer))
    }

    /// Makes the agent open its interface.
    pub(super) fn open(&self) -> Result<OpenedEnd, AgentError> {
        match self.ask(&Order::Open)? {
            AgentAnswer::Opened(opened) => Ok(*opened),
            other => Err(self.out_of_turn(other)),
        }
    }

    /// Returns who else uses the cores of the agent's end now, between two trials, or `None` if they are free.
    pub(super) fn occupant(&self, cores: &[u32]) -> Result<Option<Occupant>, AgentError> {
        match self.ask(&Order::Look(cores.to_vec()))? {
            AgentAnswer::Seen(occupant) => Ok(occupant.map(|occupant| occupant.on(&self.machine))),
            other => Err(self.out_of_turn(other)),
        }
    }

    pub(super) fn take(&self, job: EndJob) -> Result<(), AgentError> {
        self.ask(&Order::Take(Box::new(job)))
            .and_then(|answer| self.expect_done(answer))
    }

    /// Compares the agent's clock with `clock`.
    pub(super) fn compare_clocks(&self, clock: &Clock) -> Result<ClockComparison, AgentError> {
        let looks = (0..LOOKS_AT_THE_CLOCK).map(|_| {
            let before_ns = clock.now_ns();
            match self.ask(&Order::TellTime)? {
                AgentAnswer::Time(theirs_ns) => Ok((before_ns, theirs_ns, clock.now_ns())),
                other => Err(self.out_of_turn(other)),
            }
        });
        Ok(compared(&looks.collect::<Result<Vec<_>, AgentError>>()?))
    }

    /// Returns readings of the clocks of the agent's machine.
    pub(super) fn read_clocks(&self) -> Result<ClockReading, AgentError> {
        match self.ask(&Order::ReadClocks)? {
            AgentAnswer::Clocks(reading) => Ok(*reading),
            other => Err(self.out_of_turn(other)),
        }
    }

    /// Compares the clocks of both machines, and returns the bounded offset between the clock here and the agent's, or the reason why there is no
    /// bound.
    pub(super) fn bounded_clocks(
        &self,
        clock: &Clock,
        shell: &Shell,
    ) -> Result<Result<BoundedClocks, ClocksUnbounded>, AgentError> {
        let round_trip = self.compare_clocks(clock)?;
        let there = self.read_clocks()?;
        Ok(bounded(
            &ClockReading::take(clock, shell),
            &there,
            &round_trip,
            &self.machine,
        ))
    }

    /// Makes the agent perform its part of a trial. The start and the end are negotiated with [`Agent::next`] and [`Agent::tell`].
    pub(super) fn make(&self, trial: EndTrial, set_forward_ns: i64) {
        self.tell(&Order::Make {
            trial,
            set_forward_ns,
        });
    }

    /// Returns the agent's part of the trial, after the agent has received the counts of what was sent here.
    pub(super) fn made(&self) -> Result<EndResult, AgentError> {
        match self.next(ANSWER_TIMEOUT)? {
            AgentAnswer::Made(result) => Ok(*result),
            other => Err(self.out_of_turn(other)),
        }
    }

    pub(super) fn tell(&self, order: &Order) {
        self.channel.send(order);
    }

    /// Returns the agent's next message, or an error if the agent reports one.
    pub(super) fn next(&self, limit: Duration) -> Result<AgentAnswer, AgentError> {
        match self.channel.receive(Some(limit), &self.stop) {
            Ok(AgentAnswer::Failed(what)) => Err(AgentError::Refused {
                machine: self.machine.clone(),
                what,
            }),
            Ok(answer) => Ok(answer),
            Err(end) => Err(end.to_error(&self.machine, &last_line(&self.said))),
        }
    }

    pub(super) fn out_of_turn(&self, _: AgentAnswer) -> AgentError {
        AgentError::OutOfTurn {
            machine: self.machine.clone(),
        }
    }

    /// Returns a flag that is set when the connection is lost.
    pub(super) fn lost(&self) -> Arc<AtomicBool> {
        self.channel.lost()
    }

    /// Returns the error for a lost connection.
    pub(super) fn loss(&self) -> AgentError {
        self.channel
            .end()
            .to_error(&self.machine, &last_line(&self.said))
    }

    fn ask(&self, order: &Order) -> Result<AgentAnswer, AgentError> {
        self.tell(order);
        self.next(ANSWER_TIMEOUT)
    }

    fn expect_done(&self, answer: AgentAnswer) -> Result<(), AgentError> {
        if matches!(answer, AgentAnswer::Done) {
            Ok(())
        } else {
            Err(self.out_of_turn(answer))
        }
    }
}

/// Returns the version from the agent's greeting, which a login script's output may precede, and the rest of the output. Returns `None` if the
/// program ended or sent no greeting in time.
fn greeted(
    output: ChildStdout,
    stop: &AtomicBool,
) -> Result<Option<(String, BufReader<ChildStdout>)>, AgentError> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        // Limited, as what a login script prints may have no line end.
        while matches!((&mut output).take(4_096).read_line(&mut line), Ok(1..)) {
            if let Some(version) = line.strip_prefix(GREETING) {
                // The receiver is gone after a timeout.
                let _ = send.send((version.trim().to_owned(), output));
                return;
            }
            line.clear();
        }
    });
    let end = Instant::now() + GREETING_TIMEOUT;
    loop {
        match receive.recv_timeout(Duration::from_millis(20)) {
            Ok(greeting) => return Ok(Some(greeting)),
            Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() < end => {
                stop::rest(stop, Duration::ZERO).map_err(|_| AgentError::Interrupted)?;
            }
            Err(_) => return Ok(None),
        }
    }
}

/// Collects the program's standard error.
fn collected(errors: ChildStderr) -> Arc<Mutex<String>> {
    let said = Arc::<Mutex<String>>::default();
    let all = said.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            let mut said = all.lock().unwrap_or_else(PoisonError::into_inner);
            said.push_str(&line);
            said.push('\n');
            keep_end(&mut said, MOST_SAID);
        }
    });
    said
}

/// Removes as much of the beginning as leaves at most this many octets, in whole characters.
fn keep_end(text: &mut String, most: usize) {
    let from = text.len().saturating_sub(most);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at));
    text.drain(..from.unwrap_or(0));
}

fn last_line(said: &Mutex<String>) -> String {
    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
    said.lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

fn other_version(machine: &AgentMachine, theirs: String) -> AgentError {
    AgentError::OtherVersion {
        machine: machine.remote.destination().to_owned(),
        theirs,
        copy: copy(machine),
    }
}

/// Returns the error for a program that has not sent a greeting: it may be missing, or a version of sixbench without an agent.
fn not_begun(
    machine: &AgentMachine,
    program: &RemoteProgram,
    shell: &Shell,
    said: &Mutex<String>,
) -> AgentError {
    // The output of a program that has ended may still be in transit.
    std::thread::sleep(Duration::from_millis(100));
    let (name, words) = (
        machine.remote.destination().to_owned(),
        [machine.program.clone(), "--version".to_owned()],
    );
    match program.ask(shell, &words) {
        Ok(printed) => match printed
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("sixbench "))
        {
            Some(theirs) if theirs != VERSION => other_version(machine, theirs.to_owned()),
            _ => AgentError::NoAgent {
                machine: name,
                program: machine.program.clone(),
                said: last_line(said),
            },
        },
        Err(sixbench_testbed::TestbedError::Missing { .. }) => AgentError::NotInstalled {
            machine: name,
            program: machine.program.clone(),
            copy: copy(machine),
        },
        Err(error) => error.into(),
    }
}

/// Returns the command that copies this program to the agent's machine.
fn copy(machine: &AgentMachine) -> ProgramCommand {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("sixbench"));
    let target = if machine.program.contains('/') {
        machine.program.clone()
    } else {
        format!("/usr/local/bin/{}", machine.program)
    };
    machine.remote.scp(&own, target.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_an_agent_said_the_end_is_kept_in_whole_characters() {
        let mut said = "a banner\nd\u{e9}j\u{e0} vu\n".to_owned();
        keep_end(&mut said, 100);
        assert!(said.starts_with("a banner"));
        keep_end(&mut said, 8);
        assert_eq!(
            said, "j\u{e0} vu\n",
            "the octet before belongs to a character of two"
        );
    }
}
