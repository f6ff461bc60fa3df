//! The views of one sample run, and of a run without results.

use crate::formats::{csv, figures, html, json, latex, markdown, terminal};
use crate::sample::{self, Sample};
use sixbench_method::plan::{Expectation, Test};
use sixbench_method::record::{Cable, CableEnd, LinkKind};
use sixbench_method::search::{Limit, RepetitionStart};
use sixbench_method::terms::FrameRate;
use sixbench_method::text::is_control;
use sixbench_report::{Document, ReportError};

#[test]
fn the_views_of_a_run() {
    let sample = Sample::complete();
    insta::assert_snapshot!("csv", csv(&sample.input()));
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    insta::assert_snapshot!("json", json(&sample.input()));
    insta::assert_snapshot!("terminal", terminal(&sample.input(), 100, false));
    insta::assert_snapshot!("terminal-narrow", terminal(&sample.input(), 50, false));
}

#[test]
fn a_run_interrupted_before_its_first_result_says_so() {
    let sample = Sample::empty();
    for text in [
        html(&sample.input()).unwrap(),
        markdown(&sample.input()),
        terminal(&sample.input(), 80, true),
    ] {
        assert!(
            text.contains("interrupted before its first result"),
            "{text}"
        );
    }
    assert_eq!(csv(&sample.input()).lines().count(), 1);
    assert!(json(&sample.input()).contains("\"summary\": null"));
    assert!(figures(&sample.input()).is_empty());
}

#[test]
fn a_run_interrupted_between_records_and_outcomes_still_draws_them() {
    let mut sample = Sample::complete();
    sample.outcomes.clear();
    sample.interrupted = true;
    assert!(
        html(&sample.input())
            .unwrap()
            .contains("interrupted before its first result")
    );
    assert!(
        figures(&sample.input())
            .iter()
            .any(|(name, _)| name == "search.svg")
    );
}

#[test]
fn the_page_is_whole_and_needs_nothing_from_elsewhere() {
    let page = page();
    assert!(page.starts_with("<!DOCTYPE html>"), "{}", &page[..40]);
    assert!(!page.contains("{{") && !page.contains("{%"));
    // Links to the RFCs load nothing by themselves.
    let page = page.replace("<a href=\"https://www.rfc-editor.org/rfc/", "");
    for load in [
        "src=",
        "@import",
        "url(http",
        "<script",
        "<link",
        "href=\"http",
    ] {
        assert!(!page.contains(load), "the page loads something: {load}");
    }
    for tag in [
        "table", "section", "figure", "div", "svg", "details", "tr", "dl", "aside",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(
            opened,
            page.matches(&format!("</{tag}>")).count(),
            "<{tag}> is not closed as often as opened"
        );
    }
}

#[test]
fn a_page_of_five_hundred_points_is_below_five_megabytes() {
    let sample = Sample::of_many(250);
    sample.keep("many");
    let page = html(&sample.input()).expect("a page");
    assert!(page.len() < 5_000_000, "{} octets", page.len());
    assert!(
        page.contains("more panels are in search.svg: <code>sixbench export DIR --to svg</code>")
    );
    // Whatever the page links to is within it, or beside it in every results directory.
    let links = page.split("href=\"").skip(1);
    for link in links.filter_map(|rest| rest.split('"').next()) {
        let is_within = ["#", "data:", "https://"]
            .iter()
            .any(|of| link.starts_with(of));
        let is_beside = ["results.csv", "results.json", "trials.jsonl"].contains(&link);
        assert!(is_within || is_beside, "{link}");
    }
}

#[test]
fn small_downloads_are_within_the_page() {
    let page = page();
    assert!(
        page.matches("<a href=\"data:image/svg+xml;charset=utf-8,%3Csvg")
            .count()
            >= 2
    );
    assert!(page.contains("<a href=\"data:text/csv;charset=utf-8,plan,test,"));
    assert!(page.contains("<a href=\"trials.jsonl\" download=\"trials.jsonl\">"));
}

#[test]
fn the_page_begins_with_the_verdict_and_the_limits_of_its_numbers() {
    let page = as_read(&page());
    let verdict = page
        .find("frames/s per direction without loss at 84\u{a0}bytes")
        .expect("a headline");
    let notice = page
        .find("The conformant run would need")
        .expect("a notice");
    assert!(verdict < notice && notice < page.find("<h2>Results").expect("a headline table"));
    assert!(page.contains("2240\u{a0}trials, 42.9\u{a0}h"));
}

