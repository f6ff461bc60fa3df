//! A single trial in words: the counts of each direction, and of requests and answers together.

use crate::wording::bound::Bound;
use sixbench_method::trial::{
    AnomalyKind, BroadcastCounts, BurstTimes, Delay, DelayBounds, DirectionResult, Exchange,
    LengthDistribution, RampCounts, SizeCounts, is_upper_bound,
};
use sixbench_method::units::{counted, show_ns};

/// Returns the result of an exchange, requests and answers together, in words.
pub fn exchange(exchange: &Exchange<'_>) -> String {
    let us = |ns: f64| ns / 1000.0;
    let moments = |time: &Delay| Some((time.mean_ns()?, time.deviation_ns()?));
    let time = exchange
        .time()
        .and_then(moments)
        .map_or(String::new(), |(mean, deviation)| {
            format!(
                ", response time {:.1} us average, {:.1} standard deviation",
                us(mean),
                us(deviation)
            )
        });
    format!(
        "  requests {}, answered {}, loss {}{time}; the tester's own share at most {:.1} us\n",
        exchange.requested(),
        exchange.answered(),
        exchange.loss_ratio(),
        us(exchange.worst_turn_around_ns() as f64)
    )
}

/// Returns the counts, delays and times of one direction of a trial, one per line.
pub fn direction(result: &DirectionResult) -> String {
    let mut text = format!(
        "  {:<8} offered {} of {}, received {}, loss {}\n",
        result.direction.to_string(),
        result.offered,
        result.intended,
        result.received,
        result.loss_ratio()
    );
    text += &result.ramp.as_ref().map_or_else(String::new, ramp_line);
    text += &sizes_line(&result.sizes);
    text += &broadcasts_line(result.broadcasts);
    text += &bursts_line(result.bursts);
    let unusual = unusual_counts(result);
    if !unusual.is_empty() {
        text += &format!("           {}\n", unusual.join(", "));
    }
    text += &sequence_line(result);
    if let Some(fields) = result.wrong_fields_in_words() {
        text += &format!("           wrong: {fields}\n");
    }
    result
        .icmp_errors_in_words()
        .iter()
        .for_each(|line| text += &format!("           {line}\n"));
    if let Some(delay) = &result.delay {
        text += &format!("           delay {}\n", delays(delay));
    }
    let sending = &result.sending;
    text += &format!(
        "           sent in {:.6} s instead of {:.6} s, worst lateness {} us\n",
        sending.took_ns as f64 / 1e9,
        sending.nominal_ns as f64 / 1e9,
        sending.worst_lateness_ns / 1000
    );
    result
        .examples
        .iter()
        .for_each(|example| text += &format!("           {example}\n"));
    text
}

/// Returns the delays of one direction: `1.2 us min, 3.0 median, ≤ 4.5 99.9th percentile, ≤ 7.0 max`. Those with a sign are only upper bounds.
pub(super) fn delays(delay: &Delay) -> String {
    let us = |ns: u64, bound: fn(&DelayBounds) -> u64| {
        let is_at_most = delay
            .bounds
            .as_ref()
            .is_some_and(|bounds| is_upper_bound(ns as f64, bound(bounds) as f64));
        format!(
            "{}{:.1}",
            Bound::of_value(false, is_at_most)
                .sign()
                .unwrap_or_default(),
            ns as f64 / 1e3
        )
    };
    format!(
        "{} us min, {} median, {} 99.9th percentile, {} max",
        us(delay.min_ns, |of| of.min_ns),
        us(delay.median_ns, |of| of.median_ns),
        us(delay.p999_ns, |of| of.p999_ns),
        us(delay.max_ns, |of| of.max_ns)
    )
}

/// Returns the frames of each size of a mix, in one direction, in a line; empty without a mix.
fn sizes_line(sizes: &[SizeCounts]) -> String {
    let told: Vec<String> = sizes
        .iter()
        .map(|of| {
            format!(
                "{} of {} frames of {} octets",
                of.not_received, of.offered, of.frame_size
            )
        })
        .collect();
    if told.is_empty() {
        return String::new();
    }
    format!("           not received: {}\n", told.join(", "))
}

/// Returns the broadcast frames within a trial, in one direction, in a line; empty without any.
fn broadcasts_line(of: Option<BroadcastCounts>) -> String {
    of.map_or_else(String::new, |BroadcastCounts { sent, forwarded }| {
        format!(
            "           beside them: {}, {forwarded} of either direction forwarded to this end\n",
            counted(sent, "broadcast frame")
        )
    })
}

/// Returns how the bursts of a trial left, in one direction, in a line; empty without any.
fn bursts_line(of: Option<BurstTimes>) -> String {
    of.filter(|of| of.bursts > 0)
        .map_or_else(String::new, |of| {
            format!(
                "           {} of {} frames left in {:.1} us each, the slowest in {:.1} us\n",
                counted(of.bursts, "burst"),
                of.frames,
                (of.total_ns / of.bursts) as f64 / 1000.0,
                of.longest_ns as f64 / 1000.0
            )
        })
}

/// Returns the frames of the ramp before a trial, in one direction, in a line.
fn ramp_line(ramp: &RampCounts) -> String {
    let wrong = match ramp.wrong() {
        0 => String::new(),
        wrong => format!(", wrong {wrong}"),
    };
    format!(
        "           ramp of {} before it: offered {}, received {}, lost {}{wrong}\n",
        show_ns(ramp.duration_ns),
        ramp.offered,
        ramp.received,
        ramp.lost()
    )
}

/// Returns how frames were lost, reordered and duplicated, by the numbers of those that arrived, in a line; empty if they were not.
fn sequence_line(result: &DirectionResult) -> String {
    let parts = [
        result.gaps.as_ref().map(|gaps| {
            let nearest = result.gap_distances.as_ref();
            let apart = nearest.map_or_else(String::new, |of| {
                format!(", the nearest {} apart", of.shortest)
            });
            format!("{} of {}{apart}", counted(gaps.count, "gap"), lengths(gaps))
        }),
        result
            .reordering_extents
            .as_ref()
            .map(|extents| format!("reordered by {}", lengths(extents))),
        result
            .duplicate_distances
            .as_ref()
            .map(|distances| format!("copies behind by {}", lengths(distances))),
    ];
    let told: Vec<String> = parts.into_iter().flatten().collect();
    if told.is_empty() {
        return String::new();
    }
    format!("           {}\n", told.join("; "))
}

/// Returns lengths in words: `1 to 7 frames (2.4 on average)`.
fn lengths(of: &LengthDistribution) -> String {
    if of.shortest == of.longest {
        counted(of.longest, "frame")
    } else {
        format!(
            "{} to {} frames ({:.1} on average)",
            of.shortest,
            of.longest,
            of.mean()
        )
    }
}

/// Returns the counts that are zero for a device without errors, as far as they are not zero here, in words.
fn unusual_counts(result: &DirectionResult) -> Vec<String> {
    let anomalies = AnomalyKind::ALL
        .iter()
        .map(|kind| (kind.in_a_list(), kind.count(result)));
    let counts = std::iter::once(("lost", result.lost())).chain(anomalies);
    counts
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{name} {n}"))
        .collect()
}
