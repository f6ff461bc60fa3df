//! The connections of browsers: a limited number, each with limited memory, and closed when the other end neither asks nor reads. A peer that has not
//! shown the token can only hold up others that have not: their connections have few places and little time, and the oldest makes room for a new one.

use axum::extract::Request;
use axum::{Extension, Router};
use futures_util::future::{pending, select};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::{set_socket_send_buffer_size, set_tcp_user_timeout};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// The limits on what browsers may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// The most connections at once over which somebody has shown the token.
    pub(crate) most: usize,
    /// The most other connections at once.
    pub(crate) most_unknown: usize,
    /// The most of these from one address.
    pub(crate) most_unknown_of_address: usize,
    /// The time after which a connection is closed whose peer has not shown the token.
    pub(crate) unknown: Duration,
    /// The time in which the whole head of a request must arrive, also for later requests on the same connection.
    pub(crate) head: Duration,
    /// The time after which a connection is closed if the other end reads nothing.
    pub(crate) unread: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            // `MOST_WATCHING` of the server says what they are for.
            most: 48,
            most_unknown: 16,
            // Half, so that one address cannot take all places of others.
            most_unknown_of_address: 8,
            unknown: seconds(5),
            head: seconds(10),
            unread: seconds(60),
        }
    }
}

/// The buffer of a connection in the server, and its send buffer in the kernel, octets each. The first one also limits the head of a request.
const BUFFER: usize = 1 << 16;

/// The time until the next attempt when no connection can be accepted, for example because descriptors have run out.
const NOT_ACCEPTED: Duration = Duration::from_secs(1);

/// Accepts and answers connections until the future is dropped.
pub(crate) async fn accept(listener: TcpListener, router: Router, limits: ConnectionLimits) {
    let open = Arc::new(Mutex::new(OpenConnections {
        limits,
        last: 0,
        oldest_first: Vec::new(),
    }));
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                let (connection, closing) = Connection::new(&open, from);
                tokio::spawn(answer(stream, router.clone(), limits, connection, closing));
                // Requests that have arrived are read before further connections can take their places.
                tokio::task::yield_now().await;
            }
            Err(_) => tokio::time::sleep(NOT_ACCEPTED).await,
        }
    }
}

/// Answers the requests of one connection. An error ends it, and affects only its browser.
async fn answer(
    stream: TcpStream,
    router: Router,
    limits: ConnectionLimits,
    connection: Connection,
    closing: oneshot::Receiver<()>,
) {
    // Without these settings the connection still works, but a stalled one is given up later.
    let _ = set_tcp_user_timeout(&stream, limits.unread.as_millis() as u32);
    let _ = set_socket_send_buffer_size(&stream, BUFFER);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(BUFFER);
    let connection = Arc::new(connection);
    let router = router.layer(Extension(connection.clone()));
    let served = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let too_long = async {
        tokio::time::sleep(limits.unknown).await;
        // Over a connection that has shown the token, a page may be watched for as long as the run takes.
        if connection.is_known() {
            pending::<()>().await;
        }
    };
    let (served, too_long) = (pin!(served), pin!(too_long));
    // The other half of `closing` is dropped when the connection has to make room, or has ended.
    select(served, select(too_long, closing)).await;
}

/// The connections that are open.
#[derive(Debug)]
struct OpenConnections {
    limits: ConnectionLimits,
    last: u64,
    oldest_first: Vec<OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    number: u64,
    address: IpAddr,
    is_known: bool,
    /// Closes the connection when it is dropped.
    _close: oneshot::Sender<()>,
}

impl OpenConnections {
    /// Adds a connection whose peer has not shown the token yet; returns its number. If there are too many, it takes the place of the oldest one from its
    /// address, or else from the address that has most of them.
    fn add(&mut self, address: IpAddr, close: oneshot::Sender<()>) -> u64 {
        if self.unknown_of(address) >= self.limits.most_unknown_of_address {
            self.close_oldest_of(address);
        } else if self.unknown().count() >= self.limits.most_unknown {
            let most = self
                .unknown()
                .map(|each| each.address)
                .max_by_key(|each| self.unknown_of(*each));
            self.close_oldest_of(most.unwrap_or(address));
        }
        self.last += 1;
        self.oldest_first.push(OpenConnection {
            number: self.last,
            address,
            is_known: false,
            _close: close,
        });
        self.last
    }

