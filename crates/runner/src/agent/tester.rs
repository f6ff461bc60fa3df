//! The tester on two machines: it performs each trial together with the agent, and joins both parts.

use super::clocks::{BoundedClocks, ClocksUnbounded};
use super::connection::Agent;
use super::message::{AgentAnswer, EndJob, EndRequest, OpenedEnd, Order};
use super::service::limit;
use crate::ends::TesterLinks;
use crate::ends::capture::captured;
use crate::ends::ports;
use crate::error::agent::AgentError;
use crate::error::{RunError, TrialError};
use crate::request::{SessionRequest, Site};
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_engine::{
    Companion, DistantPort, EndResult, EndTrial, FrameTester, Layout, MeasureError, OneEnd,
    SentShare,
};
use sixbench_io::clock::Clock;
use sixbench_io::{Port, PortOptions};
use sixbench_method::isolation::Isolation;
use sixbench_method::record::Warning;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{TrialResult, TrialSettings, TrialSpec};
use sixbench_plan::{AgentMachine, backend_word, end_word};
use sixbench_testbed::Shell;
use sixbench_testbed::monitor::Occupant;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The time from the agreement on the first frame to that frame, in addition to the time for messages: the agent must know it in advance.
const LEAD_NS: u64 = 100_000_000;

/// The time in nanoseconds by which two clocks may drift apart per second: each is driven by a quartz and slewed by at most 500 ppm.
const DRIFT_NS_PER_S: u64 = 1_000_000;

/// The frames of a test, and how long they are sent and waited for.
pub(crate) struct FrameTraffic {
    pub(crate) profile: TrafficProfile,
    pub(crate) settings: TrialSettings,
}

/// The tester. Fields are dropped in the order of declaration: first the end here, then the agent.
pub(crate) struct TwoMachineTester {
    tester: FrameTester,
    port: DistantPort,
    agent: Agent,
    /// The cores that the plan assigns to the agent's end.
    agent_cores: Vec<u32>,
    /// The facts about the agent's machine.
    facts: BTreeMap<String, String>,
    warnings: Vec<Warning>,
    number: u8,
    /// The reason why no delays are measured, if none are.
    no_delays: Option<ClocksUnbounded>,
    /// A test that needs delays.
    needs_delays: Option<String>,
    shell: Shell,
}

impl TwoMachineTester {
    /// Opens this end on the link, makes the agent, which has taken its interface, open the other one, and returns a sentence that describes both.
    ///
    /// # Errors
    /// A port cannot be opened, or the agent cannot be started or refuses.
    pub(crate) fn place(
        site: &Site<'_>,
        request: &SessionRequest<'_>,
        links: &TesterLinks,
        agent: Agent,
        traffic: FrameTraffic,
        threads: Layout,
    ) -> Result<(Self, String), RunError> {
        let machine = site.links.agent.as_ref().ok_or(RunError::NeedsInterfaces)?;
        let sends = machine.other_end();
        let port = open_own(site, request, links)?;
        let here = DistantPort {
            mac: port.mac,
            queues: port.queues.len(),
        };
        let OpenedEnd {
            port: there,
            how,
            interrupts,
            facts,
            warnings,
        } = agent.open()?;
        let how = format!(
            "the tester is on two machines: {} frames are sent by this one, by {}; {} frames are sent by {}, by {how}; each receives what the other sends{}",
            sends,
            port.how,
            machine.sends,
            agent.machine,
            interrupts_there(&agent.machine, &interrupts)
        );
        let admitted = site.isolation.admit(traffic.profile.clone())?;
        let tester = FrameTester::at_one_end(
            OneEnd {
                sends,
                port,
                distant: there,
            },
            admitted,
            traffic.settings,
            threads,
            site.stop.clone(),
        );
        let known = agent.bounded_clocks(tester.clock(), &site.shell)?;
        let how = format!("{how}; {}", clock_sentence(&known));
        let mut apart = Self {
            tester,
            port: here,
            agent,
            agent_cores: machine.cores.clone(),
            facts,
            warnings,
            number: 0,
            no_delays: known.err(),
            needs_delays: None,
            shell: site.shell.clone(),
        };
        apart.tell_job(site.isolation, traffic)?;
        Ok((apart, how))
    }

    /// Switches to measuring other traffic.
    pub(crate) fn set_job(
        &mut self,
        isolation: Isolation,
        traffic: FrameTraffic,
    ) -> Result<(), RunError> {
        let admitted = isolation.admit(traffic.profile.clone())?;
        self.tester.set_profile(admitted, traffic.settings);
        self.tell_job(isolation, traffic)
    }

