//! The loops in which the two ends wait for events: one for both on one core, or one for each. This module knows neither HTTP nor what is counted.

use super::error::{TcpError, try_within};
use super::settings::TcpEnds;
use crate::driver::{EndsOthers, Layout, joined, pin_and_prioritise};
use mio::event::Event;
use mio::{Events, Poll, Registry, Token};
use sixbench_io::clock::Clock;
use sixbench_io::thread::keep_low_ports_only;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most events taken at once; between two batches the client checks its schedule.
const BATCH: usize = 32;

/// The minimum time until the next event for which a loop sleeps, until shortly before it; a sleep only ends with millisecond accuracy.
const WORTH_SLEEPING_NS: u64 = 3_000_000;

/// The longest sleep, so that a request to stop is noticed in time.
const LONGEST_SLEEP_NS: u64 = 20_000_000;

/// Tokens with this bit are the server's.
pub(super) const SERVER: usize = 1 << 62;

/// One end, which is called when it is its turn and for events on its sockets. It never blocks.
pub(super) trait EventHandler: Send {
    /// Does everything that is due.
    fn turn(&mut self, context: &LoopContext<'_>) -> Result<(), TcpError>;

    /// Handles an event on one of its sockets.
    fn event(&mut self, event: &Event, context: &LoopContext<'_>);

    /// Returns the latest time at which it needs its next turn, in nanoseconds.
    fn wake_ns(&self) -> u64;

    /// Returns whether this end keeps a schedule for which the other one should stay awake.
    fn is_pacing(&self) -> bool {
        false
    }

    /// Returns whether this end has nothing left to do.
    fn is_over(&self) -> bool;
}

/// The parts of its loop that an end can see.
pub(super) struct LoopContext<'a> {
    pub registry: &'a Registry,
    pub run: &'a TcpRun<'a>,
}

impl LoopContext<'_> {
    pub(super) fn now_ns(&self) -> u64 {
        self.run.clock.now_ns()
    }
}

/// The state that the loops of a trial share.
pub(super) struct TcpRun<'a> {
    clock: &'a Clock,
    stop: &'a AtomicBool,
    /// True if the server listens, so that the client may choose the time of the first connection. The loops do not use a `TrialStart`, in which
    /// a loop that cannot move to its core would be waited for forever.
    is_server_ready: AtomicBool,
    is_client_over: AtomicBool,
    /// True if something is due so soon that no loop should sleep: waking a core may take longer than an answer.
    is_busy: AtomicBool,
    has_failed: AtomicBool,
}

impl<'a> TcpRun<'a> {
    /// Returns the state before the trial. `is_server_ready` is true if there is no server of ours to wait for.
    pub(super) fn new(clock: &'a Clock, stop: &'a AtomicBool, is_server_ready: bool) -> Self {
        let flag = AtomicBool::new;
        let [is_client_over, is_busy, has_failed] = [flag(false), flag(false), flag(false)];
        Self {
            clock,
            stop,
            is_server_ready: flag(is_server_ready),
            is_client_over,
            is_busy,
            has_failed,
        }
    }

    pub(super) fn is_server_ready(&self) -> bool {
        self.is_server_ready.load(Ordering::Acquire)
    }

    pub(super) fn open_server(&self) {
        self.is_server_ready.store(true, Ordering::Release);
    }

    pub(super) fn is_client_over(&self) -> bool {
        self.is_client_over.load(Ordering::Acquire)
    }

    pub(super) fn end_client(&self) {
        self.is_client_over.store(true, Ordering::Release);
    }

    /// Runs client and server to the end of the trial; returns the client's longest work between two polls of its sockets, in nanoseconds.
    pub(super) fn perform<Server: EventHandler>(
        &self,
        client: &mut impl EventHandler,
        server: Option<&mut Server>,
        ends: &TcpEnds,
        layout: &Layout,
    ) -> Result<u64, TcpError> {
        let (client_place, server_place) = (
            ends.client_namespace.as_deref(),
            ends.server_namespace.as_deref(),
        );
        let (first, second) = (layout.cores.first().copied(), layout.cores.get(1).copied());
        std::thread::scope(|scope| {
            // This also applies if the system refuses to create a second thread.
            let _ends_others = EndsOthers(&self.has_failed);
            let mut together: Vec<&mut dyn EventHandler> = vec![client];
            let serving = match (server, second) {
                (Some(server), Some(_)) => {
                    Some(scope.spawn(move || self.attend(server_place, second, &mut [server])))
                }
                (Some(server), None) => {
                    together.push(server);
                    None
                }
                (None, _) => None,
            };
            let asked = joined(
                scope
                    .spawn(move || self.attend(client_place, first, &mut together))
                    .join(),
            );
            serving
                .map_or(Ok(0), |server| joined(server.join()))
                .and(asked)
        })
    }

