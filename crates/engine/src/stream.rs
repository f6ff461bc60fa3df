//! The frames of one direction: templates for foreground and background, and which frame comes next.

use crate::flow::Flow;
use crate::profile::{Ends, Path, Profile};
use crate::side::{Word, counters, sides};
use crate::stateful::{Conversation, Mapped, Step, View};
use sixbench_method::terms::{Direction, IpVersion, Share};
use sixbench_method::trial::{Schedule, Shape, TrialSpec};
use sixbench_wire::template::{Description, StampedTime, Template, Variable};
use sixbench_wire::{MacAddress, WireError};

/// The hop limit test frames leave with.
pub(crate) const HOP_LIMIT: u8 = 64;

/// Which kind of frame, in which direction, of which trial: one octet of the tag.
///
/// The trial's number (modulo 64) tells a straggler of the trial before from a frame of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamId(pub(crate) u8);

impl StreamId {
    pub(crate) fn new(direction: Direction, is_background: bool, trial: u8) -> Self {
        let direction = u8::from(direction == Direction::Reverse);
        Self(direction | u8::from(is_background) << 1 | trial << 2)
    }

    pub(crate) fn is_background(self) -> bool {
        self.0 & 2 != 0
    }

    pub(crate) fn same_trial(self, other: Self) -> bool {
        self.0 >> 2 == other.0 >> 2
    }
}

/// One kind of frame: its template, its ports and its addresses.
pub(crate) struct Kind {
    pub(crate) template: Template,
    pattern: Pattern,
    words: (Word, Word),
}

/// What the ports and addresses of a frame follow from.
enum Pattern {
    /// Its number.
    Flow(Flow),
    /// The connection it belongs to.
    Conversation(Box<Conversation>, View),
}

/// What both kinds of frames of a direction have in common.
struct Common<'a> {
    profile: &'a Profile,
    direction: Direction,
    trial: u8,
    macs: (MacAddress, MacAddress),
    conversation: Option<&'a Conversation>,
    /// As the frames arrive, not as they leave.
    is_arrival: bool,
}

impl Common<'_> {
    /// The connections that foreground frames are of, if they are of some, and how they are seen.
    fn conversation(&self) -> Option<(Conversation, View)> {
        let opens = self.profile.gateway.as_ref()?.opens;
        let of_initiator = self.direction == opens;
        Some((self.conversation?.clone(), View { at_initiator: of_initiator != self.is_arrival, of_initiator }))
    }
}

impl<'a> Source<'a> {
    fn common(self, macs: (MacAddress, MacAddress), is_arrival: bool) -> Common<'a> {
        let Self { profile, direction, trial, conversation, .. } = self;
        Common { profile, direction, trial, macs, conversation, is_arrival }
    }
}

impl Kind {
    fn new(ends: &Ends, hop_limit: u8, is_background: bool, common: &Common<'_>) -> Result<Self, WireError> {
        let Common { profile, direction, trial, macs, .. } = *common;
        let (id, version) = (StreamId::new(direction, is_background, trial), version(ends));
        let conversation = if is_background { None } else { common.conversation() };
        let sides = sides(profile.variations(direction), version, conversation.as_ref().map(|(_, view)| *view));
        let template = Template::new(&Description {
            src_mac: macs.0,
            dst_mac: macs.1,
            src: ends.source,
            dst: ends.destination,
            hop_limit,
            frame_octets: usize::from(profile.frame_size.without_fcs(version)),
            stream: id.0,
            variable_at: (sides.0.at, sides.1.at),
        })?;
        let own = template.own_parts();
        let words = (sides.0.word(version, own.0), sides.1.word(version, own.1));
        let pattern = match conversation {
            Some((conversation, view)) => Pattern::Conversation(Box::new(conversation), view),
            // The trial's number stays out of ports and addresses: every trial has the same pattern.
            None => Pattern::Flow(Flow::new(profile.ports(direction), counters(profile, direction), profile.seed, id.0 & 3)),
        };
        Ok(Self { template, pattern, words })
    }

    /// The variable fields of frame `sequence`, the `index`-th of its flow pattern.
    #[inline]
    fn variable(&self, sequence: u64, index: u64, time: StampedTime, seen: Option<Mapped>) -> Variable {
        let (ports, places) = match &self.pattern {
            Pattern::Flow(flow) => (flow.ports(index), flow.address_places(index)),
            Pattern::Conversation(conversation, view) => {
                let fields = conversation.fields(*view, conversation.connection(*view, index), seen);
                (fields.ports, Some(fields.places))
            }
        };
        let addresses = places.map(|(s, d)| (self.words.0.at(s), self.words.1.at(d)));
        Variable { source_port: ports.0, destination_port: ports.1, sequence, time, addresses }
    }
}

fn version(ends: &Ends) -> IpVersion {
    if ends.source.is_ipv4() { IpVersion::Ipv4 } else { IpVersion::Ipv6 }
}

/// How frames take turns among a bounded number of flows.
enum Turns {
    /// Every frame draws anew.
    Unbounded,
    /// Among so many at once.
    Among(u64),
    /// Among those already started.
    Started(Schedule),
}

