//! A DPDK port as a [`Port`](crate::Port).
//!
//! If the ring for sending is the receive queue of the DUT, a full ring refuses frames. If it is our own, such as that of a NIC, frames wait in it.

use super::device::{OpenDevice, ReceivingQueue, SendingQueue};
use super::error::DpdkError;
use crate::backend::full::FullCounter;
use crate::backend::turn::{take_soon, try_take};
use crate::sys::{self, interface::is_running};
use crate::{BATCH, Fill, Flushed, Halves, PortError, Receive, Sent, Transmit};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time limit for a link to come up after its port was started: a NIC negotiates for some seconds.
const LINK_LIMIT: Duration = Duration::from_secs(10);
/// The time between two checks of a link that is coming up.
const LINK_PAUSE: Duration = Duration::from_millis(10);

/// The kernel interface below a device whose driver does not check that it is up.
pub(super) struct WatchedInterface {
    name: String,
    /// A socket in the network namespace of the interface.
    socket: OwnedFd,
}

impl WatchedInterface {
    /// Opens an interface of the calling thread's network namespace, to watch its state.
    pub(super) fn open(name: &str) -> Result<Self, DpdkError> {
        let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)
            .map_err(|error| unwatched(name, &error))?;
        Ok(Self {
            name: name.to_owned(),
            socket,
        })
    }

    fn is_up(&self) -> Result<bool, DpdkError> {
        is_running(&self.socket, &self.name).map_err(|error| unwatched(&self.name, &error))
    }
}

fn unwatched(name: &str, error: &io::Error) -> DpdkError {
    DpdkError::Call {
        what: format!("read the state of the interface {name}"),
        why: error.to_string(),
    }
}

/// The parts of a port that all its halves share.
pub(super) struct PortShared {
    pub(super) name: String,
    pub(super) device: Arc<OpenDevice>,
    /// The kernel interface below it, if there is one.
    pub(super) interface: Option<WatchedInterface>,
    /// True if a full ring is the full receive queue of the DUT.
    pub(super) full_is_dut: bool,
    /// The missed frames of all queues that were already reported.
    pub(super) told_missed: Mutex<u64>,
}

impl PortShared {
    #[cold]
    fn fail(&self, error: &DpdkError) -> PortError {
        PortError::Driver {
            port: self.name.clone(),
            what: error.to_string(),
        }
    }

    fn is_up(&self) -> Result<bool, PortError> {
        let of_interface = || {
            self.interface
                .as_ref()
                .map_or(Ok(true), WatchedInterface::is_up)
        };
        let is_up = self
            .device
            .is_up()
            .and_then(|is_up| Ok(is_up && of_interface()?));
        is_up.map_err(|error| self.fail(&error))
    }

    fn check_link(&self) -> Result<(), PortError> {
        if self.is_up()? {
            Ok(())
        } else {
            Err(PortError::LinkDown {
                interface: self.name.clone(),
            })
        }
    }

    /// Waits until the link is up.
    fn wait_for_link(&self) -> Result<(), PortError> {
        let end = Instant::now() + LINK_LIMIT;
        while !self.is_up()? && Instant::now() < end {
            std::thread::sleep(LINK_PAUSE);
        }
        if self.is_up()? {
            Ok(())
        } else {
            Err(self.fail(&DpdkError::NoLink {
                seconds: LINK_LIMIT.as_secs(),
            }))
        }
    }

    /// Returns the number of frames missed since the last call.
    fn newly_missed(&self) -> Result<u64, PortError> {
        let mut told = self
            .told_missed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let missed = self.device.missed().map_err(|error| self.fail(&error))?;
        Ok(missed.saturating_sub(std::mem::replace(&mut told, missed)))
    }
}

/// Returns the halves of one queue.
pub(super) fn halves(
    shared: &Arc<PortShared>,
    sending: SendingQueue,
    receiving: ReceivingQueue,
) -> Halves {
    let (slots, spare) = (sending.slots(), vec![0; sending.room()].into_boxed_slice());
    let sending_queue = Arc::new(Mutex::new(sending));
    let transmit = DpdkTransmit {
        sending_queue: sending_queue.clone(),
        slots,
        spare,
        full: FullCounter::default(),
        shared: shared.clone(),
    };
    let receive = DpdkReceive {
        receiving,
        sending_queue,
        is_up: false,
        shared: shared.clone(),
    };
    Halves {
        transmit: Box::new(transmit),
        receive: Box::new(receive),
    }
}

