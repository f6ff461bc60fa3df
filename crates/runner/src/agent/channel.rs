//! Messages over two octet streams: each is JSON, preceded by its length in four octets, the most significant first. A length of zero is a
//! heartbeat. Each side sends one every two seconds, and considers the connection lost if it has received nothing for longer than the configured
//! time.

use crate::error::agent::AgentError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest interval between heartbeats.
const BEAT: Duration = Duration::from_secs(2);

/// The longest time between two checks for a stop request.
const LOOK: Duration = Duration::from_millis(20);

/// The maximum length of a message in octets.
const LONGEST: u32 = 64 << 20;

/// The reason why nothing was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChannelEnd {
    /// The other side has closed its output.
    Closed,
    /// Nothing was received for this time.
    Silent(Duration),
    /// The octets received are not a valid message.
    Garbled(String),
    /// The expected message did not arrive within this time, but heartbeats did.
    Late(Duration),
    /// A stop was requested.
    Stopped,
}

impl ChannelEnd {
    /// Returns the error for this end of a channel to `machine`. `said` is the last line of the program's standard error.
    pub(super) fn to_error(&self, machine: &str, said: &str) -> AgentError {
        let why = match self {
            Self::Stopped => return AgentError::Interrupted,
            Self::Closed if said.is_empty() => {
                "the connection was closed, or the machine went down".to_owned()
            }
            Self::Closed => format!("it ended: {said}"),
            Self::Silent(time) => format!(
                "no sign of life for {} s, although the connection is open",
                time.as_secs_f64()
            ),
            Self::Garbled(_) | Self::Late(_) => self.to_string(),
        };
        AgentError::Lost {
            machine: machine.to_owned(),
            why,
        }
    }
}

impl Display for ChannelEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => write!(f, "the connection was closed"),
            Self::Silent(time) => write!(f, "no sign of life for {} s", time.as_secs_f64()),
            Self::Garbled(what) => write!(f, "it says what is no message ({what})"),
            Self::Late(time) => write!(
                f,
                "it lives, but did not answer within {} s",
                time.as_secs_f64()
            ),
            Self::Stopped => write!(f, "interrupted"),
        }
    }
}

/// One side of the connection. Dropping it closes its output.
pub(super) struct Channel<In> {
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<In>,
    state: Arc<ChannelState>,
}

struct ChannelState {
    lost: Arc<AtomicBool>,
    heard: Mutex<Instant>,
    end: Mutex<Option<ChannelEnd>>,
    silence: Duration,
}

