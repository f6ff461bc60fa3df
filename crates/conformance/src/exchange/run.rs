//! One run of an exchange: it says what to send next, and judges what came. The first step that is not right ends it.

use super::names::{BoundNames, FreshNumbers};
use super::zero_sum::choose_ports;
use crate::frame::{PayloadPattern, Side};
use crate::judge::{
    CameFrame, ControlFrames, FieldDifference, JudgedFrame, JudgedStep, VectorJudgement,
    VectorResult, describe, differences, is_met,
};
use crate::notation::{DeviceTimer, ExchangeStep, FrameSpec, RequiredAnswer, Vector, WaitTime};
use crate::octets::{Resolver, UnresolvedValue, build};
use crate::setting::DeviceSetting;
use std::collections::BTreeMap;
use std::time::Duration;

/// The times to which the timers of a device are set, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTimers {
    times: BTreeMap<DeviceTimer, Duration>,
}

impl FromIterator<(DeviceTimer, Duration)> for DeviceTimers {
    fn from_iter<T: IntoIterator<Item = (DeviceTimer, Duration)>>(times: T) -> Self {
        Self {
            times: times.into_iter().collect(),
        }
    }
}

impl DeviceTimers {
    /// Returns the time of a wait.
    ///
    /// # Errors
    /// The recipe does not say what the timer is set to.
    fn time_of(&self, wait: WaitTime) -> Result<Duration, UnresolvedValue> {
        match wait {
            WaitTime::Fixed(time) => Ok(time),
            WaitTime::Share { percent, timer } => {
                let time = self.times.get(&timer);
                let time = time.ok_or(UnresolvedValue::NoTimer {
                    timer: timer.name(),
                })?;
                Ok(*time * percent / 100)
            }
        }
    }

    /// Returns how long an exchange waits in all; none if a timer is not known.
    pub fn waits_of(&self, vector: &Vector) -> Option<Duration> {
        let waits = vector.steps.iter().filter_map(|step| step.wait);
        waits.map(|wait| self.time_of(wait).ok()).sum()
    }
}

/// The work of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFrames {
    /// The wait before it; what comes meanwhile belongs to the step.
    pub wait: Duration,
    /// The datagrams that are sent then, each with its side.
    pub datagrams: Vec<(Side, Vec<u8>)>,
    /// The number of frames that are expected.
    pub expected: usize,
}

/// A device, as an exchange needs to know it.
#[derive(Clone, Copy)]
struct ExchangeSetting<'a> {
    device: &'a DeviceSetting,
    timers: &'a DeviceTimers,
    pattern: PayloadPattern,
}

/// A run of an exchange.
pub struct ExchangeRun<'a> {
    vector: &'a Vector,
    setting: ExchangeSetting<'a>,
    names: BoundNames,
    /// The first frame that was sent last, to which values such as `same` refer.
    sent: FrameSpec,
    judgement: VectorJudgement,
    at: usize,
    is_over: bool,
}

/// The frames of a step beside what one answer expects, and the names that they give values.
struct ComparedStep {
    frames: Vec<JudgedFrame>,
    names: BoundNames,
}

impl<'a> ExchangeRun<'a> {
    /// Returns a run that has done nothing yet. The tester's ports and identifiers are taken from `fresh`.
    pub fn new(
        vector: &'a Vector,
        device: &'a DeviceSetting,
        timers: &'a DeviceTimers,
        pattern: PayloadPattern,
        fresh: &mut FreshNumbers,
    ) -> Self {
        Self {
            vector,
            setting: ExchangeSetting {
                device,
                timers,
                pattern,
            },
            names: BoundNames::chosen(vector, fresh),
            sent: FrameSpec {
                side: Side::Inside,
                layers: Vec::new(),
                text: String::new(),
            },
            judgement: VectorJudgement {
                result: VectorResult::Right,
                alternative: None,
                reason: None,
                frames: Vec::new(),
                steps: Vec::new(),
            },
            at: 0,
            is_over: false,
        }
    }

