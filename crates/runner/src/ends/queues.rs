//! How many queues the tester's interfaces have while it sends frames.

use sixbench_io::Backend;
use sixbench_plan::Links;
use sixbench_testbed::{NicSetting, Shell, existing};
use std::num::NonZeroU32;

/// The threads of a tester for each queue of a port: a sender and a receiver. A tester on two machines has one port on either.
const THREADS_PER_PORT: usize = 2;

/// The queues that a plan wants.
pub(crate) struct QueueRequest {
    pub(crate) io: Backend,
    /// Their number; `None` for as many as the tester has cores for.
    pub(crate) queues: Option<NonZeroU32>,
}

impl QueueRequest {
    pub(crate) fn from_links(links: &Links) -> Self {
        Self {
            io: links.io,
            queues: links.queues,
        }
    }

    /// Returns the setting of the queues of these interfaces for a tester with so many cores; `None` if they stay as they are. A backend that serves
    /// queues serves all that an interface has, each with threads of its own: with more of them than cores, frames wait for a thread and are lost.
    pub(crate) fn settled(
        &self,
        interfaces: &[&str],
        cores: usize,
        shell: &Shell,
    ) -> Option<NicSetting> {
        if shell.is_rehearsal() || !self.may_serve_queues() {
            return None;
        }
        let there = interfaces
            .iter()
            .filter_map(|interface| existing::queues(shell, interface));
        self.number(there.collect(), served(interfaces.len(), cores))
            .map(NicSetting::queues)
    }

    fn may_serve_queues(&self) -> bool {
        match self.io {
            Backend::Auto => true,
            Backend::Named(info) => info.serves_queues,
        }
    }

    /// Returns the number of queues to set, given those that the interfaces have now, and for how many of each there are cores.
    fn number(&self, there: Vec<u32>, served: usize) -> Option<u32> {
        // Both interfaces get the same number, which neither of them exceeds.
        let least = *there.iter().min()?;
        let wanted = self
            .queues
            .map_or_else(|| least.min(served.max(1) as u32), NonZeroU32::get);
        there
            .iter()
            .any(|queues| *queues != wanted)
            .then_some(wanted)
    }
}

/// Returns the number of queues of each of so many ports for which a tester with so many cores has one for each thread.
fn served(ports: usize, cores: usize) -> usize {
    cores / (THREADS_PER_PORT * ports.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_has_no_more_queues_than_the_tester_has_cores_for() {
        let number = |queues: u32, there: &[u32], served| {
            let request = QueueRequest {
                io: Backend::Auto,
                queues: NonZeroU32::new(queues),
            };
            request.number(there.to_vec(), served)
        };
        assert_eq!(number(0, &[64, 64], 0), Some(1), "at least one");
        assert_eq!(number(0, &[64, 32], 4), Some(4));
        assert_eq!(number(0, &[2, 2], 2), None, "they are there already");
        assert_eq!(number(0, &[2, 4], 4), Some(2), "both ends alike");
        assert_eq!(number(0, &[1, 1], 2), None);
        assert_eq!(number(3, &[2, 2], 0), Some(3), "as the plan wants");
        assert_eq!(number(3, &[], 0), None, "without such queues");
    }

    #[test]
    fn a_queue_of_each_port_that_the_tester_has_here_needs_two_cores() {
        assert_eq!([4, 8, 16].map(|cores| served(2, cores)), [1, 2, 4]);
        let of_an_agent = [2, 4, 16].map(|cores| served(1, cores));
        assert_eq!(of_an_agent, [1, 2, 8], "one port, the other is elsewhere");
    }

    #[test]
    fn a_backend_with_one_queue_leaves_them_as_they_are() {
        let request = QueueRequest {
            io: Backend::shared(),
            queues: NonZeroU32::new(2),
        };
        assert_eq!(request.settled(&["lo"], 4, &Shell::new()), None);
    }
}
