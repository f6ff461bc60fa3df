//! Rates and times as people write them.

use crate::terms::FrameRate;

/// Returns nanoseconds in the largest unit that divides them, down to microseconds: `2s`, `300ms`, `50us`.
pub fn show_ns(ns: u64) -> String {
    match ns {
        0 => "0s".to_owned(),
        n if n.is_multiple_of(1_000_000_000) => format!("{}s", n / 1_000_000_000),
        n if n.is_multiple_of(1_000_000) => format!("{}ms", n / 1_000_000),
        n => format!("{}us", n / 1000),
    }
}

/// Returns frames per second to be read by people: `412.3k`.
pub fn show_rate(rate: FrameRate) -> String {
    match rate.0 {
        r if r >= 1_000_000 => format!("{:.3}M", r as f64 / 1e6),
        r if r >= 1000 => format!("{:.1}k", r as f64 / 1e3),
        r => r.to_string(),
    }
}

/// Returns seconds as people plan: `4 min`, `5.4 h`.
pub fn show_seconds(seconds: u64) -> String {
    match seconds {
        s if s < 120 => format!("{s} s"),
        s if s < 7200 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}
