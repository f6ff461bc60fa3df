//! Waits until the cores that a trial needs are free of other work.

use crate::error::RunError;
use crate::stop;
use jiff::{Timestamp, Unit};
use sixbench_method::patience::Patience;
use sixbench_method::record::Disturber;
use sixbench_testbed::monitor::Occupant;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The minimum time between two sentences about a wait. On a machine with short-lived programs, there would otherwise be one for each look.
const BETWEEN_SENTENCES: Duration = Duration::from_secs(10);

/// Waits until `look` finds no occupant, for as long as there is patience with the point. Returns the occupants that it waited for, each once.
/// `tell` receives a sentence about the first one and later about any new one. `now` is the time in the run, which does not step with the system's clock.
///
/// # Errors
/// A stop was requested.
pub fn wait_until_quiet(
    patience: &mut Patience,
    stop: &AtomicBool,
    now: impl Fn() -> Timestamp,
    mut look: impl FnMut() -> Option<Occupant>,
    mut tell: impl FnMut(String),
) -> Result<Vec<Disturber>, RunError> {
    let mut found = Vec::new();
    let mut told: Option<(Occupant, Instant)> = None;
    loop {
        let begun = Instant::now();
        let occupant = look();
        let took = begun.elapsed();
        patience.spend(took.as_nanos() as u64);
        stop::rest(stop, Duration::ZERO)?;
        let Some(occupant) = occupant else {
            return Ok(found);
        };
        Disturber::add(&mut found, vec![disturber(&occupant, now(), took)]);
        if patience.left_ns() == 0 {
            return Ok(found);
        }
        let is_news = |(before, at): &(Occupant, Instant)| {
            !before.is_still(&occupant) && at.elapsed() >= BETWEEN_SENTENCES
        };
        if told.as_ref().is_none_or(is_news) {
            tell(format!(
                "disturbed: {occupant}; waiting for up to {} s",
                patience.left_ns().div_ceil(1_000_000_000)
            ));
            told = Some((occupant, Instant::now()));
        }
    }
}

fn disturber(occupant: &Occupant, now: Timestamp, took: Duration) -> Disturber {
    let now = now
        .round(Unit::Second)
        .map_or_else(|_| String::new(), |now| now.to_string());
    Disturber {
        who: occupant.who(),
        cores: vec![occupant.place()],
        first: now.clone(),
        last: now,
        waited_ms: took.as_millis() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::{Plan, Profile};
    use sixbench_plan::{standard_search, standard_trial};

    #[test]
    fn occupants_are_noted_at_the_time_of_the_run_wherever_the_system_clock_is() {
        let profile = Profile::Custom;
        let plan = Plan {
            patience_ns: 1_000_000_000,
            ..Plan::new(
                "quiet",
                profile,
                standard_trial(profile),
                standard_search(profile),
                Vec::new(),
            )
        };
        let occupant: Occupant =
            serde_json::from_str(r#"{"core":1,"device":null,"percent":99,"by":"Host"}"#)
                .expect("an occupant");
        let time: Timestamp = "2001-02-03T04:05:06.7Z".parse().expect("a time");
        let (mut patience, mut looks) = (Patience::new(&plan, &[]), vec![None, Some(occupant)]);
        let look = || looks.pop().flatten();
        let found = wait_until_quiet(
            &mut patience,
            &AtomicBool::new(false),
            || time,
            look,
            |_| {},
        )
        .expect("no stop");
        let times: Vec<_> = found.iter().map(|of| (&*of.first, &*of.last)).collect();
        assert_eq!(times, [("2001-02-03T04:05:07Z", "2001-02-03T04:05:07Z")]);
    }
}
