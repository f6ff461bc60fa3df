//! The agent: it takes an interface of its machine, performs this end's part of each requested trial, and gives the interface back when its input
//! ends or when it has received nothing for too long.

use super::channel::{Channel, ChannelEnd};
use super::clocks::ClockReading;
use super::message::{AgentAnswer, EndJob, EndRequest, OpenedEnd, Order};
use crate::ends::cores;
use crate::ends::counters::PortCounters;
use crate::ends::lateness::explain_lateness;
use crate::ends::ports;
use crate::ends::queues::QueueRequest;
use crate::error::agent::AgentError;
use crate::error::{RunError, with_causes};
use crate::version::VERSION;
use sixbench_engine::{
    Companion, DistantPort, EndTrial, FrameTester, Layout, MeasureError, OneEnd, SentShare,
};
use sixbench_io::clock::Clock;
use sixbench_io::{Port, PortOptions, PortSpec};
use sixbench_method::isolation::Isolation;
use sixbench_plan::{backend, end_word};
use sixbench_testbed::facts::Machine;
use sixbench_testbed::monitor::{Monitor, MonitorTargets, interval_for, occupant};
use sixbench_testbed::{
    Cores, Interfaces, PlacedInterrupts, Shell, Sysctls, existing, interfaces, sweep,
};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The prefix of the first line that the agent prints, followed by its version.
pub(super) const GREETING: &str = "sixbench-agent ";

/// The time for the other machine to become ready, and to end a trial after this one has.
const TRIAL_MARGIN: Duration = Duration::from_secs(90);

