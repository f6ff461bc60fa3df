//! The results as text: a table by RFC, and then what is wrong, the strongest requirements first.

use super::{DeviceResults, VectorOutcome};
use crate::judge::{FrameVerdict, StepVerdict, VectorResult};
use crate::notation::RequirementLevel;
use std::collections::BTreeSet;

impl DeviceResults {
    /// Returns the table by RFC, one line for each, with the levels of what is violated.
    pub fn table(&self) -> String {
        let rfcs: BTreeSet<u32> = self.vectors.iter().map(|vector| vector.rfc).collect();
        let titles = VectorResult::ALL.map(VectorResult::title);
        let heading = titles.iter().fold(format!("{:<9}", "RFC"), |line, title| {
            format!("{line}  {title}")
        });
        let rows = rfcs.into_iter().map(|rfc| {
            VectorResult::ALL.iter().zip(titles).fold(
                format!("{rfc:<9}"),
                |line, (result, title)| {
                    let count = self
                        .vectors
                        .iter()
                        .filter(|vector| vector.rfc == rfc && vector.judgement.result == *result)
                        .count();
                    format!("{line}  {count:>width$}", width = title.len())
                },
            )
        });
        let lines: Vec<String> = [self.headline(), String::new(), heading]
            .into_iter()
            .chain(rows)
            .collect();
        lines.join("\n") + "\n"
    }

    /// Returns the sentence with the figures: requirements met, and violated by level.
    pub fn headline(&self) -> String {
        let met = self.count(VectorResult::Right) + self.count(VectorResult::Allowed);
        let asked = self.vectors.len()
            - self.count(VectorResult::NotApplicable)
            - self.count(VectorResult::Unknown);
        let violated = RequirementLevel::ALL.map(|level| (level, self.violations(level)));
        let violated: Vec<String> = violated
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(level, count)| format!("{count} {}", level.word()))
            .collect();
        let violated = if violated.is_empty() {
            "none violated".to_owned()
        } else {
            format!("violated: {}", violated.join(", "))
        };
        let Self { title, version, .. } = self;
        format!("{title} ({version}): {met} of {asked} requirements met; {violated}")
    }

    /// Returns what is not right, and known defects that do not show: each with its clause, its sentence, the frames, and the command that sends it
    /// once more.
    pub fn findings(&self) -> String {
        let mut wrong: Vec<&VectorOutcome> = self
            .vectors
            .iter()
            .filter(|vector| {
                vector.judgement.result.is_violation()
                    || vector.judgement.result == VectorResult::Unknown
                    || is_defect_gone(vector)
            })
            .collect();
        wrong.sort_by_key(|vector| {
            (
                !vector.judgement.result.is_violation(),
                vector.level,
                vector.judgement.result,
            )
        });
        wrong
            .into_iter()
            .map(|vector| self.finding(vector))
            .collect()
    }

    fn finding(&self, vector: &VectorOutcome) -> String {
        let VectorOutcome {
            rfc,
            clause,
            level,
            name,
            sentence,
            judgement,
            is_known_defect,
            ..
        } = vector;
        let known = match (is_known_defect, judgement.result.is_violation()) {
            (false, _) => "",
            (true, true) => "; a known defect",
            (true, false) => "; the recipe names it as a known defect",
        };
        let heading = format!(
            "{}: {name} ({}, {}{known})",
            judgement.result.title(),
            citation(*rfc, clause),
            level.word()
        );
        let mut lines = vec![String::new(), heading, format!("  {sentence}")];
        let reason = judgement.reason.iter();
        lines.extend(reason.map(|reason| format!("  reason    {reason}")));
        if judgement.steps.is_empty() {
            lines.extend(sent_lines(&vector.send));
            lines.extend(answer_lines(&judgement.frames));
        } else {
            lines.extend(step_lines(&judgement.steps));
        }
        lines.extend(
            vector
                .capture
                .iter()
                .map(|file| format!("  frames    {file}")),
        );
        lines.push(format!(
            "  again     sixbench conformance {} --vector {name}",
            self.device
        ));
        lines.join("\n") + "\n"
    }

    /// Returns the outcome of one vector in full, whatever it is.
    pub fn in_full(&self) -> String {
        self.vectors
            .iter()
            .map(|vector| self.finding(vector))
            .collect()
    }
}

/// Returns true if the recipe names a defect that the device does not have: the recipe should no longer excuse it.
fn is_defect_gone(vector: &VectorOutcome) -> bool {
    let is_met = matches!(
        vector.judgement.result,
        VectorResult::Right | VectorResult::Allowed
    );
    vector.is_known_defect && is_met
}

/// Returns the RFC with its section. A clause of another RFC than the file's is written out.
fn citation(rfc: u32, clause: &str) -> String {
    if clause.starts_with("RFC ") {
        clause.to_owned()
    } else {
        format!("RFC {rfc} section {clause}")
    }
}

fn sent_lines(frames: &[String]) -> impl Iterator<Item = String> {
    frames.iter().map(|frame| format!("  sent      {frame}"))
}

/// Returns the lines of the steps of an exchange, up to the one that was not right.
fn step_lines(steps: &[StepVerdict]) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, step) in (1..).zip(steps) {
        lines.push(format!("  step {number}"));
        let wait = step.wait_ms.map(|wait_ms| wait_ms as f64 / 1e3);
        lines.extend(wait.map(|seconds| format!("  waited    {seconds} s")));
        lines.extend(sent_lines(&step.send));
        lines.extend(answer_lines(&step.frames));
        if !step.names.is_empty() {
            lines.push(format!("  names     {}", step.names.join(", ")));
        }
    }
    lines
}

/// Returns the lines of what is expected and what came.
fn answer_lines(frames: &[FrameVerdict]) -> Vec<String> {
    if frames.is_empty() {
        return vec!["  expected  nothing".to_owned()];
    }
    let is_silence_wanted = frames.iter().all(|frame| frame.expected.is_none());
    let none_expected = if is_silence_wanted {
        "nothing"
    } else {
        "nothing more"
    };
    frames
        .iter()
        .flat_map(|frame| frame_lines(frame, none_expected))
        .collect()
}

/// Returns the lines of a frame; `none_expected` is said where a frame came that is not expected.
fn frame_lines(frame: &FrameVerdict, none_expected: &str) -> Vec<String> {
    let expected = frame.expected.as_deref().unwrap_or(none_expected);
    let came = frame.came.as_deref().unwrap_or("nothing");
    let mut lines = vec![
        format!("  expected  {expected}"),
        format!("  came      {came}"),
    ];
    lines.extend(
        frame
            .differences
            .iter()
            .map(|difference| format!("    {difference}")),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::citation;

    #[test]
    fn a_clause_of_another_rfc_is_cited_as_it_is_written() {
        assert_eq!(citation(7915, "4.1"), "RFC 7915 section 4.1");
        let router = "RFC 1812 section 5.2.2";
        assert_eq!(citation(7915, router), router);
    }
}
