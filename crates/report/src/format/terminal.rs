//! The summary printed at the end of a run.

use crate::digest::{Digest, GoalDigest, PointDigest, PrintedSummary, RatedSummary, common_goal};
use crate::findings::origin;
use crate::findings::status;
use crate::findings::trust;
use crate::format::verdict;
use crate::layout::table::Table;
use crate::layout::wrapped;
use crate::subject::statistics::percentile_note;
use crate::subject::{dns, relative};
use crate::wording::bound::Bound;
use crate::wording::numbers::{
    commonly_searched, cut, full_rate_unit, grouped, loss_goal, share_bound, title, unit,
};
use sixbench_analysis::trust::TrustLevel;
use sixbench_method::plan::Measure;
use sixbench_method::record::LinkKind;
use sixbench_method::status::PointStatus;
use sixbench_method::text::visible_lines;
use sixbench_stats::Summary;

/// The least width, columns. A narrower terminal gets text of this width.
const NARROWEST: usize = 40;
/// The widest bar, characters.
const WIDEST_BAR: usize = 24;
/// The width of the columns of numbers (size, median, P1, P99, n, invalid), with two spaces before each, characters.
const NUMBERS: usize = 7 + 15 + 13 + 13 + 5 + 9;

/// The points of one measure that has a table; never empty.
type MeasuredPoints<'d, 'a> = Vec<&'d PointDigest<'a>>;

/// Returns the points of each measure that has one number for each point, in the order of the measures.
fn kinds<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = MeasuredPoints<'d, 'a>> {
    let rated = || {
        digest
            .points
            .iter()
            .filter(|point| point.test.measure.is_rated() && !point.repeats_a_rate())
    };
    let kinds = Measure::infos().map(move |info| {
        rated()
            .filter(|p| p.test.measure.name() == info.term.name)
            .collect()
    });
    kinds.filter(|points: &MeasuredPoints| !points.is_empty())
}

/// Returns the heading of a table, with the unit of its numbers.
fn heading(points: &[&PointDigest]) -> String {
    let (measure, goal) = (&points[0].test.measure, common_goal(points.iter().copied()));
    let name = measure.info().headline.map_or_else(
        || commonly_searched(measure, goal),
        |quantity| quantity.title().to_owned(),
    );
    format!("{name}, {}", unit_of(measure))
}

fn unit_of(measure: &Measure) -> &'static str {
    measure
        .info()
        .headline
        .map_or_else(|| full_rate_unit(measure), unit)
}

/// Returns the summary of a run for a terminal of `width` columns: tables, then the verdict. Control characters in what others wrote are shown,
/// colours among them: the only ones that reach the terminal are those of [`Paint`].
pub(crate) fn terminal(digest: &Digest<'_>, width: usize, color: bool) -> String {
    let plain = visible_lines(&summary(digest, width, &Paint::default())).into_owned();
    if !color {
        return plain;
    }
    // No text of others has this mark, so whatever becomes a colour is our own.
    let mark = (0..u32::MAX)
        .map(|n| format!("\u{fdd0}{n}\u{fdd0}"))
        .find(|mark| !plain.contains(mark))
        .unwrap_or_default();
    visible_lines(&summary(digest, width, &Paint { mark: mark.clone() })).replace(&mark, "\u{1b}[")
}

fn summary(digest: &Digest<'_>, width: usize, paint: &Paint) -> String {
    let width = width.max(NARROWEST);
    let tables = tables(digest, width, paint) + &further_tables(digest, width, paint);
    let verdict: String = said(digest).iter().map(|s| wrapped(s, width)).collect();
    format!(
        "{}{tables}{}\n{verdict}\n{}\n{}",
        trust_line(digest, width, paint),
        paint.dim(&notes(digest, width)),
        points(digest, width),
        paint.dim(&origin_lines(digest, width))
    )
}

/// Returns the line on how far the results can be trusted; empty if there is nothing to judge.
fn trust_line(digest: &Digest<'_>, width: usize, paint: &Paint) -> String {
    let line =
        trust::sentence(digest).map_or_else(String::new, |line| wrapped(&line, width) + "\n");
    let is_high = digest
        .trust
        .as_ref()
        .is_none_or(|trust| trust.level == TrustLevel::High);
    if is_high {
        paint.bold(&line)
    } else {
        paint.warn(&line)
    }
}

/// Returns a table of each measure, for each group of devices that can be compared.
fn tables(digest: &Digest<'_>, width: usize, paint: &Paint) -> String {
    let tables_of_group = |digest: &Digest| {
        kinds(digest)
            .map(|points| match width {
                72.. => full_table(digest, &points, width, paint),
                _ => short_table(digest, &points, width, paint),
            })
            .collect::<Vec<String>>()
    };
    digest
        .of_each_group(tables_of_group)
        .into_iter()
        .flat_map(|(group, tables)| titled(group, tables))
        .collect::<Vec<String>>()
        .join("\n")
}

