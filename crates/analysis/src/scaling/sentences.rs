//! Describes fits and refusals in sentences, without the full stop.

use super::interval::{LEAST_REPETITIONS, PeakInterval};
use super::{Fit, Law};
use std::fmt;

/// The relative distance from the medians beyond which a law does not describe the device.
const POOR: f64 = 0.1;

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Amdahl => "Amdahl's law",
            Self::Universal => "the universal scalability law",
        })
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence("", &|rate| format!("{rate:.0}")))
    }
}

impl Fit {
    /// Returns the fit as a sentence, with rates formatted by `rate` and followed by their unit, which must begin with a space.
    pub fn sentence(&self, unit: &str, rate: &dyn Fn(f64) -> String) -> String {
        let interval = self.interval.as_ref();
        let mut parameters = vec![
            format!(
                "λ {}{}{unit} with one core",
                rate(self.lambda),
                ends(interval.map(|i| i.lambda), rate)
            ),
            parameter("contention σ", self.sigma, interval.map(|i| i.sigma), 4),
        ];
        if self.law == Law::Universal {
            parameters.push(parameter(
                "coherency κ",
                self.kappa,
                interval.map(|i| i.kappa),
                5,
            ));
        }
        [
            format!("{}: {}", self.law, parameters.join(", ")),
            self.outlook(),
            self.distance(),
        ]
        .into_iter()
        .chain(self.reservation())
        .collect::<Vec<_>>()
        .join("; ")
    }

    fn outlook(&self) -> String {
        match (self.peak(), self.most()) {
            (Some(peak), Some(most)) => {
                let between = self
                    .interval
                    .and_then(|i| i.peak)
                    .map(|peak| peak.to_string())
                    .unwrap_or_default();
                let is_beyond = peak > f64::from(self.most_cores);
                let beyond = if is_beyond {
                    format!(", beyond the {} measured", self.most_cores)
                } else {
                    String::new()
                };
                format!(
                    "highest with {peak:.1} cores{between}{beyond}, {:.1} times λ there",
                    most / self.lambda
                )
            }
            (_, Some(most)) => format!(
                "at most {:.1} times λ, however many cores there are",
                most / self.lambda
            ),
            (_, None) => "nothing limits it in these steps".to_owned(),
        }
    }

    fn distance(&self) -> String {
        let poor = if self.residual > POOR {
            ", so this law does not describe the device"
        } else {
            ""
        };
        format!(
            "the medians lie {:.1} % off (root mean square){poor}",
            self.residual * 100.0
        )
    }

    fn reservation(&self) -> Option<String> {
        // With enough repetitions there is always an interval, because every step has a median above 0.
        let few = self.repetitions;
        let words = format!(
            "no interval, because a step has fewer than {LEAST_REPETITIONS} repetitions ({few})"
        );
        self.interval.is_none().then_some(words)
    }
}

fn parameter(name: &str, value: f64, interval: Option<(f64, f64)>, decimals: usize) -> String {
    format!(
        "{name} {value:.decimals$}{}",
        ends(interval, &|end| format!("{end:.decimals$}"))
    )
}

fn ends(interval: Option<(f64, f64)>, number: &dyn Fn(f64) -> String) -> String {
    interval.map_or(String::new(), |(low, high)| {
        format!(" [{}-{}]", number(low), number(high))
    })
}

impl fmt::Display for PeakInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.high {
            Some(high) => write!(f, " [{:.1}-{high:.1}]", self.low),
            None => write!(f, " [{:.1} or more, or no peak]", self.low),
        }
    }
}
