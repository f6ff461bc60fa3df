//! Errors about another machine that is to be the device.

/// The reason why a machine cannot be the device, or one of several in a row; `machine` is the name ssh knows it by.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum MachineError {
    /// The recipe's device has its links in shared memory.
    #[error(
        "{recipe} runs at links in shared memory, which do not reach {machine}: name another recipe"
    )]
    SharedMemory { recipe: String, machine: String },
    /// The recipe is a wire from port to port.
    #[error(
        "{recipe} is no device but a wire from port to port: leave `host = \"ssh:{machine}\"` out"
    )]
    Wire { recipe: String, machine: String },
    /// The recipe needs something that the lab of this machine built.
    #[error(
        "{recipe} runs what the lab of this machine has, which {machine} has not: name another recipe"
    )]
    OwnLab { recipe: String, machine: String },
    /// The device is set up by hand.
    #[error(
        "{recipe} is set up by hand: leave `host = \"ssh:{machine}\"` out of [testbed], or name another recipe"
    )]
    ByHand { recipe: String, machine: String },
    /// The recipe is for another operating system.
    #[error(
        "{recipe} is a recipe for {wanted}, but {machine} runs {runs}: name another recipe or machine"
    )]
    OtherSystem {
        recipe: String,
        wanted: &'static str,
        machine: String,
        runs: String,
    },
    /// The kernel has no module that the device needs; `origin` is where the module is from.
    #[error(
        "the kernel of {machine} has no module {module}, which {device} needs: install it there ({origin})"
    )]
    NoModule {
        machine: String,
        module: String,
        device: String,
        origin: String,
    },
    /// The plan takes cores offline, which is only possible on Linux.
    #[error(
        "`cores` takes cores of Linux machines offline, but {machine} runs {system}: leave the key out, and set the cores there"
    )]
    CoresOfLinux {
        machine: String,
        system: &'static str,
    },
    /// The plan requires more cores than are online.
    #[error(
        "the plan requires {wanted} cores for the DUT, but {machine} has only {} online ({online:?})",
        online.len()
    )]
    FewCores {
        wanted: u32,
        machine: String,
        online: Vec<u32>,
    },
    /// A core cannot be taken offline.
    #[error(
        "{machine} cannot take its core {core} offline, but the plan requires only {wanted} of {online}: {cause}"
    )]
    CoreStaysOnline {
        machine: String,
        core: u32,
        wanted: u32,
        online: usize,
        cause: String,
    },
    /// The plan sets the RSS hash, which is only possible on Linux.
    #[error(
        "`dut-rss-hash` sets network cards of Linux, but {machine} runs {system}: set the hash there"
    )]
    HashOfLinux {
        machine: String,
        system: &'static str,
    },
    /// The RSS hash cannot be set.
    #[error("`dut-rss-hash` on the machine {machine}: {cause}")]
    Hash { machine: String, cause: String },
    /// A neighbour is not resolved, or is another host than the one to which the plan says it is cabled: `found`. `place` says where.
    #[error(
        "{machine} finds {} with {place}: is it cabled to {other}?",
        stranger(found.as_deref(), other)
    )]
    NotCabled {
        machine: String,
        found: Option<String>,
        place: String,
        other: String,
    },
    /// The recipe is a row of devices, but the plan names one machine.
    #[error(
        "{recipe} consists of {devices} devices in a row, but {machine} is one machine: name a machine for each \
         (host = [\"ssh:{machine}\", ...]), or a recipe of one device"
    )]
    OneMachine {
        recipe: String,
        devices: usize,
        machine: String,
    },
    /// The plan names a row of machines, but the recipe does not have as many devices.
    #[error(
        "{recipe} {}, but `host` names {count} machines in a row ({names}): name a recipe of {count} devices in a row",
        row_of(*devices),
        count = machines.len(),
        names = machines.join(", ")
    )]
    OtherCount {
        recipe: String,
        devices: usize,
        machines: Vec<String>,
    },
    /// Two names in a row are of the same machine.
    #[error("{one} and {other} are one machine: each device of a row needs a machine of its own")]
    SameMachine { one: String, other: String },
    /// `cores` names something that is not in the row; `known` is what is.
    #[error("`cores` names {name}, which is neither a machine nor a device of {recipe}: {known}")]
    UnknownCores {
        name: String,
        recipe: String,
        known: String,
    },
}

fn stranger(found: Option<&str>, other: &str) -> String {
    found.map_or_else(
        || "nobody".to_owned(),
        |found| format!("{found}, which is not {other},"),
    )
}

fn row_of(devices: usize) -> String {
    if devices == 1 {
        "is one device".to_owned()
    } else {
        format!("consists of {devices} devices")
    }
}
