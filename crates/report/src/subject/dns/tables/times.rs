//! The figures that dns64perf++ prints for a trial.

use super::cells::{ServerTest, test_columns};
use crate::digest::{Digest, QueryTrial};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::AT_MOST;
use crate::wording::bound::Bound;
use sixbench_method::trial::{Delay, DelayBounds, is_upper_bound};

/// The passing trial of a test with the highest rate.
struct TimesRow<'d> {
    test: ServerTest<'d>,
    asked: QueryTrial<'d>,
}

/// A time between a query and its answer.
struct RoundTrip {
    ns: f64,
    /// The time by which the tester may have made it too long, nanoseconds.
    bound_ns: Option<f64>,
}

pub(super) fn classic(digest: &Digest) -> Table {
    let rows: Vec<TimesRow> = digest
        .dns_points()
        .filter_map(|(point, dns)| {
            let asked = point.all_answered(point.first_goal())?;
            Some(TimesRow {
                test: ServerTest::new(digest, point, dns),
                asked,
            })
        })
        .collect();
    let has_bounds = rows.iter().any(TimesRow::has_bounds);
    let columns = test_columns(|row: &TimesRow| &row.test)
        .into_iter()
        .chain(columns());
    Table::new("Round trips, as dns64perf++ reports them", columns, rows).with_note(
        "In the passing trial with the highest rate. Received: queries with any answer; valid: with the correct one in time. \
         Average and standard deviation of the times from a query to its first answer, median and 99.9th percentile of those \
         to correct answers. Achieved: sent over the time that sending took; late: how far the tester was behind its schedule \
         at worst.",
    ).with_note_if(has_bounds, AT_MOST)
}

fn columns<'d>() -> [Column<'d, TimesRow<'d>>; 10] {
    const TIMES: &str = "Round trip (ms)";
    [
        Column::number("Sent", |row: &TimesRow| {
            Cell::Count(row.asked.dns.answers.sent)
        }),
        Column::number("Received", |row: &TimesRow| {
            Cell::Count(row.asked.dns.answers.received())
        }),
        Column::number("Valid", |row: &TimesRow| {
            Cell::Count(row.asked.dns.answers.right)
        }),
        Column::number_in(TIMES, "Average", |row: &TimesRow| {
            row.average().map(|time| time.cell())
        }),
        Column::number_in(TIMES, "Std. dev.", |row: &TimesRow| {
            row.asked.dns.rtt.deviation_ns().map(milliseconds)
        }),
        Column::number_in(TIMES, "Median", |row: &TimesRow| {
            row.median().map(|time| time.cell())
        }),
        Column::number_in(TIMES, "P99.9", |row: &TimesRow| {
            row.p999().map(|time| time.cell())
        }),
        Column::number_in("Queries/s", "Intended", |row: &TimesRow| {
            Cell::Count(row.asked.rate())
        }),
        Column::number_in("Queries/s", "Achieved", |row: &TimesRow| {
            row.asked.achieved().map(Cell::Rate)
        }),
        Column::number("Late (ms)", |row: &TimesRow| {
            milliseconds(row.asked.direction.sending.worst_lateness_ns as f64)
        }),
    ]
}

impl TimesRow<'_> {
    fn average(&self) -> Option<RoundTrip> {
        let rtt = &self.asked.dns.rtt;
        Some(RoundTrip {
            ns: rtt.mean_ns()?,
            bound_ns: rtt.mean_bound_ns(),
        })
    }

    fn median(&self) -> Option<RoundTrip> {
        self.answered(|delay| delay.median_ns, |bounds| bounds.median_ns)
    }

    fn p999(&self) -> Option<RoundTrip> {
        self.answered(|delay| delay.p999_ns, |bounds| bounds.p999_ns)
    }

    /// Returns a time of the queries with a correct answer.
    fn answered(
        &self,
        ns: fn(&Delay) -> u64,
        bound_ns: fn(&DelayBounds) -> u64,
    ) -> Option<RoundTrip> {
        let delay = self.asked.direction.delay.as_ref()?;
        Some(RoundTrip {
            ns: ns(delay) as f64,
            bound_ns: delay.bounds.as_ref().map(|bounds| bound_ns(bounds) as f64),
        })
    }

    fn has_bounds(&self) -> bool {
        [self.average(), self.median(), self.p999()]
            .into_iter()
            .flatten()
            .any(|time| time.is_upper_bound())
    }
}

impl RoundTrip {
    /// Returns true if the tester may have made the time too long by so much that it is only an upper bound.
    fn is_upper_bound(&self) -> bool {
        self.bound_ns
            .is_some_and(|bound_ns| is_upper_bound(self.ns, bound_ns))
    }

    fn cell(&self) -> Cell {
        milliseconds(self.ns).bounded(Bound::of_value(false, self.is_upper_bound()))
    }
}

fn milliseconds(ns: f64) -> Cell {
    Cell::Decimals(ns / 1e6, 3)
}
