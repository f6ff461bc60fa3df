//! A DPDK port and the ends of its queues: a safe interface to the calls of the shim. This module alone decides who may touch which buffer.

use super::eal::Environment;
use super::error::DpdkError;
use super::shim::{ShimBatch, ShimDescription, ShimPort, ShimSettings, ShimTable};
use crate::BATCH;
use crate::port::LONGEST_FRAME;
use std::ffi::{CString, c_uint};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// A port that DPDK has found and that is not yet open. Dropping it removes it from DPDK.
pub(super) struct ProbedDevice {
    environment: Environment,
    /// DPDK's number for it.
    id: u16,
}

impl ProbedDevice {
    /// Hands a device to DPDK.
    pub(super) fn probe(environment: Environment, devargs: &str) -> Result<Self, DpdkError> {
        let text = CString::new(devargs)
            .map_err(|_| DpdkError::Address(format!("{devargs:?} has a zero octet")))?;
        let mut id = 0;
        // SAFETY: the text is a C string and the number a local variable; both outlive the call.
        let result = unsafe { (environment.shim.probe)(text.as_ptr(), &raw mut id) };
        if result == -libc::EEXIST {
            return Err(DpdkError::InUse(devargs.to_owned()));
        }
        environment.check(result, || "open the device".to_owned())?;
        Ok(Self { environment, id })
    }

    /// Returns its properties and capabilities.
    pub(super) fn describe(&self) -> Result<ShimDescription, DpdkError> {
        // SAFETY: a struct of integers, for which all zeroes is a valid value.
        let mut description: ShimDescription = unsafe { std::mem::zeroed() };
        // SAFETY: the shim fills the struct, which outlives the call.
        let result = unsafe { (self.environment.shim.describe)(self.id, &raw mut description) };
        self.environment
            .check(result, || "describe the device".to_owned())?;
        Ok(description)
    }

    /// Starts it, and updates the ring sizes in `settings` to the actual ones.
    pub(super) fn open(self, settings: &mut ShimSettings) -> Result<Arc<OpenDevice>, DpdkError> {
        let mut port = std::ptr::null_mut();
        let (environment, id) = (self.environment, self.id);
        // The shim removes a device that it cannot open, and closes one that is open: both are no longer for this value to do.
        std::mem::forget(self);
        // SAFETY: the settings and the pointer outlive the call.
        let result = unsafe { (environment.shim.open)(id, settings, &raw mut port) };
        if result == -libc::ENOMEM {
            return Err(DpdkError::Memory);
        }
        environment.check(result, || "start the device".to_owned())?;
        let port = NonNull::new(port).expect("a port that was opened");
        Ok(Arc::new(OpenDevice { environment, port }))
    }
}

impl Drop for ProbedDevice {
    fn drop(&mut self) {
        // SAFETY: the device was probed by this object, and nothing else uses it.
        unsafe { (self.environment.shim.remove)(self.id) };
    }
}

/// A port that was started. Dropping it stops it, closes it and removes it from DPDK.
pub(super) struct OpenDevice {
    environment: Environment,
    port: NonNull<ShimPort>,
}

// SAFETY: the shim's port is constant while it is open. Its state (link, counters) may be read by any thread; its queues are accessed through
// `SendingQueue` and `ReceivingQueue`, each of which exists once.
unsafe impl Send for OpenDevice {}
// SAFETY: as above.
unsafe impl Sync for OpenDevice {}

impl OpenDevice {
    /// Returns whether the link is up.
    pub(super) fn is_up(&self) -> Result<bool, DpdkError> {
        // SAFETY: the port is open.
        let result = unsafe { (self.environment.shim.link)(self.port.as_ptr()) };
        Ok(self
            .environment
            .check(result, || "read the state of the link".to_owned())?
            > 0)
    }

    /// Returns the number of frames since the start of the port for which there was no room in a ring or no buffer.
    pub(super) fn missed(&self) -> Result<u64, DpdkError> {
        let mut frames = 0;
        // SAFETY: the port is open, and the number outlives the call.
        let result = unsafe { (self.environment.shim.missed)(self.port.as_ptr(), &raw mut frames) };
        self.environment
            .check(result, || "read the counters of the device".to_owned())?;
        Ok(frames)
    }