/// Returns the note on the percentiles of the tables; empty if they have none.
fn notes(digest: &Digest<'_>, width: usize) -> String {
    let summaries: Vec<Summary> = digest
        .points
        .iter()
        .filter_map(PointDigest::rated)
        .map(|r| r.summary)
        .collect();
    if summaries.is_empty() {
        String::new()
    } else {
        wrapped(&percentile_note(summaries.iter()), width)
    }
}

/// Returns how many points have a result, and a line for each that has none or only a bound.
fn points(digest: &Digest<'_>, width: usize) -> String {
    let mut lines = wrapped(&format!("{}.", status::counted(digest)), width);
    for line in status::list(digest) {
        lines += &wrapped(&format!("  {line}"), width);
    }
    lines
}

/// Returns where the results come from, and the command that made them.
fn origin_lines(digest: &Digest<'_>, width: usize) -> String {
    let origin = format!("{}{}.", origin::sentence(digest), origin::expected(digest));
    let command = match origin::command(digest.input) {
        "" => String::new(),
        command => wrapped(
            &format!("Command{}: {command}", origin::of_parts(digest.input)),
            width,
        ),
    };
    wrapped(&origin, width) + &command
}

/// Returns the tables of a group of devices, the first one below the note that their results must not be compared with those of others.
fn titled(group: LinkKind, tables: Vec<String>) -> Vec<String> {
    let note = match group {
        LinkKind::Unknown | LinkKind::Virtual | LinkKind::Interfaces => None,
        LinkKind::SharedMemory => {
            Some("Devices in shared memory, not to be compared with those above:\n".to_owned())
        }
    };
    note.filter(|_| !tables.is_empty())
        .into_iter()
        .chain(tables)
        .collect()
}

/// Returns the table of repeated rates, and the tables that compare the tests of one device.
fn further_tables(digest: &Digest, width: usize, paint: &Paint) -> String {
    let shown = |table: Table| {
        format!(
            "\n{}\n{}",
            paint.bold(&table.title),
            table.for_terminal(width)
        )
    };
    let repeated = Some(dns::repeated_at_rates(digest)).filter(|table| !table.rows.is_empty());
    repeated
        .into_iter()
        .chain(relative::narrow_tables(digest))
        .map(shown)
        .collect::<String>()
        .replace('\u{a0}', " ")
}

/// Returns the verdict, but with every frame size of the measures that have no row in the table.
fn said(digest: &Digest) -> Vec<String> {
    let values: Vec<String> = digest.points.iter().filter_map(verdict::of_point).collect();
    let mut said: Vec<String> = verdict::rates(digest).into_iter().chain(values).collect();
    if said.is_empty() {
        said.push(verdict::nothing(digest));
    }
    said.extend(verdict::reservations(digest));
    said.extend(
        digest
            .warnings_in_brief()
            .iter()
            .map(|warning| format!("warning: {warning}")),
    );
    said
}

/// ANSI colours, each begun by a mark in place of the control sequence introducer; none if the mark is empty.
#[derive(Default)]
struct Paint {
    mark: String,
}

impl Paint {
    fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    fn warn(&self, text: &str) -> String {
        self.with("33", text)
    }

    fn with(&self, code: &str, text: &str) -> String {
        if self.mark.is_empty() || text.is_empty() {
            text.to_owned()
        } else {
            format!("{0}{code}m{text}{0}0m", self.mark)
        }
    }
}

