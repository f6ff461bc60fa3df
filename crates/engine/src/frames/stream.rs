//! The frames of one direction: templates for foreground and background in each size, and the order of frames.

use super::broadcast::{self, BroadcastOrder};
use super::flow::{DrawnPorts, Flow};
use super::profile::{AddressVariation, Encapsulation, Path, Paths, TrafficProfile};
use super::side::{AddressField, Viewpoint, counters, sides, version};
use super::size_order::SizeOrder;
use super::stateful::{Conversation, ConversationStep, Mapped};
use super::subscriber::SubscriberPopulation;
use super::window::RequestLog;
use sixbench_method::plan::{Payload, SizeMix};
use sixbench_method::terms::{Direction, FrameSize, Share};
use sixbench_method::trial::{Schedule, TrialKind, TrialSpec};
use sixbench_wire::template::{
    DatagramEnd, Description, OuterHeader, StampedTime, SubscriberAddresses, Template, Transport,
    Variable,
};
use sixbench_wire::{EchoKind, MacAddress, WireError};
use std::sync::Arc;

/// The hop limit with which test frames leave.
pub(crate) const HOP_LIMIT: u8 = 64;

/// The kind, direction and trial of a frame: one octet of the tag.
///
/// The trial's number (modulo 64) distinguishes a straggler of an earlier trial from a frame of this one.
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

/// The number of a kind of frame among those of its stream: foreground and background of the first size, then those of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindNumber(u8);

impl KindNumber {
    const FOREGROUND: Self = Self(0);
    const BACKGROUND: Self = Self(1);
    /// That of broadcast frames, which have no sizes beside them.
    const BROADCAST: Self = Self(2);

    /// Returns the number of the kind with the size at this place of a mix.
    fn of_size(place: usize, is_background: bool) -> Self {
        Self((place as u8) << 1 | u8::from(is_background))
    }

    pub(crate) fn is_background(self) -> bool {
        self.0 & 1 != 0
    }
}

/// One kind of frame: its template, its ports and its addresses.
pub(crate) struct FrameKind {
    pub(crate) template: Template,
    pattern: Pattern,
    address_fields: (AddressField, AddressField),
    population: Option<SubscriberPopulation>,
    /// True if the identification and fragmentation fields of an IPv4 frame must arrive as they were sent.
    pub(crate) keeps_identification: bool,
}

/// The basis from which the ports and addresses of a frame follow.
enum Pattern {
    /// The frame's number.
    Flow(FlowPattern),
    /// The connection that the frame belongs to.
    Conversation(Box<Conversation>, Viewpoint),
}

/// The hardware addresses of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkMacs {
    /// That of the tester.
    pub(crate) own: MacAddress,
    /// That of the DUT.
    pub(crate) peer: MacAddress,
}

impl LinkMacs {
    /// Returns them with the ends exchanged.
    pub(crate) fn exchanged(self) -> Self {
        Self {
            own: self.peer,
            peer: self.own,
        }
    }
}

/// The settings that both kinds of frames of a direction share.
struct Common<'a> {
    profile: &'a TrafficProfile,
    direction: Direction,
    trial: u8,
    /// The source and the destination, as `own` and `peer`.
    macs: LinkMacs,
    conversation: Option<&'a Conversation>,
    /// True if the frames are described as they arrive, false if as they leave.
    is_arrival: bool,
    /// True if these are replies, which have the ports and addresses of the forward frames with the same numbers, with the ends swapped.
    is_reply: bool,
}

