//! The octets of an input, taken from the front. Missing octets are zero, so that every input is meaningful.

/// The octets that were not taken yet.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    /// Takes an octet.
    pub(crate) fn octet(&mut self) -> u8 {
        let [octet] = self.array();
        octet
    }

    /// Takes a number below `end`, which must not be zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end <= 256 {
            usize::from(self.octet()) % end
        } else {
            usize::from(u16::from_be_bytes(self.array())) % end
        }
    }

    /// Takes `N` octets.
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let (front, rest) = self.0.split_at(N.min(self.0.len()));
        taken[..front.len()].copy_from_slice(front);
        self.0 = rest;
        taken
    }

    /// Takes a number.
    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.array())
    }

    /// Takes a piece whose length is given by its first octet.
    pub(crate) fn piece(&mut self) -> &'a [u8] {
        let octets = usize::from(self.octet()).min(self.0.len());
        let (piece, rest) = self.0.split_at(octets);
        self.0 = rest;
        piece
    }

    /// Overwrites parts of `octets` with positions and values from the input, until that ends. With a few changes, a right message becomes one
    /// that is nearly right.
    pub(crate) fn change(&mut self, octets: &mut Vec<u8>) {
        while !self.0.is_empty() {
            let [kind] = self.array();
            let at = if octets.is_empty() {
                0
            } else {
                self.below(octets.len())
            };
            match kind % 4 {
                0 => octets
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|octet| *octet ^= self.octet()),
                1 => {
                    let piece = self.piece();
                    octets
                        .iter_mut()
                        .skip(at)
                        .zip(piece)
                        .for_each(|(octet, new)| *octet = *new);
                }
                2 => octets.truncate(at),
                _ => drop(octets.splice(at..at, self.piece().iter().copied())),
            }
        }
    }

    /// Returns the rest of the input as pieces, each preceded by an octet with its length.
    pub(crate) fn pieces(mut self) -> impl Iterator<Item = &'a [u8]> {
        std::iter::from_fn(move || (!self.0.is_empty()).then(|| self.piece()))
    }
}