/// The sending half.
struct DpdkTransmit {
    sending_queue: Arc<Mutex<SendingQueue>>,
    slots: usize,
    /// The buffer for frames for which the ring has no buffer.
    spare: Box<[u8]>,
    full: FullCounter,
    shared: Arc<PortShared>,
}

impl DpdkTransmit {
    /// Sends frames that wait in our own ring; returns how many frames a link that is down refused.
    fn push(&mut self) -> Result<Option<usize>, PortError> {
        let Some(mut turn) = try_take(&self.sending_queue) else {
            return Ok(None);
        };
        if turn.waiting() > 0 {
            turn.push();
        }
        let is_suspect = self.full.note(turn.waiting() > 0);
        let refused = if is_suspect && !self.shared.is_up()? {
            turn.give_up()
        } else {
            0
        };
        Ok(Some(refused))
    }

    /// Sends frames into the DUT's receive ring: frames that find no room are refused.
    fn transmit_or_refuse(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Sent {
        let Some(mut turn) = try_take(&self.sending_queue) else {
            return Sent::default();
        };
        if !turn.write(wanted, fill) {
            for _ in 0..wanted {
                fill(self.slots, &mut self.spare);
            }
            return Sent {
                taken: wanted,
                refused: wanted,
            };
        }
        turn.push();
        Sent {
            taken: wanted,
            refused: turn.give_up(),
        }
    }

    /// Sends frames into our own ring: frames that find no room wait.
    fn transmit_or_wait(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let Some(before) = self.push()? else {
            return Ok(Sent::default());
        };
        let nothing = Sent {
            taken: 0,
            refused: before,
        };
        let Some(mut turn) = try_take(&self.sending_queue) else {
            return Ok(nothing);
        };
        // If no buffer is free, all of them wait in the ring.
        if turn.waiting() > 0 || !turn.write(wanted, fill) {
            return Ok(nothing);
        }
        turn.push();
        Ok(Sent {
            taken: wanted,
            refused: before,
        })
    }
}

impl Transmit for DpdkTransmit {
    fn slots(&self) -> usize {
        self.slots + 1
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let wanted = wanted.min(BATCH);
        if self.shared.full_is_dut {
            Ok(self.transmit_or_refuse(wanted, fill))
        } else {
            self.transmit_or_wait(wanted, fill)
        }
    }

    fn flush(&mut self) -> Result<Flushed, PortError> {
        let refused = self.push()?.unwrap_or(0);
        Ok(Flushed {
            is_empty: try_take(&self.sending_queue).is_some_and(|turn| turn.waiting() == 0),
            refused,
        })
    }

    fn check_link(&self) -> Result<(), PortError> {
        self.shared.check_link()
    }
}

/// The receiving half.
struct DpdkReceive {
    receiving: ReceivingQueue,
    sending_queue: Arc<Mutex<SendingQueue>>,
    /// True once the link has come up.
    is_up: bool,
    shared: Arc<PortShared>,
}

impl DpdkReceive {
    /// Waits for the link before its first use, not when the port is opened: the other end may be the tester's other port.
    #[inline]
    fn begin(&mut self) -> Result<(), PortError> {
        if !self.is_up {
            self.shared.wait_for_link()?;
            self.is_up = true;
        }
        Ok(())
    }
}

impl Receive for DpdkReceive {
    /// Never blocks, except to wait for the link before the first trial.
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        self.begin()?;
        Ok(self.receiving.receive(each))
    }

    /// Sends one frame. If the ring is full, the frame is lost, as on a wire; a caller that needs an answer sends it again.
    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        self.begin()?;
        if let Some(mut turn) = take_soon(&self.sending_queue) {
            turn.answer(frame);
        }
        Ok(())
    }

    /// Returns the number of frames for which the device had no descriptor, or the driver no buffer.
    fn overruns(&mut self) -> Result<u64, PortError> {
        self.shared.newly_missed()
    }
}
