//! The threads of a trial: client and authority take turns in one loop if there is one core for both; otherwise each has its own.

use super::authority::{AskedNames, Authority};
use super::client::{QueryClient, QueryCounts};
use crate::driver::{CallsOff, TrialStart, joined, pin, pin_and_prioritise};
use crate::pacing::stall::Gaps;
use sixbench_io::clock::Clock;
use sixbench_io::thread::keep_low_ports_only;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The division of the cores between the client's threads and the authority's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// One client thread per entry; one unpinned thread if there are no cores.
    pub(super) client: Vec<Option<u32>>,
    /// One authority thread per entry; if there is none, the first client's thread serves both.
    pub(super) authority: Vec<Option<u32>>,
}

impl Division {
    /// Divides the tester's cores. If the authority is ours, it gets half of them, rounded down, which is none if there is only one.
    pub(super) fn new(cores: &[u32], has_authority: bool) -> Self {
        let authority = if has_authority { cores.len() / 2 } else { 0 };
        let (client, authority) = cores.split_at(cores.len() - authority);
        let own = |cores: &[u32]| cores.iter().map(|core| Some(*core)).collect::<Vec<_>>();
        let client = if client.is_empty() {
            vec![None]
        } else {
            own(client)
        };
        Self {
            client,
            authority: own(authority),
        }
    }

    /// Returns the number of authorities that can work at the same time.
    pub(super) fn authorities(&self) -> usize {
        self.authority.len().max(1)
    }
}

/// The settings shared by all threads of a trial.
pub(super) struct ThreadContext<'a> {
    pub(super) clock: &'a Clock,
    pub(super) stop: &'a AtomicBool,
    pub(super) asked: Option<&'a AskedNames>,
    pub(super) stall_ns: u64,
    /// True if a server in another process also needs the client's core.
    pub(super) shares_core: bool,
}

/// The state that the threads share while they run.
struct QueryRun<'a> {
    context: &'a ThreadContext<'a>,
    start: TrialStart<'a>,
    /// The number of clients that are not over yet.
    pending: AtomicUsize,
}

/// Runs a trial to its end; returns `None` if the user asked to stop.
pub(super) fn perform(
    clients: Vec<QueryClient<'_>>,
    authorities: &mut [Authority],
    division: &Division,
    context: &ThreadContext<'_>,
) -> Option<Vec<QueryCounts>> {
    let are_shared = division.authority.is_empty();
    let threads = clients.len() + if are_shared { 0 } else { authorities.len() };
    let pending = AtomicUsize::new(clients.len());
    let run = QueryRun {
        context,
        start: TrialStart::new(context.clock, threads),
        pending,
    };
    let (beside, alone) = if are_shared {
        (authorities, &mut [][..])
    } else {
        (&mut [][..], authorities)
    };
    let mut beside = beside.iter_mut();
    std::thread::scope(|scope| {
        let run = &run;
        let _calls_off = CallsOff(&run.start);
        let asking: Vec<_> = clients
            .into_iter()
            .zip(division.client.iter().cycle())
            .map(|(client, core)| {
                let authority = beside.next();
                scope.spawn(move || run.ask(client, authority, *core))
            })
            .collect();
        let serving: Vec<_> = alone
            .iter_mut()
            .zip(&division.authority)
            .map(|(authority, core)| scope.spawn(move || run.serve(authority, *core)))
            .collect();
        let counted: Option<Vec<QueryCounts>> = asking
            .into_iter()
            .map(|client| joined(client.join()))
            .collect();
        let away: Vec<Gaps> = serving
            .into_iter()
            .map(|authority| joined(authority.join()))
            .collect();
        Some(run.with_authorities(counted?, &away))
    })
}

/// Counts a client as over when dropped, even by a panic: the authorities would otherwise wait for it.
struct PendingClient<'a>(&'a AtomicUsize);

impl Drop for PendingClient<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl QueryRun<'_> {
    /// Returns the counts of the clients with what the authorities, and the machine, cost the first of them.
    fn with_authorities(&self, mut counted: Vec<QueryCounts>, away: &[Gaps]) -> Vec<QueryCounts> {
        let (clients, authorities) = (counted.len() as u64, away.len() as u64);
        let Some(first) = counted.first_mut() else {
            return counted;
        };
        // An authority that was away makes the DUT wait, which is a fault of the tester, as for a client.
        for gaps in away {
            // An authority has a different share of the queries than a client.
            let mut of_a_client = *gaps;
            of_a_client.stalled_ns = gaps.stalled_ns * clients / authorities;
            first.gaps.add(&of_a_client);
        }
        // A client that shares its core with the server waits for it by design.
        first.kept_off_ns = if self.context.shares_core {
            0
        } else {
            self.start.kept_off_ns()
        };
        counted
    }

    /// Moves the calling thread to its core and returns the time of the first query; `None` if the trial was called off.
    fn begin(&self, core: Option<u32>) -> Option<u64> {
        if self.context.shares_core {
            // At the same priority as the server.
            pin(core);
        } else {
            pin_and_prioritise(core);
        }
        let _ = keep_low_ports_only();
        self.start.wait()
    }

    fn is_stopped(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }

    fn ask(
        &self,
        mut client: QueryClient<'_>,
        mut authority: Option<&mut Authority>,
        core: Option<u32>,
    ) -> Option<QueryCounts> {
        let _over = PendingClient(&self.pending);
        client.begin(self.begin(core)?);
        let _noting = self.start.note_waits();
        loop {
            if self.is_stopped() {
                return None;
            }
            let now_ns = self.context.clock.now_ns();
            client.turn(now_ns);
            if client.is_about_to_end(now_ns) {
                continue;
            }
            if let Some(authority) = &mut authority {
                authority.turn(self.context.asked);
            }
            if self.context.shares_core {
                std::thread::yield_now();
            }
            if client.is_over(now_ns) {
                return Some(client.finish());
            }
        }
    }

    fn serve(&self, authority: &mut Authority, core: Option<u32>) -> Gaps {
        let Some(start_ns) = self.begin(core) else {
            return Gaps::new(self.context.stall_ns, 0);
        };
        let _noting = self.start.note_waits();
        let mut gaps = Gaps::new(self.context.stall_ns, start_ns);
        while self.pending.load(Ordering::Acquire) > 0 && !self.is_stopped() {
            gaps.look(self.context.clock.now_ns());
            authority.turn(self.context.asked);
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_serves_both_and_four_are_two_each() {
        let division = |cores: &[u32], has_authority| Division::new(cores, has_authority);
        let own = |cores: &[u32]| cores.iter().map(|core| Some(*core)).collect::<Vec<_>>();
        assert_eq!(
            division(&[3], true),
            Division {
                client: own(&[3]),
                authority: vec![]
            }
        );
        assert_eq!(
            division(&[0, 1, 2, 3], true),
            Division {
                client: own(&[0, 1]),
                authority: own(&[2, 3])
            }
        );
        assert_eq!(
            division(&[0, 1], false),
            Division {
                client: own(&[0, 1]),
                authority: vec![]
            }
        );
        assert_eq!(
            division(&[], true),
            Division {
                client: vec![None],
                authority: vec![]
            }
        );
    }
}
