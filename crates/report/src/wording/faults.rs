//! The kinds of the tester's faults, in a few words each.

use sixbench_method::trial::Fault;

/// Returns the kind of a fault; that of another machine has the kind that it has here.
pub(crate) fn kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::OnMachine { of, .. } => kind(of),
        Fault::SentTooSlowly { .. } => "sent too slowly",
        Fault::SenderStalled { .. } => "sender stalled",
        Fault::ReceiverStalled { .. } => "receiver stalled",
        Fault::ReceiveRingOverrun { .. } => "receive ring overrun",
        Fault::DroppedByPort { .. } => "dropped by the tester's own port",
        Fault::LostOnLink { .. } => "lost on a link",
        Fault::LinkWentDown { .. } => "link went down",
        Fault::ArrivedBeforeSent { .. } => "arrived before sent",
        Fault::NeighbourWentStale { .. } => "neighbour went stale",
        Fault::CpuStolen { .. } => "processor time stolen",
        Fault::CpuTaken { .. } => "processor time taken by other programs",
        Fault::MadeAgain { .. } => "disturbed and repeated",
        Fault::TesterKeptOff { .. } => "tester's core taken by other programs",
        Fault::TooFewAddresses { .. } => "too few addresses",
        Fault::TooFewDescriptors { .. } => "too few descriptors",
        Fault::PhaseOneIncomplete { .. } => "phase 1 incomplete",
        Fault::LongerThanTimeout { .. } => "longer than the device's timeout",
        Fault::ConnectionsDiffer { .. } => "connections differ",
        Fault::AboveCertified { .. } => "above the certified rate",
        Fault::PreloadFailed { .. } => "names not resolved before",
        Fault::HitsDiffer { .. } => "cache hits differ",
        Fault::TooFewNames { .. } => "too few names",
    }
}
