//! A single trial in words: the counts of each direction, and of requests and answers together.

use crate::wording::bound::Bound;
use sixbench_method::trial::{
    AnomalyKind, Delay, DelayBounds, DirectionResult, Exchange, is_upper_bound,
};

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
    let unusual = unusual_counts(result);
    if !unusual.is_empty() {
        text += &format!("           {}\n", unusual.join(", "));
    }
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