impl Common<'_> {
    /// Returns the subscribers' end of these frames; the subscribers are on the left.
    fn subscriber_end(&self) -> DatagramEnd {
        match self.direction {
            Direction::Forward => DatagramEnd::Source,
            Direction::Reverse => DatagramEnd::Destination,
        }
    }

    /// Returns the subscribers as seen where these frames are: forward frames leave on the left and arrive on the right.
    fn population(&self) -> Option<SubscriberPopulation> {
        let is_left = (self.direction == Direction::Forward) != self.is_arrival;
        let subscribers = self.profile.subscribers.as_ref()?;
        let ports = self.profile.ports(self.pattern());
        let range = if self.pattern() == Direction::Forward {
            ports.source
        } else {
            ports.destination
        };
        Some(SubscriberPopulation::new(
            subscribers,
            self.subscriber_end(),
            is_left,
            range.order,
        ))
    }

    /// Returns the direction whose pattern of ports and addresses these frames follow.
    fn pattern(&self) -> Direction {
        if self.is_reply {
            Direction::Forward
        } else {
            self.direction
        }
    }

    /// Returns the variations of the source and destination address.
    fn variations(&self) -> (AddressVariation, AddressVariation) {
        let (source, destination) = self.profile.variations(self.pattern());
        if self.is_reply {
            (destination, source)
        } else {
            (source, destination)
        }
    }

    /// Returns the description of these frames with the addresses of `datagram`, none of which varies.
    fn description(
        &self,
        datagram: &Encapsulation,
        frame_size: FrameSize,
        is_background: bool,
    ) -> Description {
        let version = version(datagram.ends.source);
        let outer = datagram.tunnel.map(|tunnel| OuterHeader {
            src: tunnel.ends.source,
            dst: tunnel.ends.destination,
            hop_limit: if self.is_arrival {
                tunnel.hop_limit
            } else {
                HOP_LIMIT
            },
        });
        Description {
            src_mac: self.macs.own,
            dst_mac: self.macs.peer,
            src: datagram.ends.source,
            dst: datagram.ends.destination,
            hop_limit: HOP_LIMIT,
            // The size is that of the datagram's frame; an outer header is added to it.
            frame_octets: usize::from(frame_size.without_fcs(version))
                + outer.map_or(0, |outer| outer.octets()),
            stream: StreamId::new(self.direction, is_background, self.trial).0,
            variable_at: (0, 0),
            transport: if is_background {
                Transport::Udp
            } else {
                self.transport()
            },
            outer,
        }
    }

    /// Returns the flow that these frames follow.
    fn flow(&self, is_background: bool) -> Flow {
        let pattern = self.pattern();
        // Without the trial's number, so that all trials with a seed have the same ports and addresses.
        let stream = StreamId::new(pattern, is_background, self.trial).0 & 3;
        Flow::new(
            self.profile.ports(pattern),
            counters(self.profile, pattern),
            self.profile.seed,
            stream,
        )
    }

    /// Returns the seed of the order of frame sizes, which the two directions do not share: large frames of one do not always meet those of the other.
    fn order_seed(&self) -> u64 {
        self.profile
            .seed
            .wrapping_add(u64::from(self.pattern() == Direction::Reverse))
    }

    fn transport(&self) -> Transport {
        match (self.profile.payload, self.direction) {
            (Payload::Udp, _) => Transport::Udp,
            (Payload::Echo, Direction::Forward) => Transport::Echo(EchoKind::Request),
            (Payload::Echo, Direction::Reverse) => Transport::Echo(EchoKind::Reply),
        }
    }

    /// Returns the connections to which foreground frames belong, if any, and how they are seen.
    fn conversation(&self) -> Option<(Conversation, Viewpoint)> {
        let opens = self.profile.gateway.as_ref()?.opens;
        let of_initiator = self.direction == opens;
        Some((
            self.conversation?.clone(),
            Viewpoint {
                at_initiator: of_initiator != self.is_arrival,
                of_initiator,
            },
        ))
    }
}

impl<'a> StreamSource<'a> {
    fn common(self, macs: LinkMacs, is_arrival: bool) -> Common<'a> {
        let Self {
            profile,
            spec,
            direction,
            trial,
            conversation,
        } = self;
        let is_reply = spec.kind == TrialKind::Response && direction == Direction::Reverse;
        let macs = if is_arrival { macs.exchanged() } else { macs };
        Common {
            profile,
            direction,
            trial,
            macs,
            conversation,
            is_arrival,
            is_reply,
        }
    }
}