impl<In: DeserializeOwned + Send + 'static> Channel<In> {
    /// Sends on `output` and receives from `input`. `silence` is the longest time without a heartbeat.
    pub(super) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        silence: Duration,
    ) -> Self {
        let ((outgoing, to_write), (heard, incoming)) = (mpsc::channel(), mpsc::channel());
        let state = Arc::new(ChannelState {
            lost: Arc::default(),
            heard: Mutex::new(Instant::now()),
            end: Mutex::default(),
            silence,
        });
        let (of_reader, of_writer) = (state.clone(), state.clone());
        // The threads are never joined, because a hanging connection could block them forever.
        std::thread::spawn(move || of_reader.lose(listen(input, &heard, &of_reader)));
        std::thread::spawn(move || speak(output, &to_write, &of_writer));
        Self {
            outgoing,
            incoming,
            state,
        }
    }

    /// Waits for the next message, at most for `limit`, and returns it.
    ///
    /// # Errors
    /// No message arrived. The error is the reason.
    pub(super) fn receive(
        &self,
        limit: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<In, ChannelEnd> {
        let begun = Instant::now();
        loop {
            match self.incoming.recv_timeout(LOOK) {
                Ok(message) => return Ok(message),
                Err(_) if stop.load(Ordering::Relaxed) => return Err(ChannelEnd::Stopped),
                Err(RecvTimeoutError::Disconnected) => return Err(self.end()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.state.look_for_life();
            if self.state.lost.load(Ordering::Acquire) {
                return self.incoming.try_recv().map_err(|_| self.end());
            }
            if let Some(limit) = limit.filter(|limit| begun.elapsed() > *limit) {
                return Err(ChannelEnd::Late(limit));
            }
        }
    }
}

impl<In> Channel<In> {
    /// Sends a message. If the connection is lost, the reply to it will not arrive.
    pub(super) fn send(&self, message: &impl Serialize) {
        // Neither step fails: messages only contain types that JSON supports, and the writer thread outlives the channel.
        let _ = serde_json::to_vec(message).map(|octets| self.outgoing.send(octets));
    }

    /// Returns a flag that is set when the connection is lost.
    pub(super) fn lost(&self) -> Arc<AtomicBool> {
        self.state.lost.clone()
    }

    /// Returns the reason why the connection is lost.
    pub(super) fn end(&self) -> ChannelEnd {
        self.state
            .end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .unwrap_or(ChannelEnd::Closed)
    }
}

impl ChannelState {
    fn lose(&self, end: ChannelEnd) {
        self.end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(end);
        self.lost.store(true, Ordering::Release);
    }

    fn note_life(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn look_for_life(&self) {
        let since = self
            .heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed();
        if since > self.silence {
            self.lose(ChannelEnd::Silent(self.silence));
        }
    }
}

/// Reads messages until there are no more; returns the reason.
fn listen<In: DeserializeOwned>(
    mut input: impl Read,
    heard: &Sender<In>,
    state: &ChannelState,
) -> ChannelEnd {
    loop {
        let octets = match read_message(&mut input) {
            Ok(Some(octets)) => octets,
            Ok(None) => {
                state.note_life();
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return ChannelEnd::Garbled(error.to_string());
            }
            Err(_) => return ChannelEnd::Closed,
        };
        state.note_life();
        match serde_json::from_slice(&octets) {
            Ok(message) => {
                if heard.send(message).is_err() {
                    // No one is waiting for messages any more.
                    return ChannelEnd::Closed;
                }
            }
            Err(error) => return ChannelEnd::Garbled(error.to_string()),
        }
    }
}

/// Returns the octets of a message, or `None` for a heartbeat.
pub(super) fn read_message(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    match u32::from_be_bytes(length) {
        0 => Ok(None),
        length if length > LONGEST => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a message of {length} octets is too long"),
        )),
        length => {
            let mut octets = vec![0; length as usize];
            input.read_exact(&mut octets).map(|()| Some(octets))
        }
    }
}

/// Writes messages as they arrive, with heartbeats in between.
fn speak(mut output: impl Write, messages: &Receiver<Vec<u8>>, state: &ChannelState) {
    loop {
        let octets = match messages.recv_timeout(BEAT.min(state.silence / 4)) {
            Ok(octets) => octets,
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let length = (octets.len() as u32).to_be_bytes();
        let written = output
            .write_all(&[&length, octets.as_slice()].concat())
            .and_then(|()| output.flush());
        // In the middle of a trial, nothing else checks this.
        state.look_for_life();
        if written.is_err() {
            return state.lose(ChannelEnd::Closed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

    fn going() -> AtomicBool {
        AtomicBool::new(false)
    }

    fn side(stream: &UnixStream, silence: Duration) -> Channel<String> {
        Channel::new(
            stream.try_clone().expect("a stream"),
            stream.try_clone().expect("a stream"),
            silence,
        )
    }

    #[test]
    fn messages_come_in_order_and_signs_of_life_are_none() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let silence = Duration::from_millis(400);
        let (here, there) = (side(&here, silence), side(&there, silence));
        here.send(&"one");
        here.send(&"two");
        assert_eq!(there.receive(MINUTE, &going()), Ok("one".to_owned()));
        assert_eq!(there.receive(MINUTE, &going()), Ok("two".to_owned()));
        // Much longer than the silence that would end the connection.
        let longer = Duration::from_secs(1);
        assert_eq!(
            there.receive(Some(longer), &going()),
            Err(ChannelEnd::Late(longer))
        );
    }

    #[test]
    fn a_side_that_says_nothing_is_lost_although_its_stream_is_open() {
        let (here, _there) = UnixStream::pair().expect("a pair");
        let silence = Duration::from_millis(100);
        let channel = side(&here, silence);
        assert_eq!(
            channel.receive(MINUTE, &going()),
            Err(ChannelEnd::Silent(silence))
        );
        assert!(channel.lost().load(Ordering::Relaxed));
    }

    #[test]
    fn a_side_that_is_silent_is_noted_by_who_waits_for_no_message() {
        let (here, _there) = UnixStream::pair().expect("a pair");
        let channel = side(&here, Duration::from_millis(100));
        let end = Instant::now() + Duration::from_secs(60);
        while !channel.lost().load(Ordering::Relaxed) {
            assert!(Instant::now() < end, "it is not noted");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_closed_stream_what_is_no_message_and_a_stop_end_a_wait() {
        let long = Duration::from_secs(60);
        let (here, there) = UnixStream::pair().expect("a pair");
        let channel = side(&here, long);
        assert_eq!(
            channel.receive(MINUTE, &AtomicBool::new(true)),
            Err(ChannelEnd::Stopped)
        );
        (&there)
            .write_all(&[0, 0, 0, 2, b'h', b'i'])
            .expect("written");
        assert!(matches!(
            channel.receive(MINUTE, &going()),
            Err(ChannelEnd::Garbled(_))
        ));
        let (here, there) = UnixStream::pair().expect("a pair");
        let channel = side(&here, long);
        drop(there);
        assert_eq!(channel.receive(MINUTE, &going()), Err(ChannelEnd::Closed));
        let (here, there) = UnixStream::pair().expect("a pair");
        let channel = side(&here, long);
        (&there)
            .write_all(b"Welcome to tester2\n")
            .expect("written");
        let Err(ChannelEnd::Garbled(why)) = channel.receive(MINUTE, &going()) else {
            panic!("no message")
        };
        assert!(why.contains("too long"), "{why}");
    }
}
