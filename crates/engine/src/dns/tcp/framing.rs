//! The octets of a TCP connection as messages, each after two octets with its length (RFC 1035 section 4.2.2, RFC 7766 section 8), however TCP divides
//! them. No octets from the network may cause a panic here.

use super::super::query::HEADER;

/// Octets of the length before a message.
const PREFIX: usize = 2;

/// A length that no message has: it is below the octets of a header, so the connection cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misframed;

/// The octets of a connection that are not taken yet: those of one message at most, once all complete ones are taken.
#[derive(Default)]
pub(crate) struct FrameReader {
    octets: Vec<u8>,
    /// The octets from here on are not taken.
    from: usize,
}

impl FrameReader {
    /// Forgets all octets: those of the next connection follow.
    pub(super) fn clear(&mut self) {
        self.octets.clear();
        self.from = 0;
    }

    /// Adds octets that were read. Call it when [`FrameReader::message`] has none left.
    pub(crate) fn add(&mut self, octets: &[u8]) {
        self.octets.drain(..self.from);
        self.from = 0;
        self.octets.extend_from_slice(octets);
    }

    /// Returns the next message that is complete.
    ///
    /// # Errors
    /// The length is none of a message.
    pub(crate) fn message(&mut self) -> Result<Option<&[u8]>, Misframed> {
        let rest = &self.octets[self.from..];
        let Some((prefix, rest)) = rest.split_first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes(*prefix));
        if length < HEADER {
            return Err(Misframed);
        }
        if rest.len() < length {
            return Ok(None);
        }
        let start = self.from + PREFIX;
        self.from = start + length;
        Ok(Some(&self.octets[start..start + length]))
    }

    /// Returns whether a message has begun that is not complete.
    pub(crate) fn is_within_message(&self) -> bool {
        self.from < self.octets.len()
    }
}

/// Appends a message with its length before it. A longer one than 65,535 octets does not exist.
pub(super) fn frame(out: &mut Vec<u8>, message: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; PREFIX]);
    message(out);
    let length = (out.len() - at - PREFIX) as u16;
    out[at..at + PREFIX].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the messages of a connection that delivers these pieces, and whether its lengths were right to the end.
    fn messages(pieces: &[Vec<u8>]) -> (Vec<Vec<u8>>, bool) {
        let (mut reader, mut all) = (FrameReader::default(), Vec::new());
        for piece in pieces {
            reader.add(piece);
            loop {
                match reader.message() {
                    Ok(Some(message)) => all.push(message.to_vec()),
                    Ok(None) => break,
                    Err(Misframed) => return (all, false),
                }
            }
        }
        (all, !reader.is_within_message())
    }

    fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
        let mut octets = Vec::new();
        for message in messages {
            frame(&mut octets, |out| out.extend_from_slice(message));
        }
        octets
    }

    #[test]
    fn the_longest_messages_pass_one_after_the_other() {
        let sent = vec![vec![7; usize::from(u16::MAX)]; 3];
        assert_eq!(messages(&[framed(&sent)]), (sent, true));
    }

    #[test]
    fn a_length_below_a_header_and_a_message_cut_short_are_wrong() {
        let right = framed(&[vec![1; 12]]);
        for length in 0..12u8 {
            let wrong = [&right[..], &[0, length], &[0; 40]].concat();
            assert_eq!(messages(&[wrong]), (vec![vec![1; 12]], false));
        }
        for kept in 1..right.len() {
            assert_eq!(messages(&[right[..kept].to_vec()]), (vec![], false));
        }
    }

    proptest! {
        #[test]
        fn messages_are_the_same_however_they_are_divided(
            sent in prop::collection::vec(prop::collection::vec(any::<u8>(), 12..600), 0..20),
            cuts in prop::collection::vec(1usize..400, 1..40),
        ) {
            let octets = framed(&sent);
            let (mut pieces, mut at) = (Vec::new(), 0);
            for cut in cuts.iter().cycle() {
                if at >= octets.len() {
                    break;
                }
                let end = (at + cut).min(octets.len());
                pieces.push(octets[at..end].to_vec());
                at = end;
            }
            prop_assert_eq!(messages(&pieces), (sent, true));
        }

        #[test]
        fn any_octets_are_read_without_panic(octets in prop::collection::vec(any::<u8>(), 0..4000)) {
            let (all, _) = messages(&[octets]);
            prop_assert!(all.iter().all(|message| message.len() >= HEADER));
        }
    }
}
