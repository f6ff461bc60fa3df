//! Records lengths in frames, in memory of constant size.

use sixbench_method::trial::{LENGTH_CLASSES, LengthClass, LengthDistribution};

/// The lengths that a receiver has recorded so far.
#[derive(Clone, Debug)]
pub(crate) struct LengthRecorder {
    count: u64,
    shortest: u64,
    longest: u64,
    total: u64,
    classes: [u64; LENGTH_CLASSES],
}

impl Default for LengthRecorder {
    fn default() -> Self {
        Self {
            count: 0,
            shortest: u64::MAX,
            longest: 0,
            total: 0,
            classes: [0; LENGTH_CLASSES],
        }
    }
}

impl LengthRecorder {
    /// Records a length.
    #[inline]
    pub(crate) fn take(&mut self, length: u64) {
        self.count += 1;
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        self.total += length;
        self.classes[LengthClass::index(length)] += 1;
    }

    /// Adds the lengths of another recorder.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.total += other.total;
        for (own, other) in self.classes.iter_mut().zip(&other.classes) {
            *own += other;
        }
    }

    /// Returns the distribution of the lengths; `None` if there are none.
    pub(crate) fn distribution(&self) -> Option<LengthDistribution> {
        let classes = self.classes.iter().enumerate();
        let by_length = classes
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| LengthClass {
                up_to: LengthClass::longest_at(index),
                count: *count,
            });
        (self.count > 0).then(|| LengthDistribution {
            count: self.count,
            shortest: self.shortest,
            longest: self.longest,
            total: self.total,
            by_length: by_length.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorders_add_up_to_one_distribution() {
        let (mut one, mut other) = (LengthRecorder::default(), LengthRecorder::default());
        assert_eq!(one.distribution(), None);
        one.take(1);
        one.take(3);
        other.take(4);
        other.take(0);
        one.add(&other);
        let classes = [(0, 1), (1, 1), (4, 2)];
        let expected = LengthDistribution {
            count: 4,
            shortest: 0,
            longest: 4,
            total: 8,
            by_length: classes.map(LengthClass::from).to_vec(),
        };
        assert_eq!(one.distribution(), Some(expected));
    }
}
