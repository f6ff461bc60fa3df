//! What became of a device, as data: also the file from which the same frames are sent once more.

use super::coverage::FrameCoverage;
use super::grammar::MalformedFrame;
use super::memory::{MemoryCourse, MemoryVerdict};
use crate::frame::Side;
use serde::{Deserialize, Serialize};

/// The version of the data's format.
const FORMAT: u32 = 1;
/// The longest datagram that is read, in octets: the MTU of the links.
const LONGEST: usize = 1500;

/// The sign of a crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum CrashSign {
    /// The device's process or its virtual machine has ended.
    Ended {
        /// How, with the last lines that it wrote.
        how: String,
    },
    /// Its kernel reports a defect.
    KernelLog {
        /// The lines.
        lines: Vec<String>,
    },
    /// It runs, but no control frame passes any more.
    Silent {
        /// The sides from which they passed before.
        from: Vec<Side>,
    },
}

/// A frame that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFrame {
    /// Its number among the frames of the seed.
    pub index: u64,
    /// The side on which it was sent.
    pub side: Side,
    /// The name of the vector with the valid frame.
    pub vector: String,
    /// The mistakes that were made in it.
    pub mistakes: Vec<String>,
    /// Its octets from the IP header on, in hexadecimal digits.
    pub octets: String,
}

impl From<&MalformedFrame> for KeptFrame {
    fn from(frame: &MalformedFrame) -> Self {
        let digits = frame.octets.iter().map(|octet| format!("{octet:02x}"));
        Self {
            index: frame.index,
            side: frame.side,
            vector: frame.vector.clone(),
            mistakes: frame.mistakes.clone(),
            octets: digits.collect(),
        }
    }
}

/// A crash, with the frames that make it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CrashRecord {
    /// The observation.
    pub sign: CrashSign,
    /// The number of frames after which it was seen first.
    pub after: u64,
    /// True if the kept frames made it again, on a device that was brought up anew.
    pub is_repeatable: bool,
    /// The number of times that frames were sent once more to find the fewest.
    pub attempts: usize,
    /// True if without any single one of the kept frames it does not happen.
    pub is_minimal: bool,
    /// The fewest frames that still make it; if it is not repeatable, the last ones before it.
    pub frames: Vec<KeptFrame>,
}

/// The result of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeOutcome {
    /// The seed of the frames; none of frames that came from a file.
    pub seed: Option<u64>,
    /// The number of frames that were to be sent.
    pub wanted: u64,
    /// The number of frames that were sent.
    pub sent: u64,
    /// The number of batches, each with control frames behind it.
    pub batches: u64,
    /// The number of frames that came from the device meanwhile.
    pub came: u64,
    /// True if a kernel log was read after every few batches, and after the last one.
    pub has_kernel_log: bool,
    /// The numbers of frames of each kind; empty of frames that came from a file.
    pub coverage: FrameCoverage,
    /// Its memory, if it can be seen and no crash came first.
    pub memory: Option<MemoryCourse>,
    /// The crash, if there was one.
    pub crash: Option<CrashRecord>,
}

impl ProbeOutcome {
    /// Returns true if the device crashed, or its memory grew for as long as frames came.
    pub fn is_violation(&self) -> bool {
        let grows = self.memory.map(|memory| memory.verdict) == Some(MemoryVerdict::Growing);
        self.crash.is_some() || grows
    }
}

/// The results of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RobustnessResults {
    /// The version of this format.
    pub format: u32,
    /// The version of sixbench that sent the frames.
    pub sixbench: String,
    /// The name of the device's recipe.
    pub device: String,
    /// The name of the device in reports.
    pub title: String,
    /// The version of the device.
    pub version: String,
    /// The result.
    pub robustness: ProbeOutcome,
    /// The name of the file with the frames of the crash as they were sent, if one was written.
    pub capture: Option<String>,
    /// The SHA-256 of that file, by which a later run knows it as its own to replace.
    pub capture_sha256: Option<String>,
}

impl RobustnessResults {
    /// Returns the results of a device.
    pub fn new(device: &str, title: &str, version: &str, robustness: ProbeOutcome) -> Self {
        Self {
            format: FORMAT,
            sixbench: env!("CARGO_PKG_VERSION").to_owned(),
            device: device.to_owned(),
            title: title.to_owned(),
            version: version.to_owned(),
            robustness,
            capture: None,
            capture_sha256: None,
        }
    }
}

/// The part of earlier results that is read.
#[derive(Deserialize)]
struct EarlierProbe {
    format: u32,
    robustness: EarlierOutcome,
}

#[derive(Deserialize)]
struct EarlierOutcome {
    crash: Option<EarlierCrash>,
}

#[derive(Deserialize)]
struct EarlierCrash {
    frames: Vec<KeptFrame>,
}

/// The reason why a file has no frames to send.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableFrames {
    /// It is another file.
    #[error("it is no robustness.json of sixbench conformance --robustness: {0}")]
    Json(#[from] serde_json::Error),
    /// It was written by a newer sixbench.
    #[error("it has format {0}; this sixbench reads format {FORMAT}: use a newer one")]
    Newer(u32),
    /// The device lived.
    #[error(
        "it has no crash, and so no frames: repeat its run with the same --robustness and --seed"
    )]
    NoCrash,
    /// The octets of a frame are not those of a datagram.
    #[error("frame {index} of it does not have 1 to {LONGEST} octets in hexadecimal digits")]
    Octets {
        /// The number of the frame.
        index: u64,
    },
}

/// Returns the frames of the crash in earlier results, to be sent once more.
///
/// # Errors
/// The text is of another file, or has no crash.
pub fn kept_frames(text: &str) -> Result<Vec<MalformedFrame>, UnreadableFrames> {
    let earlier: EarlierProbe = serde_json::from_str(text)?;
    if earlier.format > FORMAT {
        return Err(UnreadableFrames::Newer(earlier.format));
    }
    let crash = earlier.robustness.crash;
    let frames = crash.ok_or(UnreadableFrames::NoCrash)?.frames;
    frames.into_iter().map(malformed).collect()
}

fn malformed(kept: KeptFrame) -> Result<MalformedFrame, UnreadableFrames> {
    let index = kept.index;
    let pairs = kept.octets.as_bytes().chunks(2);
    let octets: Option<Vec<u8>> = pairs.map(octet_of).collect();
    let octets = octets.filter(|octets| (1..=LONGEST).contains(&octets.len()));
    Ok(MalformedFrame {
        index,
        side: kept.side,
        vector: kept.vector,
        mistakes: kept.mistakes,
        octets: octets.ok_or(UnreadableFrames::Octets { index })?,
    })
}

fn octet_of(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.len() == 2 && digits.bytes().all(|d| d.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}
