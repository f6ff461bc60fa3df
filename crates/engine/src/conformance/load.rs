//! Traffic beside vectors. Trials of frames follow each other on ports of their own, so that the load is paced, verified and counted as in any trial, and
//! vectors are sent while its frames are sent. Its frames are told from those of vectors by the tag in their payload, or by their ports where an ICMP
//! error about one of them was cut before it.

use crate::error::MeasureError;
use crate::frames::tester::FrameTester;
use sixbench_conformance::frame::{DissectedLayer, LayerKind, dissect};
use sixbench_io::clock::Clock;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{Measurer as _, TrialResult, TrialSpec};
use sixbench_wire::tag;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The UDP ports of the load's frames, both source and destination. Frames of vectors have lower ones, but for those that are chosen for a checksum.
pub const LOAD_PORTS: RangeInclusive<u16> = 49_152..=65_535;

/// The time for which each trial of the load sends: several vectors fit into it, and it is not long to wait for its end.
const TRIAL_NS: u64 = 5_000_000_000;
/// The time for which the load is sent before a vector is, so that the device has met it.
const SETTLING_NS: u64 = 100_000_000;

/// The traffic beside vectors.
pub struct VectorLoad {
    tester: FrameTester,
    spec: TrialSpec,
}

/// When the load's frames are sent, which its thread and that of the vectors share.
pub(super) struct LoadWindow {
    clock: Clock,
    /// The moment at which the first frame of the trial in progress is due, in nanoseconds of the clock; 0 if it is not known yet.
    began_ns: Arc<AtomicU64>,
    sending_ns: u64,
    is_wanted: AtomicBool,
    has_ended: AtomicBool,
}

/// Tells the thread of the vectors when that of the load ends, for whatever reason.
struct EndsWindow<'a>(&'a LoadWindow);

impl Drop for EndsWindow<'_> {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Release);
    }
}

/// Lets the load end when the thread of the vectors does, for whatever reason.
pub(super) struct ClosesWindow<'a>(pub(super) &'a LoadWindow);

impl Drop for ClosesWindow<'_> {
    fn drop(&mut self) {
        self.0.is_wanted.store(false, Ordering::Release);
    }
}

impl VectorLoad {
    /// Returns a load of so many frames per second in each direction that a tester's profile has. Its ports must be [`LOAD_PORTS`].
    pub fn new(tester: FrameTester, rate: FrameRate) -> Self {
        Self {
            tester,
            spec: TrialSpec::constant(rate, TRIAL_NS),
        }
    }

    pub(super) fn window(&self) -> LoadWindow {
        LoadWindow {
            clock: self.tester.clock().clone(),
            began_ns: self.tester.start_notice(),
            sending_ns: self.spec.duration_ns,
            is_wanted: AtomicBool::new(true),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Performs one trial after the other until the vectors need no load any more.
    pub(super) fn keep_running(
        &mut self,
        window: &LoadWindow,
    ) -> Result<Vec<TrialResult>, MeasureError> {
        let _ends = EndsWindow(window);
        let mut trials = Vec::new();
        while window.is_wanted.load(Ordering::Acquire) {
            trials.push(self.tester.measure(&self.spec)?);
        }
        Ok(trials)
    }
}

impl LoadWindow {
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns whether no further trial is made, though the vectors have not ended.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Returns whether frames of the load are sent for so many nanoseconds from now on.
    pub(super) fn is_open_for(&self, time_ns: u64) -> bool {
        let now_ns = self.clock.now_ns();
        self.covers(now_ns, now_ns + time_ns)
    }

    /// Returns whether frames of the load are sent from one moment to another, in nanoseconds of the clock.
    pub(super) fn covers(&self, from_ns: u64, to_ns: u64) -> bool {
        match self.began_ns.load(Ordering::Acquire) {
            0 => false,
            began_ns => from_ns >= began_ns + SETTLING_NS && to_ns <= began_ns + self.sending_ns,
        }
    }
}

/// Returns whether a datagram is a frame of the load as it was sent or as it leaves a device. It is cheap, because there may be many.
#[inline]
pub(super) fn is_load(datagram: &[u8]) -> bool {
    // The UDP header is behind that of IPv4, of IPv6, or of one in the other.
    [28, 48, 68]
        .iter()
        .any(|&at| datagram.get(at..at + tag::MAGIC.len()) == Some(&tag::MAGIC[..]))
}

/// Returns whether a datagram is an ICMP error about a frame of the load.
pub(super) fn is_about_load(datagram: &[u8]) -> bool {
    let layers = dissect(datagram);
    let mut in_error = layers.iter().filter(|layer| layer.is_in_error);
    let Some(udp) = in_error.find(|layer| layer.kind == LayerKind::Udp) else {
        return false;
    };
    udp.rest().starts_with(&tag::MAGIC) || has_load_ports(udp)
}

fn has_load_ports(udp: &DissectedLayer<'_>) -> bool {
    ["sport", "dport"].iter().all(|name| {
        let port = udp.value(name).and_then(|port| u16::try_from(port).ok());
        port.is_some_and(|port| LOAD_PORTS.contains(&port))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(began_ns: u64) -> LoadWindow {
        LoadWindow {
            clock: Clock::moved_by_hand().0,
            began_ns: Arc::new(AtomicU64::new(began_ns)),
            sending_ns: TRIAL_NS,
            is_wanted: AtomicBool::new(true),
            has_ended: AtomicBool::new(false),
        }
    }

    #[test]
    fn a_vector_is_under_load_only_between_the_first_frame_and_the_last_of_one_trial() {
        let second = 1_000_000_000;
        let window = window(10 * second);
        assert!(window.covers(11 * second, 12 * second));
        assert!(
            !window.covers(10 * second, 12 * second),
            "the load has just begun"
        );
        assert!(!window.covers(11 * second, 15 * second + 1), "it has ended");
        assert!(!self::window(0).covers(11 * second, 12 * second));
    }

    /// Returns a datagram of UDP over IPv4 with these ports and this payload.
    fn udp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
        let mut datagram = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17];
        datagram.resize(20, 0);
        datagram.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
        datagram.extend([0, 8, 0, 0]);
        datagram.extend(payload);
        datagram
    }

    fn error_about(datagram: &[u8]) -> Vec<u8> {
        let mut error = vec![0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1];
        error.resize(20, 0);
        error.extend([3, 3, 0, 0, 0, 0, 0, 0]);
        error.extend(datagram);
        error
    }

    #[test]
    fn frames_of_the_load_are_known_by_their_tag_and_errors_about_them_by_their_ports_too() {
        let tagged = udp([50_000, 60_000], &tag::MAGIC);
        assert!(is_load(&tagged) && !is_about_load(&tagged));
        let of_a_vector = udp([4097, 4096], b"6bcv");
        assert!(!is_load(&of_a_vector) && !is_about_load(&error_about(&of_a_vector)));
        assert!(is_about_load(&error_about(&tagged)));
        assert!(is_about_load(&error_about(&udp([50_000, 60_000], b""))));
        let cut_vector = udp([4097, 60_000], b"");
        assert!(!is_about_load(&error_about(&cut_vector)));
    }
}
