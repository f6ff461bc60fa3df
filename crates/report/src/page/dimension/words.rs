//! Limits and numbers of subscribers in words.

use crate::wording::numbers::{grouped, short, three_digits};
use sixbench_analysis::dimension::{
    Dimensioning, Estimate, PORTS_OF_AN_ADDRESS, SubscriberLimit, SubscriberTraffic,
};
use sixbench_method::units::agreeing;

/// Returns the noun for what a limit counts.
pub(super) fn noun(limit: SubscriberLimit) -> &'static str {
    match limit {
        SubscriberLimit::Downstream => "frames downstream",
        SubscriberLimit::Upstream => "frames upstream",
        SubscriberLimit::NewConnections => "new connections",
        SubscriberLimit::HeldConnections => "connections held at once",
    }
}

/// Returns the word for a limit in machine-readable formats.
pub(super) fn word(limit: SubscriberLimit) -> &'static str {
    match limit {
        SubscriberLimit::Downstream => "frames-downstream",
        SubscriberLimit::Upstream => "frames-upstream",
        SubscriberLimit::NewConnections => "new-connections",
        SubscriberLimit::HeldConnections => "held-connections",
    }
}

/// Returns the measure whose tests determine a limit.
pub(super) fn measure_of(limit: SubscriberLimit) -> &'static str {
    match limit {
        SubscriberLimit::Downstream | SubscriberLimit::Upstream => "throughput",
        SubscriberLimit::NewConnections => "establishment-rate",
        SubscriberLimit::HeldConnections => "table-capacity",
    }
}

/// Returns a capacity, or the part of it that one subscriber uses: frames or connections per second, or connections.
pub(super) fn rate(limit: SubscriberLimit, value: f64) -> String {
    let number = if value < 100.0 {
        three_digits(value)
    } else {
        short(value)
    };
    match limit {
        SubscriberLimit::HeldConnections => number,
        SubscriberLimit::Downstream
        | SubscriberLimit::Upstream
        | SubscriberLimit::NewConnections => format!("{number} /s"),
    }
}

/// Returns a number of subscribers with three significant digits, rounded down so as not to promise more than was found.
pub(super) fn people(number: f64) -> String {
    let unit = 10f64.powi((number.max(1.0).log10().floor() as i32 - 2).max(0));
    // The added millionth keeps 123 from becoming 122 when binary rounding has made it 122.99999999999999.
    grouped(((number * (1.0 + 1e-6)) / unit).floor() * unit)
}

/// Returns a number of subscribers, rounded down, with its noun.
pub(super) fn people_counted(number: f64) -> String {
    let number = people(number);
    format!("{number} {}", agreeing(number == "1", "subscriber"))
}

/// Returns the interval of a number of subscribers.
pub(super) fn range(of: &Estimate) -> String {
    let low = people(of.low);
    if of.is_at_least {
        format!("from {low}")
    } else {
        format!("{low} to {}", people(of.high))
    }
}

/// Returns how many public IPv4 addresses the subscribers need; `None` for a device without connections.
pub(super) fn addresses(traffic: &SubscriberTraffic, device: &Dimensioning<'_>) -> Option<String> {
    let carried = device
        .carried()
        .filter(|carried| carried.value >= 1.0 && device.device.is_stateful())?;
    let (held, needed) = (
        traffic.load().held_connections * carried.value,
        Dimensioning::addresses(traffic, carried.value),
    );
    Some(format!(
        "That many subscribers hold {} connections at once. If each connection takes a port of its own, out of {} per address, they need {} public IPv4 \
         {}.",
        short(held),
        grouped(PORTS_OF_AN_ADDRESS),
        grouped(needed),
        if needed == 1.0 {
            "address"
        } else {
            "addresses"
        }
    ))
}
