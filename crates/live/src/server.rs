//! The server: one thread that takes events and answers browsers. Each browser gets the newest state when it is ready for it, so one that is slow or
//! reads nothing misses intermediate states, but costs no memory and does not delay the others.

use crate::access;
use crate::connections::{self, Connection, ConnectionLimits};
use crate::feed::{EventQueue, LiveFeed, queue};
use crate::page::{Publisher, Snapshot};
use crate::{LiveRun, files, metrics, page};
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use futures_util::future::{Either, select};
use futures_util::stream::{self, Stream};
use sixbench_io::files::Folder;
use sixbench_io::thread::{become_user, give_up_privileges, give_way};
use sixbench_method::event::Event;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

/// The default address of the page, reachable only from this machine.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8219);

/// The most browsers that can watch at once. Each holds one of the 48 connections (`ConnectionLimits`); the other 16 are for pages that are being fetched
/// and for readers of the metrics.
const MOST_WATCHING: usize = 32;
/// The time that browsers have to fetch the last state, and the extra time that the thread has to end.
const FAREWELL: Duration = Duration::from_secs(2);
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// The answer to a request with the token over one connection too many.
const TOO_MANY: access::Refusal = (
    StatusCode::SERVICE_UNAVAILABLE,
    "Too many connections watch this run; close some pages.\n",
);

/// The reason why no page could be opened.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum LiveError {
    /// Another program listens at the address.
    #[error("there is no live page: another program uses {0}")]
    InUse(SocketAddr),
    /// The server cannot listen at the address.
    #[error("there is no live page at {address}: {error}")]
    NotBound {
        address: SocketAddr,
        error: io::Error,
    },
}

/// A page that exists as long as this value does. When it is dropped, browsers get the last state first.
pub struct LivePage {
    url: String,
    feed: LiveFeed,
    closing: Option<oneshot::Sender<()>>,
    closed: mpsc::Receiver<()>,
}

impl LivePage {
    /// Starts to serve the page.
    ///
    /// # Errors
    /// The server cannot listen at the address.
    pub fn open(address: SocketAddr, run: LiveRun) -> Result<Self, LiveError> {
        Self::open_with(address, run, ConnectionLimits::default())
    }

    pub(crate) fn open_with(
        address: SocketAddr,
        run: LiveRun,
        limits: ConnectionLimits,
    ) -> Result<Self, LiveError> {
        let not_bound = |error: io::Error| match error.kind() {
            io::ErrorKind::AddrInUse => LiveError::InUse(address),
            _ => LiveError::NotBound { address, error },
        };
        let listener = TcpListener::bind(address).map_err(not_bound)?;
        // The runtime takes over only sockets that never block.
        listener.set_nonblocking(true).map_err(not_bound)?;
        let url = url(listener.local_addr().map_err(not_bound)?, &run.token);
        let (feed, events) = queue();
        let (closing, is_closing) = oneshot::channel();
        let (done, closed) = mpsc::channel();
        let serving = move || {
            // If the kernel refuses this, the thread runs with ordinary priority.
            let _ = give_way(&run.cores);
            as_owner_of(&run.directory);
            serve(listener, run, limits, events, is_closing);
            let _ = done.send(());
        };
        thread::Builder::new()
            .name("live".to_owned())
            .spawn(serving)
            .map_err(not_bound)?;
        Ok(Self {
            url,
            feed,
            closing: Some(closing),
            closed,
        })
    }

    /// Returns the address of the page, with its token.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the queue through which events reach the page.
    pub fn feed(&self) -> LiveFeed {
        self.feed.clone()
    }
}

impl Drop for LivePage {
    fn drop(&mut self) {
        let told = self
            .closing
            .take()
            .is_some_and(|closing| closing.send(()).is_ok());
        // The thread waits for browsers first, and may then have to wait for an idle core, so each gets this time, and the run waits no longer.
        if told {
            let _ = self.closed.recv_timeout(FAREWELL + FAREWELL);
        }
    }
}

/// Makes the calling thread, which answers every peer that can reach it, one of the user whose results are shown, without any privilege.
fn as_owner_of(directory: &Folder) {
    let owner = directory
        .metadata()
        .map(|found| (found.st_uid, found.st_gid));
    // Without root the user cannot be changed, and has no rights that the thread should not have; only its privileges are given up.
    let _ = owner
        .and_then(|(user, group)| become_user(user, group))
        .or_else(|_| give_up_privileges());
}

/// Returns an address that a browser on this machine can open.
fn url(bound: SocketAddr, token: &str) -> String {
    let ip = match bound.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}/{token}/", SocketAddr::new(ip, bound.port()))
}

/// The parts of the server that all handlers share.
struct ServedRun {
    token: String,
    directory: Folder,
    page: page::LiveHtml,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    /// A permit for each browser that may watch.
    watching: Arc<Semaphore>,
}

