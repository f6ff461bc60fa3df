//! DPDK: NICs without the kernel, and DPDK's own virtual devices. The code that must be compiled against DPDK is in a shared object (`shim.c`)
//! that is loaded at run time, so that the program also works where DPDK is not installed.
//!
//! From the outside to the inside: `address` (which device), `hugepages` and `pci` (its requirements), `shim` (the shared object), `eal` (DPDK's
//! environment, once per process), `device` (a port and its queues, behind a safe interface), `port` (the halves). DPDK itself prints nothing;
//! its messages become part of the errors.

mod address;
mod device;
mod eal;
mod error;
mod hugepages;
mod pci;
mod port;
mod shim;

use crate::backend::mac::local_mac;
use crate::{BackendInfo, NumaNode, Obstacle, Port, PortError, PortRequest};
use address::{DeviceAddress, DeviceKind};
use device::ProbedDevice;
use eal::Environment;
use error::DpdkError;
use pci::PciBus;
use port::{PortShared, WatchedInterface};
use shim::{ShimDescription, ShimSettings};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

/// The entry in the list of backends.
pub(crate) const INFO: BackendInfo = BackendInfo {
    word: "dpdk",
    title: "DPDK",
    definition: "drives a NIC without the kernel, named by its PCI address as in `dpdk:0000:3b:00.0`, or a virtual device of DPDK as in \
                 `dpdk:net_memif0,role=client,socket=PATH`; needs DPDK's libraries, and a NIC needs hugepages and the driver vfio-pci",
    opens_interfaces: false,
    serves_queues: true,
    obstacle,
    open,
};

/// The minimum octets of a receive buffer: devices also send frames unasked.
const LEAST_RECEIVED: u32 = 2048;
/// The octets by which a device may lengthen frames with an outer header.
const HEADER_OCTETS: u32 = 128;
/// Frames that the rings hold, if the device allows it. The receive ring bridges pauses of the tester.
const RX_RING: u32 = 2048;
const TX_RING: u32 = 1024;

/// Returns the first thing that is missing, if DPDK is wanted on this machine: if a NIC is bound to a userspace driver, or the shim's path is set.
fn obstacle() -> Option<Obstacle> {
    let bus = PciBus::of_this_machine();
    let nics = bus.nics_for_programs();
    if nics.is_empty() && !shim::is_named() {
        return None;
    }
    let has_nics = if nics.is_empty() {
        Ok(())
    } else {
        hugepages::check()
    };
    let missing = shim::load()
        .map(drop)
        .and(has_nics)
        .and_then(|()| nics.iter().try_for_each(|nic| bus.check(nic)));
    missing.err().map(|error| match error {
        DpdkError::Lacking { what, cure } => Obstacle {
            what: format!("DPDK: {what}"),
            cure,
        },
        other => Obstacle {
            what: format!("DPDK: {other}"),
            cure: "see docs/PLANS.md, NICs without the kernel".to_owned(),
        },
    })
}

/// Returns the kernel interfaces of the NIC at an address whose driver shares it with DPDK: DPDK takes from them what they receive. None of any other.
pub(crate) fn shared_interfaces(address: &str) -> Vec<String> {
    match DeviceAddress::parse(address).map(|address| address.kind) {
        Ok(DeviceKind::Pci(nic)) => PciBus::of_this_machine().shared_interfaces(&nic),
        _ => Vec::new(),
    }
}

fn open(request: &PortRequest<'_>) -> Result<Port, PortError> {
    let name = format!("{}:{}", INFO.word, request.address);
    open_device(&name, request).map_err(|error| PortError::Driver {
        port: name,
        what: error.to_string(),
    })
}