impl Turns {
    fn new(profile: &Profile, spec: &TrialSpec) -> Self {
        match (profile.flows, spec.shape) {
            (_, Shape::Ramp { .. }) => Self::Started(spec.schedule()),
            (Some(flows), _) => Self::Among(u64::from(flows.count.max(1))),
            (None, _) => Self::Unbounded,
        }
    }
}

/// Both kinds of one direction, as they leave or as they must arrive.
pub(crate) struct Stream {
    pub(crate) direction: Direction,
    pub(crate) id: StreamId,
    foreground: Kind,
    background: Option<Kind>,
    share: Share,
    turns: Turns,
}

/// Whose frames a stream is made of.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) spec: &'a TrialSpec,
    pub(crate) direction: Direction,
    pub(crate) trial: u8,
    /// Connections the foreground frames are of.
    pub(crate) conversation: Option<&'a Conversation>,
}

impl Stream {
    /// As the frames leave the tester: from `own` to the DUT's `peer` hardware address.
    pub(crate) fn sent(of: Source<'_>, (own, peer): (MacAddress, MacAddress)) -> Result<Self, WireError> {
        Self::new(&of.common((own, peer), false), of.spec, |path| (path.sent, HOP_LIMIT))
    }

    /// As the frames must arrive at the tester: from the DUT's `peer` to `own`.
    pub(crate) fn expected(of: Source<'_>, (own, peer): (MacAddress, MacAddress)) -> Result<Self, WireError> {
        Self::new(&of.common((peer, own), true), of.spec, |path| (path.expected, HOP_LIMIT.saturating_sub(path.hops)))
    }

    fn new(common: &Common<'_>, spec: &TrialSpec, view: impl Fn(&Path) -> (Ends, u8)) -> Result<Self, WireError> {
        let paths = common.profile.paths(common.direction);
        let kind = |path: &Path, is_background| {
            let (ends, hop_limit) = view(path);
            Kind::new(&ends, hop_limit, is_background, common)
        };
        // A background frame would open no connection, nor try one.
        let is_of_connections = common.conversation.is_some_and(|conversation| conversation.step != Step::Use);
        let share = if is_of_connections { Share::ALL } else { common.profile.share };
        Ok(Self {
            direction: common.direction,
            id: StreamId::new(common.direction, false, common.trial),
            foreground: kind(&paths.foreground, false)?,
            background: paths.background.as_ref().map(|path| kind(path, true)).transpose()?,
            share,
            turns: Turns::new(common.profile, spec),
        })
    }

    /// The kind of frame `sequence`, and whether it is background.
    #[inline]
    pub(crate) fn kind(&self, sequence: u64) -> (&Kind, bool) {
        match &self.background {
            Some(background) if !self.share.is_foreground(sequence) => (background, true),
            _ => (&self.foreground, false),
        }
    }

    /// The variable fields of frame `sequence`, which is of this `kind`.
    #[inline]
    pub(crate) fn variable(&self, kind: &Kind, sequence: u64, time: StampedTime) -> Variable {
        kind.variable(sequence, self.turn(sequence), time, None)
    }

    /// The same of a frame that arrived from `seen`, which counts where nobody can know the source before.
    #[inline]
    pub(crate) fn variable_of_arrival(&self, kind: &Kind, sequence: u64, time: StampedTime, seen: Mapped) -> Variable {
        kind.variable(sequence, self.turn(sequence), time, Some(seen))
    }

    /// Takes note of the source of a right frame where it opens a connection.
    #[inline]
    pub(crate) fn learn(&self, kind: &Kind, sequence: u64, source: Mapped) {
        if let Pattern::Conversation(conversation, view) = &kind.pattern {
            conversation.learn(*view, conversation.connection(*view, self.turn(sequence)), source);
        }
    }

    /// The connection of a frame, if it is of one, and how it is known.
    pub(crate) fn connection(&self, sequence: u64) -> Option<(&Conversation, u64)> {
        let Pattern::Conversation(conversation, view) = &self.kind(sequence).0.pattern else { return None };
        Some((&**conversation, conversation.connection(*view, self.turn(sequence))))
    }

    /// Whether the foreground frames arrive to have their sources learned.
    pub(crate) fn opens_connections(&self) -> bool {
        matches!(&self.foreground.pattern, Pattern::Conversation(conversation, view) if conversation.learns(*view))
    }

    /// Whether the foreground frames arrive with sources out of a pool.
    pub(crate) fn has_translated_sources(&self) -> bool {
        matches!(&self.foreground.pattern, Pattern::Conversation(_, view) if view.is_translated())
    }

    #[inline]
    fn turn(&self, sequence: u64) -> u64 {
        match &self.turns {
            Turns::Unbounded => self.index(sequence),
            Turns::Among(flows) => self.index(sequence) % flows,
            Turns::Started(schedule) => self.index(sequence) % u64::from(schedule.segment_of(sequence).flows.max(1)),
        }
    }

    #[inline]
    fn index(&self, sequence: u64) -> u64 {
        if self.background.is_some() { self.share.index(sequence) } else { sequence }
    }
}
