//! The vectors that are sent to a device, and after all others those about a pool that has run out: the device gets a pool of four ports, which is empty
//! before each of them.

use crate::error::{RunError, TrialError};
use crate::run::built::BuiltTestbed;
use sixbench_conformance::octets::UnresolvedValue;
use sixbench_conformance::{Vector, VectorJudgement};
use sixbench_engine::MeasureError;
use sixbench_engine::conformance::{VectorRecord, VectorRun, VectorTester};
use sixbench_io::thread::give_up_privileges;

/// Sends the vectors, and returns their outcomes in the same order. A stop ends it early, with what was found until then.
///
/// # Errors
/// Those of [`VectorTester::run`]; a command of the recipe fails.
pub(super) fn records(
    tester: &mut VectorTester,
    testbed: &mut BuiltTestbed,
    vectors: &[&Vector],
) -> Result<VectorRun, RunError> {
    let (small, usual): (Vec<&Vector>, Vec<&Vector>) = vectors
        .iter()
        .copied()
        .partition(|vector| vector.is_pool_small);
    let asked = without_privileges(|| tester.run(&usual))?;
    let mut asked = asked.map_err(|error| cause(testbed, error))?;
    let mut in_small_pool = Vec::with_capacity(small.len());
    if !asked.is_interrupted {
        let mut device = SmallPoolDevice { tester, testbed };
        // The number in the payload of a vector is no other's.
        for (vector, number) in small.iter().zip(usual.len() as u16..) {
            let (record, is_interrupted) = device.record(vector, number)?;
            in_small_pool.push(record);
            if is_interrupted {
                asked.is_interrupted = true;
                break;
            }
        }
    }
    in_small_pool.resize_with(small.len(), VectorRecord::not_sent);
    let (mut usual, mut in_small_pool) = (asked.records.into_iter(), in_small_pool.into_iter());
    let in_order = vectors.iter().filter_map(|vector| {
        if vector.is_pool_small {
            in_small_pool.next()
        } else {
            usual.next()
        }
    });
    Ok(VectorRun {
        records: in_order.collect(),
        is_interrupted: asked.is_interrupted,
    })
}

/// Returns the outcome of a vector on a device whose recipe does not say how it is given a small pool.
fn without_small_pool() -> VectorRecord {
    VectorRecord {
        judgement: VectorJudgement::not_applicable(&UnresolvedValue::NoSmallPool),
        capture: Vec::new(),
        attempts: 0,
    }
}

/// A device that can be given a small pool, and its tester.
struct SmallPoolDevice<'t> {
    tester: &'t mut VectorTester,
    testbed: &'t mut BuiltTestbed,
}

impl SmallPoolDevice<'_> {
    /// Returns the outcome of a vector, which is sent once more where silence must be told from loss; and whether a stop came before that.
    fn record(&mut self, vector: &Vector, number: u16) -> Result<(VectorRecord, bool), RunError> {
        let mut first = match self.attempt(vector, number, None) {
            Ok(Some(first)) => first,
            Ok(None) => return Ok((without_small_pool(), false)),
            Err(RunError::Interrupted) => return Ok((VectorRecord::not_sent(), true)),
            Err(error) => return Err(error),
        };
        if !self.tester.is_worth_another(vector, &first.judgement) {
            return Ok((first, false));
        }
        match self.attempt(vector, number, Some(&first)) {
            Ok(second) => Ok((second.unwrap_or(first), false)),
            Err(RunError::Interrupted) => {
                first.leave_open();
                Ok((first, true))
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a vector once, through an empty pool; `None` if the recipe does not say how the device is given a small one.
    fn attempt(
        &mut self,
        vector: &Vector,
        number: u16,
        earlier: Option<&VectorRecord>,
    ) -> Result<Option<VectorRecord>, RunError> {
        let table = self.testbed.dut.as_ref().and_then(|dut| dut.connections());
        let is_set = table.map(|table| table.set_small_pool()).transpose()?;
        if is_set != Some(true) {
            return Ok(None);
        }
        let tester = &mut *self.tester;
        let record = without_privileges(|| tester.run_in_small_pool(vector, number, earlier))?;
        record.map(Some).map_err(|error| cause(self.testbed, error))
    }
}

/// Returns the error of a run: if the device has ended, that error names the cause.
pub(super) fn cause(testbed: &mut BuiltTestbed, error: MeasureError) -> RunError {
    match error {
        MeasureError::Interrupted => RunError::Interrupted,
        MeasureError::Forbidden(forbidden) => forbidden.into(),
        error => testbed
            .check_alive()
            .map_or_else(RunError::from, |()| TrialError::from(error).into()),
    }
}

/// Does the work of a tester in a thread without privileges, because what a device sends is untrusted input.
pub(super) fn without_privileges<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, RunError> {
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            give_up_privileges()?;
            Ok(work())
        });
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
