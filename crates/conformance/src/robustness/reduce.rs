//! Delta debugging: the smallest sequence of frames that still makes a device crash (ddmin of Zeller and Hildebrandt, "Simplifying and Isolating
//! Failure-Inducing Input", 2002). It says what to try next, and learns what came of it.

/// A search for the smallest part of a sequence that still does what the whole did. Frames keep their order.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The places in the sequence of what is left.
    left: Vec<usize>,
    /// The number of parts into which it is divided.
    parts: usize,
    /// The attempt at this division: first each part alone, and then all but one.
    at: usize,
    /// The attempts that may still be made.
    attempts: usize,
}

impl Reduction {
    /// Returns a search in a sequence of `count` frames, with at most so many attempts.
    pub fn new(count: usize, attempts: usize) -> Self {
        Self {
            left: (0..count).collect(),
            parts: 2,
            at: 0,
            attempts,
        }
    }

    /// Returns the places of the frames to try next, or `None` if the search is over.
    pub fn next_attempt(&self) -> Option<Vec<usize>> {
        (self.attempts > 0 && !self.is_minimal()).then(|| self.attempt())
    }

    /// Notes whether the frames of [`Reduction::next_attempt`] did it.
    pub fn learn(&mut self, did_it: bool) {
        self.attempts = self.attempts.saturating_sub(1);
        if did_it {
            let is_part = self.at < self.parts;
            self.left = self.attempt();
            self.parts = if is_part { 2 } else { (self.parts - 1).max(2) };
            self.at = 0;
            return;
        }
        self.at += 1;
        if self.at == self.attempts_per_division() && self.parts < self.left.len() {
            self.parts = (2 * self.parts).min(self.left.len());
            self.at = 0;
        }
    }

    /// Returns the places of the frames that are left.
    pub fn smallest(&self) -> &[usize] {
        &self.left
    }

    /// Returns true if without any single one of them the rest does not do it.
    pub fn is_minimal(&self) -> bool {
        self.left.len() <= 1 || self.at >= self.attempts_per_division()
    }

    /// Of two parts, all but the one are the other.
    fn attempts_per_division(&self) -> usize {
        if self.parts == 2 { 2 } else { 2 * self.parts }
    }

    fn attempt(&self) -> Vec<usize> {
        let part = self.at % self.parts;
        let (count, parts) = (self.left.len(), self.parts);
        let (begin, end) = (count * part / parts, count * (part + 1) / parts);
        if self.at < self.parts {
            self.left[begin..end].to_vec()
        } else {
            [&self.left[..begin], &self.left[end..]].concat()
        }
    }
}
