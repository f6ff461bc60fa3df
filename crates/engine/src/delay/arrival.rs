//! The arrival of a frame as far as a receiver knows it: it polls its port, and sees only that a frame has arrived since the last poll.

use crate::delay::DelayInterval;
use sixbench_io::clock::Clock;
use sixbench_io::{BATCH, PortError, Receive};

/// The interval in which a frame arrived, in nanoseconds of the tester's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// A time at which it had not arrived.
    pub(crate) since_ns: u64,
    /// A time at which it had arrived: the one from which delays are taken, so that none is below the true one.
    pub(crate) by_ns: u64,
}

impl Arrival {
    /// Returns the arrival at a time that is known exactly.
    #[cfg(test)]
    pub(crate) fn at(ns: u64) -> Self {
        Self {
            since_ns: ns,
            by_ns: ns,
        }
    }

    /// Returns the length of the interval in nanoseconds, by which a delay may be too long.
    #[inline]
    pub(crate) fn width_ns(self) -> u64 {
        self.by_ns - self.since_ns
    }

    /// Returns the delay of what was sent at `sent_ns` by the same clock; `None` if it arrived before that, which no delay of zero may hide.
    #[inline]
    pub(crate) fn delay_since(self, sent_ns: u64) -> Option<DelayInterval> {
        self.by_ns
            .checked_sub(sent_ns)
            .map(|delay_ns| DelayInterval {
                delay_ns,
                width_ns: self.width_ns(),
            })
    }
}

/// The polls of one port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Polls {
    /// A time at which every frame that had arrived had been or was about to be handed out.
    empty_ns: u64,
}

