//! Requests and responses in tests of TCP connections. The result must not depend on how they are divided into pieces. A message judged right
//! must equal the one that was written in its first line, its length and every octet of its object.

use crate::input::Input;
use sixbench_engine::fuzzing::{http_exchange, http_request, is_right_response};

const OBJECT: u32 = 20;

/// The first octets select a request or a response, its key, and whether a right one is changed.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    let (how, key) = (input.octet(), input.u64());
    let (request, response) = http_exchange(key, how & 2 != 0, OBJECT);
    let mut message = if how & 1 == 0 { request } else { response };
    let cuts: [u8; 4] = input.array();
    if how & 4 == 0 {
        message = input.0.to_vec();
    } else {
        input.change(&mut message);
    }
    if how & 1 == 0 {
        check_request(&message, cuts);
    } else {
        check_response(key, &message, cuts);
    }
}

/// Divides a message into pieces of different lengths.
fn pieces(mut message: &[u8], cuts: [u8; 4]) -> impl Iterator<Item = &[u8]> {
    let mut lengths = cuts.into_iter().map(|cut| usize::from(cut).max(1)).cycle();
    std::iter::from_fn(move || {
        let (piece, rest) = message.split_at(lengths.next()?.min(message.len()));
        message = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fn check_request(message: &[u8], cuts: [u8; 4]) {
    let read = http_request(std::iter::once(message));
    // The point at which a head that is too long is refused depends on the pieces.
    if message.len() < 1024 {
        assert_eq!(http_request(pieces(message, cuts)), read, "pieces matter");
    }
    if let Some((key, closes)) = read {
        let text = std::str::from_utf8(message).expect("a request is text");
        assert!(
            text.to_ascii_lowercase()
                .starts_with(&format!("get /{key:016x} http/1.1\r\n")),
            "another key: {text:?}"
        );
        assert!(
            !closes || text.to_ascii_lowercase().contains("close"),
            "it does not say that it closes"
        );
    }
}

fn check_response(key: u64, message: &[u8], cuts: [u8; 4]) {
    let read = is_right_response(key, OBJECT, std::iter::once(message));
    if message.len() < 1024 {
        assert_eq!(
            is_right_response(key, OBJECT, pieces(message, cuts)),
            read,
            "pieces matter"
        );
    }
    if read == Some(true) {
        let (_, right) = http_exchange(key, false, OBJECT);
        let object = &right[right.len() - OBJECT as usize..];
        assert!(
            message.starts_with(b"HTTP/1.1 200 ") && message.ends_with(object),
            "another object"
        );
    }
}
