//! memif: frames in memory shared with VPP or DPDK. It needs neither a NIC nor root, nor DPDK on our side.
//!
//! The modules follow the protocol's own concepts: `message` and `channel` (the control socket), `handshake` (setting up a link), `memory`
//! (regions), `ring` (indices and descriptors), `port` (the halves). The client owns the memory: as a client, the tester patches frames where the
//! server reads them. Nothing that the peer writes is trusted: each of its numbers is read once and checked, and frames are copied before they
//! are examined.

mod address;
mod bell;
mod channel;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod handshake;
mod listener;
mod memory;
mod message;
mod port;
mod ring;

use crate::{BackendInfo, Port, PortError, PortRequest};
use address::MemifAddress;
use error::MemifError;
use handshake::ClientBuffers;

/// The client's entry in the list of backends.
pub(crate) const CLIENT: BackendInfo = BackendInfo {
    word: "memif",
    title: "memif, client",
    definition: "shares memory with VPP or DPDK, which is the server at the socket `memif:PATH`; frames are not copied when they are sent",
    opens_interfaces: false,
    serves_queues: false,
    obstacle: || None,
    open: open_client,
};

/// The server's entry in the list of backends.
pub(crate) const SERVER: BackendInfo = BackendInfo {
    word: "memif-server",
    title: "memif, server",
    definition: "shares memory with VPP or DPDK, which is the client and connects to the socket `memif-server:PATH`",
    opens_interfaces: false,
    serves_queues: false,
    obstacle: || None,
    open: open_server,
};

/// The minimum octets of a buffer from which frames are sent: ARP and neighbour discovery answers are longer than the shortest frames.
const LEAST_SENDING: usize = 128;
/// The minimum octets of a buffer into which the server writes. DPDK writes up to 2048, regardless of the ring.
const LEAST_RECEIVING: usize = 2048;

const CACHE_LINE: usize = 64;

/// Returns the octets of each buffer in an array of buffers for frames of up to `octets`. Small buffers are packed closely. Of larger ones, small
/// frames only touch the beginning: an odd number of cache lines spreads these beginnings over the cache.
fn buffer_octets(octets: usize) -> usize {
    let lines = octets.div_ceil(CACHE_LINE);
    CACHE_LINE * if lines > 4 { lines | 1 } else { lines }
}

fn open_client(request: &PortRequest<'_>) -> Result<Port, PortError> {
    let longest = request.settings.longest_frame as usize;
    let sending = buffer_octets(longest.max(LEAST_SENDING));
    // A device may lengthen frames with an outer header.
    let receiving = buffer_octets((longest + 128).max(LEAST_RECEIVING));
    let connect = |address: &MemifAddress| {
        let (link, layout) = handshake::connect(address, ClientBuffers { sending, receiving })?;
        Ok((link, Some(layout)))
    };
    open(&CLIENT, request, connect)
}

fn open_server(request: &PortRequest<'_>) -> Result<Port, PortError> {
    open(&SERVER, request, |address| {
        Ok((handshake::serve(address)?, None))
    })
}

fn open(
    info: &BackendInfo,
    request: &PortRequest<'_>,
    connect: impl FnOnce(
        &MemifAddress,
    )
        -> Result<(handshake::MemifLink, Option<handshake::RegionLayout>), MemifError>,
) -> Result<Port, PortError> {
    let name = format!("{}:{}", info.word, request.address);
    request.check_plain(&name, info.title)?;
    let fail = |error: MemifError| PortError::Peer {
        port: name.clone(),
        what: error.to_string(),
    };
    let address = MemifAddress::parse(request.address).map_err(fail)?;
    let (link, layout) = connect(&address).map_err(fail)?;
    let how = format!(
        "{} of {} (rings of {} frames in shared memory)",
        info.title,
        link.peer,
        link.sending.size()
    );
    let longest = buffer_octets((request.settings.longest_frame as usize).max(LEAST_SENDING));
    let halves = port::halves(&name, link, layout, longest);
    Ok(Port {
        mac: address.mac(info.word),
        name,
        how,
        node: None,
        queues: vec![halves],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_have_room_for_a_frame_and_spread_over_the_cache() {
        let octets = [60, 80, 128, 129, 257, 1514, 2048, 9014];
        assert_eq!(
            octets.map(buffer_octets),
            [64, 128, 128, 192, 320, 1600, 2112, 9024]
        );
    }
}
