//! The parts of HTTP/1.1 that RFC 3511 needs: a GET, and a response with an object of known octets, parsed in whatever pieces TCP delivers.
//! Nothing here uses sockets.
//!
//! The path of a request is a number that no other request of the tester has, and the object's octets follow from it, so a response that a DUT
//! delivered to the wrong connection is recognised as wrong.

use sixbench_stats::mix;
use std::fmt::Display;
use std::io::Write as _;

/// The largest request head that is accepted, in octets.
const LONGEST_HEAD: usize = 1024;

/// Digits of a key in a path.
const KEY_DIGITS: usize = 16;

const HEAD_END: &[u8] = b"\r\n\r\n";

/// A client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    /// The number that names the object.
    pub key: u64,
    /// True for `Connection: close`: the server closes after the response.
    pub closes: bool,
}

impl HttpRequest {
    /// Writes the request, replacing the content of `out`.
    pub(crate) fn write(&self, host: impl Display, out: &mut Vec<u8>) {
        out.clear();
        // Writing to memory cannot fail.
        let _ = write!(
            out,
            "GET /{:0KEY_DIGITS$x} HTTP/1.1\r\nHost: {host}\r\n{}\r\n",
            self.key,
            connection(self.closes)
        );
    }

    /// Writes the right response, replacing the content of `out`; the object has `octets`.
    pub(crate) fn write_response(&self, octets: u32, out: &mut Vec<u8>) {
        out.clear();
        let _ = write!(
            out,
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {octets}\r\n{}\r\n",
            connection(self.closes)
        );
        out.extend((0..octets).map(|place| octet(self.key, place)));
    }

    /// Parses a whole head; `None` if it is not one of our requests.
    fn parse(head: &[u8]) -> Option<Self> {
        let head = std::str::from_utf8(head).ok()?;
        let mut lines = head.split("\r\n");
        let path = lines
            .next()?
            .strip_prefix("GET /")?
            .strip_suffix(" HTTP/1.1")?;
        let closes = lines.any(|line| {
            field(line, "connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
        });
        // A parsed number might have a sign or fewer digits; our paths never do.
        let is_ours =
            path.len() == KEY_DIGITS && path.bytes().all(|octet| octet.is_ascii_hexdigit());
        is_ours
            .then(|| u64::from_str_radix(path, 16).ok())?
            .map(|key| Self { key, closes })
    }
}

fn connection(closes: bool) -> &'static str {
    if closes { "Connection: close\r\n" } else { "" }
}

/// Returns one octet of the object of a key.
fn octet(key: u64, place: u32) -> u8 {
    mix(key ^ u64::from(place / 8)).to_le_bytes()[place as usize % 8]
}

/// Returns the value of a header field, if the line is that field.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (found, value) = line.split_once(':')?;
    found
        .trim()
        .eq_ignore_ascii_case(name)
        .then(|| value.trim())
}

/// Puts a head together. Costs no memory while heads arrive in one piece, and otherwise no more than 4 KiB: a piece is kept as far as [`LONGEST_HEAD`],
/// and none after as many octets.
#[derive(Debug, Default)]
struct Head {
    pieces: Vec<u8>,
}

/// The position at which a head ended.
enum HeadEnd {
    /// It has not ended; the octets are kept.
    Open,
    /// It ended before this octet of the piece.
    At(usize),
    TooLong,
}

impl Head {
    /// Takes a piece; if the head is complete, it is passed to `with`.
    fn take<T>(&mut self, piece: &[u8], with: impl FnOnce(&[u8]) -> T) -> (HeadEnd, Option<T>) {
        if self.pieces.is_empty()
            && let Some(end) = end_of_head(piece)
        {
            return (HeadEnd::At(end), Some(with(&piece[..end])));
        }
        let before = self.pieces.len();
        self.pieces
            .extend_from_slice(&piece[..piece.len().min(LONGEST_HEAD)]);
        let Some(end) = end_of_head(&self.pieces) else {
            return (
                if self.pieces.len() >= LONGEST_HEAD {
                    HeadEnd::TooLong
                } else {
                    HeadEnd::Open
                },
                None,
            );
        };
        let result = with(&self.pieces[..end]);
        self.pieces = Vec::new();
        (HeadEnd::At(end - before), Some(result))
    }
}

/// Returns the number of octets up to and including the empty line.
fn end_of_head(octets: &[u8]) -> Option<usize> {
    octets
        .windows(HEAD_END.len())
        .position(|window| window == HEAD_END)
        .map(|at| at + HEAD_END.len())
}

/// Parses the requests of one connection for the server.
#[derive(Debug, Default)]
pub(crate) struct RequestReader {
    head: Head,
}

