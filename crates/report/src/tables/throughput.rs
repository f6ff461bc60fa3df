//! The tables of throughput: headline, all loss goals, and the reporting format of RFC 2544.

use super::{dispersion, mbit, percentile_note};
use crate::digest::{Digest, GoalDigest, InvalidReason, Limits, PointDigest, PrintedSummary, all_goals, common_goal, sizes};
use crate::layout::table::Table;
use crate::wording::numbers::{common_quantity, full_rate_unit, grouped, loss_goal, quantity, size_cell, title};
use sixbench_method::plan::Test;
use sixbench_method::terms::{FrameSize, LossRatio};
use sixbench_stats::Summary;

/// Returns the table of the headline numbers: the first goal at every point.
pub(crate) fn headline(digest: &Digest) -> Table {
    let columns =
        "Test; Device; #Size; #Median; #P1; #P99; #Min; #Max; #n; #Dispersion; #Mbit/s; Limited by; #Invalid".split("; ");
    let rows = digest.throughput_points().map(|p| headline_row(digest, p));
    let name = common_quantity(common_goal(digest.throughput_points()));
    Table::new(name.clone(), columns)
        .with_rows(rows)
        .with_note(format!(
            "{name}: frames/s per direction. Size: octets of the IPv6 frame with FCS; the IPv4 frame of the same name is 20 \
             shorter. \
             Mbit/s: layer 2, per direction, of the median and the nominal size.",
        ))
        .with_note(sample_note(digest))
        .with_notes(digest.throughput_points().filter_map(beside))
}

/// Returns a note on what passing trials of a point had beside frames that were received as they were sent; `None` if nothing.
fn beside(point: &PointDigest) -> Option<String> {
    let beside = point.beside_the_goal();
    (!beside.is_empty()).then(|| format!("{}: {}{beside}.", point.name(), loss_goal(point.first_goal())))
}

/// Returns the note on percentiles, which are never printed without the size of the sample.
pub(crate) fn sample_note(digest: &Digest) -> String {
    percentile_note(digest.throughput_points().filter_map(PointDigest::headline))
}

fn headline_row(digest: &Digest, point: &PointDigest) -> Vec<String> {
    let size = point.point.frame_size;
    let mut row = vec![title(point.test), digest.dut_title(point.test).to_owned(), size.to_string()];
    match point.headline() {
        Some(summary) => row.extend(summary_cells(summary, point.limits())),
        None => row.extend([&*point.nothing()].into_iter().chain(["–"; 4]).chain(["0", "–"]).map(str::to_owned)),
    }
    let mbit = |s: &Summary| grouped(point.limits().bound().rounded(mbit(s.median, size), 1.0));
    row.push(point.headline().map_or("–".to_owned(), |s| format!("{}{}", point.sign(), mbit(s))));
    row.push(point.goals.first().map_or("–".to_owned(), limit_words));
    row.push(point.invalid().to_string());
    row
}

/// Returns a description of what limited a result, including repetitions that need a separate mention.
pub(crate) fn limit_words(goal: &GoalDigest) -> String {
    let mut words = vec![goal.limits.words()];
    if goal.unmeasured > 0 {
        let cause = goal.limits.reason.map_or("tester", InvalidReason::words);
        words.push(format!("{cause}, no result {}×", goal.unmeasured));
    }
    if goal.below_minimum > 0 {
        words.push(format!("below the lowest load {}×", goal.below_minimum));
    }
    words.retain(|w| w != "–" || goal.unmeasured == 0);
    words.join("; ")
}

fn summary_cells(summary: &Summary, limits: Limits) -> [String; 7] {
    let PrintedSummary { min, p1, median, p99, max } = limits.printed(summary);
    [median, p1, p99, min, max, summary.n.to_string(), dispersion(summary)]
}

/// Returns the reporting format of RFC 2544 section 26.1, with one table for each goal: frame sizes in columns, frame rates below.
pub(crate) fn by_size(digest: &Digest) -> Vec<Table> {
    all_goals(digest.throughput_points()).into_iter().map(|goal| size_table(digest, goal)).collect()
}

fn size_table(digest: &Digest, goal: LossRatio) -> Table {
    let sizes = sizes(digest.throughput_points());
    let columns = std::iter::once("Frame size".to_owned()).chain(sizes.iter().map(|s| format!("#{s}")));
    let row = |test: &Test| {
        let cells = sizes.iter().map(|&size| digest.point(test, size).map_or("–".to_owned(), |point| goal_cell(point, goal)));
        std::iter::once(title(test)).chain(cells).collect()
    };
    let has_goal = |test: &&Test| test.loss_goals(digest.input.plan).contains(&goal);
    let tests = digest.input.plan.tests.iter().filter(|test| test.measure.is_throughput()).filter(has_goal);
    // Tests of another group of devices have no point here.
    let tests = tests.filter(|test| digest.throughput_points().any(|point| point.test.name == test.name));
    let name = quantity(goal);
    Table::new(format!("{name} by frame size, frames/s per direction (RFC 2544 section 26.1)"), columns)
        .with_rows(theoretical_row(digest, &sizes))
        .with_rows(tests.map(row))
        .with_note("Median [P1–P99] (n).")
        .with_note(sample_note(digest))
}

/// Returns the first row of the format: the theoretical maximum of the medium.
fn theoretical_row(digest: &Digest, sizes: &[FrameSize]) -> Option<Vec<String>> {
    let rates: Option<Vec<String>> = sizes.iter().map(|&size| Some(grouped(digest.theoretical(size)?.0 as f64))).collect();
    Some(std::iter::once("Theoretical maximum of the medium".to_owned()).chain(rates?).collect())
}

fn goal_cell(point: &PointDigest, goal: LossRatio) -> String {
    let found = point.goals.iter().find(|found| found.goal == goal);
    found.and_then(|g| Some((g.summary.as_ref()?, g.limits))).map_or("–".to_owned(), |(summary, limits)| {
        let [median, p1, p99, _, _, n, _] = summary_cells(summary, limits);
        format!("{median} [{p1}–{p99}] ({n})")
    })
}

/// Returns a table of every loss goal of every searched rate, if a test has several or their goals differ.
pub(crate) fn goals(digest: &Digest) -> Table {
    let goals = all_goals(digest.searched_points());
    let head = ["Test", "#Size", "Unit"].map(str::to_owned);
    let columns = head.into_iter().chain(goals.iter().map(|&goal| format!("#{}", quantity(goal))));
    let row = |p: &PointDigest| {
        let cells = goals.iter().map(|&goal| goal_cell(p, goal));
        let head = [title(p.test), size_cell(p.size()), full_rate_unit(&p.test.measure).to_owned()];
        head.into_iter().chain(cells).collect()
    };
    let wanted = goals.len() > 1;
    Table::new("Every loss goal", columns).with_rows(digest.searched_points().filter(|_| wanted).map(row)).with_note(
        "Median [P1–P99] (n). Only the rate without loss is the throughput of RFC 2544 section 26.1; the others accept the \
                    loss that is stated.",
    )
}
