//! The figures that dns64perf++ prints for a trial.

use super::cells::{TEST, or_dash, queries, test_cells};
use crate::digest::{Digest, QueryTrial};
use crate::layout::table::Table;
use crate::tables::AT_MOST;
use crate::wording::bound::Bound;
use crate::wording::numbers::{grouped, with_decimals};
use sixbench_method::trial::{Delay, DelayBounds, is_upper_bound};

pub(super) fn classic(digest: &Digest) -> Table {
    let columns = TEST.into_iter().chain(
        "#Sent; #Received; #Valid; #Round trip (ms)|Average; #Round trip (ms)|Std. dev.; \
        #Round trip (ms)|Median; #Round trip (ms)|P99.9; #Queries/s|Intended; #Queries/s|Achieved; #Late (ms)"
            .split("; "),
    );
    let rows: Vec<Vec<String>> = digest
        .dns_points()
        .filter_map(|(point, dns)| {
            let asked = point.all_answered(point.first_goal())?;
            Some(test_cells(digest, point, dns).into_iter().chain(cells(&asked)).collect())
        })
        .collect();
    let has_bounds = rows.iter().flatten().any(|cell| cell.starts_with('≤'));
    Table::new("Round trips, as dns64perf++ reports them", columns).with_rows(rows).with_note(
        "In the passing trial with the highest rate. Received: queries with any answer; valid: with the correct one in time. \
         Average and standard deviation of the times from a query to its first answer, median and 99.9th percentile of those \
         to correct answers. Achieved: sent over the time that sending took; late: how far the tester was behind its schedule \
         at worst.",
    ).with_note_if(has_bounds, AT_MOST)
}

/// Returns a time in milliseconds, with its sign if the tester may have made it too long by so much that it is only an upper bound.
fn time(ns: Option<f64>, bound_ns: Option<f64>) -> String {
    let bound = |ns| Bound::of_value(false, bound_ns.is_some_and(|by_ns| is_upper_bound(ns, by_ns)));
    or_dash(ns.map(|ns| format!("{}{}", bound(ns).sign().unwrap_or_default(), ms(ns))))
}

fn ms(ns: f64) -> String {
    with_decimals(ns / 1e6, 3)
}

fn cells(asked: &QueryTrial) -> Vec<String> {
    let (answers, rtt, answered) = (&asked.dns.answers, &asked.dns.rtt, asked.direction.delay.as_ref());
    let of = |delay: fn(&Delay) -> u64, bound: fn(&DelayBounds) -> u64| {
        time(answered.map(|d| delay(d) as f64), answered.and_then(|d| d.bounds.as_ref()).map(|b| bound(b) as f64))
    };
    let mut row = [answers.sent, answers.received(), answers.right].map(queries).to_vec();
    row.extend([time(rtt.mean_ns(), rtt.mean_bound_ns()), time(rtt.deviation_ns(), None)]);
    row.extend([of(|d| d.median_ns, |b| b.median_ns), of(|d| d.p999_ns, |b| b.p999_ns)]);
    row.extend([queries(asked.rate()), or_dash(asked.achieved().map(|rate| grouped(rate.round())))]);
    row.push(ms(asked.direction.sending.worst_lateness_ns as f64));
    row
}
