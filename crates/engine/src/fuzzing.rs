//! This crate's internals for the targets of `fuzz/`, which pass octets that untrusted peers could send. They are not part of the crate's
//! interface, and may change at any time. Where two code paths must agree, these functions panic if they do not.

use crate::dns::authority::{Answer, Answerer, FramedMessages, MOST_OCTETS};
use crate::dns::judge::{
    AnswerClass, ExpectedAnswer, MessageClass, at_a_glance, closely, describe, identifier, judge,
};
use crate::dns::names::Domain;
use crate::dns::query::{HEADER, Query};
use crate::frames::neighbour::NeighbourAnswerer;
use crate::frames::profile::{Neighbours, TrafficProfile};
use crate::frames::stateful::{Conversation, ConversationStep, Mapped, StatefulGateway};
use crate::frames::stream::{LinkMacs, Stream, StreamSource};
use crate::frames::verify::{FrameClass, Verifier, foreign_frame};
use crate::tcp::http::{
    HttpRequest, ParsedRequest, RequestReader, ResponseProgress, ResponseReader,
};
use sixbench_method::plan::DnsRole;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::dns::AuthorityCounts;
use sixbench_method::trial::{TrialKind, TrialSpec};
use sixbench_wire::template::StampedTime;
use sixbench_wire::{MacAddress, tag};
use std::net::Ipv6Addr;

/// Frames of a trial.
pub const FRAMES: u64 = 64;
const OWN: MacAddress = MacAddress([2; 6]);
const PEER: MacAddress = MacAddress([4; 6]);

/// The receiver of one direction of a trial.
pub struct FrameJudge {
    stream: Stream,
    verifier: Verifier,
    by_fields: Verifier,
    knows_peer: bool,
    is_translated: bool,
}

/// A frame that was judged right.
pub struct RightFrame {
    /// The frame as built for its number and its time of sending, with its own source if the device chooses that.
    pub expected: Box<[u8]>,
    /// The octets of headers and tag, after which the fill pattern begins.
    pub head_octets: usize,
    /// True if the hardware addresses of the device are known.
    pub knows_peer: bool,
    /// True if the header of an IPv4 datagram was rebuilt in transit, so that the device chose its identification.
    pub is_translated: bool,
}

/// A way in which a profile's frames are received.
#[derive(Clone, Copy)]
struct JudgeSetting {
    direction: Direction,
    kind: TrialKind,
    step: Option<ConversationStep>,
    knows_peer: bool,
}

/// Returns the connections at this step. Those that phase 1 would have opened are known.
fn learned_conversation(
    profile: &TrafficProfile,
    gateway: &StatefulGateway,
    step: ConversationStep,
) -> Option<Conversation> {
    let conversation = Conversation::new(profile, gateway, FRAMES)?.at(step);
    let learned = if step == ConversationStep::Open {
        0
    } else {
        FRAMES
    };
    let first = gateway.pool.first();
    for connection in 0..learned {
        let mapped = Mapped {
            port: first.port.saturating_add(connection as u16),
            ..first
        };
        conversation.table.learn(connection, mapped);
    }
    Some(conversation)
}

impl FrameJudge {
    /// Returns the receivers of a profile: both directions, for trials of each kind.
    pub fn all(profile: &TrafficProfile) -> Vec<Self> {
        let steps = [
            ConversationStep::Open,
            ConversationStep::Validate,
            ConversationStep::Use,
        ]
        .map(Some);
        let constant = |direction, step, knows_peer| JudgeSetting {
            direction,
            kind: TrialKind::Constant,
            step,
            knows_peer,
        };
        let settings = |direction| {
            if profile.gateway.is_some() {
                steps.map(|step| constant(direction, step, true))
            } else {
                let known = constant(direction, None, true);
                [
                    known,
                    constant(direction, None, false),
                    JudgeSetting {
                        kind: TrialKind::Response,
                        ..known
                    },
                ]
            }
        };
        let all = [Direction::Forward, Direction::Reverse].map(settings);
        all.into_iter()
            .flatten()
            .filter_map(|setting| Self::new(profile, setting))
            .collect()
    }

