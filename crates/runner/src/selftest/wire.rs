//! A wire in place of a device.

use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_method::plan::Profile;
use sixbench_method::terms::{Directions, FrameSize};
use sixbench_method::trial::TrialSettings;
use sixbench_plan::standard_trial;
use sixbench_testbed::TestbedError;
use sixbench_testbed::namespace::Namespace;
use sixbench_testbed::topology::veth_queues;

pub(super) const FRAMES: u64 = 50_000_000;

/// Creates a veth pair in a namespace, with this number of queues at each end.
pub(super) fn add_veth(
    namespace: &Namespace,
    ends: [&str; 2],
    queues: u32,
) -> Result<(), TestbedError> {
    let inside = namespace.shell();
    inside.set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")?;
    let many = veth_queues(queues);
    inside.line(&format!(
        "ip link add {}{many} type veth peer name {}{many}",
        ends[0], ends[1]
    ))?;
    for end in ends {
        inside.line(&format!(
            "ethtool -K {end} tx off rx off tso off gso off gro off"
        ))?;
        inside.line(&format!("ip link set {end} arp off up"))?;
    }
    Ok(())
}

pub(super) fn trial_settings() -> TrialSettings {
    TrialSettings {
        duration_ns: 500_000_000,
        ..standard_trial(Profile::Smoke)
    }
}

/// Returns the profile of a wire: frames are received as they were sent.
pub(super) fn wire(left: &str, right: &str, frame_size: FrameSize) -> TrafficProfile {
    let address = |text: &str| text.parse().expect("a constant address");
    TrafficProfile {
        directions: Directions::Forward,
        ..TrafficProfile::identity(address(left), address(right), frame_size)
    }
}