impl FrameKind {
    fn new(
        datagram: &Encapsulation,
        hop_limit: u8,
        frame_size: FrameSize,
        is_background: bool,
        common: &Common<'_>,
    ) -> Result<Self, WireError> {
        // Background frames belong to no connection and to no subscriber.
        let (conversation, population) = if is_background {
            (None, None)
        } else {
            (common.conversation(), common.population())
        };
        let version = version(datagram.ends.source);
        let (source, destination) = common.variations();
        let view = conversation.as_ref().map(|(_, view)| *view);
        let sides = sides(source, destination, version, view);
        let ends = population.as_ref().map_or(datagram.ends, |population| {
            population.zero_varying_suffix(datagram.ends)
        });
        let template = Template::new(&Description {
            src: ends.source,
            dst: ends.destination,
            hop_limit,
            variable_at: (sides.0.at, sides.1.at),
            ..common.description(datagram, frame_size, is_background)
        })?;
        let own = template.own_parts();
        let address_fields = (
            sides.0.address_field(version, own.0),
            sides.1.address_field(version, own.1),
        );
        let pattern = match conversation {
            Some((conversation, view)) => Pattern::Conversation(Box::new(conversation), view),
            None => Pattern::Flow(FlowPattern {
                flow: common.flow(is_background),
                address_fields,
                population: population.clone(),
                is_reply: common.is_reply,
                is_echo: template.description().transport != Transport::Udp,
                requests: None,
            }),
        };
        Ok(Self {
            keeps_identification: false,
            template,
            pattern,
            address_fields,
            population,
        })
    }

    /// Returns whether the frames arrive with sources that the DUT has taken from a pool.
    pub(crate) fn has_translated_source(&self) -> bool {
        matches!(&self.pattern, Pattern::Conversation(_, view) if view.is_translated())
    }

    /// Takes the client of each frame from `requests`.
    fn set_requests(&mut self, requests: Option<&Arc<RequestLog>>) {
        if let Pattern::Flow(pattern) = &mut self.pattern {
            pattern.requests = requests.cloned();
        }
    }

    /// Returns the pattern of ports and addresses of these frames, unless they belong to connections.
    pub(crate) fn flow_pattern(&self) -> Option<&FlowPattern> {
        match &self.pattern {
            Pattern::Flow(pattern) => Some(pattern),
            Pattern::Conversation(..) => None,
        }
    }

    /// Returns the variable fields of frame `sequence`, which is frame `index` of its flow pattern.
    #[inline]
    fn variable(
        &self,
        sequence: u64,
        index: u64,
        time: StampedTime,
        seen: Option<Mapped>,
    ) -> Variable {
        let (conversation, view) = match &self.pattern {
            Pattern::Flow(pattern) => return pattern.variable(sequence, index, time),
            Pattern::Conversation(conversation, view) => (conversation, view),
        };
        let fields = conversation.fields(*view, conversation.connection(*view, index), seen);
        // The index of the Initiator's address is the subscriber's number.
        let number = if view.of_initiator {
            fields.places.0
        } else {
            fields.places.1
        };
        // Behind the DUT the address comes from the pool, so there is a subscriber's address only on the Initiator's side.
        let population = self.population.as_ref().filter(|_| view.at_initiator);
        let subscriber = population.and_then(|all| Some(all.addresses(all.member(number)?)));
        let addresses = (
            self.address_fields.0.at(fields.places.0),
            self.address_fields.1.at(fields.places.1),
        );
        let (source_port, destination_port) = fields.ports;
        Variable {
            source_port,
            destination_port,
            sequence,
            time,
            addresses: Some(addresses),
            subscriber,
        }
    }
}

/// The ports and addresses of frames of one kind, which follow from the frames' numbers.
#[derive(Clone)]
pub(crate) struct FlowPattern {
    flow: Flow,
    address_fields: (AddressField, AddressField),
    population: Option<SubscriberPopulation>,
    /// True for replies, which have the fields of the request with the same number.
    is_reply: bool,
    is_echo: bool,
    /// The requests of a closed loop, each of which belongs to the client that was free to send it.
    requests: Option<Arc<RequestLog>>,
}

