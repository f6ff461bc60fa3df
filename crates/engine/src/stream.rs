//! The frames of one direction: templates for foreground and background, and which frame comes next.

use crate::flow::{Counter, Flow};
use crate::profile::{Ends, Path, Profile, Variation};
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

/// From a place in a range to the 16 bits of an address on one side of the DUT.
#[derive(Clone, Copy, Debug)]
struct Word {
    first: u16,
    step: u16,
}

impl Word {
    /// `own` are the 16 bits of the path's own address.
    fn new(variation: Variation, version: IpVersion, own: u16) -> Self {
        match variation {
            Variation::None => Self { first: own, step: 0 },
            Variation::Part(part) => Self { first: part.range.first, step: 1 },
            Variation::Networks(_) if version == IpVersion::Ipv4 => Self { first: own, step: 1 << 8 },
            Variation::Networks(_) => Self { first: own, step: 1 },
        }
    }

    #[inline]
    fn at(self, place: u16) -> u16 {
        self.first.wrapping_add(place.wrapping_mul(self.step))
    }
}

fn counter(variation: Variation) -> Option<Counter> {
    match variation {
        Variation::None => None,
        Variation::Part(part) => Some(Counter::new(part.range)),
        Variation::Networks(count) => Some(Counter::random(count)),
    }
}

/// One kind of frame: its template, its ports and its addresses.
pub(crate) struct Kind {
    pub(crate) template: Template,
    flow: Flow,
    words: (Word, Word),
}

/// What both kinds of frames of a direction have in common.
struct Common<'a> {
    profile: &'a Profile,
    direction: Direction,
    trial: u8,
    macs: (MacAddress, MacAddress),
}

impl Kind {
    fn new(ends: &Ends, hop_limit: u8, is_background: bool, common: &Common<'_>) -> Result<Self, WireError> {
        let Common { profile, direction, trial, macs } = *common;
        let (id, version) = (StreamId::new(direction, is_background, trial), version(ends));
        let (source, destination) = profile.variations(direction);
        let template = Template::new(&Description {
            src_mac: macs.0,
            dst_mac: macs.1,
            src: ends.source,
            dst: ends.destination,
            hop_limit,
            frame_octets: usize::from(profile.frame_size.without_fcs(version)),
            stream: id.0,
            variable_at: (source.offset(version), destination.offset(version)),
        })?;
        let own = template.own_parts();
        let words = (Word::new(source, version, own.0), Word::new(destination, version, own.1));
        let counters = match (counter(source), counter(destination)) {
            (None, None) => None,
            (source, destination) => Some((source.unwrap_or(Counter::random(1)), destination.unwrap_or(Counter::random(1)))),
        };
        // The trial's number stays out of ports and addresses: every trial has the same pattern.
        let flow = Flow::new(profile.ports(direction), counters, profile.seed, id.0 & 3);
        Ok(Self { template, flow, words })
    }

    /// The variable fields of frame `sequence`, the `index`-th of its flow pattern.
    #[inline]
    fn variable(&self, sequence: u64, index: u64, time: StampedTime) -> Variable {
        let (source_port, destination_port) = self.flow.ports(index);
        let addresses = self.flow.address_places(index).map(|(s, d)| (self.words.0.at(s), self.words.1.at(d)));
        Variable { source_port, destination_port, sequence, time, addresses }
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

impl Stream {
    /// As the frames leave the tester: from `own` to the DUT's `peer` hardware address.
    pub(crate) fn sent(
        profile: &Profile,
        spec: &TrialSpec,
        direction: Direction,
        trial: u8,
        (own, peer): (MacAddress, MacAddress),
    ) -> Result<Self, WireError> {
        let common = Common { profile, direction, trial, macs: (own, peer) };
        Self::new(&common, spec, |path| (path.sent, HOP_LIMIT))
    }

    /// As the frames must arrive at the tester: from the DUT's `peer` to `own`.
    pub(crate) fn expected(
        profile: &Profile,
        spec: &TrialSpec,
        direction: Direction,
        trial: u8,
        (own, peer): (MacAddress, MacAddress),
    ) -> Result<Self, WireError> {
        let common = Common { profile, direction, trial, macs: (peer, own) };
        Self::new(&common, spec, |path| (path.expected, HOP_LIMIT.saturating_sub(path.hops)))
    }

    fn new(common: &Common<'_>, spec: &TrialSpec, view: impl Fn(&Path) -> (Ends, u8)) -> Result<Self, WireError> {
        let paths = common.profile.paths(common.direction);
        let kind = |path: &Path, is_background| {
            let (ends, hop_limit) = view(path);
            Kind::new(&ends, hop_limit, is_background, common)
        };
        Ok(Self {
            direction: common.direction,
            id: StreamId::new(common.direction, false, common.trial),
            foreground: kind(&paths.foreground, false)?,
            background: paths.background.as_ref().map(|path| kind(path, true)).transpose()?,
            share: common.profile.share,
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
        let index = match &self.turns {
            Turns::Unbounded => self.index(sequence),
            Turns::Among(flows) => self.index(sequence) % flows,
            Turns::Started(schedule) => self.index(sequence) % u64::from(schedule.segment_of(sequence).flows.max(1)),
        };
        kind.variable(sequence, index, time)
    }

    #[inline]
    fn index(&self, sequence: u64) -> u64 {
        if self.background.is_some() { self.share.index(sequence) } else { sequence }
    }
}
