//! The key `cores` of a test: the same number for every device, or separate numbers for some devices of a row.

use crate::reader::words::count;
use crate::reader::{Section, nearest};
use sixbench_method::measures::Keys;
use sixbench_method::plan::{CoreLimits, Test};

const KEY: &str = "cores";

/// The numbers of cores with which a test is made.
#[derive(Default)]
pub(crate) struct CoreSteps {
    /// The numbers of cores, used in turn, that apply to every device.
    pub(crate) every: Vec<u32>,
    /// The numbers of cores of individual devices, by the name of the device or of its machine; empty for a device that has all its cores.
    by_device: Vec<(String, Vec<u32>)>,
}

impl CoreSteps {
    /// Returns the length of the longest list.
    pub(crate) fn longest(&self) -> usize {
        let lists = self.by_device.iter().map(|(_, counts)| counts.len());
        lists.max().unwrap_or(0).max(self.every.len())
    }

    /// Returns the only device for which a list of several numbers is given, with the list.
    pub(crate) fn varied_device(&self) -> Option<(&str, &[u32])> {
        let (name, counts) = self.by_device.iter().find(|(_, counts)| counts.len() > 1)?;
        Some((name, counts))
    }

    /// Gives a test the first number of each list.
    pub(crate) fn set_first(&self, test: &mut Test) {
        test.cores = self.every.first().copied();
        let first = self
            .by_device
            .iter()
            .filter_map(|(name, counts)| Some((name.clone(), *counts.first()?)));
        test.device_cores = first.collect();
    }
}

/// Reads a number, a list of numbers, or a table of numbers for individual devices, whose names are in `machines` or in `duts`.
pub(crate) fn read(section: &Section<'_>, machines: &[&str], duts: &[&str]) -> CoreSteps {
    let known = |name: &str| {
        if machines.contains(&name) || duts.contains(&name) {
            Ok(())
        } else {
            Err(unknown(name, machines, duts))
        }
    };
    let of_device = |text: &str| match text {
        "all" => Ok(None),
        text => count(text, CoreLimits::NUMBER).map(Some).map_err(|_| {
            let range = CoreLimits::NUMBER.from_to();
            format!("expected a whole number {range} or \"all\", not `{text}`")
        }),
    };
    let Some(lists) = section.named_lists(KEY, known, of_device) else {
        return CoreSteps {
            every: section
                .numbers(KEY, |text| count(text, CoreLimits::NUMBER))
                .unwrap_or_default(),
            by_device: Vec::new(),
        };
    };
    for (name, counts) in lists
        .iter()
        .filter(|(_, counts)| counts.len() > 1 && counts.contains(&None))
    {
        let help = "the steps of a series need numbers";
        section.mistake_with_help(
            KEY,
            format!(
                "\"all\" is one of {} numbers of cores of {name}",
                counts.len()
            ),
            help,
        );
    }
    if lists.iter().filter(|(_, counts)| counts.len() > 1).count() > 1 {
        section.mistake(
            KEY,
            "the cores of one device are a list already: a series differs in one thing only",
        );
    }
    CoreSteps {
        every: Vec::new(),
        by_device: lists
            .into_iter()
            .map(|(name, list)| (name, list.into_iter().flatten().collect()))
            .collect(),
    }
}

fn unknown(name: &str, machines: &[&str], duts: &[&str]) -> String {
    let near = nearest(name, machines)
        .or(nearest(name, duts))
        .map(|near| format!("; did you mean `{near}`?"));
    let machines = match machines {
        [] => "`host` names no machines".to_owned(),
        machines => format!("the machines are {}", machines.join(", ")),
    };
    format!(
        "`{name}` is neither a machine of `host` nor a device: {machines}{}",
        near.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use crate::fixture_tests::{SMALLEST, mistakes};
    use crate::parse;

    const DUTS: [&str; 2] = ["linux-ipv4", "jool-plat"];
    const TESTBED: &str = "[testbed]\nleft = \"e0\"\nright = \"e1\"\nhost = [\"ssh:ce\", \"ssh:root@br\"]\ndut-left = \"a\"\n\
                           dut-right = \"b\"\n";

    #[test]
    fn the_cores_of_one_device_are_the_steps_while_another_keeps_all_of_its_own() {
        let steps = |cores: &str| {
            let plan = parse(&format!("{SMALLEST}cores = {cores}\n{TESTBED}"), &DUTS)
                .expect("a plan")
                .plan;
            let step = |test: &sixbench_method::plan::Test| {
                let series = test
                    .series
                    .as_ref()
                    .map(|series| (series.at, series.device.clone().unwrap_or_default()));
                let cores: Vec<(String, u32)> = test.device_cores.clone().into_iter().collect();
                (test.name.clone(), test.title.clone(), series, cores)
            };
            plan.tests.iter().map(step).collect::<Vec<_>>()
        };
        let named = |name: &str, cores| vec![(name.to_owned(), cores)];
        let of = |cores: u32, title: &str| {
            (
                format!("t.cores{cores}"),
                title.to_owned(),
                Some((f64::from(cores), "root@br".to_owned())),
                named("root@br", cores),
            )
        };
        let expected = [
            of(1, "t, 1 core of root@br"),
            of(4, "t, 4 cores of root@br"),
        ];
        assert_eq!(steps("{ \"root@br\" = [1, 4], ce = \"all\" }"), expected);
        assert_eq!(
            steps("{ jool-plat = 2 }"),
            [("t".to_owned(), "t".to_owned(), None, named("jool-plat", 2))]
        );
    }

    #[test]
    fn mistakes_in_the_cores_of_devices_are_told_at_their_line() {
        let told = |cores: &str| mistakes(&format!("{SMALLEST}cores = {cores}\n{TESTBED}"), &DUTS);
        let unknown = told("{ cd = 1 }");
        assert!(
            unknown.contains(
                "`cd` is neither a machine of `host` nor a device: the machines are ce, root@br"
            ),
            "{unknown}"
        );
        assert!(
            unknown.contains("did you mean `ce`?") && unknown.contains("plan.toml:5:11"),
            "{unknown}"
        );
        assert!(
            told("{ ce = [1, 2], \"root@br\" = [1, 2] }")
                .contains("a series differs in one thing only")
        );
        assert!(
            told("{ ce = [1, \"all\"] }").contains("\"all\" is one of 2 numbers of cores of ce")
        );
        assert!(
            told("{ ce = \"many\" }")
                .contains("expected a whole number from 1 to 1000 or \"all\", not `many`")
        );
        let two = told("{ ce = [1, 2] }\nbackground = [\"0%\", \"10%\"]");
        assert!(two.contains("`background` is a list already"), "{two}");
    }
}
