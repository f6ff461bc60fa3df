//! Numbers of clients in ascending order, each with what became of their requests: the columns of the 6to4 paper's tables.

use super::{Digest, PointDigest, Sample};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{Measure, Payload, ResponseTime, Test};
use sixbench_method::terms::{Direction, FrameSize};

/// The steps of one test at one frame size, of which at least one has a result.
pub(crate) struct Ladder<'d, 'a> {
    /// The test they were written as.
    pub(crate) name: &'a str,
    pub(crate) size: FrameSize,
    pub(crate) settings: ResponseTime,
    /// The first of them: they differ in their clients alone.
    pub(crate) test: &'a Test,
    pub(crate) steps: Vec<Rung<'d, 'a>>,
}

/// One number of clients.
pub(crate) struct Rung<'d, 'a> {
    pub(crate) clients: u32,
    pub(crate) point: &'d PointDigest<'a>,
}

/// Returns all ladders of a run, in the order of the plan.
pub(crate) fn ladders<'d, 'a>(digest: &'d Digest<'a>) -> Vec<Ladder<'d, 'a>> {
    let mut found: Vec<Ladder> = Vec::new();
    for point in &digest.points {
        let Measure::ResponseTime(settings) = point.test.measure else { continue };
        let (name, size, test) = (name(point.test), point.point.frame_size, point.test);
        let rung = Rung { clients: test.clients(), point };
        match found.iter_mut().find(|ladder| (ladder.name, ladder.size) == (name, size)) {
            Some(ladder) => ladder.steps.push(rung),
            None => found.push(Ladder { name, size, settings, test, steps: vec![rung] }),
        }
    }
    found.retain(|ladder| ladder.measured().next().is_some());
    found.iter_mut().for_each(|ladder| ladder.steps.sort_by_key(|rung| rung.clients));
    found
}

fn name(test: &Test) -> &str {
    test.series.as_ref().map_or(&test.name, |series| &series.name)
}

impl Ladder<'_, '_> {
    /// Returns the name of the requests' payload.
    pub(crate) fn payload(&self) -> &'static str {
        match self.test.traffic.payload {
            Payload::Echo => "ICMPv6 echo",
            Payload::Udp => "UDP",
        }
    }

    /// Returns the steps that have a result.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &Rung<'_, '_>> {
        self.steps.iter().filter(|rung| rung.has_result())
    }

    /// Returns the steps that have none.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &Rung<'_, '_>> {
        self.steps.iter().filter(|rung| !rung.has_result())
    }

    /// Each number of clients with its sample of a quantity, where there is one.
    pub(crate) fn samples(&self, quantity: Quantity) -> impl Iterator<Item = (u32, &Sample)> {
        self.steps.iter().filter_map(move |rung| Some((rung.clients, rung.sample(quantity)?)))
    }
}

impl<'d> Rung<'d, '_> {
    fn has_result(&self) -> bool {
        !self.point.samples.is_empty()
    }

    pub(crate) fn sample(&self, quantity: Quantity) -> Option<&'d Sample> {
        // What is of both ways together stands with the requests.
        self.point.sample(quantity, Direction::Forward)
    }
}