    fn unknown(&self) -> impl Iterator<Item = &OpenConnection> {
        self.oldest_first.iter().filter(|each| !each.is_known)
    }

    fn unknown_of(&self, address: IpAddr) -> usize {
        self.unknown()
            .filter(|each| each.address == address)
            .count()
    }

    fn close_oldest_of(&mut self, address: IpAddr) {
        let oldest = self
            .oldest_first
            .iter()
            .position(|each| !each.is_known && each.address == address);
        oldest.map(|oldest| self.oldest_first.remove(oldest));
    }

    /// Notes that the token was shown over a connection. Returns false if there are too many such connections.
    fn become_known(&mut self, number: u64) -> bool {
        let known = self
            .oldest_first
            .iter()
            .filter(|each| each.is_known)
            .count();
        let Some(connection) = self
            .oldest_first
            .iter_mut()
            .find(|each| each.number == number)
        else {
            return false;
        };
        connection.is_known |= known < self.limits.most;
        connection.is_known
    }
}

/// A connection, of which every request has a reference among its extensions.
#[derive(Debug)]
pub(crate) struct Connection {
    open: Arc<Mutex<OpenConnections>>,
    number: u64,
}

impl Connection {
    /// Returns a new connection, and what completes when it has to make room for another.
    fn new(open: &Arc<Mutex<OpenConnections>>, from: SocketAddr) -> (Self, oneshot::Receiver<()>) {
        let (close, closing) = oneshot::channel();
        let number = locked(open).add(counted_as(from.ip()), close);
        (
            Self {
                open: open.clone(),
                number,
            },
            closing,
        )
    }

    fn is_known(&self) -> bool {
        locked(&self.open)
            .oldest_first
            .iter()
            .any(|each| each.number == self.number && each.is_known)
    }

    /// Notes that a request has shown the token. Returns false if it comes over one connection too many.
    pub(crate) fn showed_token(request: &Request) -> bool {
        request
            .extensions()
            .get::<Arc<Self>>()
            .is_some_and(|connection| locked(&connection.open).become_known(connection.number))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        locked(&self.open)
            .oldest_first
            .retain(|each| each.number != self.number);
    }
}

fn locked(open: &Mutex<OpenConnections>) -> MutexGuard<'_, OpenConnections> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the address by which connections are counted: of IPv6 the first half, since one host may use all addresses of its /64.
fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        IpAddr::V4(address) => IpAddr::V4(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a connection from an address; its receiver tells whether it is closed.
    fn from(open: &mut OpenConnections, address: &str) -> (u64, oneshot::Receiver<()>) {
        let (close, closing) = oneshot::channel();
        (
            open.add(counted_as(address.parse().expect("an address")), close),
            closing,
        )
    }

    fn is_closed(connection: &mut (u64, oneshot::Receiver<()>)) -> bool {
        connection.1.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn one_that_has_shown_no_token_makes_room_and_first_those_of_the_address_with_most() {
        let limits = ConnectionLimits {
            most: 1,
            most_unknown: 3,
            most_unknown_of_address: 2,
            ..ConnectionLimits::default()
        };
        let mut open = OpenConnections {
            limits,
            last: 0,
            oldest_first: Vec::new(),
        };
        let mut known = from(&mut open, "192.0.2.1");
        assert!(open.become_known(known.0));
        let mut other = from(&mut open, "192.0.2.2");
        // All of a /64 are one.
        let mut many: Vec<_> = (1..=2)
            .map(|host| from(&mut open, &format!("2001:db8::{host}")))
            .collect();
        assert!(!is_closed(&mut many[0]) && !is_closed(&mut other));
        many.push(from(&mut open, "2001:db8::3"));
        assert!(is_closed(&mut many[0]) && !is_closed(&mut many[1]));
        let _third = from(&mut open, "192.0.2.3");
        assert!(is_closed(&mut many[1]) && !is_closed(&mut many[2]) && !is_closed(&mut other));
        assert!(
            !is_closed(&mut known),
            "whoever has the token keeps its place"
        );
        assert!(
            !open.become_known(other.0),
            "and there are not too many of these"
        );
        assert!(open.become_known(known.0), "further requests of the same");
    }
}
