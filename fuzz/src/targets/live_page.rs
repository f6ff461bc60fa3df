//! Requests to the live page. A request that is admitted has the token and was addressed to an IP address; and no file name leads out of the
//! results directory.

use crate::input::Input;
use sixbench_live::fuzzing::{is_admitted, is_served};
use std::path::{Component, Path};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The first octet decides which parts of a request are right; pieces follow: method, address, host, authorization, and the name of a file.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    let how = input.octet();
    let is_given = |bit: u8, right: &str, own: &[u8]| {
        if how & bit == 0 {
            right.as_bytes().to_vec()
        } else {
            own.to_vec()
        }
    };
    let method = is_given(1, "GET", input.piece());
    let mut uri = is_given(2, &format!("/{TOKEN}/report.html?t={TOKEN}"), input.piece());
    let host = is_given(4, "127.0.0.1:8219", input.piece());
    let authorization = is_given(8, "Bearer", input.piece());
    let file = String::from_utf8_lossy(input.piece()).into_owned();
    input.change(&mut uri);
    let headers = [("host", &host[..]), ("authorization", &authorization[..])];
    if is_admitted(&method, &uri, &headers, TOKEN) {
        check(&method, &uri, &host, &authorization);
    }
    check_file(&file);
}

fn check(method: &[u8], uri: &[u8], host: &[u8], authorization: &[u8]) {
    let has_token = |text: &[u8]| {
        text.windows(TOKEN.len())
            .any(|window| window == TOKEN.as_bytes())
    };
    assert!(
        method == b"GET" && (has_token(uri) || has_token(authorization)),
        "admitted without the token"
    );
    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
    let is_address = |c: char| c.is_ascii_hexdigit() || "[]:.".contains(c);
    assert!(
        host.starts_with("localhost")
            || host.trim_start_matches("localhost").chars().all(is_address),
        "by the name {host}"
    );
}

fn check_file(name: &str) {
    if is_served(name) {
        let parts: Vec<_> = Path::new(name).components().collect();
        assert!(
            matches!(parts[..], [Component::Normal(part)] if part == name),
            "out of the directory: {name:?}"
        );
        assert!(!name.starts_with('.'), "a file that is hidden: {name:?}");
    }
}
