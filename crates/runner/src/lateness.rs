//! Why a tester was late: who had its cores meanwhile.

use sixbench_method::record::Watch;
use sixbench_method::trial::Fault;

/// Adds what the host took from the tester's cores of this machine to the time for which others had them, where the tester was late. Where tester and
/// device share a core, they have it in turn, and nothing is said.
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
    let is_late = faults.iter().filter(is_here).any(|fault| fault.lateness_ns().is_some());
    if is_late && kept_off_us > 0 && !are_shared {
        faults.push(Fault::TesterKeptOff { microseconds: kept_off_us });
    }
}
