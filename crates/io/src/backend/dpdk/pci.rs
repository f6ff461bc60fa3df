//! NICs on the PCI bus, as the kernel shows them: whether DPDK can use one. This is checked before DPDK does so, because its messages do not say
//! what to do.

use super::error::DpdkError;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The driver that gives a program access to a NIC.
const VFIO: &str = "vfio-pci";
/// Older drivers that do the same without the protection of an IOMMU.
const UIO: [&str; 2] = ["uio_pci_generic", "igb_uio"];
/// Kernel drivers that share their NIC with DPDK.
const SHARING: [&str; 3] = ["mlx4_core", "mlx5_core", "mana"];

/// The PCI devices of a machine.
pub(super) struct PciBus {
    /// The root of its file system.
    root: PathBuf,
}

impl PciBus {
    /// Returns the bus of this machine.
    pub(super) fn of_this_machine() -> Self {
        Self {
            root: PathBuf::from("/"),
        }
    }

    /// Returns the NICs that are bound to a userspace driver, sorted.
    pub(super) fn nics_for_programs(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.join("sys/bus/pci/devices"))
            .into_iter()
            .flatten()
            .flatten();
        let addresses = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut nics: Vec<String> = addresses
            .filter(|address| {
                self.is_nic(address)
                    && self
                        .driver(address)
                        .is_some_and(|driver| driver == VFIO || UIO.contains(&driver.as_str()))
            })
            .collect();
        nics.sort();
        nics
    }

    /// Checks that DPDK can use the NIC at this address.
    ///
    /// # Errors
    /// It does not exist, is not a NIC, belongs to the kernel, or this user must not open it.
    pub(super) fn check(&self, address: &str) -> Result<(), DpdkError> {
        let lacking = |what: String, cure: &str| {
            Err(DpdkError::Lacking {
                what,
                cure: cure.to_owned(),
            })
        };
        if !self.device(address).is_dir() {
            return lacking(
                format!("there is no PCI device {address}"),
                "`lspci -D` lists them",
            );
        }
        if !self.is_nic(address) {
            return lacking(
                format!("the PCI device {address} is no NIC"),
                "`lspci -D` lists them with their kind",
            );
        }
        match self.driver(address).as_deref() {
            None => Err(self.unbound(address, "has no driver")),
            Some(VFIO) => self.check_group(address),
            Some(driver) if UIO.contains(&driver) || SHARING.contains(&driver) => Ok(()),
            Some(driver) => {
                let interface = self
                    .interfaces(address)
                    .first()
                    .map_or(String::new(), |name| format!(" as its interface {name}"));
                Err(self.unbound(
                    address,
                    &format!("belongs to the kernel's driver {driver}{interface}"),
                ))
            }
        }
    }

    fn device(&self, address: &str) -> PathBuf {
        self.root.join("sys/bus/pci/devices").join(address)
    }

    /// Returns whether the class of a device is network controller.
    fn is_nic(&self, address: &str) -> bool {
        fs::read_to_string(self.device(address).join("class"))
            .is_ok_and(|class| class.starts_with("0x02"))
    }

    fn driver(&self, address: &str) -> Option<String> {
        name_behind(&self.device(address).join("driver"))
    }

    /// Returns the kernel interfaces of a NIC whose driver shares it with DPDK; none of any other. A NIC of mlx4 has one for each of its ports.
    pub(super) fn shared_interfaces(&self, address: &str) -> Vec<String> {
        let shares = self
            .driver(address)
            .is_some_and(|driver| SHARING.contains(&driver.as_str()));
        if shares {
            self.interfaces(address)
        } else {
            Vec::new()
        }
    }

    /// Returns the kernel interfaces of a NIC, sorted. With virtio there is another device in between.
    fn interfaces(&self, address: &str) -> Vec<String> {
        let device = self.device(address);
        let below = fs::read_dir(&device)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join("net"));
        let places = std::iter::once(device.join("net")).chain(below);
        let entries = places
            .filter_map(|place| fs::read_dir(place).ok())
            .flatten();
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// Returns the error for a NIC that must be bound to the userspace driver.
    fn unbound(&self, address: &str, what: &str) -> DpdkError {
        let bind = format!(
            "modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci {address} (Debian: dpdk)"
        );
        let has_iommu = fs::read_dir(self.root.join("sys/kernel/iommu_groups"))
            .is_ok_and(|mut groups| groups.next().is_some());
        let iommu = if has_iommu {
            ""
        } else {
            ". vfio-pci needs an IOMMU, and none is active: turn it on in the firmware (VT-d, AMD-Vi), with intel_iommu=on on the kernel's command \
             line for Intel; in a virtual machine without one: echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode, where the kernel has it (VFIO_NOIOMMU)"
        };
        DpdkError::Lacking {
            what: format!("the NIC {address} {what}"),
            cure: format!("{bind}{iommu}"),
        }
    }

    /// Checks that this user may open the IOMMU group of a NIC, which is the file that its driver provides.
    fn check_group(&self, address: &str) -> Result<(), DpdkError> {
        let group = name_behind(&self.device(address).join("iommu_group"));
        let Some(group) = group else {
            return Err(self.unbound(address, "is bound to vfio-pci without an IOMMU group"));
        };
        let files = [group.clone(), format!("noiommu-{group}")]
            .map(|name| self.root.join("dev/vfio").join(name));
        let Some(file) = files.iter().find(|file| file.exists()) else {
            let cure = "modprobe vfio-pci; in a container, hand /dev/vfio to it".to_owned();
            return Err(DpdkError::Lacking {
                what: format!("{} is missing for the NIC {address}", files[0].display()),
                cure,
            });
        };
        match OpenOptions::new().read(true).write(true).open(file) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let cure = format!(
                    "run as root, or `chown $USER {}` and raise the limit of locked memory (ulimit -l)",
                    file.display()
                );
                Err(DpdkError::Lacking {
                    what: format!("this user may not open {}", file.display()),
                    cure,
                })
            }
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                let what = format!(
                    "the NIC {address} is used by another program, which has {} open",
                    file.display()
                );
                Err(DpdkError::Lacking {
                    what,
                    cure: format!("end it; `fuser {}` names it", file.display()),
                })
            }
            // Any other problem is reported by DPDK.
            _ => Ok(()),
        }
    }
}

