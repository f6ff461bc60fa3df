//! An exchange over the ports: each step is bracketed by control frames, and what comes between them belongs to it.

use super::exchange::VectorExchange;
use super::tester::{LINGER_NS, VectorRecord, VectorTester};
use crate::error::MeasureError;
use sixbench_conformance::exchange::{ExchangeRun, StepFrames};
use sixbench_conformance::frame::PayloadPattern;
use sixbench_conformance::octets::UnresolvedValue;
use sixbench_conformance::{ControlFrames, Vector, VectorJudgement};
use sixbench_io::pcap::TimedFrame;

/// The bit of the number in the payload of a second attempt: what comes late of the first is not taken for its own.
const SECOND_ATTEMPT: u16 = 0x8000;

/// The frames of a run of an exchange, and of those that came too many to be kept.
struct RunFrames {
    number: u16,
    answer_ns: u64,
    capture: Vec<TimedFrame>,
    left_out: u64,
}

impl VectorTester {
    /// Runs an exchange once. One that refers to what the recipe does not have does not apply to the device.
    pub(super) fn attempt_exchange(
        &mut self,
        vector: &Vector,
        number: u16,
        answer_ns: u64,
    ) -> Result<VectorRecord, MeasureError> {
        if let Some(waits) = self.too_long(vector) {
            let seconds = waits.as_secs();
            return Ok(VectorRecord::not_applicable(&UnresolvedValue::LongWait {
                seconds,
            }));
        }
        let is_first = answer_ns == super::tester::ANSWER_NS;
        let mut frames = RunFrames {
            number: if is_first {
                number
            } else {
                number | SECOND_ATTEMPT
            },
            answer_ns,
            capture: Vec::new(),
            left_out: 0,
        };
        let (setting, timers) = (self.setting.clone(), self.timers.clone());
        let pattern = PayloadPattern {
            vector: frames.number,
        };
        let mut run = ExchangeRun::new(vector, &setting, &timers, pattern, &mut self.fresh);
        let judgement = match self.run_steps(&mut run, &mut frames)? {
            None => run.judgement().with_left_out(frames.left_out),
            Some(reason) => VectorJudgement::not_applicable(&reason),
        };
        Ok(VectorRecord {
            judgement,
            capture: frames.capture,
            attempts: 1,
        })
    }

    /// Runs the steps. Returns the reason if there is one why the vector does not apply to the device: what a step needs is not known, or must not be
    /// sent.
    fn run_steps(
        &mut self,
        run: &mut ExchangeRun<'_>,
        frames: &mut RunFrames,
    ) -> Result<Option<String>, MeasureError> {
        loop {
            let step = match run.next_step() {
                Ok(Some(step)) => step,
                Ok(None) => return Ok(None),
                Err(reason) => return Ok(Some(reason.to_string())),
            };
            if let Err(forbidden) = self.admit(&step.datagrams) {
                return Ok(Some(forbidden.to_string()));
            }
            let exchange = self.perform_step(&step, frames)?;
            let learned = run.learn(&exchange.came, exchange.control);
            frames.left_out += exchange.left_out;
            frames.capture.extend(exchange.capture);
            if let Err(reason) = learned {
                return Ok(Some(reason.to_string()));
            }
        }
    }

    fn perform_step(
        &mut self,
        step: &StepFrames,
        frames: &RunFrames,
    ) -> Result<VectorExchange, MeasureError> {
        let mut exchange = VectorExchange::new(frames.number);
        // No wait lasts longer than some hours.
        self.wait(&mut exchange, step.wait.as_nanos() as u64, |_| false)?;
        self.control_both_ways(&mut exchange)?;
        for (side, datagram) in &step.datagrams {
            let frame = self.link(*side).send(datagram)?;
            exchange.keep(frame);
        }
        self.wait(&mut exchange, frames.answer_ns, |exchange| {
            exchange.came.len() >= step.expected
        })?;
        self.control_both_ways(&mut exchange)?;
        // Silence has no frame that ends the wait for it, so a slower path of the device gets some time.
        if step.expected == 0 || exchange.control == ControlFrames::Lost {
            self.wait(&mut exchange, LINGER_NS, |_| false)?;
        }
        Ok(exchange)
    }
}
