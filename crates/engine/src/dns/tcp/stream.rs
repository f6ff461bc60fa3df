//! The octets of a connection to the server: as they are, or in the records of TLS.

use super::tls::TlsStream;
use mio::net::TcpStream;
use std::io::{self, ErrorKind, Read as _, Write as _};

/// A connection of the client, established or about to be.
pub(super) enum ClientStream {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

impl ClientStream {
    /// Returns the socket, at which readiness is seen.
    pub(super) fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(stream) => stream.socket(),
        }
    }

    /// Continues to establish the connection, without blocking. Returns whether it is established.
    ///
    /// # Errors
    /// The attempt has failed.
    pub(super) fn establish(&mut self) -> io::Result<bool> {
        if !is_connected(self.socket())? {
            return Ok(false);
        }
        let Self::Tls(stream) = self else {
            return Ok(true);
        };
        match stream.shake_hands() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            ended => ended.map(|()| true),
        }
    }

    /// Passes octets on; returns the number of those that were taken. What is taken may still have to be [flushed](Self::flush).
    ///
    /// # Errors
    /// `WouldBlock` if the kernel takes none; otherwise the connection has ended.
    pub(super) fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.write(octets),
            Self::Tls(stream) => stream.write(octets),
        }
    }

    /// Passes to the kernel what was taken.
    ///
    /// # Errors
    /// As [`ClientStream::write`].
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(stream) => stream.flush(),
        }
    }

    /// Returns whether octets were taken that the kernel does not have yet.
    pub(super) fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.has_unsent(),
        }
    }

    /// Reads what has arrived, at most the length of `room`, and less only if the kernel has no more; returns the number of octets, and 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock` if nothing has arrived; otherwise the connection has ended.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.read(room),
            Self::Tls(stream) => stream.read(room),
        }
    }

    /// Returns the TLS session, if there is one.
    pub(super) fn tls(&self) -> Option<&TlsStream> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => Some(stream),
        }
    }
}

/// Returns whether TCP has established the connection.
fn is_connected(tcp: &TcpStream) -> io::Result<bool> {
    if let Some(error) = tcp.take_error()? {
        return Err(error);
    }
    match tcp.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}
