//! The keys of `[testbed]` that put one end of the tester on another machine, and the tests that such a tester cannot make.

use crate::reader::Section;
use crate::reader::words;
use sixbench_io::PortSpec;
use sixbench_method::measures::{Family, Keys};
use sixbench_method::plan::Test;
use sixbench_method::terms::Direction;
use sixbench_testbed::{Remote, SshConfig};

/// The machine at which one end of the tester runs, when the other end runs on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMachine {
    /// The machine.
    pub remote: Remote,
    /// The program on that machine, which must be this version of sixbench.
    pub program: String,
    /// Its interface that is cabled to the DUT.
    pub interface: String,
    /// The direction that it sends: forward from the left end, reverse from the right end.
    pub sends: Direction,
    /// The cores of its threads; if empty, they are chosen on that machine.
    pub cores: Vec<u32>,
}

impl AgentMachine {
    /// Returns whether the plan names a program, rather than relying on the sixbench that is installed there.
    pub fn has_own_program(&self) -> bool {
        self.program != USUAL_PROGRAM
    }

    /// Returns the direction sent by the end on this machine.
    pub fn other_end(&self) -> Direction {
        if self.sends == Direction::Forward {
            Direction::Reverse
        } else {
            Direction::Forward
        }
    }
}

/// The default program.
const USUAL_PROGRAM: &str = "sixbench";

/// Returns the word for the end of the tester that sends in a direction.
pub fn end_word(sends: Direction) -> &'static str {
    if sends == Direction::Forward {
        "left"
    } else {
        "right"
    }
}

/// The ends of the tester: two ports of this machine, or one port and the interface of an agent.
#[derive(Debug, Default)]
pub(crate) struct TesterEnds {
    pub(crate) ports: Option<[PortSpec; 2]>,
    pub(crate) agent: Option<AgentMachine>,
}

/// The keys of an agent's interface, each with the key of this machine's port that it replaces, and its direction.
const INTERFACES: [(&str, &str, Direction); 2] = [
    ("agent-left", "left", Direction::Forward),
    ("agent-right", "right", Direction::Reverse),
];

/// Reads both ends of the tester; `config` is the file that ssh reads instead of its usual configuration.
pub(crate) fn read_ends(section: &Section<'_>, config: Option<&SshConfig>) -> TesterEnds {
    let [left, right] = ["left", "right"].map(|key| section.text(key, words::port));
    let host = section.text("agent", words::ssh_host);
    let interfaces = INTERFACES.map(|(key, ..)| section.text(key, words::interface));
    let program = section
        .text("agent-program", words::program)
        .unwrap_or_else(|| USUAL_PROGRAM.to_owned());
    let cores = section
        .numbers("agent-cores", words::core)
        .unwrap_or_default();
    if !section.is_given("agent") {
        only_with_an_agent(section);
        return TesterEnds {
            ports: of_this_machine(section, left, right),
            agent: None,
        };
    }
    check_one_of_each(section);
    let (Some(name), Some(end)) = (host, interfaces.iter().position(Option::is_some)) else {
        return TesterEnds::default();
    };
    let (interface, sends) = (
        interfaces[end].clone().unwrap_or_default(),
        INTERFACES[end].2,
    );
    let there = PortSpec::Interface(interface.clone());
    let ports = match sends {
        Direction::Forward => right.map(|right| [there, right]),
        Direction::Reverse => left.map(|left| [left, there]),
    };
    let remote = Remote::new(&name, config);
    TesterEnds {
        ports,
        agent: Some(AgentMachine {
            remote,
            program,
            interface,
            sends,
            cores,
        }),
    }
}

fn of_this_machine(
    section: &Section<'_>,
    left: Option<PortSpec>,
    right: Option<PortSpec>,
) -> Option<[PortSpec; 2]> {
    // Whether a key is given is asked rather than whether it could be read: one that was refused has its own mistake already.
    if section.is_given("left") != section.is_given("right") {
        section.mistake(
            "left",
            "real interfaces come in pairs: give both `left` and `right`",
        );
    }
    if left.is_some() && left == right {
        section.mistake("right", "left and right must be two interfaces");
    }
    left.zip(right).map(<[PortSpec; 2]>::from)
}

fn only_with_an_agent(section: &Section<'_>) {
    for key in ["agent-left", "agent-right", "agent-cores", "agent-program"]
        .into_iter()
        .filter(|key| section.is_given(key))
    {
        section.mistake_with_help(
            key,
            format!("`{key}` only applies to a tester on two machines"),
            "add agent = \"ssh:NAME\", or leave it out",
        );
    }
}

/// Checks that one end is on this machine and the other one on the agent's.
fn check_one_of_each(section: &Section<'_>) {
    let given = ["left", "agent-left", "right", "agent-right"].map(|key| section.is_given(key));
    if given != [true, false, false, true] && given != [false, true, true, false] {
        section.mistake_with_help(
            "agent",
            "a tester on two machines has one end on each",
            "give `left` and `agent-right`, or `agent-left` and `right`",
        );
    }
}

/// Reports tests that a tester on two machines cannot make, at the key that puts it there.
pub(crate) fn check_tests(section: &Section<'_>, tests: &[Test]) {
    for test in tests {
        let what = match test.measure.family() {
            Family::Queries => "DNS queries",
            Family::Tcp => "TCP connections",
            Family::Frames | Family::Requests | Family::PhaseOne if test.stateful.is_some() => {
                "the two phases of a stateful device"
            }
            Family::Requests => "requests and replies",
            Family::Vectors => "vectors of requirements",
            Family::Frames if test.traffic.ramp_ns.is_some() => "a ramp before a trial",
            Family::Frames | Family::PhaseOne => continue,
        };
        section.mistake_with_help(
            "agent",
            format!(
                "test {}: a tester on two machines does not make {what}",
                test.name
            ),
            "leave the test out, or give both ends to this machine (`left` and `right`)",
        );
    }
}
