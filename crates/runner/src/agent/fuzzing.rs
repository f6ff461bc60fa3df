//! The messages between the two machines of a tester, for the fuzz targets in `fuzz/`.

use super::channel::read_message;
use super::message::{AgentAnswer, Order};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Parses the octets of a connection as either side does, and returns the number of messages. Panics if a message changes when it is written and
/// read again.
pub fn read_agent_messages(mut octets: &[u8]) -> usize {
    let mut messages = 0;
    while let Ok(message) = read_message(&mut octets) {
        let message = message.unwrap_or_default();
        messages += usize::from(is_message::<Order>(&message))
            + usize::from(is_message::<AgentAnswer>(&message));
    }
    messages
}

fn is_message<T: Serialize + DeserializeOwned>(octets: &[u8]) -> bool {
    let Ok(message) = serde_json::from_slice::<T>(octets) else {
        return false;
    };
    let written = serde_json::to_vec(&message).expect("a message can be written");
    let again: T = serde_json::from_slice(&written).expect("a message that was written");
    assert_eq!(
        serde_json::to_vec(&again).ok(),
        Some(written),
        "another message"
    );
    true
}