fn full_table(digest: &Digest, points: &[&PointDigest], width: usize, paint: &Paint) -> String {
    let longest = points
        .iter()
        .map(|p| title(p.test).chars().count())
        .max()
        .unwrap_or(4);
    let name = longest.clamp(4, width - NUMBERS);
    let room = (width - NUMBERS - name).saturating_sub(2).min(WIDEST_BAR);
    // A bar relates a result to the highest one, which must be of the same host.
    let bar = if digest
        .hosts
        .are_on_one(points.iter().map(|point| &point.point))
    {
        room
    } else {
        0
    };
    let has_sizes = points.iter().any(|p| p.size().is_some());
    let head = format!(
        "{:name$}  {:>5}  {:>13}  {:>11}  {:>11}  {:>3}  {:>7}",
        "test",
        if has_sizes { "size" } else { "" },
        "median",
        "P1",
        "P99",
        "n",
        "invalid"
    );
    let unit = heading(points);
    let highest = highest(points);
    let rows = points.iter().flat_map(|p| {
        let first = full_row(digest, p, name, bar, highest, paint);
        std::iter::once(first).chain(
            goal_rows(p)
                .into_iter()
                .map(|row| paint.dim(&cut(&row, width))),
        )
    });
    let lines = [paint.dim(&unit), paint.bold(&head)]
        .into_iter()
        .chain(rows);
    lines
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// The highest result, to which the bars of a table relate.
#[derive(Clone, Copy)]
struct HighestResult {
    median: f64,
    /// True if the true median may be higher.
    is_open: bool,
}

fn highest(points: &[&PointDigest]) -> HighestResult {
    let rated = points.iter().filter_map(|point| point.rated());
    let all = rated.map(|r| HighestResult {
        median: r.summary.median,
        is_open: r.limits.is_median_open,
    });
    all.max_by(|a, b| a.median.total_cmp(&b.median))
        .unwrap_or(HighestResult {
            median: 0.0,
            is_open: false,
        })
}

fn full_row(
    digest: &Digest,
    point: &PointDigest,
    name: usize,
    bar: usize,
    highest: HighestResult,
    paint: &Paint,
) -> String {
    let title = cut(&title(point.test), name);
    let size = point.size().map_or(String::new(), |size| size.to_string());
    let Some(RatedSummary {
        summary, limits, ..
    }) = point.rated()
    else {
        return format!(
            "{title:name$}  {size:>5}  {}",
            paint.warn(&format!("{:>13}", nothing(point)))
        );
    };
    let PrintedSummary {
        median, p1, p99, ..
    } = limits.printed(&summary);
    let [median, p1, p99] = [median, p1, p99].map(|text| text.replace('\u{a0}', " "));
    let shown = format!("{median:>13}");
    let median = if is_doubtful(digest, point) {
        paint.warn(&shown)
    } else {
        shown
    };
    let bound = Bound::of_ratio(limits.is_median_open, highest.is_open);
    let (n, invalid, bar) = (
        summary.n,
        point.invalid(),
        bar_of(summary.median, highest.median, bound, bar),
    );
    format!("{title:name$}  {size:>5}  {median}  {p1:>11}  {p99:>11}  {n:>3}  {invalid:>7}  {bar}")
}

/// Returns the words printed instead of a missing number.
fn nothing(point: &PointDigest) -> String {
    point.nothing().replace('\u{a0}', " ")
}

/// Returns the results of a search for its further loss goals, one per line.
fn goal_rows(point: &PointDigest) -> Vec<String> {
    let row = |found: &GoalDigest| {
        let summary = found.summary.as_ref()?;
        Some(format!(
            "  {}{} {}",
            found.limits.sign().replace('\u{a0}', " "),
            grouped(summary.median),
            loss_goal(found.goal)
        ))
    };
    point
        .goals
        .iter()
        .skip(1)
        .filter(|_| point.is_searched())
        .filter_map(row)
        .collect()
}

/// Returns whether a result is highlighted because something went wrong that another run may cure: it is missing, lacks repetitions, or is a lower
/// bound because the tester fell short, other work disturbed it, or phase 1 failed. Reaching the plan's maximum is not a fault.
fn is_doubtful(digest: &Digest, point: &PointDigest) -> bool {
    let Some(planned) = point.planned(digest) else {
        return true;
    };
    let lacks = planned.repetitions.with_result < planned.repetitions.planned;
    lacks
        || match &planned.status {
            PointStatus::Result => false,
            PointStatus::AtLeast(open) => open.invalid + open.disturbed > 0,
            PointStatus::NoResult(_) | PointStatus::NotRun(_) => true,
        }
}

/// Returns each result on two lines, for a narrow terminal.
fn short_table(digest: &Digest, points: &[&PointDigest], width: usize, paint: &Paint) -> String {
    let entry = |point: &&PointDigest| {
        let head = cut(&short_name(point), width);
        let value = point.rated().map_or_else(
            || nothing(point),
            |r| {
                let open = if r.limits.is_median_open { "≥ " } else { "" };
                format!(
                    "{open}{} {}, n = {}",
                    grouped(r.summary.median),
                    unit_of(&point.test.measure),
                    r.summary.n
                )
            },
        );
        let value = wrapped(&format!("  {value}"), width);
        let value = if is_doubtful(digest, point) {
            paint.warn(value.trim_end())
        } else {
            value.trim_end().to_owned()
        };
        let others: String = goal_rows(point)
            .iter()
            .map(|row| wrapped(row, width))
            .collect();
        format!("{}\n{value}\n{others}", paint.bold(&head))
    };
    points.iter().map(entry).collect()
}

fn short_name(point: &PointDigest) -> String {
    let size = point
        .size()
        .map(|size| format!(" at {size}"))
        .unwrap_or_default();
    format!("{}{size}", title(point.test))
}

/// Returns a bar made of eighths, whose length relates to the greatest length as the value to the highest. The percentage next to it is a bound if one
/// of the two is a lower bound, and is left out if both are.
fn bar_of(value: f64, highest: f64, bound: Bound, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if highest <= 0.0 || width < 4 {
        return String::new();
    }
    let sign = if value == highest || value == 0.0 {
        Some("")
    } else {
        bound.sign().map(str::trim_end)
    };
    let share = sign
        .map(|sign| {
            format!(
                " {sign}{}",
                share_bound(value / highest, bound).replace('\u{a0}', " ")
            )
        })
        .unwrap_or_default();
    let room = if width < 10 { width } else { width - 7 };
    let eighths = (value / highest * room as f64 * 8.0).round() as usize;
    let bar = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    if width < 10 { bar } else { bar + &share }
}