impl Polls {
    /// Sets the time before which no frame of the trial can arrive.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.empty_ns = start_ns;
    }

    /// Notes that at this time every message that had arrived had been or was about to be handed out.
    #[inline]
    pub(crate) fn note_empty(&mut self, ns: u64) {
        self.empty_ns = self.empty_ns.max(ns);
    }

    /// Takes messages with one call of `read`, which returns their number and takes fewer than `most` only if no more have arrived. `before_ns` is a time
    /// before the call. Returns the arrival of all of them; `None` if there are none.
    ///
    /// The clock is read again when the call is over: by then it is settled which messages were taken, so that none of them arrived later.
    ///
    /// # Errors
    /// Those of `read`.
    #[inline]
    pub(crate) fn read<E>(
        &mut self,
        before_ns: u64,
        most: usize,
        clock: &Clock,
        read: impl FnOnce() -> Result<usize, E>,
    ) -> Result<Option<Arrival>, E> {
        let (taken, since_ns) = (read()?, self.empty_ns);
        if taken < most {
            self.note_empty(before_ns);
        }
        Ok((taken > 0).then(|| Arrival {
            since_ns,
            by_ns: clock.now_ns().max(since_ns),
        }))
    }

    /// Receives up to `batches` batches of frames from `port`, and hands each frame to `each` with its arrival. `now_ns` is the time before the port is
    /// polled.
    ///
    /// The clock is read again when the first frame of a batch is handed out: by then it is settled which frames those are, so that none of them
    /// arrived later, even if this thread lost its core since the reading before. See [`Receive::receive`].
    #[inline]
    pub(crate) fn receive(
        &mut self,
        port: &mut dyn Receive,
        now_ns: u64,
        batches: usize,
        clock: &Clock,
        mut each: impl FnMut(&[u8], Arrival),
    ) -> Result<(), PortError> {
        let mut before_ns = now_ns;
        for _ in 0..batches {
            let (since_ns, mut by_ns) = (self.empty_ns, None);
            let batch = port.receive(&mut |frame| {
                let by_ns = *by_ns.get_or_insert_with(|| clock.now_ns().max(since_ns));
                each(frame, Arrival { since_ns, by_ns });
            })?;
            if batch < BATCH {
                self.note_empty(before_ns);
                break;
            }
            // Frames of the next batch may have been there as well, so the port was not empty at any time since.
            before_ns = by_ns.unwrap_or(before_ns);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_io::clock::ClockHand;
    use std::collections::VecDeque;

    /// A port whose receiver loses its core before and after it is settled which frames are handed out.
    struct RiggedPort {
        clock: Clock,
        hand: ClockHand,
        /// The arrivals still to come, in nanoseconds, oldest first.
        to_come: VecDeque<u64>,
        /// The times for which the core is lost, in turn.
        away_ns: Vec<u64>,
        calls: usize,
    }

    impl RiggedPort {
        fn lose_the_core(&mut self) {
            self.calls += 1;
            self.hand
                .move_on(self.away_ns[self.calls % self.away_ns.len()]);
        }
    }

    impl Receive for RiggedPort {
        fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
            self.lose_the_core();
            let now_ns = self.clock.now_ns();
            let there = self
                .to_come
                .iter()
                .take_while(|arrived_ns| **arrived_ns <= now_ns)
                .count()
                .min(BATCH);
            self.lose_the_core();
            for arrived_ns in self.to_come.drain(..there).collect::<Vec<_>>() {
                each(&arrived_ns.to_be_bytes());
                self.hand.move_on(5);
            }
            Ok(there)
        }

        fn answer(&mut self, _frame: &[u8]) -> Result<(), PortError> {
            Ok(())
        }

        fn overruns(&mut self) -> Result<u64, PortError> {
            Ok(0)
        }
    }

    impl RiggedPort {
        /// Returns the port of a trial with 300 frames.
        fn new(trial: u64) -> Self {
            let (clock, hand) = Clock::moved_by_hand();
            let random = |i: u64, below: u64| sixbench_stats::mix(trial << 32 | i) % below;
            let away = |i: u64| {
                if random(i, 4) == 0 {
                    random(i + 1000, 5_000_000)
                } else {
                    random(i + 1000, 200)
                }
            };
            // From a frame now and then to bursts of more than a poll takes.
            let spacing_ns = [20_000, 1_000, 10][random(1, 3) as usize];
            let (mut arrived_ns, mut to_come) = (1, VecDeque::new());
            for i in 0..300 {
                arrived_ns += random(2000 + i, spacing_ns);
                to_come.push_back(arrived_ns);
            }
            let away_ns = (0..97).map(away).collect();
            Self {
                clock,
                hand,
                to_come,
                away_ns,
                calls: 0,
            }
        }
    }

    /// Returns the true arrival of a frame of a rigged port.
    fn truth_of(frame: &[u8]) -> u64 {
        u64::from_be_bytes(frame.try_into().expect("eight octets"))
    }

    fn assert_all_within(trial: u64, seen: &[(u64, Arrival)]) {
        assert_eq!(seen.len(), 300);
        for (truth_ns, arrival) in seen {
            assert!(
                (arrival.since_ns..=arrival.by_ns).contains(truth_ns),
                "trial {trial}: {truth_ns} is not in {arrival:?}"
            );
        }
    }

    /// Returns the arrivals of 300 frames as the receiver knows them, each with the true one.
    fn arrivals(trial: u64) -> Vec<(u64, Arrival)> {
        let mut port = RiggedPort::new(trial);
        let (clock, hand) = (port.clock.clone(), port.hand.clone());
        let (mut polls, mut seen) = (Polls::default(), Vec::new());
        while !port.to_come.is_empty() {
            let now_ns = clock.now_ns();
            polls
                .receive(&mut port, now_ns, 4, &clock, |frame, arrival| {
                    seen.push((truth_of(frame), arrival));
                })
                .expect("frames");
            hand.move_on(50);
        }
        seen
    }

    #[test]
    fn every_frame_arrived_within_its_interval_however_long_the_receiver_was_away() {
        for trial in 0..1_000 {
            assert_all_within(trial, &arrivals(trial));
        }
    }

    /// Returns the same of messages that one call takes at once, as a socket's are.
    fn arrivals_of_calls(trial: u64) -> Vec<(u64, Arrival)> {
        let mut port = RiggedPort::new(trial);
        let (clock, hand) = (port.clock.clone(), port.hand.clone());
        let (mut polls, mut seen) = (Polls::default(), Vec::new());
        while !port.to_come.is_empty() {
            let mut taken = Vec::new();
            let read = || port.receive(&mut |message| taken.push(truth_of(message)));
            let arrival = polls
                .read(clock.now_ns(), BATCH, &clock, read)
                .expect("messages");
            seen.extend(
                taken
                    .into_iter()
                    .zip(std::iter::repeat(arrival.unwrap_or(Arrival::at(0)))),
            );
            hand.move_on(50);
        }
        seen
    }

    #[test]
    fn every_message_of_a_call_arrived_within_its_interval_too() {
        for trial in 0..1_000 {
            assert_all_within(trial, &arrivals_of_calls(trial));
        }
    }

    #[test]
    fn a_call_that_takes_all_it_can_does_not_show_that_nothing_is_left() {
        let (clock, hand) = Clock::moved_by_hand();
        let mut polls = Polls::default();
        let mut read = |taken| {
            hand.move_on(10);
            polls
                .read(clock.now_ns() - 10, 32, &clock, || Ok::<usize, ()>(taken))
                .expect("messages")
        };
        assert_eq!(read(0), None);
        assert_eq!(
            read(32),
            Some(Arrival {
                since_ns: 0,
                by_ns: 20
            })
        );
        assert_eq!(
            read(3),
            Some(Arrival {
                since_ns: 0,
                by_ns: 30
            })
        );
        assert_eq!(
            read(1),
            Some(Arrival {
                since_ns: 20,
                by_ns: 40
            })
        );
    }

    #[test]
    fn what_arrived_before_it_was_sent_has_no_delay() {
        let arrival = Arrival {
            since_ns: 5,
            by_ns: 30,
        };
        assert_eq!(
            arrival.delay_since(10),
            Some(DelayInterval {
                delay_ns: 20,
                width_ns: 25
            })
        );
        assert_eq!(
            (
                arrival.delay_since(30).map(|delay| delay.delay_ns),
                arrival.delay_since(31)
            ),
            (Some(0), None)
        );
    }

    #[test]
    fn a_receiver_that_is_never_away_knows_an_arrival_to_the_poll() {
        let (clock, hand) = Clock::moved_by_hand();
        let to_come = (1..=100).map(|i| i * 1_000).collect();
        let mut port = RiggedPort {
            clock: clock.clone(),
            hand: hand.clone(),
            to_come,
            away_ns: vec![10],
            calls: 0,
        };
        let (mut polls, mut widest_ns) = (Polls::default(), 0);
        while !port.to_come.is_empty() {
            let now_ns = clock.now_ns();
            let widen = |_: &[u8], arrival: Arrival| widest_ns = widest_ns.max(arrival.width_ns());
            polls
                .receive(&mut port, now_ns, 4, &clock, widen)
                .expect("frames");
            hand.move_on(50);
        }
        // A poll takes 20 ns, or 25 with a frame, and the next one comes 50 ns later: two polls at most.
        assert!((20..=2 * 75).contains(&widest_ns), "{widest_ns}");
    }
}
