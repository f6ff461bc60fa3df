//! NUMA nodes, each with its own processors, NICs and part of the memory.

use std::fs;
use std::path::Path;

/// The directory in which the kernel lists them.
const NODES: &str = "/sys/devices/system/node";

/// One of several NUMA nodes of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaNode {
    /// The kernel's number for it.
    pub number: u32,
    /// Its cores, ascending.
    pub cores: Vec<u32>,
}

impl NumaNode {
    /// Returns the node with this number; `None` if it is unknown (negative) or the machine has only one.
    pub(crate) fn numbered(number: i32) -> Option<Self> {
        Self::within(Path::new(NODES), number)
    }

    fn within(nodes: &Path, number: i32) -> Option<Self> {
        let number = u32::try_from(number).ok()?;
        if read_list(&nodes.join("online"))?.len() < 2 {
            return None;
        }
        let cores = read_list(&nodes.join(format!("node{number}/cpulist")))?;
        Some(Self { number, cores })
    }

    /// Returns one sentence that compares the node with the cores of a tester; a tester without cores may run on any.
    pub fn beside(&self, port: &str, cores: &[u32]) -> String {
        let far: Vec<String> = cores
            .iter()
            .filter(|core| !self.cores.contains(core))
            .map(u32::to_string)
            .collect();
        let place = format!("{port} is on NUMA node {}", self.number);
        match (cores.is_empty(), far.is_empty()) {
            (true, _) => format!("{place}, and the tester runs on any core"),
            (false, true) => format!("{place}, as the tester's cores are"),
            (false, false) => {
                format!(
                    "{place}, and the tester's cores {} are not: its frames cross between processors",
                    far.join(", ")
                )
            }
        }
    }
}

/// Parses a list of numbers and ranges, such as `0-3,8`. `testbed` has the same: neither of the two crates knows the other or a crate below both.
fn read_list(path: &Path) -> Option<Vec<u32>> {
    let text = fs::read_to_string(path).ok()?;
    let mut numbers = Vec::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        numbers.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's files for nodes; removed when dropped.
    struct FakeNodes(std::path::PathBuf);

    impl FakeNodes {
        fn new(name: &str, online: &str, lists: &[&str]) -> Self {
            let root = std::env::temp_dir().join(format!("sb-{}-numa-{name}", std::process::id()));
            for (number, list) in lists.iter().enumerate() {
                let node = root.join(format!("node{number}"));
                fs::create_dir_all(&node).expect("a directory");
                fs::write(node.join("cpulist"), list).expect("a file");
            }
            fs::write(root.join("online"), online).expect("a file");
            Self(root)
        }
    }

    impl Drop for FakeNodes {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_node_has_its_cores_and_an_only_one_says_nothing() {
        let two = FakeNodes::new("two", "0-1\n", &["0-3,8-9\n", "4-7\n"]);
        assert_eq!(
            NumaNode::within(&two.0, 0),
            Some(NumaNode {
                number: 0,
                cores: vec![0, 1, 2, 3, 8, 9]
            })
        );
        assert_eq!(
            NumaNode::within(&two.0, 1).map(|node| node.cores),
            Some(vec![4, 5, 6, 7])
        );
        assert_eq!(
            (NumaNode::within(&two.0, -1), NumaNode::within(&two.0, 2)),
            (None, None)
        );
        let one = FakeNodes::new("one", "0\n", &["0-1\n"]);
        assert_eq!(NumaNode::within(&one.0, 0), None);
    }

    #[test]
    fn cores_of_the_tester_that_are_elsewhere_are_named() {
        let node = NumaNode {
            number: 1,
            cores: vec![4, 5],
        };
        assert_eq!(
            node.beside("left", &[4, 5]),
            "left is on NUMA node 1, as the tester's cores are"
        );
        let told = node.beside("left", &[0, 4, 1]);
        assert_eq!(
            told,
            "left is on NUMA node 1, and the tester's cores 0, 1 are not: its frames cross between processors"
        );
        assert_eq!(
            node.beside("left", &[]),
            "left is on NUMA node 1, and the tester runs on any core"
        );
    }
}