    /// Returns both ends of its queues.
    ///
    /// # Safety
    /// This must be called only once, with no more queues than the port was opened with.
    pub(super) unsafe fn queues(
        self: &Arc<Self>,
        queues: u32,
        room: usize,
    ) -> Vec<(SendingQueue, ReceivingQueue)> {
        let ends = |queue| {
            // SAFETY: the port has this queue, by the condition on this function.
            let slots =
                unsafe { (self.environment.shim.slots)(self.port.as_ptr(), queue) } as usize;
            let end = || QueueEnd {
                device: self.clone(),
                queue,
                batch: Box::new(EMPTY),
            };
            (
                SendingQueue {
                    end: end(),
                    slots,
                    room,
                    held: 0..0,
                },
                ReceivingQueue {
                    end: end(),
                    gathered: Box::default(),
                },
            )
        };
        (0..queues).map(ends).collect()
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: the port is open, and no queue uses it any more, as each of them holds a reference to it.
        unsafe { (self.environment.shim.close)(self.port.as_ptr()) };
    }
}

/// A batch without frames.
const EMPTY: ShimBatch = ShimBatch {
    buffers: [std::ptr::null_mut(); BATCH],
    data: [std::ptr::null_mut(); BATCH],
    octets: [0; BATCH],
    slots: [0; BATCH],
};

/// The parts of one end of a queue.
struct QueueEnd {
    device: Arc<OpenDevice>,
    queue: c_uint,
    batch: Box<ShimBatch>,
}

// SAFETY: the pointers of a batch point to buffers that belong to this end alone until they are sent or released.
unsafe impl Send for QueueEnd {}

impl QueueEnd {
    fn shim(&self) -> &'static ShimTable {
        self.device.environment.shim
    }

    /// Returns buffers of the batch to DPDK.
    fn release(&mut self, buffers: Range<usize>) {
        if !buffers.is_empty() {
            // SAFETY: the buffers belong to this end, and are not used any more.
            unsafe {
                (self.shim().release)(
                    &raw mut *self.batch,
                    buffers.start as c_uint,
                    buffers.end as c_uint,
                );
            };
        }
    }
}

/// The end of a queue that sends frames.
pub(super) struct SendingQueue {
    end: QueueEnd,
    /// Number of different buffers.
    slots: usize,
    /// Octets of the longest frame that fits into a buffer.
    room: usize,
    /// The buffers of the batch that are ours: written, but not yet sent.
    held: Range<usize>,
}

impl SendingQueue {
    /// Returns the number of different buffers.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the octets of the longest frame.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    /// Returns the number of frames that are written but not yet sent.
    pub(super) fn waiting(&self) -> usize {
        self.held.len()
    }

    /// Writes `wanted` frames with `fill`, which then wait to be sent; returns whether there were buffers for them.
    ///
    /// # Panics
    /// Frames are already waiting, more than a batch is wanted, or a frame is longer than its buffer.
    pub(super) fn write(&mut self, wanted: usize, fill: &mut crate::Fill<'_>) -> bool {
        assert!(
            self.held.is_empty() && wanted <= BATCH,
            "{wanted} more frames, and {} wait",
            self.held.len()
        );
        join_thread(self.end.shim());
        let (shim, port, queue) = (
            self.end.shim(),
            self.end.device.port.as_ptr(),
            self.end.queue,
        );
        // SAFETY: the port has this queue, and the batch has room for this number of buffers.
        let taken = unsafe { (shim.take)(port, queue, &raw mut *self.end.batch, wanted as c_uint) }
            as usize;
        self.held = 0..taken;
        for nth in 0..taken {
            let (slot, data) = (self.end.batch.slots[nth] as usize, self.end.batch.data[nth]);
            // SAFETY: the buffer is ours until it is sent, has room for a frame at this position, and was zeroed or written before.
            let octets = fill(slot, unsafe {
                std::slice::from_raw_parts_mut(data, self.room)
            });
            assert!(
                octets <= self.room,
                "a frame of {octets} octets in a buffer of {}",
                self.room
            );
            self.end.batch.octets[nth] = octets as u32;
        }
        taken == wanted
    }

