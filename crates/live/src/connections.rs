//! The connections of browsers: so many and no more, each with so much memory and no more, and none whose other end neither asks nor reads. What
//! browsers do can hold up browsers, and nothing else.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::{set_socket_send_buffer_size, set_tcp_user_timeout};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bounds of what browsers may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// The most connections at once. Any further one waits in the kernel's queue.
    pub(crate) most: usize,
    /// The time to send the whole head of a request, also of the next one on the same connection.
    pub(crate) head: Duration,
    /// The time after which a connection is given up whose other end takes nothing.
    pub(crate) unread: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { most: 48, head: Duration::from_secs(10), unread: Duration::from_secs(60) }
    }
}

/// The octets of a connection that wait to be sent: of the server, and again of the kernel. A head of a request is not longer.
const BUFFER: usize = 1 << 16;

/// The time until the next attempt when no connection can be accepted: descriptors may have run out.
const NOT_ACCEPTED: Duration = Duration::from_secs(1);

/// Answers connections, until it is dropped.
pub(crate) async fn accept(listener: TcpListener, router: Router, limits: ConnectionLimits) {
    let places = Arc::new(Semaphore::new(limits.most));
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(answer(stream, router.clone(), limits, place))),
            Err(_) => tokio::time::sleep(NOT_ACCEPTED).await,
        }
    }
}

/// Answers the requests of one connection. An error ends it, and concerns only its browser.
async fn answer(stream: TcpStream, router: Router, limits: ConnectionLimits, _place: OwnedSemaphorePermit) {
    // Without these the connection works, and what is stuck is given up later.
    let _ = set_tcp_user_timeout(&stream, limits.unread.as_millis() as u32);
    let _ = set_socket_send_buffer_size(&stream, BUFFER);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(BUFFER);
    let _ = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
}
