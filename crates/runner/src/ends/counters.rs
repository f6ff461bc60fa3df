//! What the tester's own interfaces count during a trial: frames that they dropped are not the device's loss, and a trial in which a link went down says
//! nothing about the device.

use crate::error::RunError;
use crate::error::ports::OpenError;
use sixbench_io::{CounterReader, InterfaceCounters, PortError, thread};
use sixbench_method::record::LossCounter;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{Fault, TrialKind};
use sixbench_testbed::Interfaces;

/// An interface of the tester, with what it counted before a trial.
struct WatchedPort {
    reader: CounterReader,
    /// The direction of the frames that it sends.
    sends: Direction,
    before: InterfaceCounters,
}

/// The counters of the tester's interfaces on this machine. Ports without an interface have none; what DPDK misses is counted by the port itself.
#[derive(Default)]
pub(crate) struct PortCounters(Vec<WatchedPort>);

impl PortCounters {
    /// Prepares to read the counters of interfaces that the tester has taken; `first` is the direction in which the first of them sends.
    ///
    /// # Errors
    /// The counters of an interface cannot be read.
    pub(crate) fn open(interfaces: &Interfaces, first: Direction) -> Result<Self, RunError> {
        let sends = [first, first.opposite()];
        let ports = interfaces.ends().zip(sends);
        let ports = ports.map(|((interface, namespace), sends)| {
            let namespace = namespace.name();
            let reader = thread::in_namespace(namespace, || CounterReader::open(interface));
            let reader = reader.map_err(|error| OpenError::Namespace {
                namespace: namespace.to_owned(),
                error,
            })?;
            let reader = reader.map_err(OpenError::from)?;
            let before = reader.read().map_err(OpenError::from)?;
            Ok(WatchedPort {
                reader,
                sends,
                before,
            })
        });
        Ok(Self(ports.collect::<Result<_, OpenError>>()?))
    }

    /// Remembers what the interfaces have counted until now: a trial begins.
    ///
    /// # Errors
    /// The counters of an interface cannot be read.
    pub(crate) fn begin(&mut self) -> Result<(), PortError> {
        for port in &mut self.0 {
            port.before = port.reader.read()?;
        }
        Ok(())
    }

    /// Returns the faults of a trial of this kind, which has ended: frames that an interface dropped, and links that went down.
    ///
    /// # Errors
    /// The counters of an interface cannot be read.
    pub(crate) fn faults(&self, kind: TrialKind) -> Result<Vec<Fault>, PortError> {
        let mut faults = Vec::new();
        for port in &self.0 {
            faults.extend(port.faults(&port.reader.read()?, kind));
        }
        Ok(faults)
    }
}

impl WatchedPort {
    fn faults(&self, after: &InterfaceCounters, kind: TrialKind) -> Vec<Fault> {
        let times = after.link_downs.wrapping_sub(self.before.link_downs);
        // What a driver drops while its link is down is counted once for each attempt to send it, so the counters say nothing then.
        if times > 0 || !self.before.has_carrier || !after.has_carrier {
            // A device that is reset may take its links down.
            let is_excused = matches!(kind, TrialKind::Reset { .. });
            let went_down = (!is_excused).then(|| Fault::LinkWentDown {
                interface: self.reader.interface().to_owned(),
                times: times.into(),
            });
            return Vec::from_iter(went_down);
        }
        let mut faults = Vec::new();
        // What is dropped at a veth is dropped on the core of the device that sent it.
        if !after.is_veth {
            let received: Vec<_> = after.not_handed_on_since(&self.before).collect();
            let sent: Vec<_> = after.not_sent_since(&self.before).collect();
            faults.extend(self.lost(self.sends.opposite(), &received));
            faults.extend(self.lost(self.sends, &sent));
        }
        faults
    }

