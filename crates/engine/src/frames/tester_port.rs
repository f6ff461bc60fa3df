//! A port of the tester with all of its queues.

use super::companion::DistantPort;
use sixbench_io::{Halves, Port, PortError, Receive, Transmit};
use sixbench_wire::MacAddress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The most batches discarded before a trial: more than a receive ring holds.
const MOST_DRAINED: usize = 1024;

/// The time that a link has to come up again after a trial: cards of 10 Gbit/s and more negotiate for up to half of it.
const LINK_RETURNS: Duration = Duration::from_secs(20);

/// The time between two looks at a link that is down.
const LINK_LOOK: Duration = Duration::from_millis(50);

/// One port with its queues.
pub(crate) struct TesterPort {
    pub(crate) name: String,
    pub(crate) mac: MacAddress,
    /// Its queues; none if the port is on another machine.
    pub(crate) queues: Vec<Halves>,
    /// The number of its queues, on whichever machine.
    pub(crate) count: usize,
}

impl TesterPort {
    pub(crate) fn new(port: Port) -> Self {
        Self {
            name: port.name,
            mac: MacAddress(port.mac),
            count: port.queues.len(),
            queues: port.queues,
        }
    }

    /// Returns a port that is on another machine, and on which this one neither sends nor receives.
    pub(crate) fn distant(port: DistantPort) -> Self {
        Self {
            name: String::new(),
            mac: port.mac(),
            queues: Vec::new(),
            count: port.queues,
        }
    }

    pub(crate) fn is_here(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Discards frames that arrived before the trial, and the count of those that did not fit.
    pub(crate) fn drain(&mut self) -> Result<(), PortError> {
        for queue in &mut self.queues {
            // A device that never stops sending must not keep the trial from starting.
            for _ in 0..MOST_DRAINED {
                if queue.receive.receive(&mut |_| ())? == 0 {
                    break;
                }
            }
            queue.receive.overruns()?;
        }
        Ok(())
    }

    pub(crate) fn check_link(&self) -> Result<(), PortError> {
        self.queues
            .iter()
            .try_for_each(|queue| queue.transmit.check_link())
    }

    /// Waits until the link is up, and returns true if it was down. Does not wait any longer once `stop` is set.
    ///
    /// # Errors
    /// It stays down, or the port has failed.
    pub(crate) fn wait_for_link(&self, stop: &AtomicBool) -> Result<bool, PortError> {
        let end = Instant::now() + LINK_RETURNS;
        let mut was_down = false;
        loop {
            match self.check_link() {
                Ok(()) => return Ok(was_down),
                Err(PortError::LinkDown { .. })
                    if Instant::now() < end && !stop.load(Ordering::Relaxed) =>
                {
                    was_down = true;
                    std::thread::sleep(LINK_LOOK);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// The receiving halves of all queues of a port, combined.
pub(crate) struct AllQueues<'a>(pub(crate) &'a mut [Halves]);

impl Receive for AllQueues<'_> {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        self.0
            .iter_mut()
            .try_fold(0, |sum, queue| Ok(sum + queue.receive.receive(each)?))
    }

    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        self.0
            .first_mut()
            .map_or(Ok(()), |queue| queue.receive.answer(frame))
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        self.0
            .iter_mut()
            .try_fold(0, |sum, queue| Ok(sum + queue.receive.overruns()?))
    }
}

/// The halves of the queues of a port, separated.
#[derive(Default)]
pub(crate) struct PortHalves<'p> {
    pub(crate) transmit: Vec<&'p mut dyn Transmit>,
    pub(crate) receive: Vec<&'p mut dyn Receive>,
}

impl<'p> PortHalves<'p> {
    pub(crate) fn new(queues: &'p mut [Halves]) -> Self {
        let mut ends = Self::default();
        for Halves { transmit, receive } in queues {
            ends.transmit.push(&mut **transmit);
            ends.receive.push(&mut **receive);
        }
        ends
    }
}
