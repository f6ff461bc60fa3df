//! A tee, which also keeps the frames of a port and writes them as a pcap file (nanosecond format) when the port is dropped.
//!
//! It is meant for a close look at a few frames: the first `limit` are copied into memory; nothing is written during a trial.

use crate::{Fill, Flushed, Halves, Port, PortError, Receive, Sent, Transmit, files};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const LINKTYPE_ETHERNET: u32 = 1;
const SNAPLEN: u32 = 65_535;

/// Returns the port with a capture of its first `limit` frames, in both directions and on all queues, for the file `path`. The file is created at
/// once, so that a bad path is reported early.
///
/// # Errors
/// If the file cannot be created.
pub fn tee(port: Port, path: &Path, limit: usize) -> io::Result<Port> {
    files::create(path)?;
    let capture = Capture {
        path: path.to_owned(),
        limit,
        frames: Vec::with_capacity(limit.min(65_536)),
    };
    let capture = Arc::new(Mutex::new(capture));
    Ok(Port {
        queues: port
            .queues
            .into_iter()
            .map(|Halves { transmit, receive }| Halves {
                transmit: Box::new(TeeTransmit {
                    inner: transmit,
                    capture: capture.clone(),
                }),
                receive: Box::new(TeeReceive {
                    inner: receive,
                    capture: capture.clone(),
                }),
            })
            .collect(),
        ..port
    })
}

struct Capture {
    path: PathBuf,
    limit: usize,
    frames: Vec<(u128, Vec<u8>)>,
}

impl Capture {
    fn keep(capture: &Mutex<Self>, frame: &[u8]) {
        let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
        if capture.frames.len() < capture.limit {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_nanos();
            capture.frames.push((now, frame.to_vec()));
        }
    }

    fn write(&self) -> io::Result<()> {
        let mut file = BufWriter::new(files::create(&self.path)?);
        write_frames(
            &mut file,
            self.frames.iter().map(|(time, frame)| (*time, &frame[..])),
        )?;
        file.flush()
    }
}

/// A frame without FCS, and the time at which it was sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedFrame {
    /// Nanoseconds since 1970.
    pub unix_ns: u128,
    /// The octets.
    pub octets: Vec<u8>,
}

/// Returns frames as the octets of a pcap file.
///
/// # Errors
/// None does: memory takes them all.
pub fn octets(frames: &[TimedFrame]) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    let frames = frames.iter();
    write_frames(
        &mut octets,
        frames.map(|frame| (frame.unix_ns, &frame.octets[..])),
    )?;
    Ok(octets)
}

fn write_frames<'a>(
    file: &mut impl Write,
    mut frames: impl Iterator<Item = (u128, &'a [u8])>,
) -> io::Result<()> {
    file.write_all(&MAGIC_NANOSECONDS.to_le_bytes())?;
    file.write_all(&[2, 0, 4, 0])?; // version 2.4
    file.write_all(&[0; 8])?; // time zone, accuracy: always zero
    file.write_all(&SNAPLEN.to_le_bytes())?;
    file.write_all(&LINKTYPE_ETHERNET.to_le_bytes())?;
    frames.try_for_each(|(time, frame)| write_frame(file, time, frame))
}

fn write_frame(file: &mut impl Write, time_ns: u128, frame: &[u8]) -> io::Result<()> {
    let length = (frame.len() as u32).to_le_bytes();
    file.write_all(&((time_ns / 1_000_000_000) as u32).to_le_bytes())?;
    file.write_all(&((time_ns % 1_000_000_000) as u32).to_le_bytes())?;
    file.write_all(&length)?;
    file.write_all(&length)?;
    file.write_all(frame)
}

impl Drop for Capture {
    fn drop(&mut self) {
        // A drop cannot return an error. The file was created with the tee, so an error here means that the disk is full.
        let _ = self.write();
    }
}

struct TeeTransmit {
    inner: Box<dyn Transmit>,
    capture: Arc<Mutex<Capture>>,
}

impl Transmit for TeeTransmit {
    fn slots(&self) -> usize {
        self.inner.slots()
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let capture = &self.capture;
        self.inner.transmit(wanted, &mut |slot, buffer| {
            let length = fill(slot, buffer);
            Capture::keep(capture, &buffer[..length]);
            length
        })
    }

    fn flush(&mut self) -> Result<Flushed, PortError> {
        self.inner.flush()
    }

    fn check_link(&self) -> Result<(), PortError> {
        self.inner.check_link()
    }
}

struct TeeReceive {
    inner: Box<dyn Receive>,
    capture: Arc<Mutex<Capture>>,
}

impl Receive for TeeReceive {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let capture = &self.capture;
        self.inner.receive(&mut |frame| {
            Capture::keep(capture, frame);
            each(frame);
        })
    }

    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        Capture::keep(&self.capture, frame);
        self.inner.answer(frame)
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        self.inner.overruns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::loopback;

    #[test]
    fn what_passed_the_tee_is_in_the_file_up_to_its_limit() {
        let path = std::env::temp_dir().join(format!("sixbench-tee-{}.pcap", std::process::id()));
        let (left, _right) = loopback::pair();
        let mut port = tee(left, &path, 2).expect("tee");
        for _ in 0..3 {
            port.queues[0].receive.answer(&[7; 60]).expect("send");
        }
        drop(port);
        let octets = std::fs::read(&path).expect("capture");
        std::fs::remove_file(&path).expect("remove");
        assert_eq!(&octets[..4], &[0x4d, 0x3c, 0xb2, 0xa1]);
        assert_eq!(octets.len(), 24 + 2 * (16 + 60));
    }
}