/// Serves as an agent until `input` ends.
///
/// # Errors
/// Nothing was received for longer than `silence`, a message was not an order, or `stop` was set. Everything is given back by then.
pub fn serve(
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
    silence: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<(), RunError> {
    writeln!(output, "{GREETING}{VERSION}").and_then(|()| output.flush())?;
    let channel = Channel::new(input, output, silence);
    let mut service = AgentService {
        channel,
        stop: stop.clone(),
        clock: Clock::new(),
        end: None,
    };
    loop {
        let order = match service.channel.receive(None, stop) {
            Ok(order) => order,
            Err(ChannelEnd::Closed) => return Ok(()),
            Err(ChannelEnd::Stopped) => return Err(RunError::Interrupted),
            Err(end) => return Err(lost(&end).into()),
        };
        let answer = service
            .answer(order)
            .unwrap_or_else(|error| AgentAnswer::Failed(with_causes(&error)));
        service.channel.send(&answer);
    }
}

fn lost(end: &ChannelEnd) -> AgentError {
    match end {
        ChannelEnd::Silent(time) => AgentError::ControllerSilent {
            seconds: time.as_secs_f64(),
        },
        end => AgentError::ControllerUnclear {
            end: end.to_string(),
        },
    }
}

struct AgentService {
    channel: Channel<Order>,
    stop: Arc<AtomicBool>,
    /// The clock, which the other machine adjusts.
    clock: Clock,
    end: Option<AgentEnd>,
}

/// The end of the tester that this agent has become. Fields are dropped in the order of declaration: first the port, then the interface.
struct AgentEnd {
    tester: Option<FrameTester>,
    /// The port, before the traffic is known.
    port: Option<Port>,
    request: EndRequest,
    layout: Layout,
    /// The counters of the interface.
    counters: PortCounters,
    interrupts: PlacedInterrupts,
    interfaces: Interfaces,
    _governor: Option<Sysctls>,
}

impl AgentService {
    /// Carries out an order, and returns the answer.
    fn answer(&mut self, order: Order) -> Result<AgentAnswer, RunError> {
        match order {
            Order::Check(interface, own) => {
                let shell = self.shell();
                interfaces::give_back_stale(&shell);
                existing::check(&shell, &interface, own)?;
                Ok(AgentAnswer::Done)
            }
            Order::Lend(request) => {
                self.end = Some(AgentEnd::lend(*request, &self.shell())?);
                Ok(AgentAnswer::Done)
            }
            Order::Open => {
                let shell = self.shell();
                let end = self.end.as_mut().ok_or_else(out_of_turn)?;
                Ok(AgentAnswer::Opened(Box::new(end.open(&shell)?)))
            }
            Order::TellTime => Ok(AgentAnswer::Time(self.clock.now_ns())),
            Order::ReadClocks => Ok(AgentAnswer::Clocks(Box::new(ClockReading::take(
                &self.clock,
                &self.shell(),
            )))),
            Order::Look(cores) => {
                let cores = Cores {
                    tester: cores::of_end(&cores)?,
                    dut: Vec::new(),
                };
                Ok(AgentAnswer::Seen(occupant(
                    &cores,
                    MonitorTargets::default(),
                )))
            }
            Order::Take(job) => self.take(*job).map(|()| AgentAnswer::Done),
            Order::Make {
                trial,
                set_forward_ns,
            } => self.make(&trial, set_forward_ns),
            Order::Start(_) | Order::Sent(_) => Err(out_of_turn()),
        }
    }

    fn shell(&self) -> Shell {
        Shell::new().stopped_by(self.stop.clone())
    }

    fn take(
        &mut self,
        EndJob {
            profile,
            settings,
            is_isolated,
            other,
        }: EndJob,
    ) -> Result<(), RunError> {
        let isolation = if is_isolated {
            Isolation::Declared
        } else {
            Isolation::Unknown
        };
        let profile = isolation.admit(profile)?;
        let end = self.end.as_mut().ok_or_else(out_of_turn)?;
        match (&mut end.tester, end.port.take()) {
            (Some(tester), _) => tester.set_profile(profile, settings),
            (tester, Some(port)) => {
                let here = OneEnd {
                    sends: end.request.sends,
                    port,
                    distant: other,
                };
                *tester = Some(FrameTester::at_one_end(
                    here,
                    profile,
                    settings,
                    end.layout.clone(),
                    self.stop.clone(),
                ));
            }
            (None, None) => return Err(out_of_turn()),
        }
        Ok(())
    }

    fn make(&mut self, trial: &EndTrial, set_forward_ns: i64) -> Result<AgentAnswer, RunError> {
        let end = self.end.as_mut().ok_or_else(out_of_turn)?;
        let cores = Cores {
            tester: end.layout.cores.clone(),
            dut: Vec::new(),
        };
        let tester = end.tester.as_mut().ok_or_else(out_of_turn)?;
        tester.set_clock(self.clock.set_forward(set_forward_ns));
        let mut companion = PlanMachine {
            channel: &mut self.channel,
            stop: &self.stop,
            limit: limit(trial),
        };
        end.counters.begin().map_err(MeasureError::from)?;
        let interval = interval_for(Duration::from_nanos(trial.spec.duration_ns));
        let monitor = Monitor::start_every(interval, &cores, MonitorTargets::default());
        let made = tester.measure_end(trial, &mut companion);
        let watch = monitor.stop();
        let mut made = made?;
        // As on the machine of the plan: time that the host takes from a core delays the tester just as other programs do.
        explain_lateness(&mut made.faults, &watch, false);
        let of_port = end.counters.faults(trial.spec.kind);
        made.faults.extend(of_port.map_err(MeasureError::from)?);
        Ok(AgentAnswer::Made(Box::new(made)))
    }
}

fn out_of_turn() -> RunError {
    AgentError::OutOfSequence.into()
}

/// Returns the timeout for the other machine to end its part of a trial.
pub(super) fn limit(trial: &EndTrial) -> Duration {
    Duration::from_nanos(trial.spec.duration_ns) + TRIAL_MARGIN
}

impl AgentEnd {
    /// Takes the interface. The device at its other end need not be there yet.
    fn lend(request: EndRequest, shell: &Shell) -> Result<Self, RunError> {
        sweep(shell)?;
        let layout = Layout {
            cores: cores::of_end(&request.cores)?,
        };
        let governor = request
            .governor
            .as_ref()
            .map(|governor| Sysctls::govern(&layout.cores, governor, shell))
            .transpose()?;
        existing::check_mtu(&request.interface, request.longest_datagram)?;
        let end = (end_word(request.sends), request.interface.as_str());
        let queues = QueueRequest {
            io: backend(&request.io).map_err(AgentError::Value)?,
            queues: request.queues,
        };
        let mut settings = request.nic.clone();
        settings.extend(queues.settled(&[&request.interface], layout.cores.len(), shell));
        let interfaces =
            Interfaces::take_one(shell, "agent", end, &settings, request.own_addresses)?;
        if request.busy_poll {
            interfaces.defer_interrupts()?;
        }
        Ok(Self {
            tester: None,
            port: None,
            request,
            layout,
            counters: PortCounters::default(),
            interrupts: PlacedInterrupts::default(),
            interfaces,
            _governor: governor,
        })
    }

    /// Opens the port once there is a carrier.
    fn open(&mut self, shell: &Shell) -> Result<OpenedEnd, RunError> {
        self.interfaces.wait_for_carriers()?;
        let port = open_port(&self.request, &self.interfaces)?;
        // A driver may take its link down when a port is opened, as most do for an XDP program.
        self.interfaces.wait_for_carriers()?;
        let cores = &self.layout.cores;
        self.interrupts = PlacedInterrupts::away_from(cores, self.interfaces.ends(), shell)?;
        self.counters = PortCounters::open(&self.interfaces, self.request.sends)?;
        let cores = &self.layout.cores;
        let opened = OpenedEnd {
            port: DistantPort {
                mac: port.mac,
                queues: port.queues.len(),
            },
            how: format!("{}, on cores {cores:?}", port.how),
            interrupts: self.interrupts.sentences().to_vec(),
            facts: Machine::read(shell, &[])
                .facts(cores, &[])
                .into_iter()
                .chain(self.interfaces.facts())
                .collect(),
            warnings: self.layout.warnings(),
        };
        self.port = Some(port);
        Ok(opened)
    }
}

fn open_port(request: &EndRequest, interfaces: &Interfaces) -> Result<Port, RunError> {
    let backend = backend(&request.io).map_err(AgentError::Value)?;
    let options = PortOptions {
        longest_frame: request.longest_datagram + ports::ETHERNET_HEADER_OCTETS,
        queues: request.queues,
        busy_poll: request.busy_poll,
    };
    let (name, namespace) = interfaces.ends().next().ok_or_else(out_of_turn)?;
    Ok(ports::open(
        (
            Some(namespace.name()),
            &PortSpec::Interface(name.to_owned()),
        ),
        backend,
        options,
    )?)
}

/// The agent's view of the machine of the plan during a trial.
struct PlanMachine<'a> {
    channel: &'a mut Channel<Order>,
    stop: &'a AtomicBool,
    limit: Duration,
}