/// The result of parsing a piece of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParsedRequest {
    /// The request is incomplete.
    Part,
    /// The request is complete.
    Whole(HttpRequest),
    /// Our client did not send this: something on the way has changed it.
    Malformed,
}

impl RequestReader {
    /// Parses a piece. Our clients wait for the response, so nothing may follow a request.
    pub(crate) fn take(&mut self, piece: &[u8]) -> ParsedRequest {
        match self.head.take(piece, HttpRequest::parse) {
            (HeadEnd::Open, _) => ParsedRequest::Part,
            (HeadEnd::At(end), Some(Some(request))) if end == piece.len() => {
                ParsedRequest::Whole(request)
            }
            _ => ParsedRequest::Malformed,
        }
    }
}

/// Parses and verifies one response for the client: the status, the length, and every octet of the object.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    key: u64,
    octets: u32,
    head: Head,
    /// Octets of the object that were received; `None` while the head is being parsed.
    seen: Option<u32>,
}

/// The result of parsing a piece of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseProgress {
    /// Right so far.
    Part,
    /// Complete, and right in every octet.
    Right,
    /// Not the response to our request, with the reason.
    Wrong(&'static str),
}

impl ResponseReader {
    /// Returns a reader that expects the object of `key`.
    pub(crate) fn new(key: u64, octets: u32) -> Self {
        Self {
            key,
            octets,
            head: Head::default(),
            seen: None,
        }
    }

    /// Parses a piece.
    pub(crate) fn take(&mut self, piece: &[u8]) -> ResponseProgress {
        let Some(seen) = self.seen else {
            return self.take_head(piece);
        };
        let left = self.octets - seen;
        if piece.len() as u64 > u64::from(left) {
            return ResponseProgress::Wrong("more octets than the object contains");
        }
        if !piece
            .iter()
            .zip(seen..)
            .all(|(&found, place)| found == octet(self.key, place))
        {
            return ResponseProgress::Wrong("octets that are not the object's");
        }
        self.seen = Some(seen + piece.len() as u32);
        if piece.len() as u32 == left {
            ResponseProgress::Right
        } else {
            ResponseProgress::Part
        }
    }

    fn take_head(&mut self, piece: &[u8]) -> ResponseProgress {
        let octets = self.octets;
        match self.head.take(piece, |head| check_head(head, octets)) {
            (HeadEnd::Open, _) => ResponseProgress::Part,
            (HeadEnd::At(end), Some(Ok(()))) => {
                self.seen = Some(0);
                self.take(&piece[end..])
            }
            (_, Some(Err(why))) => ResponseProgress::Wrong(why),
            _ => ResponseProgress::Wrong("no end of its head"),
        }
    }
}