/// Returns the last component of the path that a symbolic link points to.
fn name_behind(link: &Path) -> Option<String> {
    fs::read_link(link)
        .ok()?
        .file_name()?
        .to_str()
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const NIC: &str = "0000:3b:00.0";

    /// The files of a machine that has one NIC; removed when dropped.
    struct FakeMachine(PciBus);

    impl FakeMachine {
        fn new(name: &str, driver: Option<&str>) -> Self {
            let root = std::env::temp_dir().join(format!("sb-{}-pci-{name}", std::process::id()));
            let machine = Self(PciBus { root });
            machine.write(&format!("sys/bus/pci/devices/{NIC}/class"), "0x020000\n");
            if let Some(driver) = driver {
                machine.link(
                    &format!("sys/bus/pci/devices/{NIC}/driver"),
                    &format!("../../drivers/{driver}"),
                );
            }
            machine
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.root.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, text).expect("a file");
        }

        fn link(&self, path: &str, to: &str) {
            symlink(to, self.0.root.join(path)).expect("a link");
        }

        fn told(&self, address: &str) -> String {
            self.0
                .check(address)
                .expect_err("nothing is wrong")
                .to_string()
        }
    }

    impl Drop for FakeMachine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0.root);
        }
    }

    #[test]
    fn a_device_that_is_not_there_or_no_nic_is_named() {
        let machine = FakeMachine::new("none", None);
        assert_eq!(
            machine.told("0000:00:00.7"),
            "there is no PCI device 0000:00:00.7: `lspci -D` lists them"
        );
        machine.write("sys/bus/pci/devices/0000:00:1f.2/class", "0x010601\n");
        assert!(
            machine
                .told("0000:00:1f.2")
                .starts_with("the PCI device 0000:00:1f.2 is no NIC: ")
        );
    }

    #[test]
    fn a_nic_of_the_kernel_is_named_with_its_interface_and_the_command_that_takes_it() {
        let machine = FakeMachine::new("kernel", Some("ixgbe"));
        machine.write(
            &format!("sys/bus/pci/devices/{NIC}/net/enp59s0f0/mtu"),
            "1500",
        );
        machine.write("sys/kernel/iommu_groups/1/type", "DMA");
        assert_eq!(
            machine.told(NIC),
            "the NIC 0000:3b:00.0 belongs to the kernel's driver ixgbe as its interface enp59s0f0: modprobe vfio-pci && dpdk-devbind.py \
             --bind=vfio-pci 0000:3b:00.0 (Debian: dpdk)"
        );
        assert!(machine.0.nics_for_programs().is_empty());
        let machine = FakeMachine::new("virtio", Some("virtio-pci"));
        machine.write(
            &format!("sys/bus/pci/devices/{NIC}/virtio2/net/eth0/mtu"),
            "1500",
        );
        assert!(
            machine
                .told(NIC)
                .contains("driver virtio-pci as its interface eth0: "),
            "{}",
            machine.told(NIC)
        );
    }

    #[test]
    fn without_an_iommu_it_is_said_where_to_turn_it_on() {
        let told = FakeMachine::new("iommu", None).told(NIC);
        assert!(
            told.starts_with("the NIC 0000:3b:00.0 has no driver: modprobe vfio-pci && "),
            "{told}"
        );
        assert!(
            told.contains("needs an IOMMU, and none is active") && told.contains("intel_iommu=on"),
            "{told}"
        );
    }

    #[test]
    fn a_nic_of_vfio_needs_the_file_of_its_group() {
        let machine = FakeMachine::new("vfio", Some("vfio-pci"));
        assert!(
            machine
                .told(NIC)
                .starts_with("the NIC 0000:3b:00.0 is bound to vfio-pci without an IOMMU group: ")
        );
        machine.link(
            &format!("sys/bus/pci/devices/{NIC}/iommu_group"),
            "../../../kernel/iommu_groups/42",
        );
        let told = machine.told(NIC);
        assert!(
            told.contains("dev/vfio/42 is missing for the NIC 0000:3b:00.0: modprobe vfio-pci"),
            "{told}"
        );
        machine.write("dev/vfio/42", "");
        machine.0.check(NIC).expect("a NIC that can be taken");
        assert_eq!(machine.0.nics_for_programs(), [NIC]);
    }

    #[test]
    fn the_interfaces_of_a_nic_that_its_driver_shares_are_known_and_those_of_others_are_not_shared()
    {
        for driver in ["mlx4_core", "mlx5_core", "mana"] {
            let machine = FakeMachine::new(&format!("shared-{driver}"), Some(driver));
            assert_eq!(
                machine.0.shared_interfaces(NIC),
                [""; 0],
                "{driver} without one"
            );
            for interface in ["eth3", "eth2"] {
                machine.write(
                    &format!("sys/bus/pci/devices/{NIC}/net/{interface}/mtu"),
                    "1500",
                );
            }
            machine.write(
                &format!("sys/bus/pci/devices/{NIC}/mlx5_core.eth.0/net/eth2/mtu"),
                "1500",
            );
            assert_eq!(
                machine.0.shared_interfaces(NIC),
                ["eth2", "eth3"],
                "{driver}"
            );
        }
        let machine = FakeMachine::new("not-shared", Some("ixgbe"));
        machine.write(&format!("sys/bus/pci/devices/{NIC}/net/eth2/mtu"), "1500");
        assert_eq!(machine.0.shared_interfaces(NIC), [""; 0]);
    }

    #[test]
    fn drivers_that_share_their_nic_and_older_ones_need_no_group() {
        for driver in ["mlx5_core", "uio_pci_generic"] {
            let machine = FakeMachine::new(driver, Some(driver));
            machine.0.check(NIC).expect("a NIC that can be taken");
            assert_eq!(
                machine.0.nics_for_programs().len(),
                usize::from(driver == "uio_pci_generic")
            );
        }
    }
}
