//! The subjects of a report. Whatever the page, the verdict and `results.json` say of one is in its folder; the files beside the folders are what several
//! subjects share.
//!
//! A new subject is a folder with a [`Subject`], and a line in [`SUBJECTS`].

pub(crate) mod anomalies;
mod burst;
mod chapter;
mod clients;
pub(crate) mod conditions;
mod connections;
mod contribution;
pub(crate) mod cores;
mod degradation;
mod delay;
pub(crate) mod dns;
mod evidence;
mod fields;
mod loss;
mod machines;
mod mix;
mod path;
mod point_sentence;
mod points;
pub(crate) mod ramp;
mod ranking;
pub(crate) mod refusals;
pub(crate) mod relative;
pub(crate) mod requirements;
pub(crate) mod sequence;
mod series;
pub(crate) mod sizes;
mod soak;
mod stateful;
pub(crate) mod statistics;
mod tcp;
mod throughput;

pub(crate) use chapter::Chapter;
pub(crate) use contribution::Subject;
pub(crate) use fields::{PointFields, RunFields};

/// Every subject, in the order of their chapters and sentences.
pub(crate) const SUBJECTS: [&dyn Subject; 25] = [
    &throughput::SearchedRates,
    &refusals::DeliveryRefusals,
    &requirements::DeviceRequirements,
    &relative::RelativePerformance,
    &stateful::StatefulGateways,
    &tcp::TcpConnections,
    &dns::DnsServers,
    &path::DatagramPaths,
    &degradation::Scalability,
    &loss::LossRates,
    &delay::TimesOfOneTrial,
    &clients::ResponseTimes,
    &burst::Bursts,
    &soak::SoakTests,
    &degradation::Overload,
    &mix::MixedTraffic,
    &conditions::ModifyingConditions,
    &cores::CoreScaling,
    &machines::DeviceMachines,
    &points::EveryPoint,
    &evidence::TrialEvidence,
    &anomalies::AnomalousFrames,
    &sequence::FrameSequence,
    &sizes::MixedSizes,
    &ramp::Ramps,
];