    /// Sends waiting frames, as far as there is room. The thread need not join here: frames wait only after it has called `write`, which has joined.
    pub(super) fn push(&mut self) {
        let (shim, port, queue) = (
            self.end.shim(),
            self.end.device.port.as_ptr(),
            self.end.queue,
        );
        let (first, end) = (self.held.start as c_uint, self.held.end as c_uint);
        // SAFETY: the port has this queue, no other object sends on it, and the buffers are ours; those that were taken are not touched again.
        self.held.start +=
            unsafe { (shim.send)(port, queue, &raw mut *self.end.batch, first, end) } as usize;
    }

    /// Discards the waiting frames; returns their number.
    pub(super) fn give_up(&mut self) -> usize {
        let held = std::mem::replace(&mut self.held, 0..0);
        self.end.release(held.clone());
        held.len()
    }

    /// Sends one frame, from a part of a buffer that no scheduled frame uses; returns whether there was room.
    pub(super) fn answer(&mut self, frame: &[u8]) -> bool {
        join_thread(self.end.shim());
        let (shim, port, queue) = (
            self.end.shim(),
            self.end.device.port.as_ptr(),
            self.end.queue,
        );
        // SAFETY: the port has this queue, and no other object sends on it; the frame outlives the call and is copied.
        unsafe { (shim.answer)(port, queue, frame.as_ptr(), frame.len() as u32) == 1 }
    }
}

impl Drop for SendingQueue {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// The end of a queue that receives frames.
pub(super) struct ReceivingQueue {
    end: QueueEnd,
    /// The buffer in which a frame is put together that arrived in several buffers.
    gathered: Box<[u8]>,
}

impl ReceivingQueue {
    /// Hands the received frames to `each`, at most a batch; returns their number.
    pub(super) fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> usize {
        join_thread(self.end.shim());
        let (shim, port, queue) = (
            self.end.shim(),
            self.end.device.port.as_ptr(),
            self.end.queue,
        );
        // SAFETY: the port has this queue, no other object receives on it, and the batch has room for BATCH frames.
        let got = unsafe { (shim.receive)(port, queue, &raw mut *self.end.batch) } as usize;
        for nth in 0..got {
            let (data, octets) = (
                self.end.batch.data[nth],
                self.end.batch.octets[nth] as usize,
            );
            if data.is_null() {
                self.gather(nth, each);
            } else {
                // SAFETY: the driver wrote this number of octets into the buffer, which is ours until it is released below.
                each(unsafe { std::slice::from_raw_parts(data, octets) });
            }
        }
        self.end.release(0..got);
        got
    }

    /// Puts together a frame that lies in several buffers. With our settings, devices only deliver very long frames in this way.
    #[cold]
    fn gather(&mut self, nth: usize, each: &mut dyn FnMut(&[u8])) {
        if self.gathered.is_empty() {
            self.gathered = vec![0; LONGEST_FRAME].into_boxed_slice();
        }
        let room = self.gathered.len() as u32;
        // SAFETY: the buffers of the frame are ours, and `gathered` has this much room.
        let octets = unsafe {
            (self.end.shim().gather)(
                &raw const *self.end.batch,
                nth as c_uint,
                self.gathered.as_mut_ptr(),
                room,
            )
        };
        each(&self.gathered[..octets as usize]);
    }
}

/// The function table, for threads that end.
static JOINED: OnceLock<&'static ShimTable> = OnceLock::new();

thread_local! {
    static MEMBERSHIP: Membership = Membership::join();
}

/// Gives a thread its own caches of buffers, for as long as it runs.
struct Membership {
    must_leave: bool,
}

impl Membership {
    #[cold]
    fn join() -> Self {
        // SAFETY: DPDK is running. A thread for which DPDK has no place continues without a cache, more slowly.
        let must_leave = JOINED
            .get()
            .is_some_and(|shim| unsafe { (shim.join_thread)() } == 1);
        Self { must_leave }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if let Some(shim) = JOINED.get().filter(|_| self.must_leave) {
            // SAFETY: this thread has joined, and does not use any port any more.
            unsafe { (shim.leave_thread)() };
        }
    }
}

/// Registers the calling thread with DPDK, once.
#[inline]
fn join_thread(shim: &'static ShimTable) {
    JOINED.get_or_init(|| shim);
    // A thread that is ending can no longer register, and need not.
    let _ = MEMBERSHIP.try_with(|_| ());
}
