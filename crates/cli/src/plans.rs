//! The plans that come with sixbench, as they are in `plans/`: the binary needs no clone of the repository.

use std::path::Path;

/// A plan that comes with sixbench.
pub(crate) struct Ready {
    /// Its name, which is that of its file without the extension.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// All of them, in the order they are listed.
pub(crate) const READY: [Ready; 26] = [
    Ready { name: "quickstart", text: include_str!("../../../plans/quickstart.toml") },
    Ready { name: "kernel-forwarding", text: include_str!("../../../plans/kernel-forwarding.toml") },
    Ready { name: "6to4-paper", text: include_str!("../../../plans/6to4-paper.toml") },
    Ready { name: "dns-authority", text: include_str!("../../../plans/dns-authority.toml") },
    Ready { name: "dns64", text: include_str!("../../../plans/dns64.toml") },
    Ready { name: "dns64-cores", text: include_str!("../../../plans/dns64-cores.toml") },
    Ready { name: "dns64-grid", text: include_str!("../../../plans/dns64-grid.toml") },
    Ready { name: "dns64-real-authority", text: include_str!("../../../plans/dns64-real-authority.toml") },
    Ready { name: "464xlat-mapt-frames", text: include_str!("../../../plans/464xlat-mapt-frames.toml") },
    Ready { name: "464xlat-mapt-paper", text: include_str!("../../../plans/464xlat-mapt-paper.toml") },
    Ready { name: "siit-comparison", text: include_str!("../../../plans/siit-comparison.toml") },
    Ready { name: "siit-paper-fig3-8", text: include_str!("../../../plans/siit-paper-fig3-8.toml") },
    Ready { name: "siit-paper-fig10-12", text: include_str!("../../../plans/siit-paper-fig10-12.toml") },
    Ready { name: "siit-paper-fig13-15", text: include_str!("../../../plans/siit-paper-fig13-15.toml") },
    Ready { name: "siit-paper-table3", text: include_str!("../../../plans/siit-paper-table3.toml") },
    Ready { name: "siitperf-paper-table11-14", text: include_str!("../../../plans/siitperf-paper-table11-14.toml") },
    Ready { name: "siitperf-paper-table7-8", text: include_str!("../../../plans/siitperf-paper-table7-8.toml") },
    Ready { name: "siitperf-paper-table9-10", text: include_str!("../../../plans/siitperf-paper-table9-10.toml") },
    Ready { name: "stateful-compare", text: include_str!("../../../plans/stateful-compare.toml") },
    Ready { name: "stateful-nat44", text: include_str!("../../../plans/stateful-nat44.toml") },
    Ready { name: "stateful-scaling-connections", text: include_str!("../../../plans/stateful-scaling-connections.toml") },
    Ready { name: "stateful-scaling-cores", text: include_str!("../../../plans/stateful-scaling-cores.toml") },
    Ready { name: "stateful-scaling-table", text: include_str!("../../../plans/stateful-scaling-table.toml") },
    Ready { name: "tcp", text: include_str!("../../../plans/tcp.toml") },
    Ready { name: "tunnels", text: include_str!("../../../plans/tunnels.toml") },
    Ready { name: "tunnels-subscribers", text: include_str!("../../../plans/tunnels-subscribers.toml") },
];

/// The recipes in `plans/devices`, which some of the plans name.
pub(crate) const DEVICES: [(&str, &str); 2] = [
    ("plans/devices/openbsd-ipv4.toml", include_str!("../../../plans/devices/openbsd-ipv4.toml")),
    ("plans/devices/openbsd-ipv6.toml", include_str!("../../../plans/devices/openbsd-ipv6.toml")),
];

impl Ready {
    /// Returns its path in the repository, by which lists name it.
    pub(crate) fn path(&self) -> String {
        format!("plans/{}.toml", self.name)
    }

    /// Returns its first line without the comment's sign: what it is for.
    pub(crate) fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }
}

/// Returns the plan that a path outside of the repository means: `quickstart`, `quickstart.toml`, `plans/quickstart.toml`.
pub(crate) fn find(path: &Path) -> Option<&'static Ready> {
    let path = path.strip_prefix(".").unwrap_or(path);
    let path = path.strip_prefix("plans").unwrap_or(path).to_str()?;
    let name = path.strip_suffix(".toml").unwrap_or(path);
    READY.iter().find(|plan| plan.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ready_plan_is_found_by_name_file_and_path() {
        for path in ["quickstart", "quickstart.toml", "plans/quickstart.toml", "./plans/quickstart"] {
            assert_eq!(find(Path::new(path)).map(|plan| plan.name), Some("quickstart"), "{path}");
        }
        for path in ["", "plans", "quick", "other/quickstart.toml", "/plans/quickstart.toml", "plans/plans/quickstart"] {
            assert!(find(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn every_recipe_beside_the_plans_is_at_hand() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/devices");
        let files = std::fs::read_dir(folder).expect("recipes").count();
        assert_eq!(files, DEVICES.len());
    }
}
