//! Sentences on the results of DNS servers, comparing servers under the same conditions (RFC 8219 section 9).

use crate::digest::{Digest, PointDigest, QueryConditions, RepeatedRate, ServerGroup};
use crate::subject::ranking::{RankedValue, RankingWords, listed, ranking, with_others};
use crate::wording::numbers::{in_trials, percent, seconds, supported, three_digits_bound, title};
use sixbench_method::lists::each_once;
use sixbench_method::plan::{DnsRole, QueryTransport};
use sixbench_method::search::AcceptedLoss;
use sixbench_method::terms::LossRatio;
use sixbench_method::units::agreeing;

const KIND: RankingWords = RankingWords {
    verb: "answered",
    ceiling: "the highest rate of the plan",
    nothing: "did not answer every query even at the lowest rate of the plan",
};

/// The words for tests in which some queries may remain without a correct answer.
const KIND_WITH_LOSS: RankingWords = RankingWords {
    nothing: "left more queries without a correct answer than its loss goal allows even at the lowest rate of the plan",
    ..KIND
};

/// The percentage of cached names, and that of names with AAAA records.
type QueryShares = (u8, u8);

/// Returns sentences in full for the first condition with results, and in brief for the others, then on the effects of caching and AAAA records.
pub(crate) fn sentences(digest: &Digest) -> Vec<String> {
    // Of a series that varies something other than names, only the first step is included.
    let is_compared =
        |group: &ServerGroup| group.tests.iter().any(|(test, _)| digest.is_compared(test));
    let groups: Vec<ServerGroup> = digest
        .server_groups()
        .into_iter()
        .filter(is_compared)
        .collect();
    let all = each_once(groups.iter().filter_map(ServerGroup::conditions));
    let rank = |conditions: QueryConditions| {
        let alike: Vec<&ServerGroup> = groups
            .iter()
            .filter(|group| group.conditions() == Some(conditions))
            .collect();
        ranks(digest, conditions, &alike)
    };
    let rates = all
        .into_iter()
        .flat_map(rank)
        .chain(groups.iter().flat_map(|group| changes(digest, group)));
    rates.chain(repeated(digest)).collect()
}

/// Returns sentences on repeated rates: `Unbound, again: repeated at 3,699 queries/s, the median that unbound found: 7 of 8 trials passed; idle time of
/// Unbound, DNS64: core 2 12 %.` Of a series, the first step is included, as everywhere.
fn repeated(digest: &Digest) -> Vec<String> {
    let sentence = |(point, repeated): (&PointDigest, RepeatedRate)| {
        let idle = digest.idle_words(point, &repeated.trials);
        let by = if repeated.is_found_by(point.test) {
            "rate that its own first repetition".to_owned()
        } else {
            format!("median that {}", repeated.found_by())
        };
        format!(
            "{}: repeated at {} queries/s, the {by} found: {} {} passed{}{}{idle}.",
            title(point.test),
            repeated.rate().replace("≥", "at least"),
            repeated.passed_of(),
            agreeing(repeated.trials.len() == 1, "trial"),
            repeated.invalid_words(),
            if idle.is_empty() {
                ""
            } else {
                "; idle time of "
            },
        )
    };
    digest
        .repeated_points()
        .filter(|(point, _)| digest.is_compared(point.test))
        .map(sentence)
        .collect()
}

fn ranks(digest: &Digest, conditions: QueryConditions, groups: &[&ServerGroup]) -> Vec<String> {
    let ranked = |share: QueryShares| (share, of_share(digest, groups, share));
    let mut ranks = shares(digest, groups)
        .into_iter()
        .map(ranked)
        .filter(|(_, ranks)| !ranks.is_empty());
    let Some((share, ranking)) = ranks.next() else {
        return Vec::new();
    };
    let mut sentences = in_full(conditions, share, &ranking);
    sentences.extend(ranks.map(|(share, ranking)| in_brief(conditions, share, &ranking)));
    sentences
}

/// Returns the shares in the tests that are compared, ascending, so that nothing cached and no AAAA records come first.
fn shares(digest: &Digest, groups: &[&ServerGroup]) -> Vec<QueryShares> {
    let tests = groups
        .iter()
        .flat_map(|group| &group.tests)
        .filter(|(test, _)| digest.is_compared(test));
    let all: std::collections::BTreeSet<QueryShares> =
        tests.map(|(_, dns)| (dns.cached, dns.with_aaaa)).collect();
    all.into_iter().collect()
}

fn of_share(
    digest: &Digest,
    groups: &[&ServerGroup],
    (cached, with_aaaa): QueryShares,
) -> Vec<RankedValue> {
    let rated = |group: &&ServerGroup| {
        RankedValue::new(group.title.clone(), group.at(digest, cached, with_aaaa)?)
    };
    ranking(groups.iter().filter_map(rated))
}

