//! The connections of browsers: a limited number, each with limited memory, and closed when the other end neither asks nor reads. A browser can only
//! hold up other browsers.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::{set_socket_send_buffer_size, set_tcp_user_timeout};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits on what browsers may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// The most connections at once. Further ones wait in the kernel's queue.
    pub(crate) most: usize,
    /// The time in which the whole head of a request must arrive, also for later requests on the same connection.
    pub(crate) head: Duration,
    /// The time after which a connection is closed if the other end reads nothing.
    pub(crate) unread: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { most: 48, head: Duration::from_secs(10), unread: Duration::from_secs(60) }
    }
}

/// The send buffer of a connection in the server, and again in the kernel, octets. The head of a request must not be longer.
const BUFFER: usize = 1 << 16;

/// The time until the next attempt when no connection can be accepted, for example because descriptors have run out.
const NOT_ACCEPTED: Duration = Duration::from_secs(1);

/// Accepts and answers connections until the future is dropped.
pub(crate) async fn accept(listener: TcpListener, router: Router, limits: ConnectionLimits) {
    let places = Arc::new(Semaphore::new(limits.most));
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(answer(stream, router.clone(), limits, place))),
            Err(_) => tokio::time::sleep(NOT_ACCEPTED).await,
        }
    }
}

/// Answers the requests of one connection. An error ends it, and affects only its browser.
async fn answer(stream: TcpStream, router: Router, limits: ConnectionLimits, _place: OwnedSemaphorePermit) {
    // Without these settings the connection still works, but a stalled one is given up later.
    let _ = set_tcp_user_timeout(&stream, limits.unread.as_millis() as u32);
    let _ = set_socket_send_buffer_size(&stream, BUFFER);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(BUFFER);
    let _ = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
}
