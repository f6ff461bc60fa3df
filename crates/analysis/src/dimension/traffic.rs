//! A traffic profile: the traffic of one subscriber of a network in the busy hour, each figure with its source.

use sixbench_method::plan::size_of_letter;
use sixbench_method::terms::FrameSize;
use sixbench_method::units::{self, ValueError, expected};
use std::collections::BTreeMap;
use std::fmt;

/// A figure with its source, which every figure of a profile must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption<T> {
    /// The figure.
    pub value: T,
    /// The publication, measurement or reasoning behind it.
    pub source: String,
}

/// The frame sizes of a mix with their shares, in ascending order: octets of the IPv6 frame with FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imix(Vec<(FrameSize, u32)>);

impl Imix {
    /// Reads a mix: sizes with their shares, `84:7, 594:4, 1518:1`, or the letters of RFC 6985, `aaafg`.
    ///
    /// # Errors
    /// The text is neither; the error says what was expected.
    pub fn read(text: &str) -> Result<Self, ValueError> {
        let frames = if text.contains(':') {
            sizes(text)?
        } else {
            letters(text)?
        };
        let mut shares = BTreeMap::new();
        for (size, share) in frames {
            let sum: &mut u32 = shares.entry(size).or_default();
            *sum = sum.saturating_add(share);
        }
        Ok(Self(shares.into_iter().collect()))
    }

    /// Returns each size with its share of the frames, 0..=1.
    pub fn shares(&self) -> impl Iterator<Item = (FrameSize, f64)> + '_ {
        let all: f64 = self.0.iter().map(|(_, share)| f64::from(*share)).sum();
        self.0
            .iter()
            .map(move |&(size, share)| (size, f64::from(share) / all))
    }

    /// Returns the share of the mix's octets, 0..=1, that is in frames of the sizes for which `is_of` is true.
    pub fn octet_share(&self, is_of: impl Fn(FrameSize) -> bool) -> f64 {
        let octets = self
            .shares()
            .filter(|(size, _)| is_of(*size))
            .map(|(size, share)| f64::from(size.0) * share);
        octets.sum::<f64>() / self.mean_octets()
    }

    /// Returns the mean frame size, in octets with FCS.
    pub fn mean_octets(&self) -> f64 {
        self.shares()
            .map(|(size, share)| f64::from(size.0) * share)
            .sum()
    }
}

fn sizes(text: &str) -> Result<Vec<(FrameSize, u32)>, ValueError> {
    let wrong = |part: &str| {
        expected(
            "sizes with their shares such as `84:7, 594:4, 1518:1`",
            part,
        )
    };
    let each = text.split(',').map(|part| {
        let (size, share) = part.split_once(':').ok_or_else(|| wrong(part))?;
        let share = share
            .trim()
            .parse()
            .ok()
            .filter(|share| (1..=1_000_000).contains(share))
            .ok_or_else(|| wrong(part))?;
        Ok((units::frame_size(size)?, share))
    });
    each.collect()
}

fn letters(text: &str) -> Result<Vec<(FrameSize, u32)>, ValueError> {
    let letters = text.trim().chars();
    let frames: Option<Vec<(FrameSize, u32)>> = letters
        .map(|letter| Some((size_of_letter(letter)?, 1)))
        .collect();
    frames.filter(|frames| !frames.is_empty()).ok_or_else(|| {
        let form =
            "sizes with their shares such as `84:7, 594:4, 1518:1`, or letters a to i of RFC 6985";
        expected(form, text)
    })
}

impl fmt::Display for Imix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|(size, share)| format!("{size}:{share}"))
            .collect();
        write!(
            f,
            "{} (mean {:.1} octets)",
            parts.join(", "),
            self.mean_octets()
        )
    }
}

