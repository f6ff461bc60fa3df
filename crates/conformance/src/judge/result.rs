//! The result of one vector. Silence is never taken for an answer unless the path is known to have worked.

use super::matching::{CameFrame, differences};
use super::wording::describe;
use crate::frame::PayloadPattern;
use crate::notation::{FrameSpec, RequiredAnswer, Vector};
use crate::octets::{Resolver, UnresolvedValue};
use crate::setting::DeviceSetting;
use sixbench_method::trial::{FieldDifference, JudgedFrame, JudgedStep, VectorResult};
use std::fmt;

/// The control frames, sent before and after the vector, that the device is known to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFrames {
    /// All came.
    Came,
    /// At least one was lost.
    Lost,
}

/// The result of a vector, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorJudgement {
    /// The result.
    pub result: VectorResult,
    /// The name of the alternative that the device chose.
    pub alternative: Option<String>,
    /// The reason for the result, where the frames do not show it: why the vector does not apply, or that more frames came than are shown.
    pub reason: Option<String>,
    /// The frames that are expected and those that came; of an exchange, those of its last step.
    pub frames: Vec<JudgedFrame>,
    /// The steps of an exchange, up to the first that is not right; none of another vector.
    pub steps: Vec<JudgedStep>,
}

impl VectorJudgement {
    /// Returns the result of a vector that cannot be asked of the device.
    pub fn not_applicable(reason: &impl fmt::Display) -> Self {
        Self::without_frames(VectorResult::NotApplicable, reason)
    }

    /// Returns the result of a vector of which nothing is known, for this reason.
    pub fn unknown(reason: &impl fmt::Display) -> Self {
        Self::without_frames(VectorResult::Unknown, reason)
    }

    fn without_frames(result: VectorResult, reason: &impl fmt::Display) -> Self {
        Self {
            result,
            alternative: None,
            reason: Some(reason.to_string()),
            frames: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Returns the judgement of a device that sent this many frames beyond those that were judged. No vector asks for so many.
    pub fn with_left_out(self, left_out: u64) -> Self {
        if left_out == 0 || self.result == VectorResult::NotApplicable {
            return self;
        }
        let kept = self.frames.iter().filter(|frame| frame.came.is_some());
        let kept = kept.count() as u64;
        Self {
            result: VectorResult::Wrong,
            alternative: None,
            reason: Some(format!(
                "the device sent {} frames, of which the first {kept} are shown",
                kept + left_out
            )),
            ..self
        }
    }
}

/// Returns the result of what came until the deadline of a vector. Frames count even if a control frame was lost; silence only if all came.
pub fn judge(
    vector: &Vector,
    came: &[CameFrame],
    control: ControlFrames,
    pattern: PayloadPattern,
    setting: &DeviceSetting,
) -> VectorJudgement {
    let Some(sent) = vector.send.first() else {
        return VectorJudgement {
            result: VectorResult::Unknown,
            alternative: None,
            reason: None,
            frames: Vec::new(),
            steps: Vec::new(),
        };
    };
    let resolver = Resolver { setting, sent };
    let matcher = ExpectationMatcher {
        came,
        pattern,
        resolver: &resolver,
        is_ordered: vector.is_ordered,
    };
    matcher
        .judge(vector, control)
        .unwrap_or_else(|reason| VectorJudgement::not_applicable(&reason))
}

struct ExpectationMatcher<'a> {
    came: &'a [CameFrame],
    pattern: PayloadPattern,
    resolver: &'a Resolver<'a>,
    is_ordered: bool,
}

impl ExpectationMatcher<'_> {
    fn judge(
        &self,
        vector: &Vector,
        control: ControlFrames,
    ) -> Result<VectorJudgement, UnresolvedValue> {
        let frames = self.compare(&vector.expect)?;
        let mut judgement = VectorJudgement {
            result: VectorResult::Right,
            alternative: None,
            reason: None,
            frames,
            steps: Vec::new(),
        };
        if is_met(&judgement.frames) {
            judgement.result = self.unless_silent(control, VectorResult::Right);
            return Ok(judgement);
        }
        for alternative in &vector.allowed {
            if is_met(&self.compare(&alternative.expect)?) {
                judgement.result = self.unless_silent(control, VectorResult::Allowed);
                judgement.alternative = Some(alternative.name.clone());
                return Ok(judgement);
            }
        }
        judgement.result = self.failed(&judgement.frames, control);
        Ok(judgement)
    }

    fn unless_silent(&self, control: ControlFrames, result: VectorResult) -> VectorResult {
        if self.came.is_empty() && control == ControlFrames::Lost {
            VectorResult::Unknown
        } else {
            result
        }
    }

    /// Returns the result of an expectation that is not met.
    fn failed(&self, frames: &[JudgedFrame], control: ControlFrames) -> VectorResult {
        let has_wrong_frame = frames.iter().any(|frame| {
            frame.came.is_some() && !frame.differences.is_empty() || frame.expected.is_none()
        });
        match control {
            _ if has_wrong_frame => VectorResult::Wrong,
            ControlFrames::Lost => VectorResult::Unknown,
            ControlFrames::Came if self.came.is_empty() => VectorResult::NoAnswer,
            // Some of several frames are missing.
            ControlFrames::Came => VectorResult::Wrong,
        }
    }

    /// Returns the expected frames, each with the frame that came for it, and then those that nobody expects.
    fn compare(&self, expected: &RequiredAnswer) -> Result<Vec<JudgedFrame>, UnresolvedValue> {
        let expected = match expected {
            RequiredAnswer::Nothing => &[][..],
            RequiredAnswer::Frames(frames) => frames,
        };
        let mut left: Vec<&CameFrame> = self.came.iter().collect();
        let mut frames = Vec::new();
        for frame in expected {
            frames.push(self.take_nearest(frame, &mut left)?);
        }
        frames.extend(left.iter().map(|came| JudgedFrame {
            expected: None,
            came: Some(self.describe(came)),
            differences: Vec::new(),
        }));
        Ok(frames)
    }

    /// Takes the frame that differs least from the expected one; if the order counts, the next one.
    fn take_nearest(
        &self,
        expected: &FrameSpec,
        left: &mut Vec<&CameFrame>,
    ) -> Result<JudgedFrame, UnresolvedValue> {
        let candidates = if self.is_ordered {
            left.len().min(1)
        } else {
            left.len()
        };
        let mut nearest: Option<(usize, Vec<FieldDifference>)> = None;
        for (at, came) in left[..candidates].iter().enumerate() {
            let found = differences(expected, came, self.pattern, self.resolver)?;
            if nearest
                .as_ref()
                .is_none_or(|(_, least)| found.len() < least.len())
            {
                nearest = Some((at, found));
            }
        }
        let expected = Some(expected.text.clone());
        Ok(match nearest {
            Some((at, differences)) => JudgedFrame {
                expected,
                came: Some(self.describe(left.remove(at))),
                differences,
            },
            None => JudgedFrame {
                expected,
                came: None,
                differences: Vec::new(),
            },
        })
    }

    fn describe(&self, came: &CameFrame) -> String {
        describe(
            came.side,
            &came.datagram,
            self.resolver.setting,
            self.pattern,
        )
    }
}

/// Returns true if every frame is expected and came as it is expected.
pub(crate) fn is_met(frames: &[JudgedFrame]) -> bool {
    frames.iter().all(|frame| {
        frame.expected.is_some() && frame.came.is_some() && frame.differences.is_empty()
    })
}
