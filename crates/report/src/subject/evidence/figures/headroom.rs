//! The tester's reserves, which answer doubts about the instrument for every trial.

use crate::digest::Digest;
use crate::plot::figure::Figure;
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis};
use crate::wording::numbers::{load, three_digits};
use kuva::prelude::{Layout, Plot};
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{DirectionResult, TrialKind, TrialResult, Verdict};

/// The height at which smaller latenesses are drawn, since zero has no logarithm.
const FLOOR_MS: f64 = 0.001;

pub(super) fn figure(digest: &Digest) -> Figure {
    // A trial that ended with its phase 1 has no data here.
    let panels = if digest
        .input
        .records
        .iter()
        .any(|r| !r.result.directions.is_empty())
    {
        vec![lateness(digest), gaps(digest), offered(digest)]
    } else {
        Vec::new()
    };
    Figure {
        id: "headroom".into(),
        title: "The tester's headroom".into(),
        caption: format!(
            "{}. A trial above the stall bound is invalid if the {} that it delayed can explain \
             what is missing; one in which sending took too long is always invalid.",
            if digest.input.records.len() <= MOST_MARKS {
                "Every trial of the run, in order"
            } else {
                "The trials of the run, in order: of each verdict the highest and the lowest of each two-hundredth of the run"
            },
            if digest.has_queries_and_others() == (true, false) {
                "queries"
            } else {
                "frames"
            }
        ),
        keys: style::verdict_keys(digest),
        panels,
        ..Figure::default()
    }
}

fn lateness(digest: &Digest) -> Panel {
    let worst = |r: &TrialResult| {
        r.directions
            .iter()
            .map(|d| d.sending.worst_lateness_ns)
            .max()
            .unwrap_or(0)
    };
    let title = match digest.has_queries_and_others() {
        (true, false) => "Sender: worst lateness of a query",
        _ => "Sender: worst lateness of a frame",
    };
    against_the_bound(digest, title, "worst lateness (ms)", worst)
}

fn gaps(digest: &Digest) -> Panel {
    let worst = |r: &TrialResult| {
        r.directions
            .iter()
            .map(|d| d.receiving.worst_gap_ns)
            .max()
            .unwrap_or(0)
    };
    against_the_bound(
        digest,
        "Receiver: longest time between two reads",
        "longest gap (ms)",
        worst,
    )
}

fn against_the_bound(digest: &Digest, title: &str, y: &str, ns: fn(&TrialResult) -> u64) -> Panel {
    let bound = digest.input.plan.trial.stall_ns as f64 / 1e6;
    let height = move |r: &TrialRecord| (ns(&r.result) as f64 / 1e6).max(FLOOR_MS);
    let highest = digest
        .input
        .records
        .iter()
        .map(height)
        .fold(bound, f64::max);
    let plots = marks(digest, height, |r| {
        format!("{} ms", three_digits(ns(&r.result) as f64 / 1e6))
    });
    let layout = along_the_run(digest, style::panel(&plots, title, "trial of the run", y));
    let decades = |v: f64| 10f64.powf(v.log10().ceil());
    let layout = layout
        .with_log_y()
        .with_y_axis_min(FLOOR_MS)
        .with_y_axis_max(decades(highest * 1.5));
    let layout = layout.with_reference_line(style::level(bound));
    let layout = style::with_note(
        layout,
        &format!("dashed: the stall bound, {} ms", three_digits(bound)),
    );
    style::draw(plots, layout.with_y_tick_format(style::plain_numbers()))
}

fn offered(digest: &Digest) -> Panel {
    let lowest = digest
        .input
        .records
        .iter()
        .map(offered_percent)
        .fold(99.0, f64::min);
    let plots = marks(digest, offered_percent, |r| {
        format!("offered {:.4} % of the intended load", offered_percent(r))
    });
    let layout = style::panel(
        &plots,
        "Offered load compared with intended load",
        "trial of the run",
        "offered / intended (%)",
    );
    let step = Axis::up_to(100.0 - lowest, 4.0).step;
    let bottom = (lowest / step).floor() * step;
    let layout = along_the_run(digest, layout)
        .with_y_axis_min(bottom)
        .with_y_axis_max(100.0 + step * 0.4)
        .with_y_tick_step(step);
    style::draw(plots, layout.with_y_tick_format(style::plain_numbers()))
}

/// Returns the share offered in the worse direction. The sending time counts too: all frames in double the time are half the load.
fn offered_percent(record: &TrialRecord) -> f64 {
    let share_offered = |d: &DirectionResult| {
        let frames = if d.intended == 0 {
            1.0
        } else {
            d.offered as f64 / d.intended as f64
        };
        let stretched = d.sending.took_ns.max(d.sending.nominal_ns).max(1) as f64;
        let time = if d.sending.nominal_ns == 0 {
            1.0
        } else {
            d.sending.nominal_ns as f64 / stretched
        };
        100.0 * frames * time
    };
    record
        .result
        .directions
        .iter()
        .map(share_offered)
        .fold(100.0, f64::min)
}

fn along_the_run(digest: &Digest, layout: Layout) -> Layout {
    style::x_from_zero(
        layout,
        Axis::counting(digest.input.records.len() as f64, 5.0),
    )
}

/// The most trials with a mark each.
const MOST_MARKS: usize = 1_500;
/// The number of stretches of a longer run.
const STRETCHES: usize = 200;

fn marks(
    digest: &Digest,
    height: impl Fn(&TrialRecord) -> f64,
    words: impl Fn(&TrialRecord) -> String,
) -> Vec<Plot> {
    let trials = digest
        .input
        .records
        .iter()
        .enumerate()
        .filter(|(_, r)| !r.result.directions.is_empty());
    let marks: Vec<Mark> = trials
        .map(|(i, r)| ((i as f64 + 1.0, height(r)), r))
        .collect();
    style::trials(digest, extremes(digest, marks).into_iter(), |r, _| {
        label(r, &words(r))
    })
}

/// The position of a trial's mark, and the trial.
type Mark<'r> = ((f64, f64), &'r TrialRecord);

/// For a long run, returns only the highest and the lowest mark of each verdict in each stretch, since those between would be hidden.
fn extremes<'r>(digest: &Digest, marks: Vec<Mark<'r>>) -> Vec<Mark<'r>> {
    if marks.len() <= MOST_MARKS {
        return marks;
    }
    let extreme = |stretch: &[(Verdict, Mark<'r>)], verdict| {
        let alike = || {
            stretch
                .iter()
                .filter(|(of, _)| *of == verdict)
                .map(|(_, mark)| *mark)
        };
        let by_height = |a: &Mark, b: &Mark| a.0.1.total_cmp(&b.0.1);
        alike()
            .min_by(by_height)
            .into_iter()
            .chain(alike().max_by(by_height))
            .collect::<Vec<_>>()
    };
    let verdicts = [Verdict::Passed, Verdict::Lost, Verdict::Invalid];
    let judged: Vec<(Verdict, Mark)> = marks
        .into_iter()
        .map(|mark| (digest.verdict(mark.1), mark))
        .collect();
    let stretches = judged.chunks(judged.len().div_ceil(STRETCHES));
    stretches
        .flat_map(|stretch| {
            verdicts
                .into_iter()
                .flat_map(|verdict| extreme(stretch, verdict))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn label(record: &TrialRecord, words: &str) -> String {
    let load = load(&record.result.spec);
    let point = match record.result.spec.kind {
        TrialKind::Queries => record.point.test.clone(),
        _ => record.point.to_string(),
    };
    format!(
        "{point}, repetition {}, trial {} at {load}: {words}",
        record.repetition, record.trial
    )
}
