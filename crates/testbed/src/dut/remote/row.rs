//! The machines of devices in a row, from left to right: the right interface of each is cabled to the left one of the next. A single device is a
//! row of one.

use super::links::{self, CabledTo};
use super::{RemoteMachine, machine};
use crate::dut::running::ExecContext;
use crate::dut::template_vars::{DutOptions, TemplateVars};
use crate::exec::{MachineError, Shell, TestbedError};
use crate::net::namespace;
use crate::recipe::{Recipe, System};
use sixbench_method::plan::CoreLimits;

/// Refuses, before anything is touched, machines on which the device or devices of a recipe cannot be set up.
///
/// # Errors
/// The numbers of machines and devices differ, one machine has two names, `cores` names an unknown device, or [`RemoteMachine::check`] refuses a
/// machine.
pub fn check_machines(
    machines: &[RemoteMachine],
    recipe: &Recipe,
    cores: &CoreLimits,
    shell: &Shell,
) -> Result<(), TestbedError> {
    check_count(machines, recipe)?;
    check_distinct(machines, shell)?;
    check_names(machines, recipe, cores)?;
    let mut pairs = machines.iter().zip(recipe.devices());
    pairs.try_for_each(|(machine, device)| {
        machine.check(device, machine.cores_of(device, cores), shell)
    })
}

/// Returns sentences for the report about where each device runs and how it is cabled.
pub fn layout_of_machines(machines: &[RemoteMachine], recipe: &Recipe) -> Vec<String> {
    if let [machine] = machines {
        let (name, [left, right]) = (machine.name(), machine.interfaces());
        return vec![format!(
            "the DUT is the machine {name}, set up over ssh by its recipe; its interfaces {left} and {right} are cabled to the tester's"
        )];
    }
    machines
        .iter()
        .zip(recipe.devices())
        .enumerate()
        .map(|(index, (machine, device)): (usize, (&RemoteMachine, &Recipe))| {
        let ([left, right], [to_left, to_right]) =
            (machine.interfaces(), neighbours(machines, index));
        let (device, machine) = (&device.name, machine.name());
        format!(
            "the device {device} is the machine {machine}, set up over ssh by its recipe; its interface {left} is cabled to {to_left}, and \
             {right} to {to_right}"
        )
    })
        .collect()
}

/// Prepares each machine for its device and returns the places from left to right. `run` distinguishes several devices of one process.
///
/// # Errors
/// A command fails, a link has no carrier, or a machine does not reach the next one in the row. Everything done until then is undone.
pub(in crate::dut) fn prepare(
    machines: &[RemoteMachine],
    recipe: &Recipe,
    run: &str,
    options: &DutOptions,
    shell: &Shell,
) -> Result<Vec<(ExecContext, TemplateVars)>, TestbedError> {
    check_count(machines, recipe)?;
    let prepared = machines
        .iter()
        .zip(recipe.devices())
        .enumerate()
        .map(
            |(index, (machine, device)): (usize, (&RemoteMachine, &Recipe))| {
                let place = if machines.len() == 1 {
                    "ssh".to_owned()
                } else {
                    format!("ssh{}", index + 1)
                };
                machine::prepare(
                    device,
                    machine,
                    &namespace::name(run, &place),
                    options,
                    shell,
                )
            },
        )
        .collect::<Result<Vec<_>, _>>()?;
    if !shell.is_rehearsal() {
        check_links(machines, recipe.devices(), shell)?;
    }
    Ok(prepared)
}

fn check_count(machines: &[RemoteMachine], recipe: &Recipe) -> Result<(), MachineError> {
    let (name, devices) = (recipe.name.clone(), recipe.devices().len());
    let error = match machines {
        machines if machines.len() == devices => return Ok(()),
        [machine] => MachineError::OneMachine {
            recipe: name,
            devices,
            machine: machine.name().to_owned(),
        },
        machines => MachineError::OtherCount {
            recipe: name,
            devices,
            machines: machines.iter().map(|it| it.name().to_owned()).collect(),
        },
    };
    Err(error)
}

