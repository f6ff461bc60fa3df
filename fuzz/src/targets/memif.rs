//! Arbitrary messages of a memif peer on the control socket, and its writes to shared memory at any time. Invalid ones end the link with an error.

use crate::input::Input;
use sixbench_io::Halves;
use sixbench_io::fuzzing::{MemifMemory, REGION_OCTETS, is_memif_message, memif_turn};

thread_local! {
    static MEMORY: MemifMemory = MemifMemory::new().expect("memory");
}

/// The most octets of a frame, regardless of the peer.
const MOST_OCTETS: usize = 1 << 16;

/// Takes one message, padded to the length of a message if it is shorter.
pub(crate) fn run_messages(octets: &[u8]) {
    let mut padded = octets.to_vec();
    padded.resize(octets.len().max(128), 0);
    is_memif_message(&padded);
    is_memif_message(octets);
}

/// The first octets decide whether we are the client, and where the peer has put its rings; its writes follow, after some of which we check the rings.
pub(crate) fn run_rings(octets: &[u8]) {
    let mut input = Input(octets);
    MEMORY.with(|memory| {
        memory.write(0, &[0; 1024]);
        let Some(mut halves) = begin(memory, &mut input) else {
            return;
        };
        while !input.0.is_empty() {
            let how = input.octet();
            let at = if how & 1 == 0 {
                usize::from(input.octet()) * 2
            } else {
                input.below(REGION_OCTETS)
            };
            memory.write(at, input.piece());
            if how & 6 == 0 {
                let Ok(frames) = memif_turn(&mut halves, &[0x55; 60]) else {
                    return;
                };
                assert!(frames.iter().all(|frame| frame.len() <= MOST_OCTETS));
            }
        }
    });
}

fn begin(memory: &MemifMemory, input: &mut Input<'_>) -> Option<Halves> {
    let how = input.octet();
    if how & 1 == 0 {
        return Some(memory.client().expect("a port of our own memory"));
    }
    let places = if how & 2 == 0 {
        [(0, 0, 3), (0, 256, 3)]
    } else {
        [(); 2].map(|()| {
            (
                u16::from(input.octet()),
                u32::from_be_bytes(input.array()),
                input.octet(),
            )
        })
    };
    for (_, offset, _) in places {
        memory.write(offset as usize, &0x03E3_1F20u32.to_ne_bytes());
    }
    memory.server(places).ok()
}