/// The traffic of an average subscriber in the busy hour, and the planning assumptions.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriberTraffic {
    /// A short name: letters, digits, `-`.
    pub name: String,
    /// A one-line description.
    pub title: String,
    /// Traffic to the subscriber, including native IPv6, in bit/s of frames with FCS.
    pub downstream: Assumption<u64>,
    /// Traffic from the subscriber, likewise.
    pub upstream: Assumption<u64>,
    /// Frame sizes of the traffic to the subscriber.
    pub downstream_imix: Assumption<Imix>,
    /// Frame sizes of the traffic from the subscriber.
    pub upstream_imix: Assumption<Imix>,
    /// Connections that the subscriber opens, per second.
    pub new_connections: Assumption<f64>,
    /// The average time for which a stateful device keeps a connection, including its timeout after the last frame, in seconds. No load is computed from
    /// it: a profile gives two of the three figures of connections, and the reader derives the third by Little's law.
    pub connection_lifetime: Assumption<f64>,
    /// The number of the subscriber's connections that a stateful device holds at once.
    pub held_connections: Assumption<f64>,
    /// The share of traffic and connections that is native IPv6 and bypasses the device, 0..1.
    pub native_ipv6: Assumption<f64>,
    /// Yearly growth of the traffic and connections of a subscriber, as a ratio.
    pub growth: Assumption<f64>,
    /// The number of years for which the device is to suffice.
    pub years: Assumption<f64>,
    /// The share of the measured capacity that is kept free, 0..1.
    pub reserve: Assumption<f64>,
    /// True if forwarding frames and opening connections share the same processors.
    pub shared_processor: Assumption<bool>,
}

/// One figure of a profile in printed form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedAssumption {
    /// Its key in the profile's file.
    pub key: &'static str,
    /// The figure with its unit.
    pub value: String,
    /// Its source.
    pub source: String,
}

/// The load that one subscriber puts on the device in the busy hour at the end of the planned years.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubscriberLoad {
    /// Translated frames to the subscriber, per second.
    pub downstream_frames: f64,
    /// Translated frames from the subscriber, per second.
    pub upstream_frames: f64,
    /// Translated connections opened, per second.
    pub new_connections: f64,
    /// Translated connections held at once.
    pub held_connections: f64,
}

impl SubscriberTraffic {
    /// Returns the load of one subscriber on the device: without native IPv6, and with the growth over the planned years.
    pub fn load(&self) -> SubscriberLoad {
        let factor =
            (1.0 - self.native_ipv6.value) * (1.0 + self.growth.value).powf(self.years.value);
        let frames = |bits: u64, imix: &Imix| bits as f64 / (8.0 * imix.mean_octets()) * factor;
        SubscriberLoad {
            downstream_frames: frames(self.downstream.value, &self.downstream_imix.value),
            upstream_frames: frames(self.upstream.value, &self.upstream_imix.value),
            new_connections: self.new_connections.value * factor,
            held_connections: self.held_connections.value * factor,
        }
    }

    /// Returns every figure with its source, in the order of the file.
    pub fn assumptions(&self) -> Vec<PrintedAssumption> {
        fn printed<T>(
            key: &'static str,
            assumption: &Assumption<T>,
            value: impl FnOnce(&T) -> String,
        ) -> PrintedAssumption {
            PrintedAssumption {
                key,
                value: value(&assumption.value),
                source: assumption.source.clone(),
            }
        }
        let bits = |bits: &u64| format!("{} kbit/s", *bits as f64 / 1e3);
        let percent = |ratio: &f64| format!("{} %", round(ratio * 100.0));
        let number = |value: &f64| round(*value).to_string();
        vec![
            printed("downstream", &self.downstream, bits),
            printed("upstream", &self.upstream, bits),
            printed("downstream-imix", &self.downstream_imix, Imix::to_string),
            printed("upstream-imix", &self.upstream_imix, Imix::to_string),
            printed("new-connections", &self.new_connections, |rate| {
                format!("{} /s", round(*rate))
            }),
            printed("connection-lifetime", &self.connection_lifetime, |s| {
                format!("{} s", round(*s))
            }),
            printed("held-connections", &self.held_connections, number),
            printed("native-ipv6", &self.native_ipv6, percent),
            printed("growth", &self.growth, |ratio| {
                format!("{} per year", percent(ratio))
            }),
            printed("years", &self.years, number),
            printed("reserve", &self.reserve, percent),
            printed(
                "shared-processor",
                &self.shared_processor,
                ToString::to_string,
            ),
        ]
    }
}