    /// Returns what these counters, with the frames by which they grew, say of a direction: what the card had no room for, and what its link lost.
    fn lost(&self, direction: Direction, grown: &[(&'static str, u64)]) -> Vec<Fault> {
        let (of_link, of_port): (Vec<_>, Vec<_>) = grown
            .iter()
            .copied()
            .partition(|(counter, _)| LossCounter::is_of_the_cable(counter));
        let dropped =
            LossCounter::grown_most(of_port).map(|(counter, frames)| Fault::DroppedByPort {
                direction,
                interface: self.reader.interface().to_owned(),
                counter: counter.to_owned(),
                frames,
            });
        let lost = LossCounter::grown_most(of_link).map(|(counter, frames)| Fault::LostOnLink {
            direction,
            interface: self.reader.interface().to_owned(),
            counter: counter.to_owned(),
            frames,
        });
        dropped.into_iter().chain(lost).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEADY: TrialKind = TrialKind::Constant;
    const UP: InterfaceCounters = InterfaceCounters {
        is_veth: false,
        has_carrier: true,
        link_downs: 0,
        received: [0; 6],
        sent: [0; 4],
    };

    /// Returns the faults of a trial after which the left port counts as `change` says.
    fn faults(kind: TrialKind, change: fn(&mut InterfaceCounters)) -> Vec<String> {
        let port = WatchedPort {
            reader: CounterReader::open("e0").expect("a socket"),
            sends: Direction::Forward,
            before: UP,
        };
        let mut after = UP;
        change(&mut after);
        let faults = port.faults(&after, kind);
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_port_dropped_on_receipt_is_missing_in_the_direction_that_it_receives() {
        assert_eq!(
            faults(STEADY, |after| after.received[0] = 412),
            ["reverse: 412 frames were dropped by the tester's own e0 (rx_missed_errors)"]
        );
        assert_eq!(
            faults(STEADY, |after| after.sent[0] = 1),
            ["forward: 1 frame was dropped by the tester's own e0 (tx_dropped)"]
        );
        let of_veth = |after: &mut InterfaceCounters| {
            after.received[0] = 412;
            after.is_veth = true;
        };
        assert_eq!(faults(STEADY, of_veth), [""; 0], "the device's loss");
    }

    #[test]
    fn what_was_damaged_on_the_cable_was_not_dropped_by_the_port() {
        let told = faults(STEADY, |after| {
            after.received[4] = 7;
            after.received[0] = 3;
            after.sent[2] = 1;
        });
        let where_to_look = "a cable, a transceiver, or the device's end of it";
        assert_eq!(
            told,
            [
                "reverse: 3 frames were dropped by the tester's own e0 (rx_missed_errors)"
                    .to_owned(),
                format!(
                    "reverse: 7 frames were lost on the link of e0 (rx_crc_errors): {where_to_look}"
                ),
                format!(
                    "forward: 1 frame was lost on the link of e0 (tx_carrier_errors): {where_to_look}"
                ),
            ]
        );
    }

    #[test]
    fn a_link_that_went_down_is_a_fault_unless_the_device_was_reset() {
        let down = |after: &mut InterfaceCounters| {
            after.link_downs = 2;
            after.sent[0] = 388;
        };
        assert_eq!(
            faults(STEADY, down),
            [
                "the link of e0 went down 2 times during the trial: a cable, a transceiver, or the device's end of it"
            ]
        );
        assert_eq!(
            faults(STEADY, |after| after.has_carrier = false),
            ["the link of e0 was down: a cable, a transceiver, or the device's end of it"]
        );
        let reset = faults(TrialKind::Reset { at_ns: 1 }, down);
        assert_eq!(
            reset, [""; 0],
            "nor are the frames that waited for the link"
        );
        let stays_up = faults(TrialKind::Reset { at_ns: 1 }, |after| {
            after.received[0] = 412;
        });
        assert_eq!(stays_up.len(), 1, "the tester's own loss: {stays_up:?}");
    }
}