fn open_device(name: &str, request: &PortRequest<'_>) -> Result<Port, DpdkError> {
    let address = DeviceAddress::parse(request.address)?;
    if let DeviceKind::Pci(nic) = &address.kind {
        PciBus::of_this_machine().check(nic)?;
    }
    let environment = eal::environment(matches!(address.kind, DeviceKind::Pci(_)))?;
    let probed = ProbedDevice::probe(environment, &address.devargs)?;
    let description = probed.describe()?;
    let mut settings = settings(&address, &description, request)?;
    let device = probed.open(&mut settings)?;
    let how = how(&environment, &description, &settings);
    // SAFETY: called once for this device, which was opened with this number of queues.
    let queues = unsafe { device.queues(settings.queues, settings.longest_sent as usize) };
    let (full_is_dut, interface) = (
        address.full_is_dut(),
        address
            .interface()
            .map(WatchedInterface::open)
            .transpose()?,
    );
    let shared = Arc::new(PortShared {
        name: name.to_owned(),
        device,
        interface,
        full_is_dut,
        told_missed: Mutex::new(0),
    });
    let queues = queues
        .into_iter()
        .map(|(sending, receiving)| port::halves(&shared, sending, receiving))
        .collect();
    Ok(Port {
        name: name.to_owned(),
        mac: mac(name, &description),
        how,
        node: NumaNode::numbered(description.node),
        queues,
    })
}

/// Returns the settings for a device.
fn settings(
    address: &DeviceAddress,
    description: &ShimDescription,
    request: &PortRequest<'_>,
) -> Result<ShimSettings, DpdkError> {
    let longest = request.settings.longest_frame;
    // The default is not the number of queues the device has: a NIC has more than any tester has cores.
    let queues = request.settings.queues.map_or(1, NonZeroU32::get);
    check_queues(address, description, queues)?;
    let most = description.most_octets;
    if longest > most {
        let why = format!("it carries frames of at most {most} octets without FCS");
        return Err(DpdkError::Call {
            what: format!("send frames of {longest} octets by this device"),
            why,
        });
    }
    // Also allow for frames that the driver itself would not allow: a virtual one writes whatever it receives.
    let receive_room = (longest + HEADER_OCTETS).max(LEAST_RECEIVED);
    Ok(ShimSettings {
        queues,
        longest_sent: longest.next_multiple_of(64),
        longest_received: receive_room.min(most),
        receive_room,
        rx_ring: RX_RING,
        tx_ring: TX_RING,
        is_promiscuous: u32::from(!address.is_on_interface()),
    })
}

/// Refuses more queues than a device has, or several queues on a NIC that could not spread received frames over them.
fn check_queues(
    address: &DeviceAddress,
    description: &ShimDescription,
    queues: u32,
) -> Result<(), DpdkError> {
    let most = description.most_rx_queues.min(description.most_tx_queues);
    let refuse = |why: String| {
        Err(DpdkError::Call {
            what: format!("use {queues} queues of this device"),
            why,
        })
    };
    if queues > most {
        return refuse(format!("it has {most}; set `queues` to no more"));
    }
    // For a virtual device, the other end chooses the queue.
    let is_nic = matches!(address.kind, DeviceKind::Pci(_));
    if queues > 1 && is_nic && description.can_spread == 0 {
        return refuse(
            "it cannot spread frames over them by their addresses and ports; leave out `queues`"
                .to_owned(),
        );
    }
    Ok(())
}

/// Returns a description of how frames are sent and received, for the facts of a run.
fn how(
    environment: &Environment,
    description: &ShimDescription,
    settings: &ShimSettings,
) -> String {
    let ShimSettings {
        rx_ring,
        tx_ring,
        queues,
        ..
    } = *settings;
    let queues = if queues == 1 {
        String::new()
    } else {
        format!("{queues} queues, ")
    };
    let memory = if environment.has_hugepages {
        "hugepages"
    } else {
        "ordinary memory"
    };
    let driver = driver(description);
    format!(
        "{} with {driver} ({queues}rings of {rx_ring} and {tx_ring} frames in {memory})",
        environment.version()
    )
}

fn driver(description: &ShimDescription) -> String {
    let text = description
        .driver
        .split(|octet| *octet == 0)
        .next()
        .unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// Returns the hardware address of a device, or a local one for virtual devices without an address.
fn mac(name: &str, description: &ShimDescription) -> [u8; 6] {
    let mac = std::array::from_fn(|nth| description.mac[nth]);
    if mac == [0; 6] { local_mac(name) } else { mac }
}
