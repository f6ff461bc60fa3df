//! The waits between the steps of a vector, and the timers of devices that they refer to.

use std::time::Duration;

/// A timer of a stateful device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeviceTimer {
    /// That of a UDP mapping without traffic (RFC 4787 section 4.3).
    Udp,
    /// The transitory connection idle-timeout of TCP (RFC 5382 section 5).
    TcpTransitory,
    /// The established connection idle-timeout of TCP (RFC 5382 section 5).
    TcpEstablished,
    /// That of an ICMP Query session (RFC 5508 section 3.2).
    Icmp,
}

impl DeviceTimer {
    /// All timers.
    pub const ALL: [Self; 4] = [
        Self::Udp,
        Self::TcpTransitory,
        Self::TcpEstablished,
        Self::Icmp,
    ];

    /// Returns its name in the notation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::TcpTransitory => "tcp-transitory",
            Self::TcpEstablished => "tcp-established",
            Self::Icmp => "icmp",
        }
    }
}

/// The time of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitTime {
    /// This time.
    Fixed(Duration),
    /// A share of what a timer of the device is set to.
    Share {
        /// The share, in percent.
        percent: u32,
        /// The timer.
        timer: DeviceTimer,
    },
}

impl WaitTime {
    /// Reads `5s`, `2m`, or `60% of udp`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some((percent, timer)) = text.split_once("% of ") {
            let timer = DeviceTimer::ALL
                .into_iter()
                .find(|known| known.name() == timer.trim())?;
            let percent = percent.trim().parse().ok()?;
            return Some(Self::Share { percent, timer });
        }
        let seconds = match text.strip_suffix('s') {
            Some(seconds) => seconds.trim().parse().ok()?,
            None => text.strip_suffix('m')?.trim().parse::<u64>().ok()? * 60,
        };
        Some(Self::Fixed(Duration::from_secs(seconds)))
    }
}
