//! Sentences on how a relay copes with more and more clients, one for each test at its smallest frame size.

use crate::digest::{ClientSeries, Digest, client_series};
use crate::wording::numbers::{self, percentage, short, short_ms};
use sixbench_method::lists::by_key;
use sixbench_method::measures::Quantity;

pub(crate) fn sentences(digest: &Digest) -> Vec<String> {
    let mut all = client_series(digest);
    all.sort_by_key(|series| series.size);
    let by_test = by_key(all.iter().map(|series| (series.name, series)));
    by_test
        .iter()
        .filter_map(|(_, sizes)| sentence(digest, sizes[0]))
        .collect()
}

/// Returns the sentence on a series: `Linux sit, echo: no frame lost with up to 7 clients, 0.03 % of the frames lost with 10; response time 0.274 ms
/// with 1 client, 1.31 ms with 10; 46.8 k frames/s forwarded at most, at 118 bytes.`
fn sentence(digest: &Digest, series: &ClientSeries) -> Option<String> {
    let times: Vec<_> = series
        .samples(Quantity::ResponseTime)
        .map(|(at, s)| (at, short_ms(s.summary.median)))
        .collect();
    let forwarded = series
        .samples(Quantity::ForwardedFrames)
        .map(|(_, s)| s.summary.median)
        .reduce(f64::max)?;
    let time = match &times[..] {
        [] if is_answered(series) => {
            "no response time, because other work or the tester itself had a part in those that were measured".to_owned()
        }
        [] => "no response at all".to_owned(),
        [(at, time)] => format!("response time {time} with {}", clients(*at)),
        [(first, least), .., (last, most)] => format!("response time {least} with {}, {most} with {last}", clients(*first)),
    };
    Some(format!(
        "{}, {}: {}; {time}; {} frames/s forwarded at most, at {}\u{a0}bytes{}.",
        digest.dut_title(series.test),
        series.name,
        loss(series)?,
        short(forwarded),
        series.size,
        missing(series)
    ))
}

/// Returns whether there were responses, even if their times are not results.
fn is_answered(series: &ClientSeries) -> bool {
    series
        .samples(Quantity::RequestLoss)
        .any(|(_, lost)| lost.summary.min < 100.0)
}

/// Returns the numbers of clients without a result: `; no result with 8, 9 and 10 clients`.
fn missing(series: &ClientSeries) -> String {
    let missing: Vec<u32> = series.missing().map(|step| step.clients).collect();
    match &missing[..] {
        [] => String::new(),
        [one] => format!("; no result with {}", clients(*one)),
        several => format!("; no result with {} clients", numbers::enumerated(several)),
    }
}

/// Returns the largest number of clients without losses, and the loss with the most clients.
fn loss(series: &ClientSeries) -> Option<String> {
    let losses: Vec<(u32, f64)> = series
        .samples(Quantity::RequestLoss)
        .map(|(at, s)| (at, s.summary.median))
        .collect();
    let (most, lost) = *losses.last()?;
    let lossless = losses.iter().take_while(|(_, lost)| *lost == 0.0).last();
    let lost_words = format!("{}\u{a0}% of the frames lost", percentage(lost));
    Some(match lossless {
        Some(_) if losses.len() == 1 => format!("no frame lost with {}", clients(most)),
        Some((up_to, _)) if *up_to == most => format!("no frame lost with up to {}", clients(most)),
        Some((up_to, _)) => format!(
            "no frame lost with up to {}, {lost_words} with {most}",
            clients(*up_to)
        ),
        None => format!("{lost_words} with {}", clients(most)),
    })
}

fn clients(count: u32) -> String {
    crate::wording::numbers::count(count.into(), "client")
}
