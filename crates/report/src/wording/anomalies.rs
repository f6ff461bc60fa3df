//! Kinds of frames that are not lost, but not as they should be either, in words.

use super::numbers::{share, whole};
use sixbench_method::trial::{AnomalyKind, TrialResult};

/// Returns `4,000 duplicate frames, 100 % of those received`; `base` are the words for the frames that the number is a share of.
pub(crate) fn frames_and_share(noun: &str, frames: u64, of: Option<f64>, base: &str) -> String {
    let of = of.map_or_else(String::new, |of| {
        format!(", {} of {base}", share_of_frames(of))
    });
    format!("{} {noun}{of}", whole(frames))
}

/// Returns a share that is not zero as one that does not look like zero.
pub(crate) fn share_of_frames(of: f64) -> String {
    if of < 0.001 {
        "less than 0.1\u{a0}%".to_owned()
    } else {
        share(of)
    }
}

/// Returns a line for each kind of anomaly of one trial: `warning: 4,000 duplicate frames, 100 % of those received: each is a further copy ...`.
pub(crate) fn of_trial(result: &TrialResult) -> String {
    let told = AnomalyKind::ALL
        .iter()
        .filter(|kind| !kind.is_plain_loss() && kind.in_trial(result) > 0);
    let line = |kind: &AnomalyKind| {
        let frames = kind.in_trial(result);
        let base = format!("those {}", kind.base().word());
        let words = frames_and_share(
            kind.noun(frames),
            frames,
            kind.share_in_trial(result),
            &base,
        )
        .replace('\u{a0}', " ");
        format!("  warning: {words}; {}\n", kind.meaning())
    };
    told.map(line).collect()
}