impl FlowPattern {
    /// Returns the variable fields of frame `sequence`, which is frame `index` of the pattern. A reply has the ports and addresses of its request
    /// with the ends swapped; an echo reply keeps identifier and sequence number (RFC 4443 section 4.2).
    #[inline(always)]
    pub(crate) fn variable(&self, sequence: u64, index: u64, time: StampedTime) -> Variable {
        let (mut ports, mut places) = (self.flow.ports(index), self.flow.address_places(index));
        let subscriber = match &self.population {
            Some(population) => self.subscriber(population, sequence, index, &mut ports),
            None => None,
        };
        if self.is_reply {
            places = places.map(|(source, destination)| (destination, source));
            ports = if self.is_echo {
                ports
            } else {
                (ports.1, ports.0)
            };
        }
        let addresses = places.map(|(source, destination)| {
            (
                self.address_fields.0.at(source),
                self.address_fields.1.at(destination),
            )
        });
        Variable {
            source_port: ports.0,
            destination_port: ports.1,
            sequence,
            time,
            addresses,
            subscriber,
        }
    }

    /// Returns the addresses of the frame's subscriber, and replaces one port by one of the subscriber's.
    #[inline(always)]
    fn subscriber(
        &self,
        population: &SubscriberPopulation,
        sequence: u64,
        index: u64,
        ports: &mut (u16, u16),
    ) -> Option<SubscriberAddresses> {
        let draw = self.flow.subscriber(index);
        let member = match &self.requests {
            None => population.drawn(index, draw)?,
            Some(requests) => population.member(requests.client(sequence))?,
        };
        let end = if self.is_reply {
            DatagramEnd::Source
        } else {
            population.end()
        };
        population.take_port(member, index, draw, end, ports);
        Some(population.addresses(member))
    }

    /// Returns the ports of the frames if they are drawn and nothing else varies.
    fn drawn_ports(&self) -> Option<DrawnPorts> {
        let is_simple = self.population.is_none() && !self.is_reply;
        self.flow.drawn_ports().filter(|_| is_simple)
    }

    /// Returns whether 32 bits of an address vary from frame to frame.
    pub(crate) fn varies_addresses(&self) -> bool {
        self.flow.varies_addresses()
    }

    /// Returns the end of the frames at which there are many subscribers, each with a whole address; `None` without subscribers.
    pub(crate) fn subscriber_end(&self) -> Option<DatagramEnd> {
        self.population.as_ref().map(SubscriberPopulation::end)
    }
}

/// The way in which frames take turns among flows.
enum Turns {
    /// Every frame has its own values.
    Unbounded,
    /// Frames take turns among this number of flows.
    Among(u64),
    /// Frames take turns among the flows that have already started.
    Started(Schedule),
}

impl Turns {
    fn new(profile: &TrafficProfile, spec: &TrialSpec) -> Self {
        match (profile.flows, spec.kind) {
            // In the ramp before a trial, all flows take turns from the start.
            (Some(flows), TrialKind::Ramp { .. }) if flows.step_ns > 0 => {
                Self::Started(spec.schedule())
            }
            (Some(flows), _) => Self::Among(u64::from(flows.count.max(1))),
            (None, _) => Self::Unbounded,
        }
    }
}

/// The frames of one direction, as they leave or as they must arrive.
pub(crate) struct Stream {
    pub(crate) direction: Direction,
    pub(crate) id: StreamId,
    foreground: FrameKind,
    others: OtherKinds,
    share: Share,
    turns: Turns,
}

/// The kinds of frames of a stream beside its foreground. The usual stream has none, and finds that out by one comparison for each frame.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each stream, and its frames are to be no pointer further away"
)]
enum OtherKinds {
    None,
    /// Background frames, of the same size.
    Background(FrameKind),
    /// Frames of several sizes, those of the stream's foreground included.
    Sizes(MixedKinds),
    /// Broadcast frames, in place of foreground frames.
    Broadcasts(BroadcastOrder, Box<FrameKind>),
}

/// The frames of a mix of sizes: one kind for each size, in the order of the mix.
struct MixedKinds {
    order: SizeOrder,
    foreground: Vec<FrameKind>,
    /// Empty without background.
    background: Vec<FrameKind>,
}

