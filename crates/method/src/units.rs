//! Quantities and words as users write them: `500k`, `1.2M`, `10s`, `84B`, `0.01%`. The error of a function that reads one tells the user what was
//! expected and what was found instead.

mod error;

use crate::terms::bounds::NumberBound;
use crate::terms::{FrameRate, FrameSize, LossRatio, Share};
pub use crate::text::{agreeing, counted, part_of, show_percent};
pub use error::{ValueError, expected};
use std::str::FromStr;

/// The bit rate of a medium, bit/s.
pub const BIT_RATE: NumberBound = NumberBound::new(1e6, 1e13);
/// The time to live of a resource record, seconds (RFC 2181 section 8).
pub const TTL_S: NumberBound = NumberBound::new(0.0, i32::MAX as f64);
/// The timeout of a DNS query, nanoseconds. RFC 8219 section 9.2: at most a second.
pub const DNS_TIMEOUT_NS: NumberBound = NumberBound::new(1.0, 1e9);

/// Returns nanoseconds in the largest unit that divides them, down to microseconds: `2s`, `300ms`, `50us`.
pub fn show_ns(ns: u64) -> String {
    match ns {
        0 => "0s".to_owned(),
        n if n.is_multiple_of(1_000_000_000) => format!("{}s", n / 1_000_000_000),
        n if n.is_multiple_of(1_000_000) => format!("{}ms", n / 1_000_000),
        n => format!("{}us", n / 1000),
    }
}

/// Returns a rate in frames per second in readable form: `412.3k`.
pub fn show_rate(rate: FrameRate) -> String {
    match rate.0 {
        r if r >= 1_000_000 => format!("{:.3}M", r as f64 / 1e6),
        r if r >= 1000 => format!("{:.1}k", r as f64 / 1e3),
        r => r.to_string(),
    }
}

/// Returns the unit of the last digit that [`show_rate`] shows of a rate, in frames per second.
pub fn shown_unit(rate: u64) -> f64 {
    match rate {
        1_000_000.. => 1e3,
        1000.. => 1e2,
        _ => 1.0,
    }
}

/// Returns a rate that is only a lower bound, rounded down: `412.3k`.
pub fn show_rate_at_least(rate: FrameRate) -> String {
    let unit = shown_unit(rate.0) as u64;
    show_rate(FrameRate(rate.0 / unit * unit))
}

/// Returns a duration in the precision used for planning: `4 min`, `5.4 h`.
pub fn show_seconds(seconds: u64) -> String {
    match seconds {
        s if s < 120 => format!("{s} s"),
        s if s < 7200 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

/// Splits a text into a number and a suffix of letters or `%`.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Returns the number times the factor of its unit, or `None` if the text is not a number with one of these units.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, suffix) = split(text)?;
    units
        .iter()
        .find(|(unit, _)| *unit == suffix)
        .map(|(_, factor)| number * factor)
}

/// Reads a rate in frames per second: `500k`, `1.2M`, `1000`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn rate(text: &str) -> Result<FrameRate, ValueError> {
    let units = [
        ("", 1.0),
        ("fps", 1.0),
        ("k", 1e3),
        ("kfps", 1e3),
        ("M", 1e6),
        ("Mfps", 1e6),
        ("G", 1e9),
        ("Gfps", 1e9),
    ];
    // A rate below zero is a number out of bounds, not a text without a meaning.
    let positive = text.trim().strip_prefix('-');
    let rate = scaled(positive.unwrap_or(text), &units)
        .ok_or_else(|| expected("frames per second such as 1000, 500k or 1.2M", text))?
        .round();
    if positive.is_some() || !FrameRate::BOUND.contains(rate) {
        return Err(ValueError::Rate(text.to_owned()));
    }
    Ok(FrameRate(rate as u64))
}

/// Reads the bit rate of a medium, in bit/s: `100M`, `1G`, `10G`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn bit_rate(text: &str) -> Result<u64, ValueError> {
    let rate = scaled(
        text,
        &[("M", 1e6), ("Mbit/s", 1e6), ("G", 1e9), ("Gbit/s", 1e9)],
    );
    rate.filter(|rate| BIT_RATE.contains(*rate))
        .map(|rate| rate as u64)
        .ok_or_else(|| expected("a bit rate such as 100M, 1G or 25G", text))
}

