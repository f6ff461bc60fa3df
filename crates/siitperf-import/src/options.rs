//! Settings that siitperf takes from its command line and its scripts instead of its configuration file.

use sixbench_method::terms::{FrameRate, FrameSize, Share};
use thiserror::Error;

/// siitperf's command-line options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Frame sizes; if empty, those of the plan.
    pub frame_sizes: Vec<FrameSize>,
    /// The time of sending, nanoseconds; `None` for that of the profile.
    pub duration_ns: Option<u64>,
    /// siitperf's global timeout, the longest wait for frames after sending, nanoseconds; `None` for that of the profile.
    pub timeout_ns: Option<u64>,
    /// siitperf's m and n: m of every n frames are foreground; `None` for all.
    pub foreground: Option<Share>,
    /// siitperf-pdv's frame timeout, nanoseconds: adds a throughput test in which frames that arrive later count as lost.
    pub frame_timeout_ns: Option<u64>,
    /// siitperf's parameters of phase 1 of stateful tests.
    pub phase_1: Option<Phase1>,
    /// siitperf-lat's delay before the first tagged frame, nanoseconds; `None` for that of the measure.
    pub delay_ns: Option<u64>,
    /// siitperf-lat's number of time stamps, that is, of tagged frames; `None` for that of the measure.
    pub timestamps: Option<u64>,
    /// The parameters of siitperf's scripts.
    pub scripts: ScriptOptions,
}

/// Parameters of siitperf's scripts. Each is `None` for what the plan would have without it.
#[derive(Clone, Debug, Default)]
pub struct ScriptOptions {
    /// `max`: the highest rate that the search tries.
    pub maximum: Option<FrameRate>,
    /// `e`: the distance of the bounds at which the search ends.
    pub error: Option<FrameRate>,
    /// `sleept`: the rest between trials, nanoseconds.
    pub rest_ns: Option<u64>,
    /// `no_exp`: the number of repetitions.
    pub repetitions: Option<u32>,
    /// `rate_start`, `rate_end` and `rate_step`: the rates of the frame loss test.
    pub rates: Option<[FrameRate; 3]>,
}

impl Options {
    pub(super) fn share(&self) -> Share {
        self.foreground.unwrap_or(Share::ALL)
    }

    /// Returns whether some frames are background traffic (native IPv6).
    pub(super) fn has_background(&self) -> bool {
        self.share().foreground < self.share().of
    }
}

/// Phase 1 of RFC 9693, in siitperf's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase1 {
    /// N: frames to send.
    pub frames: u32,
    /// M: entries of the Responder's state table.
    pub state_table: u32,
    /// R: frames per second.
    pub rate: u32,
    /// T: the timeout, milliseconds.
    pub timeout_ms: u32,
    /// D: the time from the start of phase 1 to that of phase 2, milliseconds.
    pub delay_ms: u32,
}

/// The reason why a text is not the value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// The text is not a share.
    #[error("expected m/n such as 9/10, m not above n, not `{0}`")]
    Share(String),
    /// The text is not five numbers.
    #[error(
        "expected the five numbers N,M,R,T,D such as 4000000,4000000,8000000,500,1500, not `{0}`"
    )]
    Phase1(String),
    /// A number of phase 1 is outside siitperf's limits.
    #[error("{name} must be between 1 and {most}, not {number}")]
    OutOfLimits {
        /// The letter by which siitperf calls it.
        name: &'static str,
        /// The number.
        number: u32,
        /// The largest one.
        most: u32,
    },
}

/// Reads the share of foreground frames, m of n: `9/10`.
///
/// # Errors
/// The text is not such a share; the error says what was expected.
pub fn foreground(text: &str) -> Result<Share, OptionError> {
    let wrong = || OptionError::Share(text.to_owned());
    let (m, n) = text.split_once('/').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let share = Share {
        foreground: number(m)?,
        of: number(n)?,
    };
    if share.of == 0 || share.foreground > share.of {
        Err(wrong())
    } else {
        Ok(share)
    }
}

/// Reads the parameters of phase 1, `N,M,R,T,D`, each within siitperf's limits.
///
/// # Errors
/// The text is not five numbers, or one of them is outside its limits.
pub fn phase_1(text: &str) -> Result<Phase1, OptionError> {
    let wrong = || OptionError::Phase1(text.to_owned());
    let numbers: Vec<u32> = text
        .split(',')
        .map(|n| n.trim().parse())
        .collect::<Result<_, _>>()
        .map_err(|_| wrong())?;
    let [frames, state_table, rate, timeout_ms, delay_ms] = numbers[..] else {
        return Err(wrong());
    };
    let limits = [
        ("N", frames, u32::MAX),
        ("M", state_table, u32::MAX),
        // The frames of 64 octets that 10 Gbit/s carry.
        ("R", rate, 14_880_952),
        ("T", timeout_ms, 2000),
        ("D", delay_ms, 100_000_000),
    ];
    match limits
        .into_iter()
        .find(|(_, number, most)| !(1..=*most).contains(number))
    {
        Some((name, number, most)) => Err(OptionError::OutOfLimits { name, number, most }),
        None => Ok(Phase1 {
            frames,
            state_table,
            rate,
            timeout_ms,
            delay_ms,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m_of_n_frames_are_foreground_and_never_more_than_all() {
        assert_eq!(
            foreground("9/10"),
            Ok(Share {
                foreground: 9,
                of: 10
            })
        );
        assert_eq!(
            foreground("0/2"),
            Ok(Share {
                foreground: 0,
                of: 2
            })
        );
        for wrong in ["3/2", "0/0", "9", "9/", "nine/ten"] {
            assert!(
                foreground(wrong)
                    .unwrap_err()
                    .to_string()
                    .contains("such as 9/10"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn phase_1_takes_five_numbers_in_siitperfs_limits() {
        let typical = Phase1 {
            frames: 4_000_000,
            state_table: 4_000_000,
            rate: 8_000_000,
            timeout_ms: 500,
            delay_ms: 1500,
        };
        assert_eq!(phase_1("4000000,4000000,8000000,500,1500"), Ok(typical));
        assert_eq!(
            phase_1("1,2,3"),
            Err(OptionError::Phase1("1,2,3".to_owned()))
        );
        assert_eq!(
            phase_1("1,1,1,2001,1").unwrap_err().to_string(),
            "T must be between 1 and 2000, not 2001"
        );
    }
}
