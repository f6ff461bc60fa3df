//! Combines the counts of the threads into the result of a trial.

use super::authority::Authority;
use super::client::QueryCounts;
use super::tally::QueryTally;
use crate::pacing::fault;
use crate::pacing::sending::together;
use crate::pacing::stall::Gaps;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::dns::{AuthorityCounts, Cache, DnsResult};
use sixbench_method::trial::{
    DirectionResult, Fault, Receiving, Sending, TrialOutcome, TrialResult, TrialSpec,
};
use std::net::SocketAddr;

/// Queries have one direction: from the client.
const DIRECTION: Direction = Direction::Forward;

/// The data of a trial, from which its result is made.
pub(super) struct QueryTrialData<'a> {
    pub(super) spec: &'a TrialSpec,
    pub(super) server: SocketAddr,
    pub(super) queries: u64,
    pub(super) counted: Vec<QueryCounts>,
    /// The authority's counts, if it is ours.
    pub(super) authority: Option<AuthorityCounts>,
    /// The number of names of the trial that reached the authority, if it is ours.
    pub(super) names: Option<u64>,
    pub(super) cache: Cache,
    pub(super) timeout_ns: u64,
    pub(super) stall_ns: u64,
    pub(super) certified: Option<u64>,
    /// Names of the file about whose A records the server said nothing.
    pub(super) not_looked_up: u64,
}

pub(super) fn trial_result(outcome: QueryTrialData<'_>) -> TrialResult {
    let QueryTrialData {
        spec,
        queries,
        counted,
        ..
    } = &outcome;
    let mut tally = QueryTally::new(counted.first().map_or(1, |part| part.tally.bins.len()));
    for part in counted {
        tally.add(&part.tally);
    }
    let overruns = counted.iter().map(|part| part.drops).sum::<u64>()
        + outcome.authority.map_or(0, |counts| counts.overruns);
    let gaps = gaps(counted, outcome.stall_ns);
    let sending: Vec<Sending> = counted.iter().map(|part| part.sending).collect();
    let mut direction = direction(&tally, *queries, together(&sending));
    direction.receiving = Receiving {
        worst_gap_ns: gaps.worst_ns,
        overruns,
    };
    let of_one_thread = FrameRate(spec.rate.0.div_ceil(counted.len().max(1) as u64));
    let mut faults = fault::of_direction(&direction, of_one_thread, outcome.stall_ns, gaps, &[]);
    faults.extend(fault::kept_off(
        &faults,
        counted
            .iter()
            .map(|part| part.kept_off_ns)
            .max()
            .unwrap_or(0),
    ));
    let dns = dns_result(&outcome, &tally);
    faults.extend(dns.hits_differ());
    let (answers, worst_ns) = tally.before_sent;
    faults.extend(fault::arrived_before_sent(DIRECTION, answers, worst_ns));
    direction.examples = std::mem::take(&mut tally.examples);
    direction.delay = tally.delays.summary();
    direction.delays = tally.delays.buckets();
    TrialResult {
        outcome: TrialOutcome::Queries(Some(Box::new(dns))),
        ..TrialResult::new(**spec, vec![direction], faults)
    }
}

/// Returns the result of a trial in which nothing was sent.
pub(super) fn nothing_sent(spec: &TrialSpec, queries: u64, fault: Fault) -> TrialResult {
    let nothing = DirectionResult {
        intended: queries,
        ..DirectionResult::counted(DIRECTION, 0, 0)
    };
    TrialResult::new(*spec, vec![nothing], vec![fault])
}

/// Returns the counts of all authorities together.
pub(super) fn add_counts(authorities: &[Authority]) -> AuthorityCounts {
    authorities.iter().map(Authority::counts).sum()
}

fn gaps(counted: &[QueryCounts], stall_ns: u64) -> Gaps {
    let mut all = Gaps::new(stall_ns, 0);
    for part in counted {
        all.add(&part.gaps);
    }
    all
}

fn direction(tally: &QueryTally, queries: u64, sending: Sending) -> DirectionResult {
    let answers = &tally.answers;
    let mut direction = DirectionResult::counted(DIRECTION, answers.sent, answers.right);
    direction.intended = queries;
    direction.sending = sending;
    direction.late = answers.late;
    direction.mistranslated = answers.wrong_address + answers.wrong_ttl + answers.wrong_form;
    direction.corrupt = answers.malformed;
    direction.duplicate = answers.duplicate;
    direction.foreign = answers.unasked + answers.mismatched;
    direction.icmp = answers.unreachable;
    direction.last_missing_ns = tally.last_missing_ns;
    if direction.not_received() > 0 {
        direction.lost_by_bin.clone_from(&tally.bins);
    }
    direction
}

fn dns_result(outcome: &QueryTrialData<'_>, tally: &QueryTally) -> DnsResult {
    let (missed, repeated) = (tally.cached_misses, tally.fresh_hits);
    let observed = outcome.names.map(|_| tally.cached - missed + repeated);
    let authority = outcome.authority.map(|counts| AuthorityCounts {
        names: outcome.names.unwrap_or(0),
        ..counts
    });
    DnsResult {
        server: outcome.server.to_string(),
        timeout_ns: outcome.timeout_ns,
        answers: tally.answers,
        rtt: tally.rtt,
        existing: tally.existing,
        cache: Cache {
            intended: tally.cached,
            observed,
            missed,
            repeated,
            ..outcome.cache
        },
        authority,
        certified: outcome.certified,
        rcodes: tally.named_rcodes(),
        not_looked_up: outcome.not_looked_up,
        tcp: tally.tcp.clone(),
    }
}
