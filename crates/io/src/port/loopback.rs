//! Ports without a network: a pair joined in memory, with an optional device in the middle, and a port that discards its frames.

use crate::{BATCH, Fill, Halves, Port, PortError, Receive, Sent, Transmit};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest frame that can be sent through a link in memory, in octets.
const BUFFER: usize = 16_384;
/// Frames in flight from one end to the other. Beyond that they are refused, as by a full DUT.
const CAPACITY: usize = 65_536;

type FrameQueue = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// Chooses the queue of a port on which a frame arrives, like the hash of a NIC: the queue's index is this number modulo the number of queues.
pub type QueueChoice = Box<dyn FnMut(&[u8]) -> usize + Send>;

/// The device between the ends. It gets each frame and the side it came from (`true` for the left), and puts outgoing frames into the list as (to
/// the right end, frame).
pub type LoopbackDevice = Box<dyn FnMut(&[u8], bool, &mut Vec<(bool, Vec<u8>)>) + Send>;

/// One end of a link in memory.
#[derive(Clone)]
struct Loopback {
    is_left: bool,
    /// The queues of each end.
    to_left: Vec<FrameQueue>,
    to_right: Vec<FrameQueue>,
    device: Arc<Mutex<LoopbackDevice>>,
    choice: Arc<Mutex<QueueChoice>>,
}

/// Returns the two ends of a link that passes every frame unchanged.
pub fn pair() -> (Port, Port) {
    pair_with(Box::new(|frame, from_left, out| {
        out.push((from_left, frame.to_vec()));
    }))
}

/// Returns the two ends of a link with a device in the middle.
pub fn pair_with(device: LoopbackDevice) -> (Port, Port) {
    pair_with_queues(device, 1, Box::new(|_| 0))
}

/// Returns the two ends of a link with a device, each with this number of queues; `choice` chooses the queue on which a frame arrives.
pub fn pair_with_queues(
    device: LoopbackDevice,
    queues: usize,
    choice: QueueChoice,
) -> (Port, Port) {
    let made = || (0..queues).map(|_| FrameQueue::default()).collect();
    let (device, choice) = (Arc::new(Mutex::new(device)), Arc::new(Mutex::new(choice)));
    let left = Loopback {
        is_left: true,
        to_left: made(),
        to_right: made(),
        device,
        choice,
    };
    let right = Loopback {
        is_left: false,
        ..left.clone()
    };
    (
        left.into_port("loopback-left"),
        right.into_port("loopback-right"),
    )
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Loopback {
    fn into_port(self, name: &str) -> Port {
        let mac = [2, 0, 0, 0, 0, if self.is_left { 1 } else { 2 }];
        let arriving = if self.is_left {
            &self.to_left
        } else {
            &self.to_right
        };
        let queues = arriving
            .iter()
            .map(|arriving| Halves {
                transmit: Box::new(LoopbackTransmit {
                    end: self.clone(),
                    buffers: vec![0; BUFFER * BATCH],
                }),
                receive: Box::new(LoopbackReceive {
                    end: self.clone(),
                    arriving: arriving.clone(),
                }),
            })
            .collect();
        Port {
            name: name.to_owned(),
            mac,
            how: "a link in memory".to_owned(),
            node: None,
            queues,
        }
    }

    /// Passes one frame through the device; returns whether there was room for every frame that came out. The first one without room is lost, and so are
    /// those after it.
    fn pass(&self, frame: &[u8]) -> bool {
        let mut out = Vec::new();
        (locked(&self.device))(frame, self.is_left, &mut out);
        out.into_iter().all(|(to_right, frame)| {
            let queues = if to_right {
                &self.to_right
            } else {
                &self.to_left
            };
            let chosen = (locked(&self.choice))(&frame) % queues.len();
            let mut queue = locked(&queues[chosen]);
            let has_room = queue.len() < CAPACITY;
            if has_room {
                queue.push_back(frame);
            }
            has_room
        })
    }
}

struct LoopbackTransmit {
    end: Loopback,
    buffers: Vec<u8>,
}

impl Transmit for LoopbackTransmit {
    fn slots(&self) -> usize {
        BATCH
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let taken = wanted.min(BATCH);
        let mut refused = 0;
        for (slot, buffer) in self
            .buffers
            .chunks_exact_mut(BUFFER)
            .enumerate()
            .take(taken)
        {
            let length = fill(slot, buffer);
            refused += usize::from(!self.end.pass(&buffer[..length]));
        }
        Ok(Sent { taken, refused })
    }
}

struct LoopbackReceive {
    end: Loopback,
    arriving: FrameQueue,
}

impl Receive for LoopbackReceive {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let frames: Vec<_> = {
            let mut queue = locked(&self.arriving);
            let count = queue.len().min(BATCH);
            queue.drain(..count).collect()
        };
        for frame in &frames {
            each(frame);
        }
        Ok(frames.len())
    }

    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        self.end.pass(frame);
        Ok(())
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        Ok(0)
    }
}

/// A sender that discards its frames, to measure the cost of generating them.
pub struct Discard {
    buffers: Vec<u8>,
    buffer_octets: usize,
}

impl Discard {
    /// Creates a sender with buffers for frames of up to `frame_octets`: small ones stay in the cache.
    pub fn new(frame_octets: usize) -> Self {
        let buffer_octets = frame_octets.next_multiple_of(64);
        Self {
            buffers: vec![0; buffer_octets * BATCH],
            buffer_octets,
        }
    }
}

