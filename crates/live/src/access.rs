//! Access to the page: only for requests that have its token and name the server by an address, not by a host name. Nothing can be changed.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use std::net::{IpAddr, Ipv6Addr};

/// A refusal: status and message.
pub(crate) type Refusal = (StatusCode, &'static str);

/// Checks whether a request may be answered.
///
/// # Errors
/// The request is refused.
pub(crate) fn check(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    token: &str,
) -> Result<(), Refusal> {
    if method != Method::GET {
        return Err((
            StatusCode::METHOD_NOT_ALLOWED,
            "This page can only be read (GET).\n",
        ));
    }
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or("");
    if !is_address(host) {
        let text = "This page is opened by an address, such as 127.0.0.1 or localhost, and not by another name.\n";
        return Err((StatusCode::FORBIDDEN, text));
    }
    if !has_token(uri, headers, token) {
        return Err((
            StatusCode::FORBIDDEN,
            "The token is missing or wrong: open the whole address that sixbench printed.\n",
        ));
    }
    Ok(())
}

/// Returns whether the host of a request is an address. A host name could be one that another site points at this machine in order to read the page
/// (DNS rebinding).
fn is_address(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((before, port))
            // What follows the last colon of an IPv6 address without brackets, such as ::1, is no port.
            if port.bytes().all(|octet| octet.is_ascii_digit()) && !before.ends_with(':') =>
        {
            before
        }
        _ => host,
    };
    match without_port.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => {
            without_port.eq_ignore_ascii_case("localhost") || without_port.parse::<IpAddr>().is_ok()
        }
    }
}

/// Returns whether the request has the token: as the first part of its path, or for programs as `?t=` or `Authorization: Bearer`.
fn has_token(uri: &Uri, headers: &HeaderMap, token: &str) -> bool {
    let in_path = uri.path().split('/').nth(1);
    let in_query = uri
        .query()
        .into_iter()
        .flat_map(|query| query.split('&'))
        .find_map(|pair| pair.strip_prefix("t="));
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    [in_path, in_query, bearer]
        .into_iter()
        .flatten()
        .any(|given| is_same(given, token))
}

/// Compares in a time that does not depend on how many octets match.
fn is_same(given: &str, token: &str) -> bool {
    given.len() == token.len()
        && given
            .bytes()
            .zip(token.bytes())
            .fold(0, |different, (a, b)| different | (a ^ b))
            == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn status(method: Method, uri: &str, headers: &[(header::HeaderName, &str)]) -> Option<u16> {
        let uri: Uri = uri.parse().expect("a path");
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            drop(map.insert(name.clone(), value.parse().expect("a value")));
        }
        check(&method, &uri, &map, TOKEN)
            .err()
            .map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_who_has_the_token_may_read() {
        let here = (header::HOST, "127.0.0.1:8219");
        let get = |uri: &str| status(Method::GET, uri, std::slice::from_ref(&here));
        assert_eq!(get(&format!("/{TOKEN}/")), None);
        assert_eq!(get(&format!("/metrics?x=1&t={TOKEN}")), None);
        assert_eq!(get("/"), Some(403));
        assert_eq!(get(&format!("/{}/", &TOKEN[1..])), Some(403));
        assert_eq!(get("/metrics?t="), Some(403));
        let bearer = format!("Bearer {TOKEN}");
        assert_eq!(
            status(
                Method::GET,
                "/metrics",
                &[here.clone(), (header::AUTHORIZATION, &bearer)]
            ),
            None
        );
        assert_eq!(
            status(Method::POST, &format!("/{TOKEN}/"), &[here]),
            Some(405)
        );
    }

    #[test]
    fn names_are_refused_since_another_site_may_own_them() {
        let by = |host: &str| status(Method::GET, &format!("/{TOKEN}/"), &[(header::HOST, host)]);
        for address in [
            "127.0.0.1:8219",
            "127.0.0.1",
            "localhost:8219",
            "[::1]:8219",
            "[2001:db8::1]",
        ] {
            assert_eq!(by(address), None, "{address}");
        }
        for name in [
            "evil.example:8219",
            "evil.example",
            "localhost.evil.example",
            "",
            "127.0.0.1.evil.example",
            "[localhost]",
            "[[::1]]:8219",
        ] {
            assert_eq!(by(name), Some(403), "{name}");
        }
        assert_eq!(
            status(Method::GET, &format!("/{TOKEN}/"), &[]),
            Some(403),
            "no host at all"
        );
    }
}
