//! What a load beside the vectors changes.

use super::DeviceResults;
use crate::judge::VectorJudgement;
use sixbench_method::text::verb_for;
use sixbench_method::trial::{JudgedVector, LoadedDirection, LoadedFinding};
use sixbench_method::units::{counted, show_rate};

/// Returns what was found of a vector under load, if that is something else than what was found quietly: another result, or another choice.
pub fn loaded_finding(
    quiet: &JudgedVector,
    judgement: VectorJudgement,
    attempts: u32,
) -> Option<Box<LoadedFinding>> {
    let VectorJudgement {
        result,
        alternative,
        reason,
        frames,
        steps,
    } = judgement;
    let is_same = result == quiet.result && alternative == quiet.choice;
    (!is_same).then(|| {
        Box::new(LoadedFinding {
            result,
            choice: alternative,
            reason,
            // As in what was found quietly, the steps of an exchange have those of the last one as well.
            frames: if steps.is_empty() { frames } else { Vec::new() },
            steps,
            attempts,
            capture: None,
            capture_sha256: None,
        })
    })
}

impl DeviceResults {
    /// Returns the lines about the load: its counts, and how many vectors differ; nothing if there was none.
    pub(super) fn load_lines(&self) -> Vec<String> {
        let Some(load) = &self.requirements.load else {
            return Vec::new();
        };
        let results = &self.requirements;
        let count = results.count(|vector| results.differing(vector).is_some());
        let differing = if results.offered_load().is_none() {
            "nothing is known".to_owned()
        } else if count == 0 {
            "no vector differs from the quiet run".to_owned()
        } else {
            let (vectors, differ) = (
                counted(count, "vector"),
                verb_for(count, "differs", "differ"),
            );
            format!("{vectors} {differ} from the quiet run")
        };
        let mut lines = vec![
            String::new(),
            format!(
                "under load ({} frames/s in each direction, {} octets): {differing}",
                show_rate(load.rate),
                load.frame_size.0
            ),
        ];
        lines.extend(load.directions.iter().map(direction_line));
        if load.invalid_trials > 0 {
            lines.push(format!(
                "  the tester did not offer this load in {} of {}",
                load.invalid_trials,
                counted(u64::from(load.trials), "trial")
            ));
        }
        lines
    }
}

fn direction_line(counts: &LoadedDirection) -> String {
    let LoadedDirection {
        direction,
        offered,
        received,
        wrong,
    } = counts;
    let lost = counts.lost();
    format!("  {direction}  {offered} sent, {received} received, {lost} lost, {wrong} wrong")
}