/// Reads the traffic of a subscriber, in bit/s: `200k`, `1.8M`, `1.8Mbit/s`.
///
/// # Errors
/// The text is not such a rate; the error says what was expected.
pub fn bits_per_second(text: &str) -> Result<u64, ValueError> {
    let units = [
        ("", 1.0),
        ("k", 1e3),
        ("kbit/s", 1e3),
        ("M", 1e6),
        ("Mbit/s", 1e6),
        ("G", 1e9),
        ("Gbit/s", 1e9),
    ];
    let rate = scaled(text, &units).filter(|rate| (1.0..=1e12).contains(rate));
    rate.map(|rate| rate.round() as u64)
        .ok_or_else(|| expected("bits per second such as 200k or 1.8M", text))
}

/// Reads a time and returns it in nanoseconds: `10s`, `200ms`, `1m`, `0s`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn duration_ns(text: &str) -> Result<u64, ValueError> {
    let units = [
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 60e9),
        ("min", 60e9),
        ("h", 3600e9),
    ];
    // Zero needs no unit.
    let nothing = || split(text).filter(|split| *split == (0.0, "")).map(|_| 0.0);
    let nanoseconds = scaled(text, &units)
        .or_else(nothing)
        .ok_or_else(|| expected("a time such as 60s, 200ms or 2m", text))?;
    if !NumberBound::STATED_TIME_NS.contains(nanoseconds) {
        return Err(ValueError::Time(text.to_owned()));
    }
    Ok(nanoseconds.round() as u64)
}

/// Reads an amount of `of`: `1000`, `500k`, `1.2M`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn amount(text: &str, of: &str) -> Result<f64, ValueError> {
    let number = scaled(text, &[("", 1.0), ("k", 1e3), ("M", 1e6)]);
    number
        .map(f64::round)
        .ok_or_else(|| expected(format!("{of} such as 1000, 500k or 1.2M"), text))
}

/// Reads a time that may be negative and returns it in nanoseconds: `0.3ms`, `-50us`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn signed_ns(text: &str) -> Result<f64, ValueError> {
    match text.trim().strip_prefix('-') {
        Some(below) => duration_ns(below).map(|ns| -(ns as f64)),
        None => duration_ns(text).map(|ns| ns as f64),
    }
    .map_err(|_| expected("a time such as 300us, 0.3ms or 2s", text))
}

/// Reads a percentage: `0.1%`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn percent(text: &str) -> Result<f64, ValueError> {
    let number = split(text).filter(|(number, suffix)| *suffix == "%" && *number <= 100.0);
    number
        .map(|(number, _)| number)
        .ok_or_else(|| expected("per cent from 0% to 100%", text))
}

/// Reads a number of octets: `500kB`, `2MB`, `100B`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn octets(text: &str) -> Result<f64, ValueError> {
    let number = scaled(text, &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)]);
    number
        .map(f64::round)
        .ok_or_else(|| expected("octets such as 500kB or 2MB", text))
}

/// Reads a share and returns it as a ratio: `0.01%`. Only zero needs no sign: `0.1` is 10% for some readers, and 0.1% for others.
///
/// # Errors
/// The text is not a share, or has two readings, which the error names.
pub fn share(text: &str) -> Result<f64, ValueError> {
    if let Some((number, "")) =
        split(text).filter(|(number, _)| (1.0..=100.0).contains(number) && *number != 1.0)
    {
        return Err(ValueError::NoSign {
            text: text.to_owned(),
            percent: number,
        });
    }
    let ratio = factor(text)?;
    match split(text) {
        Some((number, "")) if number > 0.0 => {
            // Rounded, because 0.07 times 100 is not 7.
            Err(ValueError::TwoReadings {
                text: text.to_owned(),
                percent: number,
                of_ratio: (number * 1e12).round() / 1e10,
            })
        }
        _ => Ok(ratio),
    }
}