impl Transmit for Discard {
    fn slots(&self) -> usize {
        BATCH
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let taken = wanted.min(BATCH);
        for (slot, buffer) in self
            .buffers
            .chunks_exact_mut(self.buffer_octets)
            .enumerate()
            .take(taken)
        {
            std::hint::black_box(fill(slot, buffer));
        }
        std::hint::black_box(&self.buffers);
        Ok(Sent { taken, refused: 0 })
    }
}

/// A queue of frames in memory: frames are received from it octet for octet as they were sent into it.
pub struct FrameRing {
    buffers: Vec<u8>,
    buffer_octets: usize,
    lengths: Vec<usize>,
    /// Frames sent and frames received since it was created.
    sent: usize,
    received: usize,
}

impl FrameRing {
    /// Creates a ring for `frames` frames of up to `frame_octets` octets, and returns its two ends.
    pub fn pair(frames: usize, frame_octets: usize) -> (FrameRingEnd, FrameRingEnd) {
        let buffer_octets = frame_octets.next_multiple_of(64);
        let buffers = vec![0; buffer_octets * frames];
        let ring = Self {
            buffers,
            buffer_octets,
            lengths: vec![0; frames],
            sent: 0,
            received: 0,
        };
        let ring = Arc::new(Mutex::new(ring));
        (FrameRingEnd(ring.clone()), FrameRingEnd(ring))
    }

    fn slot(&self, frame: usize) -> (usize, std::ops::Range<usize>) {
        let slot = frame % self.lengths.len();
        (
            slot,
            slot * self.buffer_octets..(slot + 1) * self.buffer_octets,
        )
    }
}

/// One end of a [`FrameRing`].
pub struct FrameRingEnd(Arc<Mutex<FrameRing>>);

impl Transmit for FrameRingEnd {
    fn slots(&self) -> usize {
        locked(&self.0).lengths.len()
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let mut ring = locked(&self.0);
        let taken = wanted
            .min(BATCH)
            .min(ring.lengths.len() + ring.received - ring.sent);
        for _ in 0..taken {
            let (slot, octets) = ring.slot(ring.sent);
            ring.lengths[slot] = fill(slot, &mut ring.buffers[octets]);
            ring.sent += 1;
        }
        Ok(Sent { taken, refused: 0 })
    }
}

impl Receive for FrameRingEnd {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let mut ring = locked(&self.0);
        let count = BATCH.min(ring.sent - ring.received);
        for frame in ring.received..ring.received + count {
            let (slot, octets) = ring.slot(frame);
            each(&ring.buffers[octets][..ring.lengths[slot]]);
        }
        ring.received += count;
        Ok(count)
    }

    fn answer(&mut self, _frame: &[u8]) -> Result<(), PortError> {
        Ok(())
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_frames_a_call_hands_out_is_settled_before_the_first_of_them() {
        let (left, right) = pair();
        let (mut left, mut right) = (left.into_single_queue(), right.into_single_queue());
        let mut send = || {
            assert_eq!(
                left.transmit
                    .transmit(3, &mut |_, _| 60)
                    .expect("send")
                    .refused,
                0
            );
        };
        send();
        let mut more = None;
        assert_eq!(
            right
                .receive
                .receive(&mut |_| *more.get_or_insert_with(&mut send))
                .expect("receive"),
            3
        );
        assert_eq!(right.receive.receive(&mut |_| ()).expect("receive"), 3);
    }

    fn received(port: &mut Box<dyn Receive>) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        port.receive(&mut |frame| frames.push(frame.to_vec()))
            .expect("receive");
        frames
    }

    #[test]
    fn a_frame_sent_on_the_left_arrives_on_the_right_and_only_there() {
        let (mut left, mut right) = pair();
        let (left, right) = (&mut left.queues[0], &mut right.queues[0]);
        let mut fill = |_: usize, buffer: &mut [u8]| {
            buffer[..3].copy_from_slice(b"abc");
            3
        };
        assert_eq!(
            left.transmit.transmit(2, &mut fill).expect("send"),
            Sent {
                taken: 2,
                refused: 0
            }
        );
        assert_eq!(
            received(&mut right.receive),
            vec![b"abc".to_vec(), b"abc".to_vec()]
        );
        assert!(received(&mut left.receive).is_empty());
    }

    #[test]
    fn a_ring_takes_as_many_frames_as_it_has_buffers_and_gives_them_back_in_order() {
        let (mut sender, receiver) = FrameRing::pair(3, 60);
        let mut receiver: Box<dyn Receive> = Box::new(receiver);
        let mut next = 0;
        let mut fill = |_: usize, buffer: &mut [u8]| {
            next += 1;
            buffer[0] = next;
            1
        };
        let mut send = |wanted| sender.transmit(wanted, &mut fill).expect("send").taken;
        assert_eq!((send(2), send(2), send(1)), (2, 1, 0));
        assert_eq!(received(&mut receiver), [[1], [2], [3]]);
        assert_eq!(send(2), 2);
        assert_eq!(received(&mut receiver), [[4], [5]]);
    }

    #[test]
    fn the_device_in_the_middle_decides_what_arrives_where() {
        let (mut left, mut right) = pair_with(Box::new(|frame, _, out| {
            out.push((false, frame.to_vec()));
            out.push((true, vec![0]));
        }));
        let (left, right) = (&mut left.queues[0], &mut right.queues[0]);
        left.receive.answer(b"q").expect("send");
        assert_eq!(received(&mut left.receive), vec![b"q".to_vec()]);
        assert_eq!(received(&mut right.receive), vec![vec![0]]);
    }
}
