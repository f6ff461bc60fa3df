//! The protocol between the two machines of a tester, in messages with their lengths.

use crate::input::Input;
use sixbench_runner::fuzzing::read_agent_messages;

/// The first octet decides whether the rest is one message, to which its length is added, or the octets of a connection.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    if input.octet() & 1 == 0 {
        read_agent_messages(input.0);
        return;
    }
    let length = (input.0.len() as u32).to_be_bytes();
    assert!(read_agent_messages(&[&length, input.0].concat()) <= 2);
}