/// Reads a share where a standard or a sentence makes a bare number a ratio, as the beta and gamma of RFC 9693: `0.5` or `50%`.
///
/// # Errors
/// The text is not a share.
pub fn factor(text: &str) -> Result<f64, ValueError> {
    let (number, suffix) = split(text)
        .filter(|(_, suffix)| matches!(*suffix, "" | "%"))
        .ok_or_else(|| expected("a share such as 1% or 50%", text))?;
    // Divided rather than multiplied by 0.01, which has no exact binary representation.
    let ratio = if suffix == "%" {
        number / 100.0
    } else {
        number
    };
    if NumberBound::SHARE.contains(ratio) {
        Ok(ratio)
    } else {
        Err(ValueError::MoreThanAll(text.to_owned()))
    }
}

/// Reads the accepted loss, a ratio below 1.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn loss(text: &str) -> Result<LossRatio, ValueError> {
    let ratio = share(text)?;
    if NumberBound::BELOW_ONE.contains(ratio) {
        Ok(LossRatio(ratio))
    } else {
        Err(ValueError::TotalLoss(text.to_owned()))
    }
}

/// Reads a frame size: `84` or `84B`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn frame_size(text: &str) -> Result<FrameSize, ValueError> {
    let (number, suffix) = split(text)
        .filter(|(_, s)| matches!(*s, "" | "B"))
        .ok_or_else(|| expected("a frame size such as 84 or 512B", text))?;
    if number.fract() != 0.0 || suffix.len() > 1 || !FrameSize::BOUND.contains(number) {
        return Err(ValueError::FrameSize(text.to_owned()));
    }
    Ok(FrameSize(number as u16))
}

/// Reads the share of background traffic, `10%`, and returns that of the foreground: 9 frames of 10.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn background(text: &str) -> Result<Share, ValueError> {
    let percent = (share(text)? * 100.0 * 100.0).round() as u32;
    let divisor = gcd(10_000 - percent, 10_000);
    Ok(Share {
        foreground: (10_000 - percent) / divisor,
        of: 10_000 / divisor,
    })
}

/// Returns the greatest common divisor.
pub(crate) fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Reads a whole percentage from 0 to 100.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn whole_percent(text: &str) -> Result<u8, ValueError> {
    let number = text
        .trim()
        .trim_end_matches('%')
        .trim_end()
        .parse()
        .ok()
        .filter(|number: &u8| NumberBound::PERCENT.contains(f64::from(*number)));
    number.ok_or_else(|| expected("whole per cent such as 20%", text))
}

/// Reads a time to live: whole seconds, at most as many as a resource record can hold (RFC 2181 section 8).
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn ttl_s(text: &str) -> Result<u32, ValueError> {
    let wrong = || {
        expected(
            "a time to live of whole seconds such as 1h, 30m or 60s",
            text,
        )
    };
    let (number, unit) = text
        .trim()
        .split_at(text.trim().trim_end_matches(char::is_alphabetic).len());
    let factor = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let seconds = number
        .trim()
        .parse::<u32>()
        .ok()
        .and_then(|number| number.checked_mul(factor));
    seconds
        .filter(|seconds| TTL_S.contains(f64::from(*seconds)))
        .ok_or_else(wrong)
}

/// Reads the timeout of a DNS query. RFC 8219 section 9.2: "no higher timeout time than 1 second SHOULD be used".
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn dns_timeout(text: &str) -> Result<u64, ValueError> {
    let timeout_ns = duration_ns(text)?;
    if !DNS_TIMEOUT_NS.contains(timeout_ns as f64) {
        let form = "a timeout of up to 1s (RFC 8219 section 9.2)";
        return Err(expected(form, text));
    }
    Ok(timeout_ns)
}

/// Reads a number of `of` from 1 to 1000M: `100k`, `1M`, `65536`.
///
/// # Errors
/// The text is not such a number; the error says what was expected.
pub fn count(text: &str, of: &str) -> Result<u64, ValueError> {
    let number = scaled(text, &[("", 1.0), ("k", 1e3), ("M", 1e6)])
        .map(f64::round)
        .filter(|n| NumberBound::COUNT.contains(*n));
    number
        .map(|number| number as u64)
        .ok_or_else(|| expected(format!("a number of {of}"), text))
}

