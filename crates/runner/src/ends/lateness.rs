//! Explains a late tester by the time that others had its cores.

use sixbench_method::record::Watch;
use sixbench_method::trial::Fault;

/// If the tester was late, adds the time that the host took from its cores on this machine to the time for which others had them. If tester and
/// device share a core, they take turns on it, and nothing is added.
pub(crate) fn explain_lateness(faults: &mut Vec<Fault>, watch: &Watch, are_shared: bool) {
    let mut kept_off_us = 1000 * watch.stolen_from_tester_ms();
    faults.retain(|fault| match fault {
        Fault::TesterKeptOff { microseconds } => {
            kept_off_us += microseconds;
            false
        }
        _ => true,
    });
    let is_here = |fault: &&Fault| !matches!(fault, Fault::OnMachine { .. });
    let is_late = faults
        .iter()
        .filter(is_here)
        .any(|fault| fault.lateness_ns().is_some());
    if is_late && kept_off_us > 0 && !are_shared {
        faults.push(Fault::TesterKeptOff {
            microseconds: kept_off_us,
        });
    }
}
