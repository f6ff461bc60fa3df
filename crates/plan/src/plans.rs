//! The plans that come with sixbench, from the folder `plans/`: users need no clone of the repository.

use sixbench_method::plan::{Plan, Test};
use sixbench_method::terms::FrameSize;
use std::path::Path;
use thiserror::Error;

/// A plan, or a traffic profile, that comes with sixbench.
#[derive(Clone, Copy)]
pub struct Ready {
    /// The folder of the repository that it is in.
    pub(crate) folder: &'static str,
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
    let folder = "plans";
    let all = PLANS
        .iter()
        .map(move |&(name, text)| Ready { folder, name, text });
    let (first, others): (Vec<_>, Vec<_>) = all.partition(|plan| plan.name == "quickstart");
    first.into_iter().chain(others)
}

/// Returns the paths and texts of the recipes in `plans/devices`, which some of the plans use.
pub fn devices() -> Vec<(String, String)> {
    DEVICES
        .iter()
        .map(|(name, text)| (format!("plans/devices/{name}.toml"), (*text).to_owned()))
        .collect()
}

impl Ready {
    /// Returns its path in the repository, which lists use as its name.
    pub fn path(&self) -> String {
        format!("{}/{}.toml", self.folder, self.name)
    }

    /// Returns its first line without the comment sign, which says what it is for.
    pub fn summary(&self) -> &'static str {
        self.text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches('#')
            .trim()
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
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut rest) = name.strip_prefix(head) else {
        return false;
    };
    let (middle, end) = tail.rsplit_once('*').unwrap_or(("", tail));
    for part in middle.split('*') {
        // The first match leaves the most of the name to the parts after it, so no other needs to be tried.
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(end)
}

/// Returns the text of a plan that compares two devices in the tests `a` and `b`. Seven repetitions still show a difference of 3 % at a
/// noise of 1 % in 97 of 100 cases (docs/RESULTS.md); each repetition measures both devices in turn, every second one in reverse order.
pub fn of_two(devices: [&str; 2], measure: &str, size: FrameSize) -> String {
    let tests: String = ["a", "b"].into_iter().zip(devices).map(|(name, dut)| {
        format!(
            "\n[[test]]\nname = \"{name}\"\ntitle = \"{dut}\"\ndut = \"{dut}\"\nmeasure = \"{measure}\"\nframe-sizes = [{size}]\nrepetitions = 7\n"
        )
    }).collect();
    format!("name = \"compare\"\ninterleave = true\n{tests}")
}

/// The plan has no test of this name.
#[derive(Debug, Error)]
#[error("the plan has no test named {name}; it has {}", known.join(", "))]
pub struct NoTest {
    name: String,
    known: Vec<String>,
}

