//! What became of a device, as text.

use super::memory::{MemoryCourse, MemoryVerdict};
use super::result::{CrashRecord, CrashSign, KeptFrame, ProbeOutcome, RobustnessResults};
use sixbench_method::units::counted;

/// The most frames of a crash that are shown.
const SHOWN_FRAMES: usize = 10;
const MEBIOCTET: f64 = (1 << 20) as f64;

impl RobustnessResults {
    /// Returns the results as text. `again` is the command that sends the frames of a crash once more.
    pub fn text(&self, again: &str) -> String {
        let outcome = &self.robustness;
        let seed = outcome
            .seed
            .map_or(String::new(), |seed| format!(" (seed {seed})"));
        let frames = counted(outcome.sent, "malformed frame");
        let Self { title, version, .. } = self;
        let mut lines = vec![format!(
            "{title} ({version}): {frames}{seed}, {}",
            outcome.verdict()
        )];
        match &outcome.crash {
            Some(crash) => {
                lines.extend(crash.lines());
                let kept = self.capture.iter();
                lines.extend(kept.map(|capture| entry("kept", &format!("as sent in {capture}"))));
                lines.push(entry("once more", again));
            }
            None => lines.extend(outcome.lines()),
        }
        lines.join("\n") + "\n"
    }
}

fn entry(name: &str, text: &str) -> String {
    format!("  {name:<22}  {text}")
}

impl ProbeOutcome {
    fn verdict(&self) -> &'static str {
        match &self.crash {
            Some(crash) if crash.is_repeatable => "and it crashed",
            Some(_) => "and it crashed, which did not happen again",
            None if self.is_violation() => "and its memory grows",
            None => "and it lives",
        }
    }

    fn lines(&self) -> Vec<String> {
        let batches = counted(self.batches, "batch");
        let passed = format!(
            "passed after each of {batches}; {} came for the malformed ones",
            counted(self.came, "frame")
        );
        let log = if self.has_kernel_log {
            "no warning, bug or oops"
        } else {
            "cannot be read"
        };
        let mut lines = vec![entry("control frames", &passed), entry("kernel log", log)];
        if self.seed.is_some() {
            let made = self.coverage.lines();
            lines.extend(made.iter().map(|(name, text)| entry(name, text)));
        }
        lines.push(match &self.memory {
            Some(memory) => entry(memory.owner.title(), &memory.sentence(self.sent)),
            None => entry("memory", "cannot be seen"),
        });
        lines
    }
}

impl MemoryCourse {
    fn sentence(&self, frames: u64) -> String {
        let [before, half, after, tolerance] =
            [self.before, self.half, self.after, self.tolerance].map(mebioctets);
        let verdict = match self.verdict {
            MemoryVerdict::Unchanged => format!(
                "what it was, within {tolerance} (a leak of less than {} in a frame would not show)",
                counted((self.tolerance / frames.max(1)).max(1), "octet")
            ),
            MemoryVerdict::Settled => {
                format!(
                    "it grew, but not in the second half: not judged as a leak (tolerance {tolerance})"
                )
            }
            MemoryVerdict::Growing => {
                format!("it grew in the second half as well, by more than {tolerance}")
            }
            MemoryVerdict::Shared => "not judged, because all programs here share it".to_owned(),
        };
        format!("{before} before, {half} at half, {after} after: {verdict}")
    }
}

fn mebioctets(octets: u64) -> String {
    format!("{:.1} MiB", octets as f64 / MEBIOCTET)
}

impl CrashRecord {
    fn lines(&self) -> Vec<String> {
        let count = counted(self.frames.len() as u64, "frame");
        let attempts = counted(self.attempts as u64, "attempt");
        let found = match (self.is_repeatable, self.is_minimal) {
            (true, true) => format!("the fewest that make it: {count}, found in {attempts}"),
            (true, false) => format!("{count} that make it, sent in {attempts}; fewer may do"),
            (false, _) => {
                format!("it did not happen again in {attempts}; the last {count} are kept")
            }
        };
        let shown = self.frames.iter().take(SHOWN_FRAMES).map(KeptFrame::line);
        let mut lines = vec![
            entry("seen", &self.sign.sentence()),
            entry("frames", &found),
        ];
        lines.extend(shown.map(|line| entry("", &line)));
        if self.frames.len() > SHOWN_FRAMES {
            lines.push(entry("", "..."));
        }
        lines
    }
}

impl CrashSign {
    /// Returns what was seen, in words.
    pub fn sentence(&self) -> String {
        match self {
            Self::Ended { how } => how.clone(),
            Self::KernelLog { lines } => format!("the kernel says: {}", lines.join("; ")),
            Self::Silent { from } => {
                let sides: Vec<String> = from.iter().map(ToString::to_string).collect();
                format!(
                    "it runs, but control frames from {} no longer pass",
                    sides.join(" and ")
                )
            }
        }
    }
}

impl KeptFrame {
    fn line(&self) -> String {
        let Self {
            index,
            side,
            vector,
            ..
        } = self;
        format!(
            "{index} on {side}, from {vector}: {}",
            self.mistakes.join("; ")
        )
    }
}