    /// Returns what is to be done for the next step; `None` if the run is over.
    ///
    /// # Errors
    /// The recipe does not determine a value of the step: the vector does not apply.
    pub fn next_step(&mut self) -> Result<Option<StepFrames>, UnresolvedValue> {
        let Some(step) = self.vector.steps.get(self.at).filter(|_| !self.is_over) else {
            return Ok(None);
        };
        if self.at == 0 {
            let ExchangeSetting {
                device, pattern, ..
            } = self.setting;
            choose_ports(self.vector, &mut self.names, device, pattern)?;
        }
        let wait = step
            .wait
            .map(|wait| self.setting.timers.time_of(wait))
            .transpose()?;
        let device = self.setting.device;
        let frames = step
            .send
            .iter()
            .map(|frame| self.names.filled(frame, device));
        let frames = frames.collect::<Result<Vec<FrameSpec>, _>>()?;
        if let Some(first) = frames.first() {
            self.sent = first.clone();
        }
        let resolver = Resolver {
            setting: device,
            sent: &self.sent,
        };
        let mut datagrams = Vec::with_capacity(frames.len());
        for frame in &frames {
            datagrams.push((frame.side, build(frame, self.setting.pattern, &resolver)?));
        }
        Ok(Some(StepFrames {
            wait: wait.unwrap_or_default(),
            datagrams,
            expected: step.expected_frames(),
        }))
    }

    /// Notes what came for the step that [`ExchangeRun::next_step`] returned. Silence says something only if the control frames came.
    ///
    /// # Errors
    /// The recipe does not determine a value that is expected.
    pub fn learn(
        &mut self,
        came: &[CameFrame],
        control: ControlFrames,
    ) -> Result<(), UnresolvedValue> {
        let Some(step) = self.vector.steps.get(self.at) else {
            return Ok(());
        };
        self.at += 1;
        let expected = self.compare(step, &step.expect, came)?;
        let is_known = !came.is_empty() || control == ControlFrames::Came;
        if is_met(&expected.frames) {
            self.accept(step, expected, None, is_known);
            return Ok(());
        }
        for choice in &step.allowed {
            let chosen = self.compare(step, &choice.expect, came)?;
            if is_met(&chosen.frames) {
                self.accept(step, chosen, Some(&choice.name), is_known);
                return Ok(());
            }
        }
        self.fail(step, expected, control);
        Ok(())
    }

    /// Returns the judgement of the steps so far.
    pub fn judgement(self) -> VectorJudgement {
        self.judgement
    }

    fn accept(
        &mut self,
        step: &ExchangeStep,
        compared: ComparedStep,
        choice: Option<&str>,
        is_known: bool,
    ) {
        self.note(step, compared);
        if !is_known {
            self.end(VectorResult::Unknown);
        } else if let Some(choice) = choice {
            self.judgement.result = VectorResult::Allowed;
            let before = self.judgement.alternative.take();
            let named = before.map_or(choice.to_owned(), |before| format!("{before}, {choice}"));
            self.judgement.alternative = Some(named);
        }
    }

    fn fail(&mut self, step: &ExchangeStep, compared: ComparedStep, control: ControlFrames) {
        let result = compared.result(control);
        self.note(step, compared);
        self.judgement.alternative = None;
        if step.is_given && result != VectorResult::Unknown {
            let reason = format!(
                "the device does otherwise in step {}, on which the requirement builds",
                self.at
            );
            self.judgement.reason = Some(reason);
            self.end(VectorResult::NotApplicable);
        } else {
            self.end(result);
        }
    }

    fn end(&mut self, result: VectorResult) {
        self.judgement.result = result;
        self.is_over = true;
    }

    fn note(&mut self, step: &ExchangeStep, compared: ComparedStep) {
        let names = if self.judgement.steps.is_empty() {
            compared.names.all(self.setting.device)
        } else {
            compared.names.new_since(&self.names, self.setting.device)
        };
        self.names = compared.names;
        let wait = step
            .wait
            .and_then(|wait| self.setting.timers.time_of(wait).ok());
        self.judgement.frames.clone_from(&compared.frames);
        self.judgement.steps.push(JudgedStep {
            // No wait lasts longer than some hours.
            wait_ms: wait.map(|wait| wait.as_millis() as u64),
            sent: step.send.iter().map(|frame| frame.text.clone()).collect(),
            frames: compared.frames,
            names,
        });
    }

