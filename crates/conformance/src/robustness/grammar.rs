//! The frame of each number: a valid datagram in which one to three mistakes are made. It depends on the seed and its number alone.

use super::base::ValidDatagram;
use super::coverage::{DatagramGroup, DrawnLength, MalformedKind};
use super::draft::Draft;
use super::mutation::Mutation;
use crate::frame::Side;
use crate::setting::DeviceSetting;
use sixbench_stats::{SplitMix64, mix};

/// The number of tries to find a datagram that has a place for a mistake, or a mistake for which a datagram has a place.
const TRIES: usize = 64;
/// The number of tries in one group of datagrams. Most groups have a place for a mistake in any datagram or in none, so two tries are enough to know.
const TRIES_IN_GROUP: usize = 2;
/// The smallest MTU of a link with IPv6, in octets (RFC 8200 section 5).
const LEAST_MTU: usize = 1280;
/// The largest distance of a drawn length from an MTU, in octets.
const NEAR_MTU: usize = 8;

/// A malformed frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedFrame {
    /// Its number among the frames of a seed.
    pub index: u64,
    /// The side on which it is sent.
    pub side: Side,
    /// The name of the vector with the valid frame.
    pub vector: String,
    /// The mistakes that were made in it, in this order.
    pub mistakes: Vec<String>,
    /// Its octets, from the IP header on.
    pub octets: Vec<u8>,
}

/// A malformed frame with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnFrame {
    /// The frame.
    pub frame: MalformedFrame,
    /// The kind.
    pub kind: MalformedKind,
}

/// The malformed frames for a device, by their numbers.
#[derive(Clone, Debug)]
pub struct FrameGrammar<'a> {
    seed: u64,
    groups: Vec<GroupedDatagrams<'a>>,
    setting: &'a DeviceSetting,
}

/// The valid datagrams of a group; never none.
#[derive(Clone, Debug)]
struct GroupedDatagrams<'a> {
    group: DatagramGroup,
    valid: Vec<&'a ValidDatagram>,
}

/// A valid datagram in which mistakes are made.
struct ChosenDatagram<'a> {
    valid: &'a ValidDatagram,
    kind: MalformedKind,
    draft: Draft,
}

impl<'a> FrameGrammar<'a> {
    /// Returns the grammar of a seed; `None` if no datagram is valid for the device.
    pub fn new(seed: u64, valid: &'a [ValidDatagram], setting: &'a DeviceSetting) -> Option<Self> {
        let mut groups: Vec<GroupedDatagrams<'a>> = Vec::new();
        for datagram in valid {
            let group = datagram.group();
            match groups.iter_mut().find(|known| known.group == group) {
                Some(known) => known.valid.push(datagram),
                None => groups.push(GroupedDatagrams {
                    group,
                    valid: vec![datagram],
                }),
            }
        }
        (!groups.is_empty()).then_some(Self {
            seed,
            groups,
            setting,
        })
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the frame of a number.
    pub fn frame(&self, index: u64) -> MalformedFrame {
        self.draw(index).frame
    }

    /// Returns the frame of a number with its kind. Frames of consecutive numbers go through all mistakes, for each of these through all groups, and so
    /// on through all lengths, so that a run of frames that is long beside the number of these combinations has them evenly.
    pub fn draw(&self, index: u64) -> DrawnFrame {
        let mut chosen = self.with_first_mistake(index);
        let ChosenDatagram { valid, kind, draft } = &mut chosen;
        // Six in ten frames have one mistake, three have two, and one has three.
        // The list is not empty, so one is drawn.
        let wanted = draft.one(&[1, 1, 1, 1, 1, 1, 2, 2, 2, 3]).unwrap_or(1);
        for _ in 0..TRIES {
            if draft.mistakes.len() >= wanted {
                break;
            }
            let mutation = draft.one(&Mutation::ALL);
            let made = mutation.filter(|mutation| self.make(*mutation, draft).is_some());
            // If no datagram had a place for the mistake of this number, the kind has the first one that was made instead.
            kind.mistake = kind.mistake.or(made);
        }
        self.finish(draft, valid.side);
        let frame = MalformedFrame {
            index,
            side: valid.side,
            vector: valid.vector.clone(),
            mistakes: std::mem::take(&mut draft.mistakes),
            octets: std::mem::take(&mut draft.octets),
        };
        DrawnFrame { frame, kind: *kind }
    }

    /// Returns a datagram of the kind that comes next, with its first mistake. If datagrams of its group have no place for that mistake, it is one of
    /// another group.
    fn with_first_mistake(&self, index: u64) -> ChosenDatagram<'a> {
        let counts = [
            Mutation::ALL.len(),
            self.groups.len(),
            DrawnLength::ALL.len(),
        ];
        let [mutation, mut group, length] = digits(index, counts);
        let (mutation, length) = (Mutation::ALL[mutation], DrawnLength::ALL[length]);
        let mut random = SplitMix64::new(mix(self.seed ^ mix(index)));
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut chosen = self.choose(group, length, random);
            let is_made = self.make(mutation, &mut chosen.draft).is_some();
            chosen.kind.mistake = is_made.then_some(mutation);
            if is_made || attempts == TRIES {
                return chosen;
            }
            random = SplitMix64::new(chosen.draft.bits() as u64);
            if attempts % TRIES_IN_GROUP == 0 {
                group = chosen.draft.below(self.groups.len());
            }
        }
    }

    fn choose(&self, group: usize, length: DrawnLength, random: SplitMix64) -> ChosenDatagram<'a> {
        let GroupedDatagrams { group, valid } = &self.groups[group];
        let mut draft = Draft::new(Vec::new(), random);
        let valid = valid[draft.below(valid.len())];
        draft.octets.clone_from(&valid.octets);
        let mtu = self.setting.mtu(valid.side).into();
        let wanted = match length {
            DrawnLength::OfVector => None,
            DrawnLength::HeadersAlone => Some(0),
            DrawnLength::Any => Some(draft.below(mtu)),
            DrawnLength::LeastMtu => Some(LEAST_MTU - NEAR_MTU + draft.below(2 * NEAR_MTU + 1)),
            DrawnLength::LinkMtu => Some(mtu - draft.below(NEAR_MTU + 1)),
        };
        if let Some(wanted) = wanted {
            draft.resize(wanted);
        }
        ChosenDatagram {
            valid,
            kind: MalformedKind {
                group: *group,
                length,
                mistake: None,
            },
            draft,
        }
    }

    /// Makes a mistake, and notes what was done; `None` if there is no place for it.
    fn make(&self, mutation: Mutation, draft: &mut Draft) -> Option<()> {
        let made = mutation.make_in(draft, self.setting)?;
        draft.mistakes.push(made);
        Some(())
    }

    /// Makes what is no mistake right, so that a device looks further than at the first check, and the frame one that the link carries.
    fn finish(&self, draft: &mut Draft, side: Side) {
        draft.disarm_neighbour_discovery();
        if !draft.keeps_checksums && !draft.once_in(4) {
            draft.repair_checksums();
        } else if !draft.keeps_checksums {
            draft.mistakes.push("checksums unchanged".to_owned());
        }
        draft.octets.truncate(self.setting.mtu(side).into());
        if draft.octets.is_empty() {
            // A frame without any octet of a datagram is not sent by every interface.
            draft.octets.push(0);
        }
    }
}

/// Returns the digits of a number, the lowest first, where each has a base of its own. What is above the highest digit is left out.
fn digits(number: u64, bases: [usize; 3]) -> [usize; 3] {
    let mut left = number;
    bases.map(|base| {
        let digit = left % base as u64;
        left /= base as u64;
        digit as usize
    })
}
