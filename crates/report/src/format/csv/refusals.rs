//! `refusals.csv`: why frames were not delivered, as the devices say.

use super::run;
use crate::digest::Digest;
use crate::tables::refusals::of_point;

const COLUMNS: &str = "plan,test,frame_size_octets,direction,frames,offered,missing,device_says,advice";

/// Returns one row for each reason at each point; `None` if no device said anything.
pub(crate) fn refusals_csv(digest: &Digest<'_>) -> Option<String> {
    let plan = &digest.input.plan.name;
    let rows = digest.points.iter().flat_map(|point| {
        of_point(point).into_iter().map(move |refusal| {
            let direction = refusal.direction.map_or_else(String::new, |direction| direction.to_string());
            let [frames, offered, missing] = [refusal.frames, refusal.offered, refusal.missing].map(|count| count.to_string());
            let (test, size) = (point.test.name.clone(), point.point.frame_size.to_string());
            let advice = refusal.advice.unwrap_or_default();
            (String::new(), vec![plan.clone(), test, size, direction, frames, offered, missing, refusal.what, advice])
        })
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| run::file(digest, COLUMNS, rows.into_iter()))
}