fn serve(
    listener: TcpListener,
    run: LiveRun,
    limits: ConnectionLimits,
    events: EventQueue,
    closing: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    // Without a runtime there is no page, and browsers see their connections closed.
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
            return;
        };
        let (token, directory, page) = (
            run.token.clone(),
            run.directory.clone(),
            page::LiveHtml::new(&run.token),
        );
        let (publisher, snapshots) = Publisher::new(run);
        let shared = Arc::new(ServedRun {
            token,
            directory,
            page,
            snapshots,
            watching: Arc::new(Semaphore::new(MOST_WATCHING)),
        });
        tokio::spawn(connections::accept(listener, router(shared), limits));
        show(publisher, events, closing).await;
    });
}

/// Takes events and publishes the state after them, until the run closes the page.
async fn show(mut publisher: Publisher, mut queue: EventQueue, mut closing: oneshot::Receiver<()>) {
    while let Some(event) = next_event(&mut queue, &mut closing).await {
        publisher.note(event);
        take_in_the_rest(&mut publisher, &mut queue);
        publisher.publish(queue.dropped(), false);
    }
    take_in_the_rest(&mut publisher, &mut queue);
    publisher.publish(queue.dropped(), true);
    let end = Instant::now() + FAREWELL;
    while publisher.is_watched() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // When the streams have ended, the last octets may still be on their way to the sockets.
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Returns the next event; `None` once the run has closed the page.
async fn next_event(queue: &mut EventQueue, closing: &mut oneshot::Receiver<()>) -> Option<Event> {
    match select(pin!(queue.events.recv()), closing).await {
        Either::Left((event, _)) => event,
        Either::Right(_) => None,
    }
}

fn take_in_the_rest(publisher: &mut Publisher, queue: &mut EventQueue) {
    while let Ok(event) = queue.events.try_recv() {
        publisher.note(event);
    }
}

fn router(shared: Arc<ServedRun>) -> Router {
    Router::new()
        // For programs, which show the token in the query or in a header.
        .route("/metrics", get(metrics))
        .route("/{token}", get(|Path(token): Path<String>| async move { Redirect::temporary(&format!("/{token}/")) }))
        .route("/{token}/", get(page))
        .route("/{token}/events", get(events))
        .route("/{token}/metrics", get(metrics))
        .route("/{token}/{file}", get(file))
        .fallback(|| async { (StatusCode::NOT_FOUND, "There is no such page.\n") })
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// Answers only permitted requests, and keeps the answers out of caches and other pages, and the token out of `Referer` headers. The connection of a
/// request that is refused is closed, so that it takes no place.
async fn guard(State(shared): State<Arc<ServedRun>>, request: Request, next: Next) -> Response {
    let permitted = access::check(
        request.method(),
        request.uri(),
        request.headers(),
        &shared.token,
    );
    let permitted = permitted.and_then(|()| {
        if Connection::showed_token(&request) {
            Ok(())
        } else {
            Err(TOO_MANY)
        }
    });
    let mut response = match permitted {
        Ok(()) => next.run(request).await,
        Err(refusal) => ([(header::CONNECTION, "close")], refusal).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

async fn page(State(shared): State<Arc<ServedRun>>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, &shared.page.policy),
    ];
    (headers, shared.page.html.clone()).into_response()
}

async fn metrics(State(shared): State<Arc<ServedRun>>) -> Response {
    let snapshot = shared.snapshots.borrow().clone();
    (
        [(header::CONTENT_TYPE, metrics::MEDIA_TYPE)],
        metrics::text(&snapshot.state, &snapshot.results),
    )
        .into_response()
}

async fn file(
    State(shared): State<Arc<ServedRun>>,
    Path((_, name)): Path<(String, String)>,
) -> Response {
    files::answer(&shared.directory, &name)
}

async fn events(State(shared): State<Arc<ServedRun>>) -> Response {
    let Ok(permit) = shared.watching.clone().try_acquire_owned() else {
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many browsers watch this run; close some.\n",
        )
            .into_response();
    };
    let mut snapshots = shared.snapshots.clone();
    // A new browser gets the present state at once, and not only after the next event.
    snapshots.mark_changed();
    let browser = Browser {
        snapshots,
        answer: None,
        pending: VecDeque::new(),
        has_ended: false,
        _permit: permit,
    };
    Sse::new(messages(browser))
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response()
}

/// A browser, and what has been sent to it.
struct Browser {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    answer: Option<u64>,
    pending: VecDeque<Message>,
    has_ended: bool,
    /// Returned when the browser is gone.
    _permit: OwnedSemaphorePermit,
}

fn messages(browser: Browser) -> impl Stream<Item = Result<Message, Infallible>> {
    stream::unfold(browser, |mut browser| async move {
        Some((Ok(browser.next().await?), browser))
    })
}

impl Browser {
    /// Returns the next message; `None` at the end.
    async fn next(&mut self) -> Option<Message> {
        if self.pending.is_empty() && !self.has_ended {
            self.snapshots.changed().await.ok()?;
            let snapshot = self.snapshots.borrow_and_update().clone();
            if self.answer != Some(snapshot.answer.number) {
                self.answer = Some(snapshot.answer.number);
                self.pending.push_back(
                    Message::default()
                        .event("answer")
                        .data(&snapshot.answer.html),
                );
            }
            self.pending
                .push_back(Message::default().event("state").data(&snapshot.json));
            self.has_ended = snapshot.state.is_last;
        }
        self.pending.pop_front()
    }
}
