//! The views of a run over the cores of two devices in a chain.

use crate::formats::{figures, html, json, latex, markdown, scaling_csv, terminal};
use crate::sample::Sample;
use sixbench_method::search::Limit;

#[test]
fn the_views_of_a_run_over_cores() {
    let sample = Sample::of_chains();
    sample.keep("scaling");
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    insta::assert_snapshot!(
        "csv",
        scaling_csv(&sample.input()).expect("a series over cores")
    );
    insta::assert_snapshot!("terminal", terminal(&sample.input(), 100, false));
    let all = json(&sample.input());
    let (_, scaling) = all.split_once("\"core_scaling\": ").expect("core scaling");
    insta::assert_snapshot!("json", scaling);
}

#[test]
fn the_paper_s_proportions_stand_in_the_table() {
    let text = markdown(&Sample::of_chains().input());
    let column = |series: &str| {
        let (_, table) = text
            .split_once(&format!("## Core scaling: {series}\n"))
            .expect("a table");
        let rows = table
            .lines()
            .filter(|line| line.starts_with("| 84 |"))
            .take(5);
        rows.map(|row| row.split('|').nth(7).expect("a cell").trim().to_owned())
            .collect::<Vec<_>>()
    };
    for (series, paper) in [
        ("xlat", [1.43, 1.79, 1.20, 1.04]),
        ("mapt", [1.75, 1.89, 1.76, 1.42]),
    ] {
        let found = column(series);
        assert_eq!(found[0], "–");
        let near = |(cell, paper): (&String, &f64)| {
            (cell.parse::<f64>().expect("a number") - paper).abs() < 0.011
        };
        assert!(found[1..].iter().zip(&paper).all(near), "{found:?}");
    }
}

#[test]
fn the_bottleneck_is_the_plat_of_464xlat_and_the_ce_of_map_t() {
    let sample = Sample::of_chains();
    let page = html(&sample.input()).expect("a page");
    for text in [
        markdown(&sample.input()),
        terminal(&sample.input(), 400, false).replace('\u{a0}', " "),
        page,
    ] {
        let text = text.replace('\u{a0}', " ");
        assert!(
            text.contains("84 bytes, 1 core: the bottleneck is jool-plat"),
            "{text}"
        );
        assert!(
            text.contains("84 bytes, 16 cores: the bottleneck is jool-plat"),
            "{text}"
        );
        assert!(
            text.contains("84 bytes, 1 core: the bottleneck is jool-ce"),
            "{text}"
        );
        assert!(
            text.contains(
                "84 bytes, 16 cores: it is undecided which of jool-ce and jool-br is the bottleneck"
            ),
            "{text}"
        );
    }
}