#[test]
fn markup_in_a_title_is_shown_and_not_obeyed() {
    let page = page();
    assert!(!page.contains("<b>"));
    assert!(page.contains("&lt;b&gt;"));
    let sample = Sample::complete();
    assert!(
        figures(&sample.input())
            .iter()
            .all(|(_, svg)| !svg.contains("<b>"))
    );
}

#[test]
fn a_percentile_never_stands_without_the_size_of_its_sample() {
    let sample = Sample::complete();
    for text in [
        as_read(&page()),
        markdown(&sample.input()),
        terminal(&sample.input(), 100, false),
    ] {
        assert!(
            text.contains("With n = 3, the 1st/99th percentiles are the minimum and maximum."),
            "{text}"
        );
    }
}

/// Returns the sample with only its first two tests, whose results at both sizes lie between these bounds.
fn duel(bounds: [(Option<u64>, u64, Limit); 2]) -> Sample {
    let mut sample = Sample::complete();
    sample.plan.tests.truncate(2);
    sample
        .outcomes
        .retain(|o| sample.plan.test(&o.point.test).is_some());
    for outcome in &mut sample.outcomes {
        let (lower, upper, limit) = bounds[usize::from(outcome.point.test != "linux-ipv4")];
        let bracket = &mut outcome.brackets[0];
        (bracket.lower, bracket.upper, bracket.limit) =
            (lower.map(FrameRate), Some(FrameRate(upper)), limit);
    }
    sample
}

#[test]
fn overlapping_ranges_show_no_difference() {
    let close = duel([
        (Some(400_000), 404_000, Limit::Dut),
        (Some(398_000), 402_000, Limit::Dut),
    ]);
    let text = markdown(&close.input());
    assert!(
        text.contains("(no difference from Linux IPv4 forwarding shown)"),
        "{text}"
    );
    let apart = duel([
        (Some(400_000), 404_000, Limit::Dut),
        (Some(40_000), 40_400, Limit::Dut),
    ]);
    let text = markdown(&apart.input());
    assert!(
        text.contains("reached 10\u{a0}% of that: 40\u{a0}k."),
        "{text}"
    );
    assert!(!text.contains("no difference"), "{text}");
}

#[test]
fn two_results_limited_by_the_tester_are_not_ranked() {
    let both = duel([
        (Some(400_000), 404_000, Limit::Tester),
        (Some(390_000), 394_000, Limit::Tester),
    ]);
    let text = markdown(&both.input());
    assert!(
        text.contains("it is not shown which of the two is faster"),
        "{text}"
    );
}

#[test]
fn a_device_in_shared_memory_is_not_compared_with_those_behind_the_kernel_s_interfaces() {
    const APART: &str = "Do not compare the two.";
    let mut sample = duel([
        (Some(400_000), 404_000, Limit::Dut),
        (Some(390_000), 394_000, Limit::Dut),
    ]);
    let share = |sample: &Sample| markdown(&sample.input()).contains(" of that: ");
    assert!(share(&sample) && !markdown(&sample.input()).contains(APART));
    let dut = sample.plan.tests[1].dut.clone();
    sample.facts.duts.entry(dut).or_default().in_memory = true;
    assert!(!share(&sample), "no share of the other's rate");
    let text = markdown(&sample.input());
    assert!(
        text.contains(APART) && text.matches(" passed ").count() >= 2,
        "{text}"
    );
    sample
        .facts
        .duts
        .values_mut()
        .for_each(|dut| dut.in_memory = true);
    let first = sample.plan.tests[0].dut.clone();
    sample.facts.duts.entry(first).or_default().in_memory = true;
    assert!(share(&sample), "two of one kind are compared");
}

#[test]
fn the_page_has_the_facts_of_a_machine_that_a_device_has_for_itself() {
    let mut sample = duel([
        (Some(400_000), 404_000, Limit::Dut),
        (Some(390_000), 394_000, Limit::Dut),
    ]);
    let page = |sample: &Sample| html(&sample.input()).expect("a page");
    assert!(!page(&sample).contains("Its machine"));
    let dut = sample.facts.duts.values_mut().next().expect("a device");
    dut.machine
        .insert("frequency governor".to_owned(), "powersave".to_owned());
    let row = "<dt>Its machine: frequency governor</dt><dd>powersave</dd>";
    assert_eq!(page(&sample).matches(row).count(), 1);
}

#[test]
fn a_dut_that_loses_at_the_lowest_load_counts_as_zero() {
    let hopeless = duel([
        (Some(400_000), 404_000, Limit::Dut),
        (None, 1_000, Limit::Dut),
    ]);
    let text = markdown(&hopeless.input());
    assert!(
        text.contains("did not pass even the lowest load of the plan"),
        "{text}"
    );
    assert!(text.contains("below the lowest load 3×"), "{text}");
    html(&hopeless.input()).expect("a page");
}