    fn new(profile: &TrafficProfile, setting: JudgeSetting) -> Option<Self> {
        let step = setting.step.unwrap_or(ConversationStep::Use);
        let conversation = match &profile.gateway {
            Some(gateway) => Some(learned_conversation(profile, gateway, step)?),
            None => None,
        };
        let spec = TrialSpec {
            kind: setting.kind,
            ..TrialSpec::constant(FrameRate(1000), 1_000_000_000)
        };
        let source = StreamSource {
            profile,
            spec: &spec,
            direction: setting.direction,
            trial: 5,
            conversation: conversation.as_ref(),
        };
        let peer = if setting.knows_peer {
            PEER
        } else {
            MacAddress::BROADCAST
        };
        let macs = LinkMacs { own: OWN, peer };
        let stream = || Stream::expected(source, macs).ok();
        let verifier = || {
            let verifier = Verifier::new(stream()?, FRAMES, profile.zero_checksum_is_known);
            Some(verifier.knowing_absent_checksums(profile.absent_checksum_is_known))
        };
        let mut by_fields = verifier()?;
        by_fields.read_every_field();
        Some(Self {
            stream: stream()?,
            verifier: verifier()?,
            by_fields,
            knows_peer: setting.knows_peer,
            is_translated: !profile.keeps_identification,
        })
    }

    /// Returns the right frame with this number and time of sending.
    pub fn frame(&self, sequence: u64, time_ns: u64) -> Box<[u8]> {
        let kind = self.stream.kind(sequence).0;
        kind.template.patched(
            &self
                .stream
                .variable(kind, sequence, StampedTime::new(time_ns)),
        )
    }

    /// Judges a frame by comparison and by its fields, which must agree; returns the frame that a right one was compared with.
    pub fn judge(&mut self, frame: &[u8]) -> Option<RightFrame> {
        let class = self.verifier.judge(frame);
        assert_eq!(
            class,
            self.by_fields.judge(frame),
            "the comparison and the fields disagree"
        );
        match class {
            FrameClass::Right(tag) => Some(self.right(frame, tag)),
            FrameClass::Defective(tag, mismatch)
            | FrameClass::Mistranslated(tag, mismatch)
            | FrameClass::Corrupt(tag, mismatch) => {
                assert!(!self.verifier.explain(frame, tag, mismatch).is_empty());
                None
            }
            FrameClass::Misdirected => None,
            FrameClass::Foreign => {
                std::hint::black_box(foreign_frame(frame));
                None
            }
        }
    }

    fn right(&self, frame: &[u8], tag: tag::Tag) -> RightFrame {
        let kind = self.stream.kind(tag.sequence).0;
        let (part, port) = if kind.has_translated_source() {
            kind.template.source_of(frame)
        } else {
            (0, 0)
        };
        let seen = Mapped { part, port };
        let variable = self.stream.variable_of_arrival(
            kind,
            tag.sequence,
            StampedTime::new(tag.time_ns),
            seen,
        );
        RightFrame {
            expected: kind.template.patched(&variable),
            head_octets: kind.template.head_octets(),
            knows_peer: self.knows_peer,
            is_translated: self.is_translated,
        }
    }
}

/// Passes `frame` to the tester as a neighbour with hardware address `own`; returns its answers, and whether the frame was a neighbour's message
/// at all.
pub fn neighbour_answers(
    own: MacAddress,
    neighbours: &[Neighbours],
    frame: &[u8],
) -> (Vec<Vec<u8>>, bool) {
    let mut answerer = NeighbourAnswerer::new(own, neighbours);
    let is_message = answerer.consider(frame, 0);
    // A question that is repeated at once gets no second answer.
    assert_eq!(answerer.consider(frame, 1), is_message);
    assert!(
        answerer
            .asked_by_all()
            .iter()
            .all(|address| neighbours.iter().any(|ours| ours.tester == *address))
    );
    for neighbour in neighbours {
        assert!(
            crate::frames::neighbour::answer_in(frame, neighbour.dut)
                .is_none_or(MacAddress::is_station)
        );
    }
    (
        std::iter::from_fn(|| answerer.next_answer()).collect(),
        is_message,
    )
}

/// A client that waits for the answer to one query.
pub struct AnswerJudge {
    query: Vec<u8>,
    due: ExpectedAnswer,
}

