//! The files of the report, sent in pieces: a long file is never in memory as a whole, no matter how many browsers fetch it.

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use sixbench_io::files::Folder;
use std::fs::File;
use std::io::{self, Read as _};

/// The files that may be fetched, by the ends of their names, with their media types.
const KINDS: [(&str, &str); 6] = [
    (".html", "text/html; charset=utf-8"),
    (".csv", "text/csv; charset=utf-8"),
    (".json", "application/json"),
    (".tex", "text/plain; charset=utf-8"),
    (".md", "text/plain; charset=utf-8"),
    (".svg", "image/svg+xml"),
];

/// The size of a piece, octets.
const PIECE: usize = 1 << 15;

/// Answers with a file of the report; it holds no script, and none would be run.
pub(crate) fn answer(directory: &Folder, name: &str) -> Response {
    let opened = kind_of(name).and_then(|kind| Some((kind, directory.read(name).ok()?)));
    let Some((kind, file)) = opened else {
        return (
            StatusCode::NOT_FOUND,
            "There is no such file; the report is written when a device is done.\n",
        )
            .into_response();
    };
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:";
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, Body::from_stream(pieces(file))).into_response()
}

/// Returns the media type of a file of the report; `None` for any other file, and for what is not the name of a file.
pub(crate) fn kind_of(name: &str) -> Option<&'static str> {
    let is_name = !name.starts_with('.') && !name.contains(['/', '\0']);
    KINDS
        .iter()
        .find(|(end, _)| is_name && name.ends_with(end))
        .map(|(_, kind)| *kind)
}

/// Returns what is in a file. Its text stays that of one moment: a report that is written again is another file of the same name.
fn pieces(file: File) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(Some(file), |file| async move {
        let mut file = file?;
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece) {
            Ok(0) => None,
            Ok(read) => {
                piece.truncate(read);
                Some((Ok(Bytes::from(piece)), Some(file)))
            }
            Err(error) => Some((Err(error), None)),
        }
    })
}