/// Checks that a head announces the object; the error is the reason why not.
fn check_head(head: &[u8], octets: u32) -> Result<(), &'static str> {
    let head = std::str::from_utf8(head).map_err(|_| "a head that is not text")?;
    let mut lines = head.split("\r\n");
    if !lines
        .next()
        .is_some_and(|line| line.starts_with("HTTP/1.1 200 "))
    {
        return Err("a status other than 200");
    }
    let length = lines
        .find_map(|line| field(line, "content-length"))
        .ok_or("no length")?;
    // RFC 9110 section 8.6: digits, without a sign.
    let is_number = length.bytes().all(|octet| octet.is_ascii_digit());
    if is_number && length.parse() == Ok(octets) {
        Ok(())
    } else {
        Err("a length other than the object's")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: HttpRequest = HttpRequest {
        key: 0x5e7,
        closes: true,
    };

    fn request() -> Vec<u8> {
        let mut octets = Vec::new();
        GET.write("[64:ff9b::c612:2]:80", &mut octets);
        octets
    }

    fn response(octets: u32) -> Vec<u8> {
        let mut response = Vec::new();
        GET.write_response(octets, &mut response);
        response
    }

    /// Returns the reader's result after the last of the pieces.
    fn seen<'a>(mut pieces: impl Iterator<Item = &'a [u8]>, octets: u32) -> ResponseProgress {
        let mut reader = ResponseReader::new(GET.key, octets);
        pieces
            .try_fold(ResponseProgress::Part, |_, piece| {
                match reader.take(piece) {
                    ResponseProgress::Part => Ok(ResponseProgress::Part),
                    end => Err(end),
                }
            })
            .unwrap_or_else(|end| end)
    }

    #[test]
    fn a_number_with_a_sign_is_neither_a_key_nor_a_length() {
        let mut reader = RequestReader::default();
        assert_eq!(
            reader.take(b"GET /+0000000000005e7 HTTP/1.1\r\n\r\n"),
            ParsedRequest::Malformed
        );
        assert_eq!(
            check_head(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n", 20),
            Ok(())
        );
        assert!(check_head(b"HTTP/1.1 200 OK\r\nContent-Length: +20\r\n", 20).is_err());
    }

    #[test]
    fn a_request_is_plain_http_and_is_read_again_in_pieces_of_any_size() {
        let octets = request();
        assert!(
            octets.starts_with(b"GET /00000000000005e7 HTTP/1.1\r\nHost: [64:ff9b::c612:2]:80\r\nConnection: close\r\n\r\n")
        );
        for size in 1..=octets.len() {
            let mut reader = RequestReader::default();
            let heard: Vec<_> = octets
                .chunks(size)
                .map(|piece| reader.take(piece))
                .collect();
            assert_eq!(heard.last(), Some(&ParsedRequest::Whole(GET)), "{size}");
            assert!(
                heard[..heard.len() - 1]
                    .iter()
                    .all(|heard| *heard == ParsedRequest::Part)
            );
        }
    }

    #[test]
    fn a_reader_is_ready_for_the_next_request() {
        let mut reader = RequestReader::default();
        for _ in 0..3 {
            let octets = request();
            assert_eq!(reader.take(&octets[..20]), ParsedRequest::Part);
            assert_eq!(reader.take(&octets[20..]), ParsedRequest::Whole(GET));
        }
    }

    #[test]
    fn what_is_no_request_of_ours_is_malformed() {
        for octets in [
            "POST /1 HTTP/1.1\r\n\r\n",
            "GET /1 HTTP/1.0\r\n\r\n",
            "GET /x HTTP/1.1\r\n\r\n",
            "GET /1 HTTP/1.1\r\n\r\nmore",
        ] {
            assert_eq!(
                RequestReader::default().take(octets.as_bytes()),
                ParsedRequest::Malformed,
                "{octets}"
            );
        }
        assert_eq!(
            RequestReader::default().take(&[b'x'; 2000]),
            ParsedRequest::Malformed
        );
    }

    #[test]
    fn a_head_without_end_takes_no_more_than_four_kibioctets_however_it_comes() {
        for size in [1, 2, 500, 1023, 1024, 65_536] {
            let piece = vec![b'x'; size];
            let (mut server, mut client) =
                (RequestReader::default(), ResponseReader::new(GET.key, 64));
            let refused_after = (1..=2048)
                .find(|_| server.take(&piece) == ParsedRequest::Malformed)
                .expect("an end");
            assert!(
                (1..=2048)
                    .any(|_| client.take(&piece) == ResponseProgress::Wrong("no end of its head")),
                "{size}"
            );
            assert!(
                refused_after * size.min(LONGEST_HEAD) < 2 * LONGEST_HEAD,
                "{size}"
            );
            assert!(
                server.head.pieces.capacity() <= 4096 && client.head.pieces.capacity() <= 4096,
                "{size}"
            );
        }
    }

    #[test]
    fn a_right_response_is_right_in_pieces_of_any_size() {
        for octets in [0, 1, 64, 1000] {
            let response = response(octets);
            for size in [1, 2, 3, 7, 64, response.len()] {
                assert_eq!(
                    seen(response.chunks(size), octets),
                    ResponseProgress::Right,
                    "{octets} octets in pieces of {size}"
                );
            }
        }
    }

    #[test]
    fn one_changed_octet_of_the_object_or_one_too_many_is_wrong() {
        let right = response(64);
        let head = right.len() - 64;
        for place in head..right.len() {
            let mut wrong = right.clone();
            wrong[place] ^= 1;
            assert_eq!(
                seen(wrong.chunks(50), 64),
                ResponseProgress::Wrong("octets that are not the object's")
            );
        }
        let longer = [&right[..], b"x"].concat();
        assert_eq!(
            seen(longer.chunks(1000), 64),
            ResponseProgress::Wrong("more octets than the object contains")
        );
        assert_eq!(
            seen(right[..right.len() - 1].chunks(1000), 64),
            ResponseProgress::Part,
            "an octet is missing"
        );
    }

    #[test]
    fn another_objects_response_another_status_and_another_length_are_wrong() {
        let mut other = Vec::new();
        HttpRequest {
            key: 1,
            closes: true,
        }
        .write_response(64, &mut other);
        assert_eq!(
            seen(other.chunks(1000), 64),
            ResponseProgress::Wrong("octets that are not the object's")
        );
        let gone = b"HTTP/1.1 404 Not Found\r\n\r\n";
        assert_eq!(
            seen(gone.chunks(1000), 64),
            ResponseProgress::Wrong("a status other than 200")
        );
        assert_eq!(
            seen(response(63).chunks(1000), 64),
            ResponseProgress::Wrong("a length other than the object's")
        );
    }
}
