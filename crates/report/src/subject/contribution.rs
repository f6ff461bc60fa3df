//! What a subject contributes to a report.

use super::chapter::Chapter;
use super::fields::{PointFields, RunFields};
use crate::digest::{Digest, PointDigest};

/// A subject of a report, such as the throughput or mixed traffic. It says nothing where the run has nothing of it: its chapters are empty then, which
/// leaves them out, and it has no sentence.
///
/// Every method has a default, because hardly a subject contributes to all parts of a report. What a subject lacks is missing in the report at once.
pub(crate) trait Subject: Sync {
    /// Returns its chapters among the results.
    fn results(&self, _digest: &Digest) -> Vec<Chapter> {
        Vec::new()
    }

    /// Returns its chapters among the evidence behind the results.
    fn evidence(&self, _digest: &Digest) -> Vec<Chapter> {
        Vec::new()
    }

    /// Returns whether its chapters list what was measured rather than compare it. The chapters of any other subject are made for each group of devices
    /// alone, because results of two groups must not be compared.
    fn is_a_list(&self) -> bool {
        false
    }

    /// Returns the first sentence of the report; `host` has the results of one host.
    fn headline(&self, _host: &Digest) -> Option<String> {
        None
    }

    /// Returns sentences on all devices that one host measured, which keep the groups of devices apart themselves. They precede
    /// [`Self::comparisons`].
    fn overview(&self, _host: &Digest) -> Vec<String> {
        Vec::new()
    }

    /// Returns sentences that compare the devices of one group on one host.
    fn comparisons(&self, _group: &Digest) -> Vec<String> {
        Vec::new()
    }

    /// Returns the sentence on the result of one point, for results that are not ranked.
    fn point_sentence(&self, _point: &PointDigest) -> Option<String> {
        None
    }

    /// Returns sentences on why the results say less than they seem to, or say more of what is behind them.
    fn reservations(&self, _digest: &Digest) -> Vec<String> {
        Vec::new()
    }

    /// Writes what `results.json` has of it at a point.
    fn fill_point<'p>(
        &self,
        _fields: &mut PointFields<'p>,
        _digest: &Digest,
        _point: &PointDigest<'p>,
    ) {
    }

    /// Writes what `results.json` has of it for the whole run.
    fn fill_run<'a>(&self, _fields: &mut RunFields<'a>, _digest: &Digest<'a>) {}
}
