//! Numbers derived from lower bounds are bounds, in sentences and in tables.

use crate::formats::{html, json, latex, markdown, points_csv, terminal};
use crate::sample::Sample;
use serde_json::Value;
use sixbench_method::search::Limit;
use sixbench_method::terms::FrameRate;
use sixbench_report::Document;

const LIMITS: [Limit; 3] = [Limit::Tester, Limit::Maximum, Limit::Disturbed];

/// Returns the text of a run in which something other than the DUT ended the searches of these tests.
fn opened(sample: Sample, tests: &[&str], limit: Limit) -> String {
    let mut sample = sample;
    let outcomes = sample
        .outcomes
        .iter_mut()
        .filter(|outcome| tests.contains(&outcome.point.test.as_str()));
    let count = outcomes
        .map(|outcome| outcome.brackets[0].limit = limit)
        .count();
    assert_eq!(count > 0, !tests.is_empty(), "no outcome of {tests:?}");
    markdown(&sample.input()).replace('\u{a0}', " ")
}

/// Returns the sentences on the change from the first step of a series to the last, with each of them open in turn.
fn said_of(sample: fn() -> Sample, [first, last]: [&str; 2], start: &str) -> Vec<Vec<String>> {
    let of = |tests: &[&str], limit| -> Option<String> {
        let text = opened(sample(), tests, limit);
        text.lines()
            .find_map(|line| line.strip_prefix(&format!("- {start}")).map(str::to_owned))
    };
    let cases: [&[&str]; 4] = [&[], &[first], &[last], &[first, last]];
    cases
        .map(|tests| {
            LIMITS
                .into_iter()
                .filter_map(|limit| of(tests, limit))
                .collect()
        })
        .to_vec()
}

#[test]
fn the_degradation_from_or_to_a_lower_bound_is_a_bound() {
    let said = said_of(
        Sample::of_every_measure,
        ["flows-1", "flows-64"],
        "flows: throughput at 84 bytes ",
    );
    let [exact, from, to, neither] = &said[..] else {
        panic!("four cases")
    };
    assert!(
        exact
            .iter()
            .all(|text| text.starts_with("degrades by ") && !text.contains(" at ")),
        "{exact:?}"
    );
    assert!(
        from.len() == 3
            && from
                .iter()
                .all(|text| text.starts_with("degrades by at least ")),
        "{from:?}"
    );
    assert!(
        to.len() == 3
            && to
                .iter()
                .all(|text| text.starts_with("degrades by at most ")),
        "{to:?}"
    );
    assert!(neither.is_empty(), "{neither:?}");
    let text = opened(
        Sample::of_every_measure(),
        &["flows-1", "flows-64"],
        Limit::Disturbed,
    );
    assert!(
        text.contains(
            "how throughput at 84 bytes changes from 1 to 64 network flows cannot be stated"
        ),
        "{text}"
    );
    assert!(
        text.contains("| 16 | both | ≥ ") && text.contains("| 64 | both | – |"),
        "{text}"
    );
}

#[test]
fn the_gain_by_cores_from_or_to_a_lower_bound_is_a_bound() {
    let said = said_of(
        Sample::of_chains,
        ["xlat-1", "xlat-16"],
        "xlat: with 16 of the device's cores ",
    );
    let [exact, from, to, neither] = &said[..] else {
        panic!("four cases")
    };
    assert!(exact.iter().all(|text| text.starts_with("3.")), "{exact:?}");
    assert!(
        from.len() == 3 && from.iter().all(|text| text.starts_with("at most 3.")),
        "{from:?}"
    );
    assert!(
        to.len() == 3 && to.iter().all(|text| text.starts_with("at least 3.")),
        "{to:?}"
    );
    assert!(
        neither.is_empty(),
        "nothing is known of two lower bounds: {neither:?}"
    );
}

