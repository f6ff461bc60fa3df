//! Counts the wrong frames by the first field that is wrong.

use crate::frames::verify::Mismatch;
use std::collections::BTreeMap;

/// The most fields that are distinguished: those of [`Mismatch`], for foreground and background.
const MOST_FIELDS: usize = 128;

/// The most wrong frames of a receiver whose numbers are stored, if another receiver may have seen a copy.
const MOST_FRAMES: usize = 65_536;

/// The counts of one receiver, by the first wrong field of a frame and by whether it is background. All memory is allocated before the trial.
pub(super) struct WrongFields {
    counts: Vec<((Mismatch, bool), u64)>,
    /// The numbers of the first of them, each with its index in `counts`; without capacity if there is no other receiver.
    frames: Vec<(u64, usize)>,
}

impl WrongFields {
    /// Returns empty counts. With `has_others`, other receivers may see frames with the same numbers.
    pub(super) fn new(has_others: bool) -> Self {
        Self {
            counts: Vec::with_capacity(MOST_FIELDS),
            frames: Vec::with_capacity(if has_others { MOST_FRAMES } else { 0 }),
        }
    }

    /// Counts frame `number`.
    #[cold]
    pub(super) fn count(&mut self, number: u64, field: (Mismatch, bool)) {
        let place = self.place_of(field);
        self.counts[place].1 += 1;
        if self.frames.len() < self.frames.capacity() {
            self.frames.push((number, place));
        }
    }

    fn place_of(&mut self, field: (Mismatch, bool)) -> usize {
        let known = self.counts.iter().position(|(known, _)| *known == field);
        known.unwrap_or_else(|| {
            self.counts.push((field, 0));
            self.counts.len() - 1
        })
    }

    /// Sorts the frames so that they are quickly found by number, before any is taken back.
    pub(super) fn sort(&mut self) {
        self.frames.sort_unstable();
    }

    /// Takes back frame `number`, which was a copy of another. If its field was not stored, the most frequent field is reduced.
    pub(super) fn take_back(&mut self, number: u64) {
        let known = self
            .frames
            .binary_search_by_key(&number, |(of, _)| *of)
            .ok()
            .map(|at| self.frames[at].1);
        let most = || {
            self.counts
                .iter()
                .enumerate()
                .max_by_key(|(_, (_, frames))| *frames)
                .map(|(place, _)| place)
        };
        if let Some(place) = known.or_else(most) {
            self.counts[place].1 -= 1;
        }
    }

    /// Adds the counts of another receiver.
    pub(super) fn add(&mut self, other: &Self) {
        for (field, frames) in &other.counts {
            let place = self.place_of(*field);
            self.counts[place].1 += frames;
        }
        for (number, place) in &other.frames {
            let own = self.place_of(other.counts[*place].0);
            self.frames.push((*number, own));
        }
    }

    /// Returns the frames by the names of their fields, which `name` gives.
    pub(super) fn by_name(
        &self,
        name: impl Fn(Mismatch, bool) -> &'static str,
    ) -> BTreeMap<String, u64> {
        let mut by_name = BTreeMap::new();
        for ((mismatch, is_background), frames) in
            self.counts.iter().filter(|(_, frames)| *frames > 0)
        {
            *by_name
                .entry(name(*mismatch, *is_background).to_owned())
                .or_default() += frames;
        }
        by_name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP_LIMIT: (Mismatch, bool) = (Mismatch::HopLimit, false);
    const PAYLOAD: (Mismatch, bool) = (Mismatch::Payload, false);

    fn counted(frames: &[(u64, (Mismatch, bool))]) -> WrongFields {
        let mut fields = WrongFields::new(true);
        for (number, field) in frames {
            fields.count(*number, *field);
        }
        fields.sort();
        fields
    }

    fn named(fields: &WrongFields) -> Vec<(String, u64)> {
        fields
            .by_name(|mismatch, _| {
                if mismatch == Mismatch::HopLimit {
                    "hop limit"
                } else {
                    "payload"
                }
            })
            .into_iter()
            .collect()
    }

    #[test]
    fn a_copy_is_taken_off_the_field_that_it_was_counted_under() {
        let (mut one, mut other) = (
            counted(&[(9, HOP_LIMIT), (3, PAYLOAD), (5, HOP_LIMIT)]),
            counted(&[(3, HOP_LIMIT)]),
        );
        one.take_back(3);
        one.add(&other);
        assert_eq!(named(&one), [("hop limit".to_owned(), 3)]);
        other.take_back(3);
        assert_eq!(named(&other), []);
    }

    #[test]
    fn frames_without_a_known_field_are_taken_off_the_most_frequent() {
        let mut alone = WrongFields::new(false);
        for number in [1, 2, 3] {
            alone.count(number, if number == 2 { PAYLOAD } else { HOP_LIMIT });
        }
        alone.take_back(2);
        assert_eq!(
            named(&alone),
            [("hop limit".to_owned(), 1), ("payload".to_owned(), 1)]
        );
    }
}
