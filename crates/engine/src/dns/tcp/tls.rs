//! DNS over TLS (RFC 7858): a TLS session on each TCP connection of the client. The handshake follows at once when TCP is established, and no query is sent
//! before it is over (section 3.1). Connections that are opened again resume an earlier session, as section 3.4 has it, where the server allows it.

use mio::net::TcpStream;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName, TrustAnchor, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, HandshakeKind, ProtocolVersion,
    RootCertStore, SignatureScheme,
};
use sixbench_method::trial::dns::TlsCounts;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::IpAddr;
use std::sync::Arc;

/// The identity that the client demands of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsProfile {
    /// None: any certificate will do.
    Opportunistic,
    /// That of the certificate of a given authority.
    Strict(ServerIdentity),
}

/// An identity that a certificate proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    authorities: Vec<TrustAnchor<'static>>,
    /// The name in the certificate; `None` for the server's address.
    name: Option<ServerName<'static>>,
}

/// The reason why certificates and a name are no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The text has no certificate.
    #[error("there is no certificate in it, which begins with -----BEGIN CERTIFICATE-----")]
    NoCertificate,
    /// The text cannot be read.
    #[error("it is not PEM: {0}")]
    Pem(#[from] pem::Error),
    /// A certificate cannot be read.
    #[error("a certificate in it cannot be used: {0}")]
    Certificate(#[from] Error),
    /// The name is no domain name.
    #[error("`{name}` is no name that a certificate has: {source}")]
    Name {
        /// The name.
        name: String,
        /// The cause in words.
        source: InvalidDnsNameError,
    },
}

impl ServerIdentity {
    /// Returns the identity that is proven by a certificate for `name`, or for the server's address, of one of the authorities whose certificates the
    /// text has (PEM). A certificate that is among them itself is accepted, too.
    ///
    /// # Errors
    /// The text has no usable certificates, or the name is none.
    pub fn new(authorities: &[u8], name: Option<&str>) -> Result<Self, IdentityError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            roots.add(certificate?)?;
        }
        if roots.is_empty() {
            return Err(IdentityError::NoCertificate);
        }
        Ok(Self {
            authorities: roots.roots,
            name: name.map(server_name).transpose()?,
        })
    }
}

fn server_name(name: &str) -> Result<ServerName<'static>, IdentityError> {
    ServerName::try_from(name.to_owned()).map_err(|source| IdentityError::Name {
        name: name.to_owned(),
        source,
    })
}

/// Makes the sessions of one thread, which resume each other.
pub(super) struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsClient {
    pub(super) fn new(profile: &TlsProfile, server: IpAddr) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let builder = match profile {
            TlsProfile::Opportunistic => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
            TlsProfile::Strict(identity) => builder.with_root_certificates(RootCertStore {
                roots: identity.authorities.clone(),
            }),
        };
        let name = match profile {
            TlsProfile::Opportunistic => None,
            TlsProfile::Strict(identity) => identity.name.clone(),
        };
        Ok(Self {
            config: Arc::new(builder.with_no_client_auth()),
            name: name.unwrap_or_else(|| server.into()),
        })
    }

    /// Returns a connection with a session that begins when TCP is established.
    pub(super) fn stream(&self, tcp: TcpStream) -> io::Result<TlsStream> {
        let session = ClientConnection::new(self.config.clone(), self.name.clone());
        Ok(TlsStream {
            tcp,
            session: session.map_err(io::Error::other)?,
            is_connected: false,
            failure: None,
        })
    }
}

/// A TCP connection with a TLS session.
pub(super) struct TlsStream {
    tcp: TcpStream,
    session: ClientConnection,
    /// True if TCP is established.
    is_connected: bool,
    /// The error that has ended the handshake or the session. No octet is read after it.
    failure: Option<String>,
}

impl TlsStream {
    pub(super) fn socket(&mut self) -> &mut TcpStream {
        &mut self.tcp
    }

    /// Continues the handshake until it is over.
    pub(super) fn shake_hands(&mut self) -> io::Result<()> {
        self.is_connected = true;
        let ended = self.exchange();
        if let Err(error) = &ended
            && error.kind() != ErrorKind::WouldBlock
        {
            self.failure.get_or_insert_with(|| error.to_string());
        }
        ended
    }

    fn exchange(&mut self) -> io::Result<()> {
        self.flush()?;
        while self.session.is_handshaking() {
            if self.receive()? == 0 {
                let told = "the server closed the connection during the handshake";
                return Err(io::Error::new(ErrorKind::UnexpectedEof, told));
            }
            self.flush()?;
        }
        Ok(())
    }

    /// Reads once from the kernel and decrypts the records that are complete. Returns the number of octets read.
    fn receive(&mut self) -> io::Result<usize> {
        if self.failure.is_some() {
            return Err(ErrorKind::InvalidData.into());
        }
        let octets = self.session.read_tls(&mut self.tcp)?;
        if let Err(error) = self.session.process_new_packets() {
            // The alert that tells the server why; nothing depends on its arrival.
            let _ = self.session.write_tls(&mut self.tcp);
            self.failure = Some(error.to_string());
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        Ok(octets)
    }

    /// Encrypts octets, unless the kernel has not taken yet what was encrypted before.
    pub(super) fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.flush()?;
        self.session.writer().write(octets)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            if self.session.write_tls(&mut self.tcp)? == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.session.wants_write()
    }

    /// Reads until `room` is full or the kernel has no more.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < room.len() {
            match self.decrypted(&mut room[taken..]) {
                Ok(0) => break,
                Ok(octets) => taken += octets,
                // The next call has the same error.
                Err(_) if taken > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }

    /// Takes octets that are decrypted; reads as long as there are none.
    fn decrypted(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(room) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.receive()?,
                taken => return taken,
            };
        }
    }

    /// Counts the session, whose handshake is over.
    pub(super) fn count_session(&self, counts: &mut TlsCounts) {
        let suite = format!("{} {}", self.version(), self.suite());
        *counts.suites.entry(suite).or_default() += 1;
        let is_resumed = self.session.handshake_kind() == Some(HandshakeKind::Resumed);
        counts.resumed += u64::from(is_resumed);
    }

    fn version(&self) -> &'static str {
        match self.session.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
            Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
            _ => "TLS",
        }
    }

    /// Returns the name that IANA has for the cipher suite; the library has its own for those of TLS 1.3.
    fn suite(&self) -> String {
        let suite = self.session.negotiated_cipher_suite();
        let name = suite.and_then(|suite| suite.suite().as_str());
        name.unwrap_or("unknown").replacen("TLS13_", "TLS_", 1)
    }

    /// Counts what has failed, when the connection ends.
    pub(super) fn count_failure(&self, counts: &mut TlsCounts) {
        let is_unanswered = self.is_connected && self.session.is_handshaking();
        let error = match &self.failure {
            Some(error) => error.as_str(),
            None if is_unanswered => "the server did not answer the handshake in time",
            None => return,
        };
        if self.session.is_handshaking() {
            counts.handshakes_failed += 1;
        } else {
            counts.broken += 1;
        }
        counts.first_error.get_or_insert_with(|| error.to_owned());
    }
}

impl Drop for TlsStream {
    /// Tells the server that no octets are missing; one whose session has failed knows it.
    fn drop(&mut self) {
        if self.failure.is_none() && !self.session.is_handshaking() {
            self.session.send_close_notify();
            let _ = self.session.write_tls(&mut self.tcp);
        }
    }
}

/// Accepts any certificate, and does not look at it. The library could check whether the server has its key, but not of certificates of X.509 version 1, as
/// BIND makes them for itself.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
