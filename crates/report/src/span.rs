//! The time span of a run, from the times of its trials.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use sixbench_method::record::TrialRecord;

/// The time from the first frame of the first trial to the end of the last trial.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

impl Span {
    pub(crate) fn of<'r>(records: impl Iterator<Item = &'r TrialRecord>) -> Option<Self> {
        let times = records.filter_map(|record| {
            let from: Timestamp = record.started.parse().ok()?;
            let took =
                SignedDuration::from_nanos(i64::try_from(record.result.spec.duration_ns).ok()?);
            Some(Self {
                from,
                to: from.checked_add(took).ok()?,
            })
        });
        times.reduce(|all, trial| Self {
            from: all.from.min(trial.from),
            to: all.to.max(trial.to),
        })
    }

    /// Returns the duration in whole seconds, including pauses between the parts of a resumed run.
    pub(crate) fn seconds(self) -> u64 {
        self.to
            .duration_since(self.from)
            .as_secs()
            .try_into()
            .unwrap_or(0)
    }

    /// Returns `2026-11-21 09:00:00 to 09:14:12 UTC`, with a second date only if it differs.
    pub(crate) fn describe(self) -> String {
        let [from, to] = [self.from, self.to].map(|time| time.to_zoned(TimeZone::UTC));
        let day = if from.date() == to.date() {
            ""
        } else {
            "%Y-%m-%d "
        };
        format!(
            "{} to {}",
            from.strftime("%Y-%m-%d %H:%M:%S"),
            to.strftime(&format!("{day}%H:%M:%S UTC"))
        )
    }
}