    fn tell_job(&mut self, isolation: Isolation, traffic: FrameTraffic) -> Result<(), RunError> {
        Ok(self.agent.take(EndJob {
            profile: traffic.profile,
            settings: traffic.settings,
            is_isolated: isolation == Isolation::Declared,
            other: self.port,
        })?)
    }

    /// Registers a test that measures delays.
    ///
    /// # Errors
    /// The accuracy of both machines' clocks is unknown.
    pub(crate) fn require_delays(&mut self, test: &str) -> Result<(), AgentError> {
        self.needs_delays = Some(test.to_owned());
        self.no_delays.as_ref().map_or(Ok(()), |why| {
            Err(AgentError::Clocks {
                test: test.to_owned(),
                why: why.to_string(),
            })
        })
    }

    /// Returns the time at which the first frame of the latest trial was due.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.tester.began()
    }

    /// Performs a trial on both machines at the same time.
    pub(crate) fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, TrialError> {
        let round_trip = self.agent.compare_clocks(self.tester.clock())?;
        let before = self.known_clocks()?;
        let ways = (round_trip.set_forward_ns, round_trip.apart_ns);
        let (set_forward_ns, apart_ns) =
            before.map_or(ways, |clocks| (clocks.set_forward_ns, clocks.bound_ns));
        // The tag has six bits for it; the agent's end is told the same number, so that each recognises the other's frames.
        self.number = (self.number + 1) % 64;
        let drift_ns = (spec.duration_ns / 1_000_000_000 + 1) * DRIFT_NS_PER_S;
        let (number, clocks_apart_ns) = (self.number, apart_ns + drift_ns);
        let trial = EndTrial {
            spec: *spec,
            number,
            clocks_apart_ns,
            measures_delays: before.is_some(),
        };
        self.agent.make(trial, set_forward_ns);
        // The order that names the moment of the first frame travels one way, half a round trip. The next may be slower than the slowest seen so far, and
        // four round trips are eight times what it takes; to wait too long costs nothing but time.
        let here = self.measure_here(&trial, LEAD_NS + 4 * round_trip.slowest_ns)?;
        let result = EndResult::joined(here, *spec, self.agent.made()?, &self.agent.machine);
        Ok(match before {
            Some(before) => with_bound(
                result,
                self.known_clocks()?
                    .map(|after| before.bound_until_ns(&after)),
            ),
            None => result,
        })
    }

    fn measure_here(&mut self, trial: &EndTrial, lead_ns: u64) -> Result<EndResult, TrialError> {
        let mut companion = AgentCompanion {
            agent: &mut self.agent,
            lead_ns,
            limit: limit(trial),
            failure: None,
        };
        let here = self.tester.measure_end(trial, &mut companion);
        match (companion.failure, here) {
            (_, Ok(here)) => Ok(here),
            (Some(error), Err(_)) => Err(error.into()),
            (None, Err(MeasureError::Parted)) => Err(self.agent.loss().into()),
            (None, Err(error)) => Err(error.into()),
        }
    }

    /// Returns the bounded offset of the clocks, or `None` if it is unknown and no test needs it.
    fn known_clocks(&self) -> Result<Option<BoundedClocks>, AgentError> {
        if self.no_delays.is_some() {
            return Ok(None);
        }
        match (
            self.agent
                .bounded_clocks(self.tester.clock(), &self.shell)?,
            &self.needs_delays,
        ) {
            (Ok(clocks), _) => Ok(Some(clocks)),
            (Err(why), Some(test)) => Err(AgentError::Clocks {
                test: test.clone(),
                why: why.to_string(),
            }),
            (Err(_), None) => Ok(None),
        }
    }

    /// Returns who else uses the cores of the agent's end now, between two trials, or `None` if they are free. If the agent does not answer, the
    /// next trial fails.
    pub(crate) fn occupant(&self) -> Option<Occupant> {
        self.agent.occupant(&self.agent_cores).ok().flatten()
    }

    /// Returns the facts about the agent's machine, their names prefixed with that of the machine.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (String, String)> {
        self.facts
            .iter()
            .map(|(name, fact)| (format!("{}: {name}", self.agent.machine), fact.clone()))
    }

    /// Returns the warnings about the agent's machine.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.warnings
            .iter()
            .map(|warning| warning.clone().on_machine(&self.agent.machine))
    }
}

/// Returns the result with the bound of its delays in nanoseconds, or without delays if there is no bound any more.
fn with_bound(mut result: TrialResult, bound_ns: Option<u64>) -> TrialResult {
    let directions = result
        .directions
        .into_iter()
        .map(|mut direction| match bound_ns {
            Some(_) => {
                direction.clock_bound_ns = bound_ns.filter(|_| direction.delay.is_some());
                direction
            }
            None => direction.without_delays(),
        });
    result.directions = directions.collect();
    result
}

