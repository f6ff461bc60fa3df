//! The result of a run in sentences. They say no more than the numbers do: "at least" where the plan ended the search, "limited
//! by the tester" where it fell short, "no difference shown" where ranges overlap.

mod clients;
mod connections;
mod queries;
mod ranking;
mod series;
mod throughput;
mod values;

pub(crate) use values::sentence as of_point;

use crate::digest::Digest;

/// The verdict, one sentence each, the most important first.
pub(crate) fn sentences(digest: &Digest) -> Vec<String> {
    let mut sentences = rates(digest);
    sentences.extend(values::sentences(digest));
    if sentences.is_empty() {
        return std::iter::once(nothing(digest)).chain(throughput::unmeasured(digest)).collect();
    }
    sentences.extend(reservations(digest));
    sentences
}

/// What must be said of the results: which are missing, and which say little.
pub(crate) fn reservations(digest: &Digest) -> Vec<String> {
    throughput::unmeasured(digest).into_iter().chain(caution(digest)).chain(progress(digest)).collect()
}

/// The sentences that compare rates and numbers of connections; the other measures speak for themselves.
pub(crate) fn rates(digest: &Digest) -> Vec<String> {
    let rates =
        throughput::sentences(digest).into_iter().chain(connections::sentences(digest)).chain(queries::sentences(digest));
    rates.chain(clients::sentences(digest)).chain(series::sentences(digest)).collect()
}

fn nothing(digest: &Digest) -> String {
    let trials = crate::words::count(digest.input.records.len() as u64, "trial");
    match digest.input.interrupted {
        true => format!("The run was interrupted before its first result; {trials} recorded."),
        false => format!("There is no result; {trials} recorded."),
    }
}

/// One repetition shows no spread, and without it a small difference means nothing.
fn caution(digest: &Digest) -> Option<String> {
    let throughputs = digest.points.iter().filter_map(|p| p.headline());
    let values = digest.points.iter().flat_map(|p| &p.samples).map(|s| &s.summary);
    let single = throughputs.chain(values).any(|s| s.n == 1);
    single.then(|| "Where n = 1 nothing is known of the spread: small differences mean nothing.".to_owned())
}

fn progress(digest: &Digest) -> Option<String> {
    let (done, planned) = (digest.input.outcomes.len() as u32, digest.planned());
    let cause = if digest.input.interrupted { "The run was interrupted" } else { "The run is incomplete" };
    (done < planned).then(|| format!("{cause}: {done} of {planned} measurements were completed."))
}
