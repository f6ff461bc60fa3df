//! The figures that dns64perf++ prints for a trial.

use super::cells::{TEST, or_dash, queries, test_cells};
use crate::digest::{Digest, QueryTrial};
use crate::numbers::{grouped, with_decimals};
use crate::table::Table;

pub(super) fn classic(digest: &Digest) -> Table {
    let columns = TEST.into_iter().chain(
        "#Sent; #Received; #Valid; #Round trip (ms)|Average; #Round trip (ms)|Std. dev.; \
        #Round trip (ms)|Median; #Round trip (ms)|P99.9; #Queries/s|Intended; #Queries/s|Achieved; #Late (ms)"
            .split("; "),
    );
    let rows = digest.dns_points().filter_map(|(point, dns)| {
        let asked = point.all_answered(point.first_goal())?;
        Some(test_cells(digest, point, dns).into_iter().chain(cells(&asked)).collect())
    });
    Table::new("Round trips, as dns64perf++ reports them", columns).with_rows(rows).with_note(
        "In the passing trial with the highest rate. Received: queries with any answer; valid: with the correct one in time. \
         Average and standard deviation of the times from a query to its first answer, median and 99.9th percentile of those \
         to correct answers. Achieved: sent over the time that sending took; late: how far the tester was behind its schedule \
         at worst.",
    )
}

fn cells(asked: &QueryTrial) -> Vec<String> {
    let ms = |ns: f64| with_decimals(ns / 1e6, 3);
    let (answers, rtt, delay) = (&asked.dns.answers, &asked.dns.rtt, asked.direction.delay.as_ref());
    let mut row = [answers.sent, answers.received(), answers.right].map(queries).to_vec();
    row.extend([rtt.mean_ns(), rtt.deviation_ns()].map(|ns| or_dash(ns.map(ms))));
    row.extend([delay.map(|d| d.median_ns), delay.map(|d| d.p999_ns)].map(|ns| or_dash(ns.map(|ns| ms(ns as f64)))));
    row.extend([queries(asked.rate()), or_dash(asked.achieved().map(|rate| grouped(rate.round())))]);
    row.push(ms(asked.direction.sending.worst_lateness_ns as f64));
    row
}