#[test]
fn models_of_mixed_traffic_rest_on_their_ends() {
    let row = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("| 84 | 50 |"))
            .expect("half of each")
            .to_owned()
    };
    let exact = row(&opened(Sample::of_every_measure(), &[], Limit::Dut));
    let open = row(&opened(
        Sample::of_every_measure(),
        &["mix-100"],
        Limit::Disturbed,
    ));
    assert_eq!(
        (exact.matches('≥').count(), open.matches('≥').count()),
        (0, 2),
        "{exact} {open}"
    );
}

#[test]
fn the_share_beside_a_bar_is_a_bound_of_a_lower_bound() {
    let text = |test: &str| {
        let mut sample = Sample::complete();
        sample
            .outcomes
            .iter_mut()
            .for_each(|outcome| outcome.brackets[0].limit = Limit::Dut);
        let of_test = sample
            .outcomes
            .iter_mut()
            .filter(|outcome| outcome.point.test == test);
        of_test.for_each(|outcome| outcome.brackets[0].limit = Limit::Disturbed);
        terminal(&sample.input(), 120, false)
    };
    let bars = |text: &str, sign: char| {
        text.lines()
            .filter(|line| line.ends_with('%') && line.contains(sign))
            .count()
    };
    assert_eq!(['≤', '≥'].map(|sign| bars(&text("none"), sign)), [0, 0]);
    let of_least = text("tayga");
    let rows = of_least
        .lines()
        .filter(|line| line.starts_with("TAYGA") && line.ends_with('%'));
    assert!(
        rows.clone().count() == 2 && rows.clone().all(|row| row.matches('≥').count() == 4),
        "{of_least}"
    );
    let of_most = text("vpp-nat64");
    assert!(bars(&of_most, '≤') >= 3, "{of_most}");
}

/// A rate that no other number of the sample resembles.
const RATE: u64 = 92_978;

/// Returns a run in which something other than the device ended every search of this test between these bounds.
fn between(test: &str, lower: u64, upper: u64, limit: Limit) -> Sample {
    let mut sample = Sample::complete();
    let outcomes = sample
        .outcomes
        .iter_mut()
        .filter(|outcome| outcome.point.test == test);
    outcomes.for_each(|outcome| {
        let bracket = &mut outcome.brackets[0];
        (bracket.lower, bracket.upper, bracket.limit) =
            (Some(FrameRate(lower)), Some(FrameRate(upper)), limit);
    });
    sample
}

/// Returns the places at which a text has the rate without a sign before it.
fn unsigned(text: &str) -> Vec<String> {
    let forms = [
        "92,978",
        "92978",
        "92.9 k",
        "92.9\u{a0}k",
        "93.0 k",
        "93 k",
        "93\u{a0}k",
        "92 k",
        "92\u{a0}k",
    ];
    let is_signed = |before: &str| {
        let before = before.trim_end_matches([' ', '\u{a0}', '~', '\n', '$', '{', '}', ',', '\\']);
        ["≥", "at least", "geq", "least"]
            .iter()
            .any(|sign| before.ends_with(sign))
    };
    let places = forms.iter().flat_map(|form| text.match_indices(form));
    let alone = places.filter(|(at, _)| !is_signed(&text[..*at]));
    alone
        .map(|(at, _)| {
            text[text.floor_char_boundary(at.saturating_sub(60))..text.ceil_char_boundary(at + 20)]
                .to_owned()
        })
        .collect()
}

