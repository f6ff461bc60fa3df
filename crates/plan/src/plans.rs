//! The plans that come with sixbench, from the folder `plans/`: users need no clone of the repository.

use sixbench_method::plan::{Plan, Test};
use sixbench_method::terms::FrameSize;
use std::path::Path;

/// A plan that comes with sixbench.
#[derive(Clone, Copy)]
pub struct Ready {
    /// Its name, which is that of its file without the extension.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

/// The names and texts of these plans, as listed by the build script, sorted by name.
const PLANS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/plans.rs"));
const DEVICES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/devices.rs"));

/// Returns all these plans: first the one to start with, then the others by name.
pub fn ready() -> impl Iterator<Item = Ready> {
    let all = || PLANS.iter().map(|&(name, text)| Ready { name, text });
    let is_first = |plan: &Ready| plan.name == "quickstart";
    all().filter(is_first).chain(all().filter(move |plan| !is_first(plan)))
}

/// Returns the paths and texts of the recipes in `plans/devices`, which some of the plans use.
pub fn devices() -> Vec<(String, String)> {
    DEVICES.iter().map(|(name, text)| (format!("plans/devices/{name}.toml"), (*text).to_owned())).collect()
}

impl Ready {
    /// Returns its path in the repository, which lists use as its name.
    pub fn path(&self) -> String {
        format!("plans/{}.toml", self.name)
    }

    /// Returns its first line without the comment sign, which says what the plan is for.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }
}

/// Returns the plan that a path means when there is no such file: `quickstart`, `quickstart.toml`, `plans/quickstart.toml`.
pub fn find(path: &Path) -> Option<Ready> {
    let path = path.strip_prefix(".").unwrap_or(path);
    let path = path.strip_prefix("plans").unwrap_or(path).to_str()?;
    let name = path.strip_suffix(".toml").unwrap_or(path);
    ready().find(|plan| plan.name == name)
}

/// Returns whether `name` matches `pattern`, in which `*` stands for any characters or none.
pub fn is_matched(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => {
            let Some(rest) = name.strip_prefix(head) else { return false };
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| is_matched(tail, &rest[at..]))
        }
    }
}

/// Returns the text of a plan that compares two devices in the tests `a` and `b`. Seven repetitions are the fewest that give a meaningful interval;
/// each repetition measures both devices in turn, every second one in reverse order.
pub fn of_two(devices: [&str; 2], measure: &str, size: FrameSize) -> String {
    let of = |(name, dut): (&str, &str)| {
        format!(
            "\n[[test]]\nname = \"{name}\"\ntitle = \"{dut}\"\ndut = \"{dut}\"\nmeasure = \"{measure}\"\nframe-sizes = [{size}]\nrepetitions = 7\n"
        )
    };
    let tests: String = ["a", "b"].into_iter().zip(devices).map(of).collect();
    format!("name = \"compare\"\ninterleave = true\n{tests}")
}

/// Returns the test with this name.
///
/// # Errors
/// There is no such test; the error lists the tests of the plan.
pub fn test_named(plan: &Plan, name: &str) -> Result<Test, String> {
    plan.test(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = plan.tests.iter().map(|test| test.name.as_str()).collect();
        format!("the plan has no test named {name}; it has {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(is_matched("tayga*", "tayga-siit"));
        assert!(is_matched("*ipv4", "linux-ipv4"));
        assert!(is_matched("*a*a*", "tayga"));
        assert!(!is_matched("tayga", "tayga-siit"));
    }

    #[test]
    fn a_ready_plan_is_found_by_name_file_and_path() {
        for path in ["quickstart", "quickstart.toml", "plans/quickstart.toml", "./plans/quickstart"] {
            assert_eq!(find(Path::new(path)).map(|plan| plan.name), Some("quickstart"), "{path}");
        }
        for path in ["", "plans", "quick", "other/quickstart.toml", "/plans/quickstart.toml", "plans/plans/quickstart"] {
            assert!(find(Path::new(path)).is_none(), "{path}");
        }
    }
}