impl MixedKinds {
    #[inline]
    fn kind(&self, sequence: u64, share: Share) -> (&FrameKind, KindNumber) {
        let place = self.order.place(sequence);
        let is_background = !self.background.is_empty() && !share.is_foreground(sequence);
        let kinds = if is_background {
            &self.background
        } else {
            &self.foreground
        };
        (&kinds[place], KindNumber::of_size(place, is_background))
    }

    /// Returns each kind with its number.
    fn kinds(&self) -> impl Iterator<Item = (&FrameKind, KindNumber)> {
        numbered(&self.foreground, false).chain(numbered(&self.background, true))
    }
}

/// Makes the kinds of frames of a stream; `view` takes their datagrams and hop limits from their paths.
struct KindMaker<'a, V> {
    common: &'a Common<'a>,
    view: V,
}

impl<V: Fn(&Path) -> (Encapsulation, u8)> KindMaker<'_, V> {
    fn kind(
        &self,
        path: &Path,
        size: FrameSize,
        is_background: bool,
    ) -> Result<FrameKind, WireError> {
        let (datagram, hop_limit) = (self.view)(path);
        let profile = self.common.profile;
        Ok(FrameKind {
            keeps_identification: profile.keeps_identification && path.keeps_ipv4(),
            ..FrameKind::new(&datagram, hop_limit, size, is_background, self.common)?
        })
    }

    /// Returns the broadcast frames in place of the frames of a path.
    fn broadcast(&self, path: &Path) -> Result<FrameKind, WireError> {
        let kind = self.kind(path, self.common.profile.frame_size, false)?;
        Ok(FrameKind {
            template: kind
                .template
                .with_ethernet(MacAddress::BROADCAST, broadcast::ETHER_TYPE),
            ..kind
        })
    }

    fn of_each_size(
        &self,
        path: &Path,
        mix: SizeMix,
        is_background: bool,
    ) -> Result<Vec<FrameKind>, WireError> {
        mix.shares()
            .iter()
            .map(|share| self.kind(path, share.size, is_background))
            .collect()
    }

    /// Returns the kinds beside the foreground of the nominal size.
    fn others(&self, paths: &Paths) -> Result<OtherKinds, WireError> {
        let profile = self.common.profile;
        if let Some(every) = profile.broadcast_every {
            return Ok(OtherKinds::Broadcasts(
                BroadcastOrder::new(every),
                Box::new(self.broadcast(&paths.foreground)?),
            ));
        }
        let background = paths.background.as_ref();
        let Some(&mix) = profile.size_mix.as_deref() else {
            return background.map_or(Ok(OtherKinds::None), |path| {
                let kind = self.kind(path, profile.frame_size, true);
                kind.map(OtherKinds::Background)
            });
        };
        Ok(OtherKinds::Sizes(MixedKinds {
            order: SizeOrder::new(mix, self.common.order_seed()),
            foreground: self.of_each_size(&paths.foreground, mix, false)?,
            background: background
                .map_or(Ok(Vec::new()), |path| self.of_each_size(path, mix, true))?,
        }))
    }
}

/// Returns the kinds of one kind of traffic in each size, with their numbers.
fn numbered(
    kinds: &[FrameKind],
    is_background: bool,
) -> impl Iterator<Item = (&FrameKind, KindNumber)> {
    kinds
        .iter()
        .enumerate()
        .map(move |(place, kind)| (kind, KindNumber::of_size(place, is_background)))
}

/// The source of a stream's frames.
#[derive(Clone, Copy)]
pub(crate) struct StreamSource<'a> {
    pub(crate) profile: &'a TrafficProfile,
    pub(crate) spec: &'a TrialSpec,
    pub(crate) direction: Direction,
    pub(crate) trial: u8,
    /// The connections to which the foreground frames belong.
    pub(crate) conversation: Option<&'a Conversation>,
}