#[test]
fn what_the_tester_could_not_measure_is_no_result() {
    let blocked = duel([
        (Some(400_000), 404_000, Limit::Dut),
        (None, 1_000, Limit::Tester),
    ]);
    let text = markdown(&blocked.input());
    assert!(
        text.contains("the tester fell short at every load that was tried"),
        "{text}"
    );
    assert!(text.contains("no result"), "{text}");
    html(&blocked.input()).expect("a page");
}

#[test]
fn records_of_a_newer_format_are_refused() {
    let mut sample = Sample::complete();
    sample.records[0].format = 99;
    assert!(matches!(
        html(&sample.input()),
        Err(ReportError::Format { found: 99, .. })
    ));
}

/// Reverses the one escape that plain words contain.
fn as_read(page: &str) -> String {
    page.replace("&#x2f;", "/")
}

fn page() -> String {
    let sample = Sample::complete();
    sample.keep(".");
    html(&sample.input()).expect("a page")
}

#[test]
fn a_page_says_of_the_links_what_they_are_and_draws_cables() {
    let told = |kind: LinkKind| {
        let mut sample = Sample::complete();
        for dut in sample.facts.duts.values_mut() {
            dut.links = kind;
            dut.layout.clear();
        }
        if kind == LinkKind::Interfaces {
            let facts = [("enp1s0f0: driver".to_owned(), "igb".to_owned())].into();
            let left = CableEnd::described(CableEnd::TESTER, "enp1s0f0", &facts);
            let right = CableEnd::described("dut", "enp5s0f0", &facts);
            for dut in sample.facts.duts.values_mut() {
                dut.cables.push(Cable {
                    left: left.clone(),
                    right: right.clone(),
                });
            }
        }
        html(&sample.input()).expect("a page")
    };
    let cabled = told(LinkKind::Interfaces);
    let (_, notice) = cabled
        .split_once("What these numbers are</h2>")
        .expect("a notice");
    let (notice, _) = notice.split_once("</aside>").expect("an end");
    assert!(!notice.contains("veth"), "{notice}");
    assert!(cabled.contains("by its own interfaces"));
    let row = [
        "tester enp1s0f0",
        "igb",
        "dut enp5s0f0",
        "linux-router, tayga",
    ];
    let positions = row.map(|cell| cabled.find(cell).unwrap_or_else(|| panic!("{cell}")));
    assert!(positions.is_sorted(), "{positions:?}");
    let built = told(LinkKind::Virtual);
    assert!(built.contains("joined by virtual links (veth): the numbers rank"));
    assert!(!built.contains("<h3>Cables</h3>"));
    assert!(told(LinkKind::SharedMemory).contains("share one machine and its memory"));
}

#[test]
fn every_format_says_where_the_searches_of_repetitions_start() {
    for (start, word) in [
        (RepetitionStart::Cold, "cold"),
        (RepetitionStart::Dithered, "dithered"),
    ] {
        let mut sample = Sample::complete();
        sample.plan.search.start = start;
        let input = sample.input();
        for text in [html(&input).unwrap(), markdown(&input), latex(&input)] {
            assert!(text.contains(start.phrase()), "{start:?}: {text}");
        }
        assert!(
            json(&input).contains(&format!("\"repetition_start\": \"{word}\"")),
            "{start:?}"
        );
    }
}

/// Returns a file for continuous integration tools.
fn continuous(sample: &Sample, name: &str) -> Option<String> {
    let input = sample.input();
    sixbench_report::Document::new(&input)
        .and_then(|document| document.file(name))
        .expect("a report")
}

#[test]
fn junit_counts_missed_expectations_as_failures_and_points_without_a_result_as_errors() {
    let mut sample = Sample::complete();
    let all = continuous(&sample, "junit.xml").expect("a file");
    assert!(
        all.contains("failures=\"0\"") && all.contains("<testcase classname="),
        "{all}"
    );
    assert!(all.contains("&lt;b&gt;") && !all.contains("<b>"), "{all}");
    let expectation = Expectation {
        quantity: None,
        frame_size: None,
        rate: None,
        at_least: Some(1e9),
        at_most: None,
    };
    sample.plan.tests[0].expect.push(expectation);
    let missed = continuous(&sample, "junit.xml").expect("a file");
    assert!(
        missed.contains("failures=\"2\"") && missed.contains("<failure message="),
        "{missed}"
    );
    sample
        .outcomes
        .retain(|outcome| outcome.point.test != "linux-ipv4");
    let without = continuous(&sample, "junit.xml").expect("a file");
    assert!(
        !without.contains("errors=\"0\"") && without.contains("failures=\"0\""),
        "{without}"
    );
}

