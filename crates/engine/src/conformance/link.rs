//! One link of the tester: datagrams are sent to the device's hardware address, and the device's neighbour requests are answered.

use super::load::is_load;
use crate::error::MeasureError;
use crate::frames::neighbour::{self, NeighbourAnswerer, NeighbourResolution};
use crate::frames::profile::Neighbours;
use sixbench_conformance::frame::Side;
use sixbench_io::clock::Clock;
use sixbench_io::{Halves, Port, PortError};
use sixbench_wire::ethernet::{EtherType, EthernetHeader, EthernetView, HEADER_LEN};
use sixbench_wire::{Ipv4View, Ipv6View, MacAddress};
use std::sync::atomic::AtomicBool;

/// Octets of the shortest frame of Ethernet without FCS: shorter ones are padded by some interfaces.
const SHORTEST_FRAME: usize = 60;

/// A port of the tester on one side of a device.
pub struct VectorPort {
    /// The side.
    pub side: Side,
    /// The open port, with one queue.
    pub port: Port,
    /// The tester's addresses on the link, each with the device's.
    pub neighbours: Vec<Neighbours>,
}

/// A link, with the hardware address of the device on it.
pub(super) struct VectorLink {
    pub(super) side: Side,
    name: String,
    halves: Halves,
    own: MacAddress,
    device: MacAddress,
    neighbours: Vec<Neighbours>,
    answerer: NeighbourAnswerer,
}

/// What waited at a link.
pub(super) struct ReceivedBatch {
    /// The datagrams that do not belong to the load.
    pub(super) datagrams: Vec<ReceivedDatagram>,
    /// The number of all frames.
    pub(super) frames: usize,
}

/// A datagram that came, and the frame around it.
pub(super) struct ReceivedDatagram {
    pub(super) datagram: Vec<u8>,
    pub(super) frame: Vec<u8>,
}

impl VectorLink {
    /// Returns the link of a port, whose device is not resolved yet.
    pub(super) fn new(port: VectorPort) -> Self {
        let VectorPort {
            side,
            port,
            neighbours,
        } = port;
        let own = MacAddress(port.mac);
        Self {
            side,
            name: port.name.clone(),
            halves: port.into_single_queue(),
            own,
            device: MacAddress::BROADCAST,
            answerer: NeighbourAnswerer::new(own, &neighbours),
            neighbours,
        }
    }

    /// Resolves the device's hardware address, which also tells it ours.
    pub(super) fn resolve(&mut self, clock: &Clock, stop: &AtomicBool) -> Result<(), MeasureError> {
        let resolved = neighbour::resolve(
            &mut *self.halves.receive,
            self.own,
            &self.neighbours,
            clock,
            stop,
        )?;
        if let NeighbourResolution::Silent(_) = resolved {
            self.halves.transmit.check_link()?;
        }
        self.device = resolved.into_station(&self.name)?;
        Ok(())
    }

    /// Sends a datagram to the device, and returns its frame.
    pub(super) fn send(&mut self, datagram: &[u8]) -> Result<Vec<u8>, PortError> {
        // A vector may send a header with a wrong version, so what is no IPv4 on a link with only IPv4 is sent as such all the same.
        let is_ipv6 = match self.side {
            Side::Ipv4 => false,
            Side::Ipv6 => true,
            Side::Inside | Side::Outside => datagram.first().is_some_and(|octet| octet >> 4 == 6),
        };
        let ether_type = if is_ipv6 {
            EtherType::IPV6
        } else {
            EtherType::IPV4
        };
        let mut frame = vec![0; HEADER_LEN];
        EthernetHeader {
            dst: self.device,
            src: self.own,
            ether_type,
        }
        .emit(&mut frame);
        frame.extend_from_slice(datagram);
        self.halves.receive.answer(&frame)?;
        Ok(frame)
    }

    /// Returns the datagrams that wait, and answers the device's neighbour requests. Other frames than IP for this station are skipped, and so are those
    /// of the load.
    pub(super) fn receive(&mut self, now_ns: u64) -> Result<ReceivedBatch, PortError> {
        let (mut datagrams, answerer, own) = (Vec::new(), &mut self.answerer, self.own);
        let frames = self.halves.receive.receive(&mut |frame| {
            if !answerer.consider(frame, now_ns) {
                datagrams.extend(datagram_in(frame, own));
            }
        })?;
        while let Some(answer) = self.answerer.next_answer() {
            self.halves.receive.answer(&answer)?;
        }
        Ok(ReceivedBatch { datagrams, frames })
    }

    /// Returns the number of frames for which the tester had no room since the last call.
    pub(super) fn overruns(&mut self) -> Result<u64, PortError> {
        self.halves.receive.overruns()
    }
}

/// Returns the datagram of a frame for this station, without padding, unless it belongs to the load.
fn datagram_in(frame: &[u8], own: MacAddress) -> Option<ReceivedDatagram> {
    let ethernet = EthernetView::new(frame)
        .ok()
        .filter(|ethernet| ethernet.dst() == own)?;
    let untagged = ethernet.untagged();
    if is_load(untagged.payload) {
        return None;
    }
    let announced = match untagged.ether_type {
        EtherType::IPV4 => Ipv4View::new(untagged.payload)
            .ok()
            .map(|ip| usize::from(ip.total_len())),
        EtherType::IPV6 => Ipv6View::new(untagged.payload)
            .ok()
            .map(|ip| sixbench_wire::ipv6::HEADER_LEN + ip.payload().len()),
        _ => return None,
    };
    // Only a shortest frame may be padded. In a longer one, octets after the datagram are a mistake of the device, and are kept for the judge.
    let length = announced
        .filter(|_| frame.len() <= SHORTEST_FRAME)
        .unwrap_or(untagged.payload.len());
    Some(ReceivedDatagram {
        datagram: untagged.payload[..length].to_vec(),
        frame: frame.to_vec(),
    })
}