impl AnswerJudge {
    /// Returns a client that has asked for the name of `address`; the answer must have the address `expected`, or no data if that is `None`.
    pub fn new(domain: &Domain, address: u32, expected: Option<Ipv6Addr>, role: DnsRole) -> Self {
        let query = Query::new(domain);
        let mut octets = vec![0; query.len()];
        query.write(&mut octets, 7, address);
        Self {
            query: octets,
            due: ExpectedAnswer {
                address: expected,
                most_ttl: 3600,
                role,
            },
        }
    }

    /// Returns its query.
    pub fn query(&self) -> &[u8] {
        &self.query
    }

    /// Returns a description of a message, as reports use for wrong ones.
    pub fn describe(&self, reply: &[u8]) -> String {
        describe(reply)
    }

    /// Judges a message by comparison and by the library, which must agree; returns whether it is the right answer.
    pub fn is_right(&self, reply: &[u8]) -> bool {
        if identifier(reply).is_none() {
            return false;
        }
        let question = &self.query[HEADER..];
        let (judged, by_library) = (
            judge(reply, question, &self.due),
            closely(reply, question, &self.due),
        );
        assert_eq!(
            judged, by_library,
            "the comparison and the library disagree"
        );
        if at_a_glance(reply, question, &self.due).is_some() {
            assert_eq!(judged, MessageClass::Answer(AnswerClass::Right));
        }
        judged == MessageClass::Answer(AnswerClass::Right)
    }
}

/// Answers a query in both ways, which must agree. Returns the answer's octets.
pub fn answer_both_ways(answerer: &Answerer, query: &[u8]) -> Vec<u8> {
    let (mut out, mut in_general) = ([0xaa; MOST_OCTETS], [0x55; MOST_OCTETS]);
    let answer: Answer = answerer.answer(query, &mut out);
    let general = answerer.answer_in_general(query, &mut in_general);
    assert_eq!(answer.kind, general.kind);
    let out = out[..answer.octets].to_vec();
    if out != in_general[..general.octets] {
        // The library compresses a name only by one with the same capitalisation, so its answer to a name in capitals is longer.
        let lower = in_lower_case(query);
        assert_ne!(lower, query, "the two ways differ");
        assert_eq!(
            out.to_ascii_lowercase(),
            answer_both_ways(answerer, &lower).to_ascii_lowercase(),
            "capitals matter"
        );
    }
    out
}

/// Returns a query with the name of its question in lower case.
fn in_lower_case(query: &[u8]) -> Vec<u8> {
    let mut lower = query.to_vec();
    let name = lower
        .iter_mut()
        .skip(HEADER)
        .take_while(|octet| **octet != 0);
    name.for_each(|octet| octet.make_ascii_lowercase());
    lower
}

/// Returns the authority's answer octets for data that arrives on a connection in these pieces.
pub fn answers_over_tcp<'a>(
    answerer: &Answerer,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let (mut messages, mut counts) = (FramedMessages::default(), AuthorityCounts::default());
    pieces.for_each(|piece| messages.take(piece, answerer, &mut counts));
    messages.answers
}

/// Returns the request that a server reads from these pieces, as its key and whether it closes; `None` if it is invalid or incomplete.
pub fn http_request<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<(u64, bool)> {
    let mut reader = RequestReader::default();
    let mut whole = None;
    for piece in pieces {
        match reader.take(piece) {
            ParsedRequest::Whole(HttpRequest { key, closes }) => whole = Some((key, closes)),
            ParsedRequest::Malformed => return None,
            // Nothing may follow a request.
            ParsedRequest::Part => whole = None,
        }
    }
    whole
}

/// Returns the octets of a request and of the right response to it.
pub fn http_exchange(key: u64, closes: bool, octets: u32) -> (Vec<u8>, Vec<u8>) {
    let (request, mut out, mut response) = (HttpRequest { key, closes }, Vec::new(), Vec::new());
    request.write("198.19.0.2", &mut out);
    request.write_response(octets, &mut response);
    (out, response)
}

/// Returns whether a client accepts these pieces as the right response to the request with this key; `None` while it is incomplete.
pub fn is_right_response<'a>(
    key: u64,
    octets: u32,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Option<bool> {
    let mut reader = ResponseReader::new(key, octets);
    let mut last = None;
    for piece in pieces {
        match reader.take(piece) {
            ResponseProgress::Wrong(_) => return Some(false),
            ResponseProgress::Right => last = Some(true),
            ResponseProgress::Part => {}
        }
    }
    last
}