/// Refuses a number of cores for a device that is not in the row.
fn check_names(
    machines: &[RemoteMachine],
    recipe: &Recipe,
    cores: &CoreLimits,
) -> Result<(), MachineError> {
    let devices = recipe
        .devices()
        .iter()
        .map(|device| device.name.split('@').next().unwrap_or_default());
    let known: Vec<&str> = machines
        .iter()
        .map(RemoteMachine::name)
        .chain(devices)
        .collect();
    let Some(name) = cores.devices().find(|name| !known.contains(name)) else {
        return Ok(());
    };
    Err(MachineError::UnknownCores {
        name: name.to_owned(),
        recipe: recipe.name.clone(),
        known: known.join(", "),
    })
}

/// Refuses two names of the same machine, because changes for one device would also affect the other.
fn check_distinct(machines: &[RemoteMachine], shell: &Shell) -> Result<(), MachineError> {
    // A network namespace with its own sshd counts as a machine.
    let identity = "cat /proc/sys/kernel/random/boot_id && readlink /proc/self/ns/net";
    let mut seen: Vec<(&str, String)> = Vec::new();
    for machine in machines.iter().filter(|_| machines.len() > 1) {
        // Systems without these files are distinguished by name only.
        let identity = machine
            .shell(shell)
            .look(&["sh", "-c", identity])
            .unwrap_or_default();
        if let Some((other, _)) = seen
            .iter()
            .find(|(_, other)| !identity.is_empty() && *other == identity)
        {
            return Err(MachineError::SameMachine {
                one: (*other).to_owned(),
                other: machine.name().to_owned(),
            });
        }
        seen.push((machine.name(), identity));
    }
    Ok(())
}

/// Waits for the carriers of all links, then until each machine resolves the next one.
fn check_links(
    machines: &[RemoteMachine],
    devices: &[Recipe],
    shell: &Shell,
) -> Result<(), TestbedError> {
    for (index, (machine, device)) in machines.iter().zip(devices).enumerate() {
        let (interfaces, others) = (machine.interfaces(), neighbours(machines, index));
        links::wait_for_carriers(
            device.system,
            interfaces,
            &others,
            machine.name(),
            &machine.shell(shell),
        )?;
    }
    for (pair, device) in machines
        .windows(2)
        .zip(devices)
        .filter(|(_, device)| device.system == System::Linux)
    {
        check_link(&pair[0], &pair[1], device, shell)?;
    }
    Ok(())
}

/// Checks that a machine with this device resolves the next one in the row on its right interface.
fn check_link(
    machine: &RemoteMachine,
    next: &RemoteMachine,
    device: &Recipe,
    shell: &Shell,
) -> Result<(), TestbedError> {
    let ([_, interface], [far, _]) = (machine.interfaces(), next.interfaces());
    let hardware = links::hardware_address(far, &next.shell(shell));
    let other = CabledTo {
        name: format!("{far} of {}", next.name()),
        hardware,
    };
    // In the recipe of a single device, the tester has the addresses of its neighbour.
    device.right.tester.iter().try_for_each(|address| {
        links::check_neighbour(
            *address,
            interface,
            &other,
            machine.name(),
            &machine.shell(shell),
        )
    })
}

/// Returns descriptions of what the left and the right interface of a machine in the row are cabled to.
fn neighbours(machines: &[RemoteMachine], index: usize) -> [String; 2] {
    let tester = |side: &str| match machines.len() {
        1 => "an interface of ours that is up".to_owned(),
        _ => format!("the tester's {side} one"),
    };
    let interface_of = |machine: &RemoteMachine, end: usize| {
        format!("{} of {}", machine.interfaces()[end], machine.name())
    };
    let left = index.checked_sub(1).map_or_else(
        || tester("left"),
        |before| interface_of(&machines[before], 1),
    );
    let right = machines
        .get(index + 1)
        .map_or_else(|| tester("right"), |next| interface_of(next, 0));
    [left, right]
}
