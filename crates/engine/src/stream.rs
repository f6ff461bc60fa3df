//! The frames of one direction: templates for foreground and background, and which frame comes next.

use crate::flow::Flow;
use crate::profile::{AddressOrder, Ends, Path, Profile};
use sixbench_method::terms::{Direction, IpVersion, Share};
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

/// One kind of frame: its template and its ports.
pub(crate) struct Kind {
    pub(crate) template: Template,
    flow: Flow,
    addresses: AddressOrder,
}

impl Kind {
    fn new(
        ends: &Ends,
        hop_limit: u8,
        id: StreamId,
        macs: (MacAddress, MacAddress),
        profile: &Profile,
    ) -> Result<Self, WireError> {
        let template = Template::new(&Description {
            src_mac: macs.0,
            dst_mac: macs.1,
            src: ends.source,
            dst: ends.destination,
            hop_limit,
            frame_octets: usize::from(profile.frame_size.without_fcs(version(ends))),
            stream: id.0,
        })?;
        // The trial's number stays out of the ports: every trial has the same pattern.
        Ok(Self { template, flow: Flow::new(profile.ports, profile.seed, id.0 & 3), addresses: profile.addresses })
    }

    /// The variable fields of frame `sequence`.
    #[inline]
    pub(crate) fn variable(&self, sequence: u64, time: StampedTime) -> Variable {
        let (source_port, destination_port) = self.flow.ports(sequence);
        let addresses = match self.addresses {
            AddressOrder::Fixed => None,
            AddressOrder::Pseudorandom => Some(self.flow.address_parts(sequence)),
        };
        Variable { source_port, destination_port, sequence, time, addresses }
    }
}

fn version(ends: &Ends) -> IpVersion {
    if ends.source.is_ipv4() { IpVersion::Ipv4 } else { IpVersion::Ipv6 }
}

/// Both kinds of one direction, as they leave or as they must arrive.
pub(crate) struct Stream {
    pub(crate) direction: Direction,
    pub(crate) id: StreamId,
    pub(crate) foreground: Kind,
    pub(crate) background: Option<Kind>,
    share: Share,
}

impl Stream {
    /// As the frames leave the tester: from `own` to the DUT's `peer` hardware address.
    pub(crate) fn sent(
        profile: &Profile,
        direction: Direction,
        trial: u8,
        own: MacAddress,
        peer: MacAddress,
    ) -> Result<Self, WireError> {
        Self::new(profile, direction, trial, (own, peer), |path| (path.sent, HOP_LIMIT))
    }

    /// As the frames must arrive at the tester: from the DUT's `peer` to `own`.
    pub(crate) fn expected(
        profile: &Profile,
        direction: Direction,
        trial: u8,
        own: MacAddress,
        peer: MacAddress,
    ) -> Result<Self, WireError> {
        Self::new(profile, direction, trial, (peer, own), |path| (path.expected, HOP_LIMIT.saturating_sub(path.hops)))
    }

    fn new(
        profile: &Profile,
        direction: Direction,
        trial: u8,
        macs: (MacAddress, MacAddress),
        view: impl Fn(&Path) -> (Ends, u8),
    ) -> Result<Self, WireError> {
        let paths = profile.paths(direction);
        let kind = |path: &Path, is_background| {
            let (ends, hop_limit) = view(path);
            Kind::new(&ends, hop_limit, StreamId::new(direction, is_background, trial), macs, profile)
        };
        Ok(Self {
            direction,
            id: StreamId::new(direction, false, trial),
            foreground: kind(&paths.foreground, false)?,
            background: paths.background.as_ref().map(|path| kind(path, true)).transpose()?,
            share: profile.share,
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
}
