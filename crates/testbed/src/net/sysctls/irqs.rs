//! The cores that may serve an interrupt. The kernel gives the number of an interrupt that is gone to another one, for example when the queues of a card
//! change. So the name of the setting, under which it is noted and restored, includes the device, and it is restored only while the number is that
//! device's.

use std::path::{Path, PathBuf};

const NAME: &str = "irq/";

/// The directory below which every device of the kernel is.
const DEVICES: &str = "/sys/devices";

/// The number of an interrupt, and the directory of the device that has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Irq {
    number: u32,
    device: PathBuf,
}

/// Returns the name under which the cores of a device's interrupt are noted. `device` is its directory below `/sys/devices`.
pub(in crate::net) fn cores_of(number: u32, device: &str) -> String {
    format!("{NAME}{number}@{device}")
}

impl Irq {
    /// Parses a name of [`cores_of`]. Returns `None` of any other.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let (number, device) = name.strip_prefix(NAME)?.split_once('@')?;
        Some(Self {
            number: number.parse().ok()?,
            device: PathBuf::from(device),
        })
    }

    /// Returns the file with the cores.
    pub(super) fn file(&self) -> String {
        format!("/proc/irq/{}/smp_affinity_list", self.number)
    }

    /// Returns whether the device has an interrupt of this number now.
    pub(super) fn is_of_its_device(&self) -> bool {
        let messages = self.device.join("msi_irqs");
        messages.join(self.number.to_string()).exists()
    }

    /// Returns whether this process sees the machine's devices. In a container it may not, and then cannot tell what is gone.
    pub(super) fn are_devices_here() -> bool {
        Path::new(DEVICES).exists()
    }

    /// Returns whether a note of ours may name this interrupt.
    pub(super) fn is_ours(&self) -> bool {
        self.device.starts_with(DEVICES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_name_tells_the_number_and_the_device() {
        let name = cores_of(25, "/sys/devices/pci0000:00/0000:00:12.0");
        let irq = Irq::of_name(&name).expect("a name");
        assert_eq!(irq.file(), "/proc/irq/25/smp_affinity_list");
        assert!(irq.is_ours());
        assert_eq!(Irq::of_name("/proc/irq/25/smp_affinity_list"), None);
        assert_eq!(Irq::of_name("irq/25"), None);
        assert!(
            !Irq::of_name(&cores_of(25, "/tmp/x"))
                .expect("a name")
                .is_ours()
        );
    }

    fn has(device: &Path, number: u32) -> bool {
        let irq = Irq::of_name(&cores_of(number, &device.display().to_string()));
        irq.expect("a name").is_of_its_device()
    }

    #[test]
    fn an_interrupt_is_of_its_device_as_long_as_that_has_its_number() {
        let device = std::env::temp_dir().join(format!("sixbench-irq-{}", std::process::id()));
        fs::create_dir_all(device.join("msi_irqs")).expect("a directory");
        fs::write(device.join("msi_irqs/25"), "msix\n").expect("a file");
        let found = [25, 26].map(|number| has(&device, number));
        fs::remove_dir_all(&device).expect("removed");
        assert_eq!(found, [true, false]);
        assert!(!has(&device, 25), "the device is gone");
    }
}
