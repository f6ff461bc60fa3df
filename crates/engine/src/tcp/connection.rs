//! The client's end of one connection: its socket and its progress. It decides nothing about the trial.

use super::http::ResponseReader;
use mio::net::TcpStream;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// The progress of a connection.
#[derive(Debug)]
pub(super) enum ConnectionStep {
    /// The SYN was sent.
    Connecting,
    /// A request was sent.
    Waiting(ResponseReader),
    /// Kept open.
    Open,
    /// The response has arrived, but not the other end's FIN.
    Closing,
}

/// One connection.
#[derive(Debug)]
pub(super) struct TcpConnection {
    pub stream: TcpStream,
    /// Its number in the trial.
    pub number: u64,
    /// The time at which its SYN was sent, in nanoseconds.
    pub started_ns: u64,
    /// The time by which the event it waits for must have happened, in nanoseconds; 0 while it waits for nothing.
    pub deadline_ns: u64,
    pub step: ConnectionStep,
}

/// The way in which a connection has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Refused,
    Reset,
    Unreachable,
    TimedOut,
}

impl Failure {
    pub(super) fn from_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Self::Reset,
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Unreachable,
        }
    }
}

/// Returns a socket that will connect from `own`, an address that other connections to other destinations may also use.
pub(super) fn socket(own: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(own),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(own))?;
    Ok(socket)
}

/// Sends the SYN. Events report its outcome; an error means that none was sent.
pub(super) fn connect(socket: Socket, peer: SocketAddr) -> io::Result<TcpStream> {
    match socket.connect(&SockAddr::from(peer)) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(TcpStream::from_std(socket.into())),
    }
}

impl TcpConnection {
    /// Sends a request, whose few octets always fit into a socket that has sent everything before.
    pub(super) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        let sent = self.stream.write(request)?;
        if sent == request.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }

    /// Reads the available octets; `None` if there are none, 0 at the other end's FIN.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.stream.read(into) {
                Ok(octets) => return Ok(Some(octets)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the connection with a RST, if it is established.
    pub(super) fn reset(self) {
        reset(self.stream);
    }
}

/// Ends a connection with a RST.
pub(super) fn reset(stream: TcpStream) {
    // If this fails, the connection ends with a FIN.
    let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
}
