//! Back-to-back frames: table 1 of RFC 9004 section 7.

use super::AT_LEAST;
use crate::digest::{Digest, PointDigest, PointSample};
use crate::layout::table::Table;
use crate::wording::numbers::{grouped, three_digits, title};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{BackToBack, Measure};
use sixbench_method::throughput::shared;

/// Returns a row for each test and frame size. Both directions burst at once, and a loss in either ends the burst of both, so they share a row.
pub(crate) fn table(digest: &Digest) -> Table {
    let columns = "Test; #Size; #Burst (frames)|Average; #Burst (frames)|Min; #Burst (frames)|Max; #Burst (frames)|StdDev; \
        #N; #Buffer time (s)|Implied; #Buffer time (s)|Corrected; #Rate in the burst; #Throughput; #Step (frames); \
        #Longest (frames)"
        .split("; ");
    let rows = digest.points.iter().filter_map(|p| row(digest, p));
    let maximum = match digest.input.plan.link_rate {
        Some(_) => "Maximum rate: the theoretical one of the medium.",
        None => "Maximum rate: the rate within the burst, since the rate of the medium is not known.",
    };
    let is_open = digest.points.iter().filter_map(|p| burst(p)).any(|s| s.at_least > 0);
    Table::new("Back-to-back frames (RFC 9004 section 7)", columns).with_rows(rows).with_note(
        "Implied: average burst over the maximum rate. Corrected: implied - implied * throughput / maximum rate (section 6.4). \
         Throughput: median of the searches with the same device, traffic, directions and size; if the run has none, the time \
         cannot be corrected. Rates: frames/s per direction.",
    )
    .with_note(maximum)
    .with_note_if(is_open, AT_LEAST)
}

fn burst<'p>(point: &'p PointDigest) -> Option<&'p PointSample> {
    point.worst(Quantity::BackToBackFrames)
}

fn row(digest: &Digest, point: &PointDigest) -> Option<Vec<String>> {
    let Measure::BackToBack(settings) = &point.test.measure else { return None };
    let sample = burst(point)?;
    let maximum = point.test.theoretical(digest.input.plan, point.point.frame_size).unwrap_or(sample.load).0 as f64;
    let throughput = shared(digest.input.plan, &point.point, digest.input.outcomes).map(|source| source.throughput.0 as f64);
    let implied = sample.mean / maximum;
    let frames = |v: f64| grouped(v.round());
    let mut row =
        vec![title(point.test), point.point.frame_size.to_string(), format!("{}{}", sample.sign(), frames(sample.mean))];
    row.extend([sample.summary.min, sample.summary.max].map(grouped));
    row.push(sample.deviation.map_or("–".to_owned(), three_digits));
    row.push(sample.summary.n.to_string());
    row.push(seconds(implied));
    row.push(throughput.map_or("not corrected".to_owned(), |rate| seconds(corrected(implied, rate, maximum))));
    row.push(frames(sample.load.0 as f64));
    row.push(throughput.map_or("not measured".to_owned(), frames));
    row.extend(limits(settings, sample).map(|v| grouped(v as f64)));
    Some(row)
}

/// Returns the corrected buffer time (RFC 9004 section 6.4): what the DUT forwarded meanwhile needed no buffer.
fn corrected(implied: f64, throughput: f64, maximum: f64) -> f64 {
    implied - implied * throughput / maximum
}

/// Returns the step of the search and the longest burst that it could use, frames.
fn limits(settings: &BackToBack, sample: &PointSample) -> [u64; 2] {
    [settings.step_frames.max(1), sample.load.frames_in(settings.longest_ns).max(1)]
}

fn seconds(value: f64) -> String {
    format!("{value:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_26_000_frames_corrected_for_what_was_forwarded() {
        let implied = 26_000.0 / 14_880_952.0;
        assert_eq!(seconds(implied), "0.001747");
        assert_eq!(seconds(corrected(implied, 14_540_000.0, 14_880_952.0)), "0.000040");
    }

    #[test]
    fn a_dut_at_the_rate_of_the_medium_needs_no_buffer() {
        assert_eq!(corrected(0.002, 1000.0, 1000.0), 0.0);
    }
}
