//! The gaps in the numbering of the frames that arrived: the loss periods of RFC 3357.

use super::lengths::LengthRecorder;
use crate::frames::sent::SentNumbers;

/// The gaps among the frames of a direction, found from the numbers of the lost ones after the trial.
pub(super) struct GapFinder<'s> {
    sent: &'s SentNumbers,
    /// The last lost frame so far, and the length of the gap that it is in.
    last: Option<(u64, u64)>,
    pub(super) lengths: LengthRecorder,
    /// From the last frame of each gap to the first of the next.
    pub(super) distances: LengthRecorder,
}

impl<'s> GapFinder<'s> {
    pub(super) fn new(sent: &'s SentNumbers) -> Self {
        Self {
            sent,
            last: None,
            lengths: LengthRecorder::default(),
            distances: LengthRecorder::default(),
        }
    }

    /// Takes the number of the next lost frame; they ascend.
    pub(super) fn take(&mut self, lost: u64) {
        let length = match self.last {
            Some((last, length)) if self.sent.follows(last, lost) => length + 1,
            Some((last, length)) => {
                self.lengths.take(length);
                self.distances.take(lost - last);
                1
            }
            None => 1,
        };
        self.last = Some((lost, length));
    }

    /// Ends the last gap.
    pub(super) fn end(&mut self) {
        if let Some((_, length)) = self.last.take() {
            self.lengths.take(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::Bitmap;

    fn found(sent: &SentNumbers, lost: &[u64]) -> (Vec<(u64, u64)>, Option<u64>, Option<u64>) {
        let mut gaps = GapFinder::new(sent);
        for number in lost {
            gaps.take(*number);
        }
        gaps.end();
        let classes = gaps.lengths.distribution().map(|of| of.by_length);
        let classes = classes.unwrap_or_default().into_iter();
        let distances = gaps.distances.distribution();
        (
            classes.map(Into::into).collect(),
            distances.as_ref().map(|of| of.count),
            distances.map(|of| of.total),
        )
    }

    #[test]
    fn the_example_of_rfc_3357_has_its_loss_periods_and_the_distances_between_them() {
        // Sections 5.4.3 and 6.5: packets 2, 5, 7, 9 and 10 of 10 are lost; the periods have lengths 1, 1, 1, 2 and distances 3, 2, 2.
        let sent = SentNumbers::InTurn(vec![11]);
        assert_eq!(
            found(&sent, &[2, 5, 7, 9, 10]),
            (vec![(1, 3), (2, 1)], Some(3), Some(7))
        );
        assert_eq!(found(&sent, &[]), (vec![], None, None));
        assert_eq!(found(&sent, &[10]), (vec![(1, 1)], None, None));
    }

    #[test]
    fn frames_that_were_never_sent_neither_make_a_gap_longer_nor_end_it() {
        let mut replies = Bitmap::new(20);
        for number in [1, 4, 5, 9] {
            replies.set(number);
        }
        // The replies 1 and 4 follow each other, since no other was sent between them.
        assert_eq!(
            found(&SentNumbers::Each(replies), &[1, 4, 9]),
            (vec![(1, 1), (2, 1)], Some(1), Some(5))
        );
        // Queue 1 of 2 ended early: 4 and 6 are neighbours.
        assert_eq!(
            found(&SentNumbers::InTurn(vec![4, 2]), &[3, 4, 6]),
            (vec![(4, 1)], None, None)
        );
    }
}