impl Stream {
    /// Returns the frames as they leave the tester.
    pub(crate) fn sent(of: StreamSource<'_>, macs: LinkMacs) -> Result<Self, WireError> {
        Self::new(&of.common(macs, false), of.spec, |path| {
            (path.sent, HOP_LIMIT)
        })
    }

    /// Returns the frames as they must arrive at the tester.
    pub(crate) fn expected(of: StreamSource<'_>, macs: LinkMacs) -> Result<Self, WireError> {
        Self::new(&of.common(macs, true), of.spec, |path| {
            (path.expected, HOP_LIMIT.saturating_sub(path.hops))
        })
    }

    fn new(
        common: &Common<'_>,
        spec: &TrialSpec,
        view: impl Fn(&Path) -> (Encapsulation, u8),
    ) -> Result<Self, WireError> {
        let maker = KindMaker { common, view };
        let profile = common.profile;
        let paths = profile.paths(common.direction);
        // A background frame would not open or validate a connection.
        let is_of_connections = common
            .conversation
            .is_some_and(|conversation| conversation.step != ConversationStep::Use);
        let share = if is_of_connections {
            Share::ALL
        } else {
            profile.share
        };
        Ok(Self {
            direction: common.direction,
            id: StreamId::new(common.direction, false, common.trial),
            foreground: maker.kind(&paths.foreground, profile.frame_size, false)?,
            others: maker.others(paths)?,
            share,
            turns: Turns::new(profile, spec),
        })
    }

    /// Returns the same frames, with the client of each taken from `requests`.
    pub(crate) fn of_clients(mut self, requests: Option<&Arc<RequestLog>>) -> Self {
        self.foreground.set_requests(requests);
        if let OtherKinds::Sizes(mixed) = &mut self.others {
            for kind in &mut mixed.foreground {
                kind.set_requests(requests);
            }
        }
        self
    }

    /// Returns the octets of the longest frame, without FCS.
    pub(crate) fn longest_octets(&self) -> usize {
        let octets = self.kinds().map(|(kind, _)| kind.template.frame_octets());
        octets.fold(0, usize::max)
    }