/// Returns a sentence about whether one-way delays are measured.
fn clock_sentence(clocks: &Result<BoundedClocks, ClocksUnbounded>) -> String {
    match clocks {
        Ok(clocks) => format!(
            "one-way delays are measured by the clocks of both machines, which chrony keeps within {:.1} us of each other",
            clocks.bound_ns as f64 / 1e3
        ),
        Err(why) => format!(
            "one-way delays are not measured: the clocks of two machines have no stated bound ({why})"
        ),
    }
}

fn open_own(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
) -> Result<Port, RunError> {
    let longest_frame = request.longest_datagram() + ports::ETHERNET_HEADER_OCTETS;
    let options = PortOptions {
        longest_frame,
        queues: site.links.queues,
        busy_poll: site.links.busy_poll,
    };
    let (namespace, port) = links
        .ends()
        .into_iter()
        .next()
        .ok_or(RunError::NeedsInterfaces)?;
    let port = ports::open((namespace, &port), site.links.io, options)?;
    let side = site
        .links
        .agent
        .as_ref()
        .map_or(Direction::Forward, AgentMachine::other_end);
    captured(site, port, end_word(side))
}

/// Starts the agent of a plan, if there is one, and makes it take its interface. The interface must be up before the device, which may wait for it.
///
/// # Errors
/// The agent cannot be started, or refuses.
pub(crate) fn lend(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
) -> Result<Option<Agent>, RunError> {
    let Some(machine) = &site.links.agent else {
        return Ok(None);
    };
    let agent = Agent::start(machine, &site.shell, &site.stop)?;
    agent.lend(end_request(site, request, machine))?;
    Ok(Some(agent))
}

fn end_request(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    machine: &AgentMachine,
) -> EndRequest {
    let links = site.links;
    EndRequest {
        sends: machine.sends,
        interface: machine.interface.clone(),
        io: backend_word(links.io).to_owned(),
        queues: links.queues,
        busy_poll: links.busy_poll,
        own_addresses: links.own_addresses,
        nic: links.interface_settings(),
        governor: links.governor.clone(),
        cores: machine.cores.clone(),
        longest_datagram: request.longest_datagram(),
    }
}

/// The agent during a trial, as seen by the end on the machine of the plan.
struct AgentCompanion<'a> {
    agent: &'a mut Agent,
    lead_ns: u64,
    limit: Duration,
    /// The error of the agent that ended the trial, if any.
    failure: Option<AgentError>,
}

impl AgentCompanion<'_> {
    fn next(&mut self, limit: Duration) -> Result<AgentAnswer, MeasureError> {
        self.agent.next(limit).map_err(|error| self.failed(error))
    }

    fn out_of_turn(&mut self, answer: AgentAnswer) -> MeasureError {
        let error = self.agent.out_of_turn(answer);
        self.failed(error)
    }

    fn failed(&mut self, error: AgentError) -> MeasureError {
        self.failure = Some(error);
        MeasureError::Parted
    }
}

impl Companion for AgentCompanion<'_> {
    fn agree(&mut self, clock: &Clock) -> Result<u64, MeasureError> {
        match self.next(self.limit)? {
            AgentAnswer::Ready => {}
            other => return Err(self.out_of_turn(other)),
        }
        let start_ns = clock.now_ns() + self.lead_ns;
        self.agent.tell(&Order::Start(start_ns));
        Ok(start_ns)
    }

    fn swap(&mut self, sent: &[SentShare]) -> Result<Vec<SentShare>, MeasureError> {
        self.agent.tell(&Order::Sent(sent.to_vec()));
        match self.next(self.limit)? {
            AgentAnswer::Sent(sent) => Ok(sent),
            other => Err(self.out_of_turn(other)),
        }
    }

    fn lost(&self) -> Arc<AtomicBool> {
        self.agent.lost()
    }
}

/// Returns what is said of the interrupts of the other machine's interface, to follow a sentence; nothing where nothing is said.
fn interrupts_there(machine: &str, sentences: &[String]) -> String {
    let told = sentences
        .iter()
        .map(|sentence| format!("; on {machine}, {sentence}"));
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_says_where_the_interrupts_of_the_other_machine_are_served() {
        let told = interrupts_there("far", &["the interrupts of eth1 are at 3".to_owned()]);
        assert_eq!(told, "; on far, the interrupts of eth1 are at 3");
        assert_eq!(interrupts_there("far", &[]), "");
    }
}