    /// Returns the expected frames of an answer, each with the frame that came for it, and then those that are not expected.
    fn compare(
        &self,
        step: &ExchangeStep,
        answer: &RequiredAnswer,
        came: &[CameFrame],
    ) -> Result<ComparedStep, UnresolvedValue> {
        let expected = match answer {
            RequiredAnswer::Nothing => &[][..],
            RequiredAnswer::Frames(frames) => frames,
        };
        let mut left: Vec<&CameFrame> = came.iter().collect();
        let mut compared = ComparedStep {
            frames: Vec::new(),
            names: self.names.clone(),
        };
        for frame in expected {
            let candidates = if step.is_ordered { 1 } else { left.len() };
            let candidates = &left[..candidates.min(left.len())];
            let verdict = match self.nearest(frame, candidates, &compared.names)? {
                Some(nearest) => {
                    let taken = left.remove(nearest.at);
                    compared.names = nearest.names;
                    self.verdict(Some(frame), Some(taken), nearest.differences)
                }
                None => self.verdict(Some(frame), None, Vec::new()),
            };
            compared.frames.push(verdict);
        }
        let unexpected = left
            .into_iter()
            .map(|came| self.verdict(None, Some(came), Vec::new()));
        compared.frames.extend(unexpected);
        Ok(compared)
    }

    /// Returns the frame that differs least from an expected one.
    fn nearest(
        &self,
        expected: &FrameSpec,
        left: &[&CameFrame],
        names: &BoundNames,
    ) -> Result<Option<Nearest>, UnresolvedValue> {
        let ExchangeSetting {
            device, pattern, ..
        } = self.setting;
        let resolver = Resolver {
            setting: device,
            sent: &self.sent,
        };
        let filled = names.filled(expected, device)?;
        let mut nearest: Option<Nearest> = None;
        for (at, came) in left.iter().enumerate() {
            let mut names = names.clone();
            let mut found = differences(&filled, came, pattern, &resolver)?;
            if found.is_empty() {
                found = names.bind(expected, came, device);
            }
            if nearest
                .as_ref()
                .is_none_or(|nearest| found.len() < nearest.differences.len())
            {
                nearest = Some(Nearest {
                    at,
                    differences: found,
                    names,
                });
            }
        }
        Ok(nearest)
    }

    fn verdict(
        &self,
        expected: Option<&FrameSpec>,
        came: Option<&CameFrame>,
        differences: Vec<FieldDifference>,
    ) -> JudgedFrame {
        let ExchangeSetting {
            device, pattern, ..
        } = self.setting;
        JudgedFrame {
            expected: expected.map(|frame| frame.text.clone()),
            came: came.map(|came| describe(came.side, &came.datagram, device, pattern)),
            differences,
        }
    }
}

/// The frame that differs least from an expected one: its place, where it differs, and the names with the values that it gives.
struct Nearest {
    at: usize,
    differences: Vec<FieldDifference>,
    names: BoundNames,
}

impl ComparedStep {
    /// Returns the result of an answer that did not come as it is expected.
    fn result(&self, control: ControlFrames) -> VectorResult {
        let is_wrong = |frame: &JudgedFrame| {
            frame.came.is_some() && (frame.expected.is_none() || !frame.differences.is_empty())
        };
        let is_silent = self.frames.iter().all(|frame| frame.came.is_none());
        match control {
            _ if self.frames.iter().any(is_wrong) => VectorResult::Wrong,
            ControlFrames::Lost => VectorResult::Unknown,
            ControlFrames::Came if is_silent => VectorResult::NoAnswer,
            // Some of several frames are missing.
            ControlFrames::Came => VectorResult::Wrong,
        }
    }
}