    /// Returns the kinds of frames in the stream, foreground first, with their numbers.
    pub(crate) fn kinds(&self) -> Box<dyn Iterator<Item = (&FrameKind, KindNumber)> + '_> {
        let foreground = std::iter::once((&self.foreground, KindNumber::FOREGROUND));
        match &self.others {
            // A broadcast frame is nothing that is expected to arrive.
            OtherKinds::None | OtherKinds::Broadcasts(..) => Box::new(foreground),
            OtherKinds::Background(kind) => {
                Box::new(foreground.chain([(kind, KindNumber::BACKGROUND)]))
            }
            OtherKinds::Sizes(mixed) => Box::new(mixed.kinds()),
        }
    }

    /// Returns the order of the sizes of the frames; `None` if all have the same size.
    pub(crate) fn size_order(&self) -> Option<&SizeOrder> {
        match &self.others {
            OtherKinds::None | OtherKinds::Background(_) | OtherKinds::Broadcasts(..) => None,
            OtherKinds::Sizes(mixed) => Some(&mixed.order),
        }
    }

    /// Returns which of the frames are broadcast; `None` if none is.
    #[inline]
    pub(crate) fn broadcasts(&self) -> Option<BroadcastOrder> {
        match &self.others {
            OtherKinds::Broadcasts(order, _) => Some(*order),
            OtherKinds::None | OtherKinds::Background(_) | OtherKinds::Sizes(_) => None,
        }
    }

    #[inline(always)]
    fn is_of_one_kind(&self) -> bool {
        matches!(self.others, OtherKinds::None)
    }

    /// Returns the pattern of the frames and their template if all are of one kind; `None` with background traffic or several sizes, or if the frames'
    /// numbers do not determine a pattern.
    pub(crate) fn only_kind(&self) -> Option<(&FlowPattern, &Template)> {
        let pattern = self
            .foreground
            .flow_pattern()
            .filter(|_| self.is_of_one_kind())?;
        Some((pattern, &self.foreground.template))
    }

    /// Returns the ports of the frames of this stream by their numbers, if apart from them only number and time vary.
    pub(crate) fn drawn_ports(&self) -> Option<DrawnPorts> {
        let is_simple = self.is_of_one_kind() && matches!(self.turns, Turns::Unbounded);
        self.foreground
            .flow_pattern()
            .filter(|_| is_simple)?
            .drawn_ports()
    }

    /// Returns the kind of frame `sequence`, with its number.
    #[inline(always)]
    pub(crate) fn kind(&self, sequence: u64) -> (&FrameKind, KindNumber) {
        if self.is_of_one_kind() {
            (&self.foreground, KindNumber::FOREGROUND)
        } else {
            self.kind_of_several(sequence)
        }
    }

    #[inline(never)]
    fn kind_of_several(&self, sequence: u64) -> (&FrameKind, KindNumber) {
        match &self.others {
            OtherKinds::Background(background) if !self.share.is_foreground(sequence) => {
                (background, KindNumber::BACKGROUND)
            }
            OtherKinds::Broadcasts(order, broadcast) if order.has(sequence) => {
                (broadcast, KindNumber::BROADCAST)
            }
            OtherKinds::None | OtherKinds::Background(_) | OtherKinds::Broadcasts(..) => {
                (&self.foreground, KindNumber::FOREGROUND)
            }
            OtherKinds::Sizes(mixed) => mixed.kind(sequence, self.share),
        }
    }

    /// Returns the variable fields of frame `sequence`, which is of this `kind`.
    #[inline]
    pub(crate) fn variable(&self, kind: &FrameKind, sequence: u64, time: StampedTime) -> Variable {
        kind.variable(sequence, self.turn(sequence), time, None)
    }

    /// Returns the same for a frame that arrived from `seen`, which is used if the source cannot be known in advance.
    #[inline]
    pub(crate) fn variable_of_arrival(
        &self,
        kind: &FrameKind,
        sequence: u64,
        time: StampedTime,
        seen: Mapped,
    ) -> Variable {
        kind.variable(sequence, self.turn(sequence), time, Some(seen))
    }

    /// Notes the source of a right frame if it opens a connection.
    #[inline]
    pub(crate) fn learn(&self, kind: &FrameKind, sequence: u64, source: Mapped) {
        if let Pattern::Conversation(conversation, view) = &kind.pattern {
            conversation.learn(
                *view,
                conversation.connection(*view, self.turn(sequence)),
                source,
            );
        }
    }

    /// Returns the connection to which a frame belongs, if there is one.
    pub(crate) fn connection(&self, sequence: u64) -> Option<(&Conversation, u64)> {
        let Pattern::Conversation(conversation, view) = &self.kind(sequence).0.pattern else {
            return None;
        };
        Some((
            &**conversation,
            conversation.connection(*view, self.turn(sequence)),
        ))
    }

    /// Returns whether the sources of arriving foreground frames are to be learned.
    pub(crate) fn opens_connections(&self) -> bool {
        matches!(&self.foreground.pattern, Pattern::Conversation(conversation, view) if conversation.learns(*view))
    }

    /// Returns whether the foreground frames arrive with sources from a pool.
    pub(crate) fn has_translated_sources(&self) -> bool {
        self.foreground.has_translated_source()
    }

    /// Returns the index of frame `sequence` in the flow pattern of its kind.
    #[inline(always)]
    pub(crate) fn turn(&self, sequence: u64) -> u64 {
        match &self.turns {
            Turns::Unbounded => self.index(sequence),
            Turns::Among(flows) => self.index(sequence) % flows,
            Turns::Started(schedule) => {
                self.index(sequence) % u64::from(schedule.segment_of(sequence).flows.max(1))
            }
        }
    }

    #[inline(always)]
    fn index(&self, sequence: u64) -> u64 {
        match &self.others {
            OtherKinds::None => sequence,
            OtherKinds::Sizes(mixed) if mixed.background.is_empty() => sequence,
            OtherKinds::Background(_) | OtherKinds::Sizes(_) => self.share.index(sequence),
            OtherKinds::Broadcasts(order, _) => sequence - order.before(sequence),
        }
    }
}
