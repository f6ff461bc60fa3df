//! Reduces the number of cores of a device that has a whole machine: the others are taken offline until everything is undone. (The papers did the
//! same at boot time with the kernel parameter `maxcpus`.)

use crate::exec::{MachineError, Shell, TestbedError, Undo, core_list};

const FOLDER: &str = "/sys/devices/system/cpu";

/// Returns the cores that are online there, in ascending order.
pub(super) fn online(shell: &Shell) -> Result<Vec<u32>, TestbedError> {
    Ok(core_list(
        &shell.look(&["cat", &format!("{FOLDER}/online")])?,
    ))
}

pub(super) fn check(wanted: u32, online: &[u32], machine: &str) -> Result<(), MachineError> {
    if wanted as usize <= online.len() {
        return Ok(());
    }
    Err(MachineError::FewCores {
        wanted,
        machine: machine.to_owned(),
        online: online.to_vec(),
    })
}

/// Takes all cores but the lowest `wanted` ones offline, which are those that `maxcpus` leaves.
pub(super) fn keep(
    wanted: u32,
    machine: &str,
    shell: &Shell,
    undo: &Undo,
) -> Result<(), TestbedError> {
    let online = online(shell)?;
    if !shell.is_rehearsal() {
        check(wanted, &online, machine)?;
    }
    for core in online.iter().skip(wanted as usize).rev() {
        let file = format!("{FOLDER}/cpu{core}/online");
        // Recorded first, because a command may have taken effect even if we did not see it finish.
        undo.by_line(format!("echo 1 > {file}"))?;
        shell.set(&file, "0").map_err(|error| {
            error.restated(|cause| MachineError::CoreStaysOnline {
                machine: machine.to_owned(),
                core: *core,
                wanted,
                online: online.len(),
                cause,
            })
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_cores_than_the_machine_has_are_refused() {
        assert!(check(2, &[0, 1], "dut").is_ok());
        let error = check(3, &[0, 1], "dut").expect_err("refused").to_string();
        assert_eq!(
            error,
            "the plan requires 3 cores for the DUT, but dut has only 2 online ([0, 1])"
        );
    }
}
