//! Internals of this crate for the targets of `fuzz/`. They are not part of the crate's interface, and may change at any time.

use crate::access::check;
use crate::files::kind_of;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

/// Returns whether a request passes the page's access check; `false` also if it is not valid HTTP.
pub fn is_admitted(method: &[u8], uri: &[u8], headers: &[(&str, &[u8])], token: &str) -> bool {
    let (Ok(method), Ok(uri)) = (Method::from_bytes(method), Uri::try_from(uri)) else {
        return false;
    };
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let (Ok(name), Ok(value)) = (HeaderName::try_from(*name), HeaderValue::from_bytes(value))
        else {
            return false;
        };
        map.append(name, value);
    }
    check(&method, &uri, &map, token).is_ok()
}

/// Returns whether a file of this name would be looked for in the results directory.
pub fn is_served(name: &str) -> bool {
    kind_of(name).is_some()
}
