//! The results as text: a table by RFC, and then what is wrong, the strongest requirements first.

use super::DeviceResults;
use sixbench_method::trial::{
    JudgedFrame, JudgedStep, JudgedVector, LoadedFinding, RequirementLevel, VectorResult,
};
use std::collections::BTreeSet;

impl DeviceResults {
    /// Returns the table by RFC, one line for each, with the levels of what is violated.
    pub fn table(&self) -> String {
        let rfcs: BTreeSet<u32> = self.vectors().map(|vector| vector.rfc).collect();
        let titles = VectorResult::ALL.map(VectorResult::title);
        let heading = titles.iter().fold(format!("{:<9}", "RFC"), |line, title| {
            format!("{line}  {title}")
        });
        let rows = rfcs.into_iter().map(|rfc| {
            VectorResult::ALL.iter().zip(titles).fold(
                format!("{rfc:<9}"),
                |line, (result, title)| {
                    let count = self
                        .vectors()
                        .filter(|vector| vector.rfc == rfc && vector.result == *result)
                        .count();
                    format!("{line}  {count:>width$}", width = title.len())
                },
            )
        });
        let lines: Vec<String> = [self.headline(), String::new(), heading]
            .into_iter()
            .chain(rows)
            .chain(self.load_lines())
            .chain(self.known_line())
            .collect();
        lines.join("\n") + "\n"
    }

    /// Returns the sentence with the figures: requirements met, and violated by level.
    pub fn headline(&self) -> String {
        let results = &self.requirements;
        let violated = RequirementLevel::ALL.map(|level| (level, results.violated_of(level)));
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
        let title = &self.title;
        // A device that somebody else has set up does not tell it.
        let version = match self.version.as_str() {
            "" => "version unknown",
            known => known,
        };
        format!(
            "{title} ({version}): {} of {} requirements met; {violated}",
            results.met(),
            results.judged()
        )
    }

    /// Returns the lines on known defects, if the recipe names some of the vectors that were sent.
    fn known_line(&self) -> Vec<String> {
        let known = self.requirements.known_violations();
        let lines = known.map(|known| vec![String::new(), format!("known defects: {known}")]);
        lines.unwrap_or_default()
    }

    fn vectors(&self) -> impl Iterator<Item = &JudgedVector> {
        self.requirements.vectors.iter()
    }

    /// Returns what is not right, and known defects that do not show: each with its clause, its sentence, the frames, and the command that sends it
    /// once more. First comes what differs under load.
    pub fn findings(&self) -> String {
        let mut wrong: Vec<&JudgedVector> = self
            .vectors()
            .filter(|vector| {
                self.differing(vector).is_some()
                    || vector.result.is_violation()
                    || (vector.is_unknown() && !vector.was_not_sent())
                    || self.requirements.is_known_violation_gone(vector)
            })
            .collect();
        wrong.sort_by_key(|vector| {
            (
                self.differing(vector).is_none(),
                !vector.result.is_violation(),
                vector.level,
                vector.result,
            )
        });
        wrong
            .into_iter()
            .map(|vector| self.finding(vector))
            .collect()
    }

    /// Returns what was found of a vector under load, where it is another finding.
    fn differing<'v>(&self, vector: &'v JudgedVector) -> Option<&'v LoadedFinding> {
        self.requirements.differing(vector)
    }

    fn finding(&self, vector: &JudgedVector) -> String {
        let loaded = self.differing(vector);
        let mut lines = vec![
            String::new(),
            heading(vector, loaded),
            format!("  {}", vector.sentence),
        ];
        let shown = shown_frames(vector, loaded);
        let reason = shown.reason.iter();
        lines.extend(reason.map(|reason| format!("  reason    {reason}")));
        if shown.steps.is_empty() {
            lines.extend(sent_lines(&vector.sent));
            lines.extend(answer_lines(shown.frames));
        } else {
            lines.extend(step_lines(shown.steps));
        }
        if loaded.is_some() && vector.result.is_violation() {
            let last = vector.steps.last();
            lines.push("  quietly".to_owned());
            lines.extend(answer_lines(
                last.map_or(&vector.frames, |step| &step.frames),
            ));
        }
        let capture = shown.capture.iter();
        lines.extend(capture.map(|file| format!("  frames    {file}")));
        lines.push(format!(
            "  again     sixbench conformance {}{} --vector {}",
            self.device, self.options, vector.name
        ));
        lines.join("\n") + "\n"
    }

    /// Returns the outcome of one vector in full, whatever it is.
    pub fn in_full(&self) -> String {
        self.vectors().map(|vector| self.finding(vector)).collect()
    }
}

/// The frames of a finding. Under load, they are those that differ from what was found quietly; what was expected then is expected now.
struct ShownFrames<'v> {
    reason: &'v Option<String>,
    frames: &'v [JudgedFrame],
    steps: &'v [JudgedStep],
    capture: &'v Option<String>,
}

fn shown_frames<'v>(
    vector: &'v JudgedVector,
    loaded: Option<&'v LoadedFinding>,
) -> ShownFrames<'v> {
    match loaded {
        Some(loaded) => ShownFrames {
            reason: &loaded.reason,
            frames: &loaded.frames,
            steps: &loaded.steps,
            capture: &loaded.capture,
        },
        None => ShownFrames {
            reason: &vector.reason,
            frames: &vector.frames,
            steps: &vector.steps,
            capture: &vector.capture,
        },
    }
}

/// Returns the line with the result of a vector, and under load with both.
fn heading(vector: &JudgedVector, loaded: Option<&LoadedFinding>) -> String {
    let known = match (vector.is_known, vector.result.is_violation()) {
        (false, _) => "",
        (true, true) => "; a known defect",
        (true, false) => "; the recipe names it as a known defect",
    };
    let result = match loaded {
        Some(loaded) => format!(
            "{} quietly, {} under load",
            named(vector.result, vector.choice.as_deref()),
            named(loaded.result, loaded.choice.as_deref())
        ),
        None => vector.result.title().to_owned(),
    };
    format!(
        "{result}: {} ({}, {}{known})",
        vector.name,
        vector.citation(),
        vector.level.word()
    )
}

/// Returns a result with the choice of the device, if it has made one.
fn named(result: VectorResult, choice: Option<&str>) -> String {
    let title = result.title();
    match choice {
        Some(choice) => format!("{title} ({choice})"),
        None => title.to_owned(),
    }
}

fn sent_lines(frames: &[String]) -> impl Iterator<Item = String> {
    frames.iter().map(|frame| format!("  sent      {frame}"))
}

/// Returns the lines of the steps of an exchange, up to the one that was not right.
fn step_lines(steps: &[JudgedStep]) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, step) in (1..).zip(steps) {
        lines.push(format!("  step {number}"));
        let wait = step.wait_ms.map(|wait_ms| wait_ms as f64 / 1e3);
        lines.extend(wait.map(|seconds| format!("  waited    {seconds} s")));
        lines.extend(sent_lines(&step.sent));
        lines.extend(answer_lines(&step.frames));
        if !step.names.is_empty() {
            lines.push(format!("  names     {}", step.names.join(", ")));
        }
    }
    lines
}

/// Returns the lines of what is expected and what came.
fn answer_lines(frames: &[JudgedFrame]) -> Vec<String> {
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
fn frame_lines(frame: &JudgedFrame, none_expected: &str) -> Vec<String> {
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