/// Reads a number of connections: `100k`, `1M`, `65536`.
///
/// # Errors
/// The text is not such a number, or is above 1000M.
pub fn connections(text: &str) -> Result<u64, ValueError> {
    count(text, "connections from 1 to 1000M such as 1000, 100k or 4M")
}

/// Reads a number of frames, at least 1: `50_000`.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn frames(text: &str) -> Result<u64, ValueError> {
    let frames = text
        .replace('_', "")
        .parse()
        .ok()
        .filter(|frames: &u64| NumberBound::FRAMES.contains(*frames as f64));
    frames.ok_or_else(|| expected("a number of frames", text))
}

/// Reads a range of 16-bit values, such as ports: `1024-65535`, or one value.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn range(text: &str) -> Result<(u16, u16), ValueError> {
    range_up_to(
        text,
        u16::MAX,
        "a range of 16-bit values such as 1024-65535",
    )
}

/// Reads a range of values up to `most`, or one value; `what` describes the expected range in the error.
///
/// # Errors
/// The text is not such a range.
pub fn range_up_to<V: FromStr + Ord>(
    text: &str,
    most: V,
    what: &str,
) -> Result<(V, V), ValueError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse().ok().filter(|value: &V| *value <= most);
    let both = number(first)
        .zip(number(last))
        .ok_or_else(|| expected(what.to_owned(), text))?;
    if both.0 > both.1 {
        Err(ValueError::Backwards(text.to_owned()))
    } else {
        Ok(both)
    }
}

