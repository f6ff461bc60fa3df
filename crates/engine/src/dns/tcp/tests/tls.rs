//! TLS sessions with a server of the test, which uses the same library, and with what is no TLS server. `server.pem` has a key of these tests alone, and
//! its certificate for `sixbench.test`, `::1` and `127.0.0.1`; `other.pem` has another certificate.

use super::*;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion,
};
use socket2::SockRef;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

const SERVER: &[u8] = include_bytes!("server.pem");
const OTHER: &[u8] = include_bytes!("other.pem");

type TlsSession = StreamOwned<ServerConnection, Plain>;

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(SERVER).expect("a certificate")
}

/// Returns the settings of a server; one that asks for a certificate of the client gets none.
fn config(version: &'static SupportedProtocolVersion, asks_client: bool) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[version])
        .expect("a version");
    let mut roots = RootCertStore::empty();
    roots.add(certificate()).expect("an authority");
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = if asks_client {
        builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_slice(SERVER).expect("a key");
    let config = builder.with_single_cert(vec![certificate()], key);
    Arc::new(config.expect("settings"))
}

/// Accepts connections on a thread, one after the other, and does a piece of work on each.
fn serve<const N: usize>(
    config: Arc<ServerConfig>,
    work: [fn(&mut TlsSession); N],
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("[::1]:0").expect("a server");
    let address = listener.local_addr().expect("an address");
    let thread = thread::spawn(move || {
        for work in work {
            let session = ServerConnection::new(config.clone()).expect("a session");
            work(&mut StreamOwned::new(session, accept(&listener)));
        }
    });
    (address, thread)
}

/// Answers ten queries, the last one first, and closes the session properly.
fn answer_ten(session: &mut TlsSession) {
    let mut all = responses(session, 10);
    all.reverse();
    session.write_all(&all.concat()).expect("written");
    session.conn.send_close_notify();
    session.flush().expect("closed");
}

fn client(server: SocketAddr, profile: TlsProfile, connections: u16) -> QueryConnections {
    client_with_patience(server, profile, connections, PATIENCE_NS)
}

fn client_with_patience(
    server: SocketAddr,
    profile: TlsProfile,
    connections: u16,
    patience_ns: u64,
) -> QueryConnections {
    let settings = QueryConnectionSettings {
        connections,
        outstanding: 32_768,
        tls: Some(profile),
    };
    let mut client =
        QueryConnections::new(None, server, &settings, patience_ns, 1).expect("connections");
    client.establish(&Clock::new()).expect("attempts");
    client
}

fn tls(client: &QueryConnections) -> TlsCounts {
    client.counts().tls.expect("TLS")
}

#[test]
fn queries_over_both_versions_are_answered_in_any_order() {
    for (version, name) in [(&TLS12, "TLS 1.2 TLS_ECDHE_"), (&TLS13, "TLS 1.3 TLS_")] {
        let (server, thread) = serve(config(version, false), [answer_ten]);
        let mut client = client(server, TlsProfile::Opportunistic, 1);
        assert_eq!(client.counts().opened, 1, "before any query is sent");
        send(&mut client, 0, 10);
        let got = receive(&mut client, |all, _| all.len() == 10);
        assert_eq!(got, (0..10).rev().map(Some).collect::<Vec<_>>());
        thread.join().expect("no panic");
        let counts = tls(&client);
        assert!(counts.suite_list().starts_with(name), "{counts:?}");
        assert_eq!((counts.is_verified, counts.first_error), (false, None));
    }
}

#[test]
fn a_session_that_the_server_closes_is_resumed_on_the_next_connection() {
    for version in [&TLS12, &TLS13] {
        let (server, thread) = serve(config(version, false), [answer_ten, answer_ten]);
        let mut client = client(server, TlsProfile::Opportunistic, 1);
        send(&mut client, 0, 10);
        receive(&mut client, |_, client| client.counts().opened == 2);
        send(&mut client, 10, 10);
        let got = receive(&mut client, |all, _| all.len() == 10);
        assert!(got.contains(&Some(10)), "{got:?}");
        thread.join().expect("no panic");
        let counts = client.counts();
        assert!(counts.closed >= 1 && counts.interrupted == 0, "{counts:?}");
        assert_eq!((tls(&client).resumed, tls(&client).broken), (1, 0));
    }
}

#[test]
fn what_the_kernel_does_not_take_at_once_is_sent_later() {
    const QUERIES: usize = 10_000;
    fn answer_all(session: &mut TlsSession) {
        for _ in 0..QUERIES {
            let response = responses(session, 1).concat();
            session.write_all(&response).expect("written");
        }
        session.conn.send_close_notify();
        session.flush().expect("closed");
    }
    let (server, thread) = serve(config(&TLS13, false), [answer_all]);
    let mut client = client(server, TlsProfile::Opportunistic, 1);
    let stream = client.connections[0].stream.as_mut().expect("a stream");
    let socket = SockRef::from(&*stream.socket());
    socket.set_send_buffer_size(4096).expect("a small buffer");
    send(&mut client, 0, QUERIES);
    assert!(client.connections[0].is_blocked());
    let got = receive(&mut client, |all, _| all.len() == QUERIES);
    assert!(got.into_iter().eq((0..QUERIES as u32).map(Some)));
    thread.join().expect("no panic");
}

#[test]
fn octets_that_are_no_tls_end_a_session_and_are_counted() {
    fn break_off(session: &mut TlsSession) {
        responses(session, 2);
        session.sock.write_all(&[0x42; 64]).expect("written");
        // Ends when the client has closed the connection.
        let _ = session.sock.read_to_end(&mut Vec::new());
    }
    let (server, thread) = serve(config(&TLS13, false), [break_off]);
    let mut client = client(server, TlsProfile::Opportunistic, 1);
    send(&mut client, 0, 2);
    receive(&mut client, |_, client| client.counts().closed == 1);
    thread.join().expect("no panic");
    let counts = client.counts();
    assert_eq!((counts.closed, counts.interrupted), (1, 2));
    let tls = tls(&client);
    assert_eq!((tls.broken, tls.handshakes_failed), (1, 0));
    let error = tls.first_error.expect("an error");
    assert!(error.contains("corrupt message"), "{error}");
}

#[test]
fn an_alert_of_the_server_is_told() {
    fn refuse(session: &mut TlsSession) {
        let error = session.read(&mut [0; 1]).expect_err("no certificate");
        assert!(error.to_string().contains("no certificates"), "{error}");
    }
    // By TLS 1.3 the client's side of the handshake is over before the server looks for the client's certificate.
    for (version, handshakes_failed) in [(&TLS12, 1), (&TLS13, 0)] {
        let (server, thread) = serve(config(version, true), [refuse]);
        let mut client = client(server, TlsProfile::Opportunistic, 1);
        receive(&mut client, |_, client| tls(client).first_error.is_some());
        thread.join().expect("no panic");
        let counts = tls(&client);
        let told = (counts.handshakes_failed, counts.broken);
        assert_eq!(told, (handshakes_failed, 1 - handshakes_failed));
        let error = counts.first_error.expect("an error");
        assert!(error.contains("received fatal alert"), "{error}");
    }
}

#[test]
fn what_is_no_tls_server_fails_in_the_handshake_and_is_told() {
    let told = [
        (Some("HTTP/1.1 400 Bad Request\r\n\r\n"), "corrupt message"),
        (Some(""), "closed the connection during the handshake"),
        (None, "did not answer the handshake in time"),
    ];
    for (said, told) in told {
        let server = TcpListener::bind("[::1]:0").expect("a server");
        let address = server.local_addr().expect("an address");
        let thread = thread::spawn(move || {
            let mut stream = accept(&server);
            // The hello of the client, so that closing does not reset the connection.
            let _ = stream.read(&mut [0; 4096]);
            if let Some(said) = said {
                stream.write_all(said.as_bytes()).expect("written");
            } else {
                let _ = stream.read_to_end(&mut Vec::new());
            }
        });
        let patience_ns = if said.is_some() {
            PATIENCE_NS
        } else {
            300_000_000
        };
        let profile = TlsProfile::Opportunistic;
        let mut client = client_with_patience(address, profile, 1, patience_ns);
        receive(&mut client, |_, client| tls(client).handshakes_failed > 0);
        assert_eq!(client.counts().opened, 0);
        let error = tls(&client).first_error.expect("an error");
        assert!(error.contains(told), "{error}");
        drop(client);
        thread.join().expect("no panic");
    }
}

#[test]
fn a_server_must_have_the_certificate_that_is_expected() {
    fn shake_hands(session: &mut TlsSession) {
        let _ = session.read(&mut [0; 1]);
    }
    let cases = [
        (SERVER, None, None),
        (SERVER, Some("sixbench.test"), None),
        (SERVER, Some("other.test"), Some("not valid for name")),
        (OTHER, None, Some("UnknownIssuer")),
    ];
    for (authority, name, told) in cases {
        let (server, thread) = serve(config(&TLS13, false), [shake_hands]);
        let identity = ServerIdentity::new(authority, name).expect("an identity");
        let mut client = client(server, TlsProfile::Strict(identity), 1);
        receive(&mut client, |_, client| {
            client.counts().opened + client.counts().refused > 0
        });
        let counts = tls(&client);
        assert!(counts.is_verified);
        assert_eq!(counts.handshakes_failed, u64::from(told.is_some()));
        let error = counts.first_error.unwrap_or_default();
        assert!(error.contains(told.unwrap_or_default()), "{error}");
        drop(client);
        thread.join().expect("no panic");
    }
}

#[test]
fn what_is_no_identity_is_told() {
    let told = |authorities: &[u8], name| {
        let error = ServerIdentity::new(authorities, name).expect_err("no identity");
        error.to_string()
    };
    assert!(told(b"nothing", None).contains("there is no certificate in it"));
    let cut = b"-----BEGIN CERTIFICATE-----\nMIIB\n";
    assert!(told(cut, None).contains("it is not PEM"));
    let other = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    assert!(told(other, None).contains("cannot be used"));
    assert!(told(SERVER, Some("a b")).contains("`a b` is no name"));
}
