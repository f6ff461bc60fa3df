//! Numbers of clients in ascending order, with the results of their requests: the columns of the 6to4 paper's tables.

use super::{Digest, PointDigest, PointSample};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{Measure, Payload, ResponseTime, Test};
use sixbench_method::terms::{Direction, FrameSize};

/// The steps of one test at one frame size, at least one of which has a result.
pub(crate) struct ClientSeries<'d, 'a> {
    /// The name of the test in the plan file.
    pub(crate) name: &'a str,
    pub(crate) size: FrameSize,
    pub(crate) settings: ResponseTime,
    /// The first of the tests, which only differ in their number of clients.
    pub(crate) test: &'a Test,
    pub(crate) steps: Vec<ClientStep<'d, 'a>>,
}

/// One number of clients.
pub(crate) struct ClientStep<'d, 'a> {
    pub(crate) clients: u32,
    pub(crate) point: &'d PointDigest<'a>,
}

pub(crate) fn client_series<'d, 'a>(digest: &'d Digest<'a>) -> Vec<ClientSeries<'d, 'a>> {
    let mut found: Vec<ClientSeries> = Vec::new();
    for point in &digest.points {
        let Measure::ResponseTime(settings) = point.test.measure else {
            continue;
        };
        let (name, size, test) = (name(point.test), point.point.frame_size, point.test);
        let step = ClientStep {
            clients: test.clients(),
            point,
        };
        match found
            .iter_mut()
            .find(|series| (series.name, series.size) == (name, size))
        {
            Some(series) => series.steps.push(step),
            None => found.push(ClientSeries {
                name,
                size,
                settings,
                test,
                steps: vec![step],
            }),
        }
    }
    found.retain(|series| series.measured().next().is_some());
    for series in &mut found {
        series.steps.sort_by_key(|step| step.clients);
    }
    found
}

fn name(test: &Test) -> &str {
    test.series
        .as_ref()
        .map_or(&test.name, |series| &series.name)
}

impl ClientSeries<'_, '_> {
    pub(crate) fn payload(&self) -> &'static str {
        match self.test.traffic.payload {
            Payload::Echo => "ICMP echo",
            Payload::Udp => "UDP",
        }
    }

    pub(crate) fn measured(&self) -> impl Iterator<Item = &ClientStep<'_, '_>> {
        self.steps.iter().filter(|step| step.has_result())
    }

    pub(crate) fn missing(&self) -> impl Iterator<Item = &ClientStep<'_, '_>> {
        self.steps.iter().filter(|step| !step.has_result())
    }

    /// Returns each number of clients that has a sample of a quantity, with the sample.
    pub(crate) fn samples(&self, quantity: Quantity) -> impl Iterator<Item = (u32, &PointSample)> {
        self.steps
            .iter()
            .filter_map(move |step| Some((step.clients, step.sample(quantity)?)))
    }
}

impl<'d> ClientStep<'d, '_> {
    fn has_result(&self) -> bool {
        !self.point.samples.is_empty()
    }

    pub(crate) fn sample(&self, quantity: Quantity) -> Option<&'d PointSample> {
        // A sample of both directions together is stored with the requests.
        self.point.sample(quantity, Direction::Forward)
    }
}