/// Returns the ranking in full: `Unbound answered 12.3 k DNS64 queries/s, all of them correctly and within 1 s (nothing cached, no AAAA records).`
fn in_full(
    conditions: QueryConditions,
    share: QueryShares,
    ranking: &[RankedValue],
) -> Vec<String> {
    let leader = &ranking[0];
    let noun = match conditions.role {
        DnsRole::Dns64 => "DNS64 queries/s",
        DnsRole::Authority => "queries/s from its zone",
        DnsRole::Through => "queries/s through it",
    };
    let goal = conditions.goal;
    let kind = if goal == AcceptedLoss::NONE {
        KIND
    } else {
        KIND_WITH_LOSS
    };
    let all = if goal.loss_ratio == LossRatio::ZERO {
        "all of them".to_owned()
    } else {
        format!("all but at most {} of them", percent(goal.loss_ratio.0))
    };
    let trials = in_trials(goal);
    let (within, under) = (
        seconds(conditions.timeout_ns),
        conditions_phrase(conditions, share),
    );
    let first = if leader.median == 0.0 {
        format!("{} {} ({under}).", leader.name, kind.nothing)
    } else {
        format!(
            "{} answered {} {noun}, {all} correctly and within {within}{trials} ({under}){}{}.",
            leader.name,
            leader.amount(),
            leader.beside,
            leader.why_open(kind)
        )
    };
    with_others(first, ranking, kind)
}

/// Returns the ranking in brief: `With nothing cached, AAAA records for 20 % of the names: Unbound 14 k; BIND 12 k (queries/s).`
fn in_brief(conditions: QueryConditions, share: QueryShares, ranking: &[RankedValue]) -> String {
    format!(
        "With {}: {} (queries/s).",
        conditions_phrase(conditions, share),
        listed(ranking)
    )
}

/// Returns the conditions in words: the shares, or that the queries are those of a file; and the transport, if it is not UDP.
fn conditions_phrase(conditions: QueryConditions, share: QueryShares) -> String {
    let names = match conditions.queries {
        Some(_) => "queries of a file".to_owned(),
        None => phrase(conditions.role, share),
    };
    match conditions.transport {
        QueryTransport::Udp => names,
        QueryTransport::Tcp => format!("{names}, over TCP"),
        QueryTransport::Tls => format!("{names}, over TLS"),
    }
}

/// Returns the shares in words. For an authoritative server, caching is irrelevant.
fn phrase(role: DnsRole, (cached, with_aaaa): QueryShares) -> String {
    let existing = match with_aaaa {
        0 => "no AAAA records".to_owned(),
        100 => "AAAA records for all names".to_owned(),
        some => format!("AAAA records for {some}\u{a0}% of the names"),
    };
    match (role, cached) {
        (DnsRole::Authority | DnsRole::Through, _) => existing,
        (DnsRole::Dns64, 0) => format!("nothing cached, {existing}"),
        (DnsRole::Dns64, 100) => format!("everything cached, {existing}"),
        (DnsRole::Dns64, some) => format!("{some}\u{a0}% cached, {existing}"),
    }
}

/// Returns the effects of the shares: `Unbound: with 100 % of the names cached 75 k queries/s, 6.1 times its rate at 0 % (no AAAA records).`
fn changes(digest: &Digest, group: &ServerGroup) -> Vec<String> {
    let (cached, existing) = (group.cached(), group.with_aaaa());
    let role = group
        .conditions()
        .map(|conditions| conditions.role)
        .unwrap_or_default();
    let ends =
        |all: &[u8]| Some((*all.first()?, *all.last()?)).filter(|(first, last)| first < last);
    let by_cached = ends(&cached).and_then(|(few, many)| {
        let gain = gain(digest, group, (few, existing[0]), (many, existing[0]))?;
        let fixed = phrase(DnsRole::Authority, (0, existing[0]));
        Some(format!(
            "{}: with {many}\u{a0}% of the names cached {gain} its rate at {few}\u{a0}% ({fixed}).",
            group.title
        ))
    });
    let by_existing = ends(&existing).and_then(|(few, many)| {
        let gain = gain(digest, group, (cached[0], few), (cached[0], many))?;
        let fixed = if role == DnsRole::Dns64 { format!(" ({}\u{a0}% cached)", cached[0]) } else { String::new() };
        Some(format!(
            "{}: with AAAA records for {many}\u{a0}% of the names {gain} its rate at {few}\u{a0}%{fixed}.",
            group.title
        ))
    });
    by_cached.into_iter().chain(by_existing).collect()
}

/// Returns a rate and its gain, `75 k queries/s, 6.1 times`, if both rates are known and the first is not just a lower bound.
fn gain(
    digest: &Digest,
    group: &ServerGroup,
    from: QueryShares,
    to: QueryShares,
) -> Option<String> {
    let [first, last] =
        [from, to].map(|(cached, with_aaaa)| group.at(digest, cached, with_aaaa)?.rated());
    let (first, last) = (first?, last?);
    let bound = last.limits.bound();
    let at_least = bound.phrase()?;
    let is_known = first.summary.median > 0.0 && !first.limits.is_median_open;
    let ratio = last.summary.median / first.summary.median;
    let rate = supported(
        last.summary.median,
        last.summary.max - last.summary.min,
        bound,
    );
    is_known.then(|| {
        format!(
            "{at_least}{rate} queries/s, {at_least}{} times",
            three_digits_bound(ratio, bound)
        )
    })
}