    /// Moves a loop to its core and namespace and runs it. Only the client creates sockets in the loop; the server's listeners were created in
    /// their own namespace, and the connections they accept stay there.
    fn attend(
        &self,
        namespace: Option<&str>,
        core: Option<u32>,
        ends: &mut [&mut dyn EventHandler],
    ) -> Result<u64, TcpError> {
        let _ends_others = EndsOthers(&self.has_failed);
        let result = try_within(namespace, || {
            pin_and_prioritise(core);
            let _ = keep_low_ports_only();
            self.turn_round(ends)
        });
        result.inspect_err(|_| self.has_failed.store(true, Ordering::Relaxed))
    }

    /// Runs the loop until the ends are over; returns the longest work between two polls of the sockets.
    fn turn_round(&self, ends: &mut [&mut dyn EventHandler]) -> Result<u64, TcpError> {
        let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(BATCH));
        let (mut looked_ns, mut worst_gap_ns) = (self.clock.now_ns(), 0);
        while !self.has_failed.load(Ordering::Relaxed) && !ends.iter().all(|end| end.is_over()) {
            if self.stop.load(Ordering::Relaxed) {
                return Err(TcpError::Interrupted);
            }
            let context = LoopContext {
                registry: poll.registry(),
                run: self,
            };
            ends.iter_mut().try_for_each(|end| end.turn(&context))?;
            let wake_ns = ends.iter().map(|end| end.wake_ns()).min().unwrap_or(0);
            let now_ns = self.clock.now_ns();
            worst_gap_ns = worst_gap_ns.max(now_ns - looked_ns);
            look(
                &mut poll,
                &mut events,
                self.sleep_time(now_ns, wake_ns, ends[0].is_pacing()),
            )?;
            looked_ns = self.clock.now_ns();
            let context = LoopContext {
                registry: poll.registry(),
                run: self,
            };
            for event in &events {
                let Token(token) = event.token();
                let end = usize::from(token & SERVER != 0 && ends.len() > 1);
                ends[end].event(event, &context);
            }
        }
        Ok(worst_gap_ns)
    }

    /// Returns the time for which a loop may sleep. The loop that keeps the schedule decides for both.
    fn sleep_time(&self, now_ns: u64, wake_ns: u64, is_pacing: bool) -> Duration {
        let sleep_time = sleep_time(now_ns, wake_ns);
        if is_pacing {
            self.is_busy.store(sleep_time.is_zero(), Ordering::Relaxed);
        }
        if self.is_busy.load(Ordering::Relaxed) {
            Duration::ZERO
        } else {
            sleep_time
        }
    }
}

fn look(poll: &mut Poll, events: &mut Events, sleep_time: Duration) -> io::Result<()> {
    match poll.poll(events, Some(sleep_time)) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        result => result,
    }
}

/// Returns the time for which a loop may sleep that must be awake at `wake_ns`: zero if that is soon.
fn sleep_time(now_ns: u64, wake_ns: u64) -> Duration {
    let left_ns = wake_ns.saturating_sub(now_ns).min(LONGEST_SLEEP_NS);
    if left_ns < WORTH_SLEEPING_NS {
        Duration::ZERO
    } else {
        Duration::from_millis(left_ns / 1_000_000 - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// An end that is never over.
    struct Endless {
        panics: bool,
    }

    impl EventHandler for Endless {
        fn turn(&mut self, _: &LoopContext<'_>) -> Result<(), TcpError> {
            assert!(!self.panics, "a bug");
            Ok(())
        }

        fn event(&mut self, _: &Event, _: &LoopContext<'_>) {}

        fn wake_ns(&self) -> u64 {
            0
        }

        fn is_over(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_panic_in_one_loop_ends_the_other() {
        let (told, ended) = mpsc::channel();
        let trial = std::thread::spawn(move || {
            let (clock, stop) = (Clock::new(), AtomicBool::new(false));
            let run = TcpRun::new(&clock, &stop, true);
            let attend = |panics| run.attend(None, None, &mut [&mut Endless { panics }]);
            std::thread::scope(|scope| {
                let [fails, waits] =
                    [true, false].map(|panics| scope.spawn(move || attend(panics)));
                let _ = told.send((fails.join().is_err(), waits.join().is_ok()));
            });
        });
        assert_eq!(
            ended.recv_timeout(Duration::from_secs(60)),
            Ok((true, true))
        );
        trial.join().expect("a thread");
    }

    #[test]
    fn a_loop_sleeps_only_until_well_before_its_next_turn() {
        assert_eq!(sleep_time(0, 2_999_999), Duration::ZERO);
        assert_eq!(sleep_time(10, 5), Duration::ZERO);
        assert_eq!(sleep_time(0, 10_000_000), Duration::from_millis(8));
        assert_eq!(sleep_time(0, u64::MAX), Duration::from_millis(18));
    }
}