/// Returns a figure without the spurious digits of binary fractions.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::dimension) fn assumed<T>(value: T) -> Assumption<T> {
        Assumption {
            value,
            source: "a test".to_owned(),
        }
    }

    /// Returns a profile of 800 kbit/s down and 80 kbit/s up in frames of 100 octets: 1,000 and 100 frames/s. Half of it is native, and there is no
    /// growth.
    pub(in crate::dimension) fn plain() -> SubscriberTraffic {
        let of_100 = || assumed(Imix::read("100:1").expect("a mix"));
        SubscriberTraffic {
            name: "plain".to_owned(),
            title: "Plain".to_owned(),
            downstream: assumed(800_000),
            upstream: assumed(80_000),
            downstream_imix: of_100(),
            upstream_imix: of_100(),
            new_connections: assumed(2.0),
            connection_lifetime: assumed(100.0),
            held_connections: assumed(200.0),
            native_ipv6: assumed(0.5),
            growth: assumed(0.0),
            years: assumed(0.0),
            reserve: assumed(0.3),
            shared_processor: assumed(true),
        }
    }

    #[test]
    fn the_simple_imix_has_a_mean_of_373_octets() {
        let imix = Imix::read("84:7, 594:4, 1518:1").expect("a mix");
        assert_eq!(
            imix.mean_octets(),
            (84.0 * 7.0 + 594.0 * 4.0 + 1518.0) / 12.0
        );
        assert_eq!(imix.to_string(), "84:7, 594:4, 1518:1 (mean 373.5 octets)");
        assert_eq!(
            Imix::read("1518:1,84:3,594:4,84B:4"),
            Ok(imix),
            "the order does not matter, and equal sizes add up"
        );
    }

    #[test]
    fn letters_are_those_of_rfc_6985_with_84_in_place_of_64() {
        assert_eq!(Imix::read("aaafg"), Imix::read("84:3, 1280:1, 1518:1"));
        for mistaken in [
            "",
            "aaz",
            "84",
            "84:",
            "84:0",
            "84:x",
            "64:7, 594:4",
            "84:7,,",
        ] {
            assert!(Imix::read(mistaken).is_err(), "{mistaken}");
        }
        assert!(
            Imix::read("64:7")
                .unwrap_err()
                .to_string()
                .contains("84 replaces 64")
        );
    }

    #[test]
    fn a_subscriber_asks_for_the_translated_share_after_the_growth() {
        let now = SubscriberLoad {
            downstream_frames: 500.0,
            upstream_frames: 50.0,
            new_connections: 1.0,
            held_connections: 100.0,
        };
        assert_eq!(plain().load(), now);
        let grown = SubscriberTraffic {
            growth: assumed(0.1),
            years: assumed(2.0),
            ..plain()
        }
        .load();
        assert!(
            (grown.downstream_frames - 605.0).abs() < 1e-9
                && (grown.held_connections - 121.0).abs() < 1e-9,
            "{grown:?}"
        );
    }

    #[test]
    fn every_figure_is_printed_with_its_source() {
        let printed = plain().assumptions();
        assert_eq!(printed.len(), 12);
        assert!(
            printed
                .iter()
                .all(|assumption| assumption.source == "a test")
        );
        let value = |key| {
            printed
                .iter()
                .find(|one| one.key == key)
                .map(|one| one.value.as_str())
        };
        assert_eq!(
            [value("downstream"), value("native-ipv6"), value("years")],
            [Some("800 kbit/s"), Some("50 %"), Some("0")]
        );
    }
}