#[test]
fn a_lower_bound_is_in_no_file_a_number_without_its_sign() {
    for limit in LIMITS {
        let sample = between("tayga", RATE, RATE + 900, limit);
        let input = sample.input();
        let document = Document::new(&input).expect("a report");
        let terminals =
            [40, 100].map(|width| ("terminal".to_owned(), terminal(&input, width, false)));
        let files = document
            .files()
            .map(|file| file.expect("a file"))
            .chain(terminals);
        let mut with_it = Vec::new();
        for (name, text) in files {
            let of_csv = |words: &str| {
                let rows = text
                    .lines()
                    .filter(|row| row.split(',').any(|cell| cell == RATE.to_string()));
                rows.map(|row| assert!(row.split(',').any(|cell| cell == words), "{name}: {row}"))
                    .count()
            };
            let found = match &*name {
                "results.csv" | "points.csv" => of_csv("at-least"),
                "results.json" => json_has_signs(&text),
                // The page carries results.csv within its links.
                "report.html" => {
                    let page = text.replace(&RATE.to_string(), "");
                    assert_eq!(unsigned(&page), [""; 0], "{name}, {limit:?}");
                    page.matches("92,978").count()
                }
                // A figure has the sign beside the point.
                name if name.starts_with("figures/") => {
                    let signs = text.matches("geq").count();
                    assert!(
                        !text.contains(&RATE.to_string()) || signs > 0,
                        "{name}, {limit:?}: {text}"
                    );
                    signs
                }
                _ => {
                    assert_eq!(unsigned(&text), [""; 0], "{name}, {limit:?}");
                    text.matches("92,978").count()
                }
            };
            with_it.extend((found > 0).then_some(name));
        }
        let wanted = [
            "report.html",
            "results.csv",
            "points.csv",
            "tables/throughput.tex",
            "results.md",
            "results.json",
            "junit.xml",
            "terminal",
        ];
        for name in &wanted {
            assert!(
                with_it.iter().any(|with| with == name),
                "{name} has the rate: {with_it:?}"
            );
        }
        let left_out = document
            .file("trend-left-out.json")
            .expect("a file")
            .expect("points that were left out");
        let left_out: Value = serde_json::from_str(&left_out).expect("JSON");
        let of_test = |entry: &&Value| {
            entry["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("TAYGA"))
        };
        let of_test: Vec<&Value> = left_out
            .as_array()
            .expect("a list")
            .iter()
            .filter(of_test)
            .collect();
        assert!(
            of_test.len() == 2 && of_test.iter().all(|entry| entry["status"] == "at-least"),
            "{left_out}"
        );
        for file in ["bencher.json", "benchmark-bigger.json"] {
            let text = document
                .file(file)
                .expect("a file")
                .expect("results that are no bounds");
            assert!(
                !text.contains("TAYGA") && text.contains("Linux IPv4"),
                "{file}: {text}"
            );
        }
    }
}

/// Asserts that wherever a summary or a result of `results.json` has the rate, something beside it says that it is a bound; returns how often.
fn json_has_signs(text: &str) -> usize {
    let results: Value = serde_json::from_str(text).expect("JSON");
    let points = results["points"].as_array().expect("points").iter();
    let with_it = points.filter(|point| point.to_string().contains(&RATE.to_string()));
    with_it
        .map(|point| {
            assert_eq!(point["status"], "at-least", "{point}");
            assert_eq!(
                point["goals"][0]["lower_bounds"],
                serde_json::json!(["min", "p1", "median", "p99", "max"]),
                "{point}"
            );
        })
        .count()
}

#[test]
fn a_rate_between_bounds_more_than_two_to_one_apart_is_not_found_and_no_number() {
    for limit in [Limit::Tester, Limit::Disturbed] {
        let sample = between("vpp-nat64", 95_000, 1_570_000, limit);
        let input = sample.input();
        let (page, shown) = (html(&input).expect("a page"), terminal(&input, 100, false));
        let words = "not found: between 95 k and 1.57 M";
        for text in [
            &page,
            &shown,
            &markdown(&input),
            &latex(&input).replace('~', " "),
            &json(&input),
            &points_csv(&input),
        ] {
            let text = text.replace('\u{a0}', " ");
            assert!(text.contains(words), "{text}");
            // Neither a figure nor a bound, a ranking or a headline.
            for number in ["≥ 95", "at least 95", "95,000 ", "95.0 k", "95.0k"] {
                assert!(!text.contains(number), "{number}: {text}");
            }
            assert!(
                !text.contains("VPP NAT64 passed") && !text.contains("VPP NAT64 reached"),
                "{text}"
            );
        }
        let row = shown
            .lines()
            .find(|line| line.starts_with("VPP NAT64") && line.contains(words))
            .expect("a row");
        assert!(!row.contains('█') && !row.contains('%'), "{row}");
        let results: Value = serde_json::from_str(&json(&input)).expect("JSON");
        let points = results["points"]
            .as_array()
            .expect("points")
            .iter()
            .filter(|point| point["test"] == "vpp-nat64");
        for point in points.clone() {
            assert_eq!(
                point["not_found"],
                serde_json::json!({ "lower": 95_000, "upper": 1_570_000 }),
                "{point}"
            );
            assert!(
                point["result"].is_null() && point["goals"][0]["summary"].is_null(),
                "{point}"
            );
            assert_eq!(
                (&point["status"], &point["reason"]),
                (&"no-result".into(), &"not-found".into()),
                "{point}"
            );
        }
        assert_eq!(points.count(), 2);
        let rows = crate::formats::csv(&input);
        let of_test = rows.lines().filter(|row| row.contains(",vpp-nat64,"));
        assert!(
            of_test.clone().count() == 6 && of_test.clone().all(|row| row.contains(",not-found,")),
            "{rows}"
        );
    }
    let close = between("vpp-nat64", 95_000, 189_000, Limit::Disturbed);
    assert!(
        markdown(&close.input())
            .replace('\u{a0}', " ")
            .contains("≥ 95,000"),
        "within two to one it is a bound"
    );
}

/// A delay that no other number of the sample resembles, ns.
const DELAY: f64 = 7_654_321.0;

/// Returns a run in which every delay of the test of PDV is this one, and may be shorter.
fn delays_at_most() -> Sample {
    let mut sample = Sample::of_every_measure();
    let values = sample
        .outcomes
        .iter_mut()
        .filter(|outcome| outcome.point.test == "pdv")
        .flat_map(|outcome| &mut outcome.values);
    let count = values
        .map(|value| (value.value, value.is_at_most) = (DELAY, true))
        .count();
    assert!(count > 0, "values of PDV");
    sample
}

#[test]
fn an_upper_bound_is_in_no_file_a_number_without_its_sign() {
    let sample = delays_at_most();
    let input = sample.input();
    let document = Document::new(&input).expect("a report");
    for file in ["bencher.json", "benchmark-smaller.json"] {
        let text = document.file(file).expect("a file").unwrap_or_default();
        assert!(
            !text.contains("765432") && !text.contains("7.65"),
            "{file}: {text}"
        );
    }
    let left_out = document
        .file("trend-left-out.json")
        .expect("a file")
        .expect("points that were left out");
    let left_out: Value = serde_json::from_str(&left_out).expect("JSON");
    let is_it = |entry: &&Value| {
        entry["status"] == "at-most"
            && entry["known"]
                .as_str()
                .is_some_and(|known| known.contains("≤ 7.65"))
    };
    assert!(
        left_out
            .as_array()
            .expect("a list")
            .iter()
            .any(|entry| is_it(&entry)),
        "{left_out}"
    );
    for (name, text) in [
        ("results.md", markdown(&input)),
        (
            "junit.xml",
            document.file("junit.xml").expect("a file").expect("text"),
        ),
        ("terminal", terminal(&input, 100, false)),
    ] {
        let text = text.replace('\u{a0}', " ");
        let unsigned: Vec<&str> = text
            .match_indices("7.65")
            .map(|(at, _)| &text[..at])
            .filter(|before| !before.ends_with("≤ "))
            .collect();
        assert!(
            unsigned.is_empty(),
            "{name}: {}",
            unsigned[0]
                .chars()
                .rev()
                .take(80)
                .collect::<String>()
                .chars()
                .rev()
                .collect::<String>()
        );
    }
}

/// Returns a figure of a page.
fn figure(page: &str, id: &str) -> String {
    let start = page
        .find(&format!("<figure id=\"figure-{id}\""))
        .unwrap_or_else(|| panic!("no figure {id}"));
    page[start..]
        .split("</figure>")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Returns how often a sign is beside the marks of a figure, and in its legend.
fn signs(figure: &str, sign: &str) -> (usize, bool) {
    let in_legend = match sign {
        "≥" => "lower bound: the true value may be higher",
        "≤" => "upper bound: the true value may be lower",
        _ => "bound on either side",
    };
    (
        figure.matches(&format!(">{sign}</text>")).count(),
        figure.contains(in_legend),
    )
}

/// Asserts that each of these figures, where its searches ended at something other than the DUT, has signs beside its marks and in its legend, and
/// otherwise none.
fn figures_have_signs(sample: fn() -> Sample, figures: &[&str]) {
    let page = |limit| {
        let mut sample = sample();
        sample
            .outcomes
            .iter_mut()
            .flat_map(|outcome| &mut outcome.brackets)
            .for_each(|found| found.limit = limit);
        html(&sample.input()).expect("a page")
    };
    let (exact, open) = (page(Limit::Dut), page(Limit::Disturbed));
    for id in figures {
        let (exact, open) = (figure(&exact, id), figure(&open, id));
        assert_eq!(signs(&exact, "≥"), (0, false), "{id}");
        let (beside, is_in_legend) = signs(&open, "≥");
        assert!(beside > 0 && is_in_legend, "{id}: {open}");
    }
}

#[test]
fn a_bound_has_its_sign_beside_its_mark_in_every_figure_of_medians() {
    figures_have_signs(Sample::of_every_measure, &["mixed", "throughput"]);
    figures_have_signs(Sample::of_chains, &["cores"]);
    figures_have_signs(Sample::of_dns_servers, &["dns", "dns-servers"]);
    figures_have_signs(Sample::of_stateful_gateways, &["scalability"]);
}

#[test]
fn a_degradation_is_a_bound_on_the_side_on_which_the_true_rate_may_be_higher() {
    let page = |open: &[&str]| {
        let mut sample = Sample::of_every_measure();
        let of_tests = |test: &str| open.iter().any(|open| test == format!("flows-{open}"));
        let outcomes = sample
            .outcomes
            .iter_mut()
            .filter(|outcome| of_tests(&outcome.point.test));
        outcomes
            .flat_map(|outcome| &mut outcome.brackets)
            .for_each(|found| found.limit = Limit::Disturbed);
        figure(&html(&sample.input()).expect("a page"), "degradation")
    };
    let both = |figure: &str| {
        [signs(figure, "≥"), signs(figure, "≤")]
            .map(|(beside, is_in_legend)| (beside > 0, is_in_legend))
    };
    // Fewer flows with a higher rate make the others worse; more flows with a higher rate are less worse.
    assert_eq!(both(&page(&["1"])), [(true, true), (false, false)]);
    assert_eq!(both(&page(&["4", "16"])), [(false, false), (true, true)]);
    assert_eq!(both(&page(&[])), [(false, false); 2]);
}

#[test]
fn values_of_trials_have_each_sign_beside_their_marks() {
    for (is_at_least, is_at_most, sign) in
        [(true, false, "≥"), (false, true, "≤"), (true, true, "≈")]
    {
        let mut sample = Sample::of_clients();
        // A median of both bounds may be higher and lower, whichever repetition it is.
        for value in sample
            .outcomes
            .iter_mut()
            .flat_map(|outcome| &mut outcome.values)
        {
            (value.is_at_least, value.is_at_most) = (is_at_least, is_at_most);
        }
        let figure = figure(&html(&sample.input()).expect("a page"), "clients");
        for other in ["≥", "≤", "≈"] {
            let (beside, is_in_legend) = signs(&figure, other);
            assert_eq!(
                (beside > 0, is_in_legend),
                (other == sign, other == sign),
                "{sign}, {other}"
            );
        }
    }
}