/// Reads one of a few words; `what` describes them in the error.
///
/// # Errors
/// A [`ValueError`] that says what was expected instead of the text.
pub fn word<T: Copy>(text: &str, what: &str, words: &[(&str, T)]) -> Result<T, ValueError> {
    let found = words
        .iter()
        .find(|(word, _)| *word == text)
        .map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        expected(format!("{what} ({})", known.join(", ")), text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_per_cent() {
        assert_eq!(
            [
                whole_percent("20%"),
                whole_percent("0"),
                whole_percent("100 %")
            ],
            [Ok(20), Ok(0), Ok(100)]
        );
        assert!(
            ["101%", "0.5%", "-1%", "", "%"]
                .into_iter()
                .all(|text| whole_percent(text).is_err())
        );
    }

    #[test]
    fn times_to_live_are_whole_seconds() {
        assert_eq!(
            [ttl_s("1h"), ttl_s("60s"), ttl_s("0s"), ttl_s("1d")],
            [Ok(3600), Ok(60), Ok(0), Ok(86_400)]
        );
        assert!(
            ["1500ms", "1.5s", "60", "2147483648s", "999999d", "soon"]
                .into_iter()
                .all(|text| ttl_s(text).is_err())
        );
    }

    #[test]
    fn bounds_have_the_units_of_their_quantities() {
        assert_eq!(
            [
                amount("1.5k", "frames"),
                amount("2M", "frames"),
                amount("0", "frames")
            ],
            [Ok(1500.0), Ok(2e6), Ok(0.0)]
        );
        assert_eq!(
            [signed_ns("0.3ms"), signed_ns("-50us")],
            [Ok(300_000.0), Ok(-50_000.0)]
        );
        assert_eq!([percent("0.1%"), percent("100 %")], [Ok(0.1), Ok(100.0)]);
        assert_eq!([octets("2MB"), octets("100 B")], [Ok(2e6), Ok(100.0)]);
        assert!(
            amount("1.5G", "queries/s")
                .unwrap_err()
                .to_string()
                .starts_with("expected queries/s such as ")
        );
        assert!(
            signed_ns("3").is_err()
                && percent("0.1").is_err()
                && percent("101%").is_err()
                && octets("5").is_err()
        );
    }

    #[test]
    fn a_share_without_its_sign_is_refused_with_both_readings() {
        assert_eq!(
            [share("0.1%"), share("0"), share("0.0"), share("100 %")],
            [Ok(0.001), Ok(0.0), Ok(0.0), Ok(1.0)]
        );
        for (text, readings) in [
            ("0.1", ["0.1%", "10%"]),
            ("0.07", ["0.07%", "7%"]),
            ("1", ["1%", "100%"]),
        ] {
            for error in [
                share(text).map(drop),
                loss(text).map(drop),
                background(text).map(drop),
            ]
            .map(|read| read.unwrap_err().to_string())
            {
                assert!(
                    readings.iter().all(|reading| error.contains(reading)),
                    "{error}"
                );
            }
        }
        assert!(
            share("5").unwrap_err().to_string().ends_with("write 5%")
                && share("101")
                    .unwrap_err()
                    .to_string()
                    .contains("at most 100%")
        );
        assert_eq!([factor("0.5"), factor("50%")], [Ok(0.5), Ok(0.5)]);
    }

    #[test]
    fn rates_take_k_and_m() {
        assert_eq!(rate("500k"), Ok(FrameRate(500_000)));
        assert_eq!(rate("1.2M"), Ok(FrameRate(1_200_000)));
        assert_eq!(rate("1_000"), Ok(FrameRate(1000)));
        assert!(rate("fast").unwrap_err().to_string().contains("not `fast`"));
        assert!(rate("0").is_err());
        for outside in ["-5", "-5k", "999G", "1001M"] {
            assert!(
                rate(outside)
                    .unwrap_err()
                    .to_string()
                    .contains("between 1 and 1000M"),
                "{outside}"
            );
        }
        assert_eq!(rate("1G"), Ok(FrameRate(1_000_000_000)));
    }

    #[test]
    fn counts_are_no_rates() {
        assert_eq!(
            [
                connections("100k"),
                connections("1_000"),
                connections("1000M")
            ],
            [Ok(100_000), Ok(1000), Ok(1_000_000_000)]
        );
        assert!(
            ["0", "1001M", "1kfps", "5fps", "many"]
                .into_iter()
                .all(|text| connections(text).is_err())
        );
    }

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!(
            [
                counted(1, "trial"),
                counted(0, "trial"),
                counted(2, "trial")
            ],
            ["1 trial", "0 trials", "2 trials"]
        );
        assert_eq!(
            [counted(3, "search"), counted(3, "losing search")],
            ["3 searches", "3 losing searches"]
        );
        assert_eq!(
            ["query", "day", "series", "analysis", "box"].map(|noun| counted(2, noun)),
            ["2 queries", "2 days", "2 series", "2 analyses", "2 boxes"]
        );
        assert_eq!(
            [
                part_of(0, 3, "trial"),
                part_of(1, 1, "trial"),
                part_of(2, 3, "query")
            ],
            ["none of 3 trials", "1 of 1 trial", "2 of 3 queries"]
        );
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!(duration_ns("60s"), Ok(60_000_000_000));
        assert_eq!(duration_ns("200ms"), Ok(200_000_000));
        assert_eq!(duration_ns("0"), Ok(0));
        assert_eq!(duration_ns("2h"), duration_ns("120m"));
        assert!(
            duration_ns("48h")
                .unwrap_err()
                .to_string()
                .contains("more than a day")
        );
        assert!(duration_ns("60").is_err());
        assert!(duration_ns("48000m").is_err());
    }

    #[test]
    fn a_tenth_of_background_is_nine_foreground_of_ten() {
        assert_eq!(
            background("10%"),
            Ok(Share {
                foreground: 9,
                of: 10
            })
        );
        assert_eq!(background("0%"), Ok(Share::ALL));
        assert_eq!(
            background("100%"),
            Ok(Share {
                foreground: 0,
                of: 1
            })
        );
        assert_eq!(
            background("12.5%"),
            Ok(Share {
                foreground: 7,
                of: 8
            })
        );
    }

    #[test]
    fn sixty_four_octets_cannot_hold_an_ipv6_test_frame() {
        assert!(
            frame_size("64")
                .unwrap_err()
                .to_string()
                .contains("84 replaces 64")
        );
        assert_eq!(frame_size("84B"), Ok(FrameSize(84)));
        assert!(frame_size("9217").is_err());
    }
}
