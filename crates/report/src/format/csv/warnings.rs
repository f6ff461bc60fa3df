//! `warnings.csv`: the warnings of the run, with doubts about its numbers first.

use super::run;
use crate::digest::Digest;
use crate::findings::warning::ReportWarning;

/// Returns one row for each warning, numbered in the same order as in the other outputs; only the header if there are none.
pub(crate) fn warnings_csv(digest: &Digest<'_>) -> String {
    let plan = &digest.input.plan.name;
    let row = |(number, warning): (usize, ReportWarning<'_>)| {
        let own = [
            plan.clone(),
            number.to_string(),
            warning.text(),
            warning.level().to_owned(),
        ];
        (
            String::new(),
            own.into_iter().chain(anomaly(&warning)).collect(),
        )
    };
    run::file(digest, COLUMNS, (1..).zip(digest.warnings()).map(row))
}

const COLUMNS: &str = "plan,number,warning,level,kind,test,device,frames,share,trials,all_trials,first_frame_size_octets,first_repetition,first_trial";

/// Returns the columns from `kind` on; empty for a warning of the run.
fn anomaly(warning: &ReportWarning<'_>) -> [String; 10] {
    let Some(of) = warning.anomaly() else {
        return Default::default();
    };
    [
        of.kind.name().to_owned(),
        of.test.clone(),
        of.device.clone(),
        of.frames.to_string(),
        of.share()
            .map(|share| share.to_string())
            .unwrap_or_default(),
        of.trials.to_string(),
        of.all_trials.to_string(),
        of.first.frame_size.to_string(),
        of.first.repetition.to_string(),
        of.first.trial.to_string(),
    ]
}