#[test]
fn numbers_over_commits_have_their_unit_and_their_extremes() {
    let sample = Sample::complete();
    let json = |name| {
        serde_json::from_str::<serde_json::Value>(&continuous(&sample, name).expect("a file"))
            .expect("JSON")
    };
    let bencher = json("bencher.json");
    let first = &bencher["Linux IPv4 forwarding at 84 bytes"]["throughput"];
    assert_eq!(
        (&first["value"], &first["lower_value"]),
        (&412_812.0.into(), &408_132.0.into()),
        "{bencher}"
    );
    let bigger = json("benchmark-bigger.json");
    assert_eq!(bigger[0]["unit"], "frames/s per direction", "{bigger}");
    assert!(continuous(&Sample::empty(), "bencher.json").is_none());
}

#[test]
fn the_first_screen_stands_alone_in_another_page_and_says_what_the_page_says() {
    let sample = Sample::complete();
    let answer = answer(&sample);
    let page = page();
    for part in [
        "<!DOCTYPE",
        "<html",
        "<head",
        "<body",
        "<script",
        "<style",
        "<link",
        "<nav",
        "href=\"#",
        "src=",
    ] {
        assert!(
            !answer.contains(part),
            "{part} belongs to a whole page, or leads out of this part: {answer}"
        );
    }
    for tag in ["table", "div", "section", "aside", "p", "tr", "svg"] {
        let opened = answer.matches(&format!("<{tag}>")).count()
            + answer.matches(&format!("<{tag} ")).count();
        assert_eq!(
            opened,
            answer.matches(&format!("</{tag}>")).count(),
            "<{tag}> is not closed as often as opened"
        );
    }
    let table =
        &answer[answer.find("<table").expect("a table")..answer.find("</table>").expect("its end")];
    assert!(
        page.contains(table),
        "the table of the answer is that of the report"
    );
    for test in &sample.plan.tests {
        assert!(
            table.contains(&escaped(&test.title)),
            "{} is not in {table}",
            test.title
        );
    }
}

#[test]
fn the_first_screen_of_a_run_without_results_says_so_and_obeys_no_markup() {
    let mut sample = Sample::empty();
    sample.plan.tests[0].title = "<script>alert(1)</script>".to_owned();
    let answer = answer(&sample);
    let points = sample.plan.tests.iter().flat_map(Test::points).count();
    assert_eq!(answer.matches("not run").count(), points, "{answer}");
    assert!(
        answer.contains("&lt;script&gt;") && !answer.contains("<script"),
        "{answer}"
    );
}

#[test]
fn commands_to_a_terminal_in_titles_versions_and_warnings_are_shown_in_every_format() {
    let hostile = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[8m\u{9b}2J\u{202e}y\rz";
    let mut sample = Sample::complete();
    sample.plan.tests[0].title = hostile.to_owned();
    sample.facts.warnings.push(sample::warning(hostile));
    sample
        .facts
        .duts
        .values_mut()
        .for_each(|dut| dut.version = hostile.to_owned());
    let input = sample.input();
    let document = Document::new(&input).expect("a report");
    let mut texts: Vec<_> = document
        .files()
        .map(|file| file.expect("a report"))
        .collect();
    texts.push((
        "answer".to_owned(),
        document.answer_html().expect("a first screen"),
    ));
    for (name, text) in &texts {
        let obeyed = text
            .chars()
            .find(|c| is_control(*c) && !matches!(c, '\n' | '\t'));
        let around = obeyed.and_then(|c| text.find(c)).map(|at| {
            text[at.saturating_sub(80)..]
                .chars()
                .take(120)
                .collect::<String>()
        });
        assert_eq!(around, None, "{name}");
    }
    let shown = |name: &str| {
        texts
            .iter()
            .find(|(file, _)| file == name)
            .map(|(_, text)| text)
            .expect("a file")
    };
    assert!(shown("report.html").contains("x\\u001b]0;owned\\u0007"));
    assert!(shown("results.md").contains("x\\u001b]0;owned"));
    assert!(shown("results.csv").contains("x\\u001b]0;owned"));
}

/// Returns the first screen as it appears in the live page.
fn answer(sample: &Sample) -> String {
    Document::new(&sample.input())
        .and_then(|document| document.answer_html())
        .expect("a first screen")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('/', "&#x2f;")
}
