//! Where the interrupts of the tester's interfaces are served while a device is measured.
//!
//! The tester's threads look for frames without pause and at the highest priority. A core on which they run and on which a NIC's interrupt arrives gives the
//! kernel's thread for the rest of the work, ksoftirqd, no time: received frames stay in the NIC's ring, which overflows, at rates that the NIC and the
//! tester can both serve. (Two e1000e cabled to each other, 400 frames/s: 27 % to 84 % lost; none with the interrupts on another core, none with ksoftirqd
//! at the tester's priority.) So the interrupts are moved to cores that the tester does not use; if it uses all, its ksoftirqd get its priority. Links
//! that a testbed builds have no interrupts: their frames are received on the core that sends them.

use super::Sysctls;
use super::namespace::Namespace;
use super::sysctls::{cores_of, priority_of};
use crate::exec::{Shell, TestbedError, warn};
use crate::facts::{Machine, ranges};

/// The priority of the tester's threads, as a nice value.
const PRIORITY_OF_TESTER: &str = "-20";

/// The place at which interrupts are to be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// On these cores, which the tester does not use.
    OnCores(Vec<u32>),
    /// On the tester's cores, the only ones, with the tester's priority for these of the kernel's threads.
    WithPriority(Vec<u32>),
}

impl Placement {
    /// Returns the settings of this placement for these interrupts of a device, by their names for [`Sysctls`].
    fn settings(&self, interrupts: &[u32], device: &str) -> Vec<(String, String)> {
        match self {
            Self::OnCores(cores) => interrupts
                .iter()
                .map(|number| (cores_of(*number, device), ranges(cores)))
                .collect(),
            Self::WithPriority(cores) => cores
                .iter()
                .map(|core| (priority_of(*core), PRIORITY_OF_TESTER.to_owned()))
                .collect(),
        }
    }

    /// Returns a sentence for the report.
    fn sentence(&self, interface: &str) -> String {
        match self {
            Self::OnCores(cores) => format!(
                "the interrupts of {interface} are served by cores {}, away from the tester",
                ranges(cores)
            ),
            Self::WithPriority(cores) => format!(
                "every core is the tester's, so the kernel's threads that receive for its interfaces (ksoftirqd) have its priority on cores {}",
                ranges(cores)
            ),
        }
    }

    /// Returns the placement for an interface of a tester with these cores: on the other cores of its NUMA node, if there are any, else of the machine.
    pub(crate) fn for_interface(machine: &Machine, interface: &str, tester: &[u32]) -> Self {
        let mut others = machine.online();
        others.retain(|core| !tester.contains(core));
        if others.is_empty() {
            return Self::WithPriority(tester.to_vec());
        }
        let near: Vec<u32> = machine
            .node_of_interface(interface)
            .iter()
            .filter(|core| others.contains(core))
            .copied()
            .collect();
        Self::OnCores(if near.is_empty() { others } else { near })
    }
}

/// The interrupts of the tester's interfaces, placed. They go back when this is dropped, and by the sweep of the next run if this one is killed. Interrupts
/// that are no longer the card's then are left alone: those of queues that come back have the driver's default.
#[derive(Debug, Default)]
pub struct PlacedInterrupts {
    settings: Vec<Sysctls>,
    /// Sentences for the report on where they are.
    sentences: Vec<String>,
}

impl PlacedInterrupts {
    /// Places the interrupts of these interfaces, each in a namespace, away from the tester's cores. It must be done once their ports are open, because
    /// drivers replace their interrupts then. A kernel that refuses is no reason not to measure: the user is warned.
    ///
    /// # Errors
    /// The user wants to stop.
    pub fn away_from<'n>(
        tester: &[u32],
        interfaces: impl Iterator<Item = (&'n str, &'n Namespace)>,
        shell: &Shell,
    ) -> Result<Self, TestbedError> {
        let mut placed = Self::default();
        for (interface, namespace) in interfaces {
            let machine = Machine::read(&namespace.shell(), &[interface]);
            let Some(device) = machine.device_with_interrupts(interface) else {
                continue;
            };
            let placement = Placement::for_interface(&machine, interface, tester);
            let settings = placement.settings(&machine.interrupts_of(interface), device);
            placed.place(interface, &settings, &placement, shell)?;
        }
        placed.sentences.sort();
        placed.sentences.dedup();
        Ok(placed)
    }

    /// Returns sentences for the report.
    pub fn sentences(&self) -> &[String] {
        &self.sentences
    }

    fn place(
        &mut self,
        interface: &str,
        settings: &[(String, String)],
        placement: &Placement,
        shell: &Shell,
    ) -> Result<(), TestbedError> {
        let mut refused = None;
        for setting in settings {
            match Sysctls::write(std::slice::from_ref(setting), shell) {
                Ok(set) => self.settings.push(set),
                Err(error) => refused = Some(error),
            }
            shell.context().check()?;
        }
        match refused {
            Some(error) => warn(
                &format!(
                    "cannot keep the interrupts of {interface} off the tester's cores; frames may be lost in it before they reach the tester"
                ),
                &error,
            ),
            None => self.sentences.push(placement.sentence(interface)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(nodes: &[(u32, &str)], of_interface: &str) -> Machine {
        let mut text = "/sys/devices/system/cpu/online:0-7\n".to_owned();
        for (number, cores) in nodes {
            text += &format!("/sys/devices/system/node/node{number}/cpulist:{cores}\n");
        }
        text += &format!("/sys/class/net/e0/device/numa_node:{of_interface}\n");
        text += "/sys/class/net/e0/irq_device:/sys/devices/pci0000:00/0000:00:12.0\n";
        for (number, cores) in [(31, "0-7"), (9, "2")] {
            text += &format!(
                "/sys/class/net/e0/interrupts:{cores}\n/sys/class/net/e0/irq/{number}:{cores}\n"
            );
        }
        Machine::parse("", &text)
    }

    #[test]
    fn interrupts_go_to_cores_that_the_tester_leaves_and_rather_to_those_of_the_node() {
        let two = machine(&[(0, "0-3"), (1, "4-7")], "1");
        assert_eq!(two.interrupts_of("e0"), [9, 31]);
        let device = two.device_with_interrupts("e0").expect("a device");
        let settings = Placement::OnCores(vec![6, 7]).settings(&[9], device);
        let name = "irq/9@/sys/devices/pci0000:00/0000:00:12.0".to_owned();
        assert_eq!(settings, [(name, "6-7".to_owned())]);
        let tester = [4, 5];
        assert_eq!(
            Placement::for_interface(&two, "e0", &tester),
            Placement::OnCores(vec![6, 7])
        );
        let tester = [4, 5, 6, 7];
        assert_eq!(
            Placement::for_interface(&two, "e0", &tester),
            Placement::OnCores(vec![0, 1, 2, 3])
        );
        let one = machine(&[(0, "0-7")], "-1");
        assert_eq!(
            Placement::for_interface(&one, "e0", &[0, 1]),
            Placement::OnCores(vec![2, 3, 4, 5, 6, 7])
        );
        let all = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(
            Placement::for_interface(&one, "e0", &all),
            Placement::WithPriority(all.to_vec())
        );
    }
}