impl PlanMachine<'_> {
    fn next(&self, limit: Duration) -> Result<Order, MeasureError> {
        self.channel
            .receive(Some(limit), self.stop)
            .map_err(|end| match end {
                ChannelEnd::Stopped => MeasureError::Interrupted,
                _ => MeasureError::Parted,
            })
    }
}

impl Companion for PlanMachine<'_> {
    fn agree(&mut self, _: &Clock) -> Result<u64, MeasureError> {
        self.channel.send(&AgentAnswer::Ready);
        match self.next(TRIAL_MARGIN)? {
            Order::Start(start_ns) => Ok(start_ns),
            _ => Err(MeasureError::Parted),
        }
    }

    fn swap(&mut self, sent: &[SentShare]) -> Result<Vec<SentShare>, MeasureError> {
        self.channel.send(&AgentAnswer::Sent(sent.to_vec()));
        match self.next(self.limit)? {
            Order::Sent(sent) => Ok(sent),
            _ => Err(MeasureError::Parted),
        }
    }

    fn lost(&self) -> Arc<AtomicBool> {
        self.channel.lost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    /// A busy program on one core, ended when this is dropped.
    struct Burner(Child);

    impl Burner {
        fn on(core: u32) -> Self {
            let words = ["-c", &core.to_string(), "sh", "-c", "while :; do :; done"];
            Self(
                Command::new("taskset")
                    .args(words)
                    .stdout(Stdio::null())
                    .spawn()
                    .expect("taskset"),
            )
        }
    }

    impl Drop for Burner {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn an_agent_says_who_else_has_a_core_of_its_end() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let (stop, silence) = (Arc::<AtomicBool>::default(), Duration::from_secs(120));
        let of_agent = (there.try_clone().expect("a stream"), there, stop.clone());
        let agent = std::thread::spawn(move || serve(of_agent.0, of_agent.1, silence, &of_agent.2));
        let mut input = BufReader::new(here.try_clone().expect("a stream"));
        input.read_line(&mut String::new()).expect("a greeting");
        let channel =
            Channel::<AgentAnswer>::new(input, here.try_clone().expect("a stream"), silence);
        let core = cores::of_end(&[]).expect("cores")[0];
        let burner = Burner::on(core);
        let (name, end) = (
            format!("(process {})", burner.0.id()),
            Instant::now() + Duration::from_secs(60),
        );
        loop {
            channel.send(&Order::Look(vec![core]));
            let answer = channel
                .receive(Some(Duration::from_secs(60)), &stop)
                .expect("an answer");
            let AgentAnswer::Seen(seen) = answer else {
                panic!("{answer:?}")
            };
            // On a busy machine, another program may use more of the core.
            let told = seen.map_or_else(String::new, |seen| seen.on("far").to_string());
            if told.contains(&name) && told.ends_with(&format!(" % of core {core} of far")) {
                break;
            }
            assert!(Instant::now() < end, "{name} was not seen");
        }
        channel.send(&Order::Look(vec![u32::MAX]));
        let refused = channel
            .receive(Some(Duration::from_secs(60)), &stop)
            .expect("an answer");
        assert!(
            matches!(&refused, AgentAnswer::Failed(why) if why.contains("4294967295")),
            "{refused:?}"
        );
        drop((burner, channel));
        here.shutdown(std::net::Shutdown::Both).expect("closed");
        agent.join().expect("no panic").expect("a good end");
    }
}