#[test]
fn each_device_has_a_panel_of_idle_time_for_each_number_of_cores() {
    let figures = figures(&Sample::of_chains().input());
    let panels = |id: &str| {
        let (_, svg) = figures
            .iter()
            .find(|(name, _)| *name == format!("{id}.svg"))
            .expect("a figure");
        svg.split("<svg ")
            .skip(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(panels("idle").len(), 2 * 2 * 5);
    assert!(panels("idle")[0].contains("jool-clat, core 0: mean of 3 trials, up to"));
    assert!(panels("idle")[9].contains("jool-plat, 16 cores"));
    let rates = panels("cores");
    assert_eq!(rates.len(), 2);
    for law in ["#d55e00", "#009e73"] {
        assert!(rates[0].contains(&format!("stroke=\"{law}\"")), "{law}");
    }
}

#[test]
fn a_chain_that_is_no_step_of_a_series_shows_each_device_below_the_processor() {
    let mut sample = Sample::of_chains();
    sample.plan.tests.retain(|test| test.name == "xlat-2");
    sample.plan.tests[0].series = None;
    sample
        .records
        .iter_mut()
        .flat_map(|r| &mut r.watch)
        .for_each(|watch| watch.devices[1].memory = vec![64 << 20, 65 << 20]);
    let page = html(&sample.input())
        .expect("a page")
        .replace('\u{a0}', " ");
    for words in [
        "jool-clat, core 0 at 238 k frames/s",
        "jool-plat, core 1 at",
        "<td class=\"s\">jool-plat</td><td class=\"n\">64</td><td class=\"n\">65</td>",
        "The bottleneck is jool-plat",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("id=\"cores\""), "a section of core scaling");
}

#[test]
fn a_step_that_the_tester_ended_is_in_no_fit_and_its_ratios_are_bounds() {
    let mut sample = Sample::of_chains();
    let outcomes = sample
        .outcomes
        .iter_mut()
        .filter(|outcome| outcome.point.test == "xlat-8");
    outcomes.for_each(|outcome| outcome.brackets[0].limit = Limit::Tester);
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    assert!(
        text.contains("no law is fitted to the rates with 8 cores"),
        "{text}"
    );
    assert!(
        text.contains("| ≥ 1.20 | ≥ 3.08 | ≥ 38.5 |") && text.contains("| ≤ 1.04 | 3.2"),
        "{text}"
    );
    let outcomes = sample
        .outcomes
        .iter_mut()
        .filter(|outcome| outcome.point.test == "xlat-16");
    outcomes.for_each(|outcome| outcome.brackets[0].limit = Limit::Tester);
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    assert!(
        text.contains("the universal scalability law was not fitted: it needs 4 numbers of cores, but there are only 3"),
        "{text}"
    );
    assert!(
        text.contains("| – | ≥ 3.2"),
        "the proportion of two open rates: {text}"
    );
}

#[test]
fn a_run_without_a_series_over_cores_has_no_file_of_it() {
    let sample = Sample::complete();
    assert_eq!(scaling_csv(&sample.input()), None);
    assert!(!json(&sample.input()).contains("core_scaling"));
}

#[test]
fn every_row_of_the_file_has_all_its_columns() {
    let text = scaling_csv(&Sample::of_chains().input()).expect("a series over cores");
    assert!(text.lines().count() > 60);
    text.lines()
        .for_each(|line| assert_eq!(line.split(',').count(), 17, "{line}"));
    assert!(latex(&Sample::of_chains().input()).contains("Core scaling: xlat"));
}

#[test]
fn idle_time_is_that_of_the_trials_that_repeat_the_rate_where_there_are_some() {
    let row = |sample: &Sample| {
        let text = markdown(&sample.input());
        let (_, table) = text
            .split_once("## Idle time at the found rate: xlat\n")
            .expect("a table");
        let row = table
            .lines()
            .find(|line| line.starts_with("| 84 | 1 | jool-plat |"))
            .expect("one core")
            .to_owned();
        row.split('|')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let (found, repeated) = (
        row(&Sample::of_chains()),
        row(&Sample::of_repeated_chains()),
    );
    let idle = |row: &[String]| row[7].parse::<f64>().expect("a share");
    assert_eq!(
        (found[6].as_str(), repeated[6].as_str()),
        ("3", "5"),
        "{found:?} {repeated:?}"
    );
    assert!(
        idle(&found) < 5.0 && (49.0..52.0).contains(&idle(&repeated)),
        "{found:?} {repeated:?}"
    );
    assert_eq!(repeated[4], repeated[5], "all at the median");
}

/// Returns the sample of 464XLAT with each device on a separate machine.
fn over_machines() -> Sample {
    let mut sample = Sample::of_chains();
    sample
        .plan
        .tests
        .retain(|test| test.name.starts_with("xlat"));
    for watch in sample
        .records
        .iter_mut()
        .flat_map(|record| &mut record.watch)
    {
        watch
            .devices
            .iter_mut()
            .zip(["m1", "m2"])
            .for_each(|(device, machine)| device.machine = Some(machine.to_owned()));
    }
    sample
}

#[test]
fn of_a_row_over_machines_the_idle_time_of_each_machine_is_told() {
    let mut sample = over_machines();
    sample.plan.tests.retain(|test| test.name == "xlat-2");
    sample.plan.tests[0].series = None;
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    let (_, rest) = text
        .split_once("## Idle time of machines\n")
        .expect("a table");
    let table = rest.split("\n#").next().unwrap_or_default();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| xlat-2 |"))
        .map(|line| line.split(" | ").collect())
        .collect();
    assert_eq!(
        rows.iter()
            .map(|row| [row[2], row[3], row[5]])
            .collect::<Vec<_>>(),
        [["m1", "jool-clat", "2"], ["m2", "jool-plat", "2"]]
    );
    assert!(
        !markdown(&Sample::of_chains().input()).contains("Idle time of machines"),
        "none of virtual machines"
    );
}

#[test]
fn of_a_row_over_machines_the_page_names_the_machine_that_held_it_back_and_the_one_whose_core_was_full()
 {
    let mut sample = over_machines();
    sample.plan.tests.retain(|test| test.name == "xlat-2");
    sample.plan.tests[0].series = None;
    let page = html(&sample.input())
        .expect("a page")
        .replace('\u{a0}', " ");
    let (_, table) = page
        .split_once("<h4>What held the device back</h4>")
        .expect("the table");
    let (table, _) = table.split_once("</table>").expect("its end");
    for words in [
        "The bottleneck is jool-plat on m2",
        "on jool-plat on m2 in the losing trials core 0: ",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert!(!table.contains(" on m1 in the losing trials"), "{table}");
}

#[test]
fn the_cores_of_one_machine_alone_are_told_to_be_its() {
    let mut sample = over_machines();
    for series in sample
        .plan
        .tests
        .iter_mut()
        .flat_map(|test| &mut test.series)
    {
        series.device = Some("m2".to_owned());
    }
    let text = markdown(&sample.input()).replace('\u{a0}', " ");
    for words in [
        "The cores are those of m2 alone; every other device has the same number in all rows.",
        "16 cores of m2: the bottleneck",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(terminal(&sample.input(), 400, false).contains("with 16 of m2's cores"));
    assert!(json(&sample.input()).contains("\"cores_of\": \"m2\""));
}