/// Returns the test with this name.
///
/// # Errors
/// There is no such test; the error lists the tests of the plan.
pub fn test_named(plan: &Plan, name: &str) -> Result<Test, NoTest> {
    plan.test(name).cloned().ok_or_else(|| NoTest {
        name: name.to_owned(),
        known: plan.tests.iter().map(|test| test.name.clone()).collect(),
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
        assert!(is_matched("j*-*t", "jool-siit-t") && !is_matched("j*-*t", "jool-"));
        assert!(!is_matched("ab*b", "ab"), "an octet is matched once");
        assert!(!is_matched("tayga", "tayga-siit"));
    }

    #[test]
    fn a_ready_plan_is_found_by_name_file_and_path() {
        for path in [
            "quickstart",
            "quickstart.toml",
            "plans/quickstart.toml",
            "./plans/quickstart",
        ] {
            assert_eq!(
                find(Path::new(path)).map(|plan| plan.name),
                Some("quickstart"),
                "{path}"
            );
        }
        for path in [
            "",
            "plans",
            "quick",
            "other/quickstart.toml",
            "/plans/quickstart.toml",
            "plans/plans/quickstart",
        ] {
            assert!(find(Path::new(path)).is_none(), "{path}");
        }
    }

    /// Returns the head of a ready plan, its first lines of comment, and its tables.
    fn read(name: &str) -> (String, toml::Table) {
        let text = ready()
            .find(|plan| plan.name == name)
            .expect("a ready plan")
            .text;
        let head: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .map(|line| line.trim_start_matches("# "))
            .collect();
        (head.join(" "), text.parse().expect("TOML"))
    }

    fn tests(plan: &toml::Table) -> Vec<&toml::Table> {
        plan["test"]
            .as_array()
            .expect("tests")
            .iter()
            .filter_map(toml::Value::as_table)
            .collect()
    }

    #[test]
    fn dns_queries_are_searched_and_bounded_as_in_the_siit_paper() {
        let (head, plan) = read("siit-paper-fig18-21");
        assert_eq!(
            (
                plan["search"]["method"].as_str(),
                plan["search"]["maximum"].as_str()
            ),
            (Some("binary"), Some("1.1M"))
        );
        assert!(
            head.contains("binary search, up to 1.1 M queries/s over IPv4 and 0.9 M over IPv6"),
            "{head}"
        );
        for test in tests(&plan) {
            let maximum = test.get("maximum").and_then(toml::Value::as_str);
            let is_ipv6 = test["dut"].as_str() == Some("linux-ipv6");
            assert_eq!(maximum, is_ipv6.then_some("0.9M"), "{test:?}");
            let goals = test
                .get("loss-goals")
                .and_then(toml::Value::as_array)
                .map_or(1, Vec::len);
            assert_eq!(goals, 1, "a binary search has one goal: {test:?}");
            assert_eq!(test["source-ports"].as_integer(), Some(1000), "{test:?}");
        }
        assert!(head.contains("1,000 source ports, not 8,000"), "{head}");
        assert!(
            head.contains("It is the device's card, not the tester's"),
            "{head}"
        );
    }

    #[test]
    fn the_client_has_the_source_ports_of_the_scalability_paper() {
        for name in ["464xlat-mapt-paper", "464xlat-mapt-machines"] {
            let (_, plan) = read(name);
            assert!(
                tests(&plan)
                    .iter()
                    .all(|test| test["source-ports"].as_integer() == Some(100)),
                "{name}"
            );
        }
        let (head, _) = read("464xlat-mapt-paper");
        assert!(
            head.contains("100 source ports of each client thread")
                && head.contains("1,600 ports in all"),
            "{head}"
        );
    }

    #[test]
    fn figure_13_of_the_6to4_paper_has_every_destination_behind_one_responder() {
        let (head, plan) = read("6to4-paper");
        let of = |name: &str| {
            tests(&plan)
                .into_iter()
                .find(|test| test["name"].as_str() == Some(name))
                .expect("a test")
                .clone()
        };
        let (two, one) = (of("ping6"), of("one-responder"));
        assert_eq!(one["right-addresses"], two["right-addresses"]);
        assert_eq!(one["dut"].as_str(), Some("linux-sit-6to4-one-responder"));
        assert!(
            head.contains("all 131,072 destinations behind one responder"),
            "{head}"
        );
    }

    #[test]
    fn what_no_frame_has_passed_says_so_at_its_top() {
        const UNTRIED: &str = "UNTESTED: no frame has passed";
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
        let files = std::fs::read_dir(folder)
            .expect("the recipes")
            .map(|entry| entry.expect("a file").path());
        let recipes = files.filter(|path| path.extension().is_some_and(|name| name == "toml"));
        let texts = recipes.map(|path| std::fs::read_to_string(path).expect("text"));
        let foreign: Vec<String> = texts
            .filter(|text| text.contains("\nsystem = ") || text.contains("\nbase = \"openbsd"))
            .collect();
        assert_eq!(foreign.len(), 4);
        assert!(
            foreign
                .iter()
                .all(|text| text.starts_with(&format!("# {UNTRIED}")))
        );
        for name in ["siitperf-paper-table9-10", "siitperf-paper-table13-14"] {
            let plan = ready()
                .find(|plan| plan.name == name)
                .expect("a ready plan");
            assert!(
                plan.text
                    .lines()
                    .nth(1)
                    .is_some_and(|line| line.contains(UNTRIED)),
                "{name}"
            );
        }
        let openbsd: Vec<_> = devices()
            .into_iter()
            .filter(|(path, _)| path.contains("openbsd"))
            .collect();
        assert!(
            openbsd.len() == 2
                && openbsd
                    .iter()
                    .all(|(_, text)| text.contains("untested = true"))
        );
    }
}
