//! Batches of malformed frames over the ports, with control frames behind each batch.

use super::exchange::VectorExchange;
use super::tester::{LINGER_NS, VectorTester};
use crate::error::MeasureError;
use sixbench_conformance::ControlFrames;
use sixbench_conformance::frame::Side;
use sixbench_conformance::robustness::MalformedFrame;
use sixbench_io::pcap::TimedFrame;
use std::time::{SystemTime, UNIX_EPOCH};

/// The number in the payload of malformed frames, which no control frame has. Most answers have lost it, or have it changed.
const NUMBER: u16 = 0;
/// The time between two frames: a device must not lose control frames because it is busy with what came before.
const GAP_NS: u64 = 1_000_000;
/// The number of control frames that must be lost in a row before a device is said to forward no more.
const CONTROL_TRIES: u32 = 3;

/// The result of a batch of frames.
#[derive(Debug, Default)]
pub struct BatchReport {
    /// The frames as they were sent.
    pub sent: Vec<TimedFrame>,
    /// The number of frames that came meanwhile, without the control frames.
    pub came: u64,
    /// The sides from which control frames passed before, and no longer do.
    pub silent: Vec<Side>,
}

impl VectorTester {
    /// Sends malformed frames, and then control frames on every side from which they passed before ([`VectorTester::find_device`]).
    ///
    /// # Errors
    /// A port fails, or a stop was requested.
    pub fn send_malformed(
        &mut self,
        frames: &[MalformedFrame],
    ) -> Result<BatchReport, MeasureError> {
        let mut exchange = VectorExchange::new(NUMBER);
        let mut sent = Vec::with_capacity(frames.len());
        for frame in frames {
            let unix_ns = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_nanos();
            let octets = self.link(frame.side).send(&frame.octets)?;
            sent.push(TimedFrame { unix_ns, octets });
            self.wait(&mut exchange, GAP_NS, |_| false)?;
        }
        self.wait(&mut exchange, LINGER_NS, |_| false)?;
        let mut silent = Vec::new();
        for side in self.passing.clone() {
            if !self.passes(side, &mut exchange)? {
                silent.push(side);
            }
        }
        Ok(BatchReport {
            sent,
            came: exchange.came.len() as u64 + exchange.left_out,
            silent,
        })
    }

    fn passes(&mut self, side: Side, exchange: &mut VectorExchange) -> Result<bool, MeasureError> {
        for _ in 0..CONTROL_TRIES {
            exchange.control = ControlFrames::Came;
            self.control(side, exchange)?;
            if exchange.control == ControlFrames::Came {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
