//! The name in query i and the right answer to it, as pure functions of its number, so that only the time of sending must be stored for a query.

use super::judge::ExpectedAnswer;
use super::names::{NamePopulation, is_among};
use sixbench_method::plan::{DnsRole, Names};
use sixbench_wire::Prefix6052;

/// The expected answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedAnswers {
    /// The kind of server.
    pub role: DnsRole,
    /// The prefix of a DNS64 server.
    pub prefix: Option<Prefix6052>,
    /// The names that have their own AAAA record.
    pub population: NamePopulation,
    /// The longest plausible TTL, which is the authority's, in seconds.
    pub most_ttl: u32,
}

impl ExpectedAnswers {
    /// Returns the expected answer for the name of `address`.
    #[inline]
    pub(crate) fn for_address(&self, address: u32) -> ExpectedAnswer {
        let own = || {
            self.population
                .has_aaaa(address)
                .then(|| NamePopulation::own_aaaa(address))
        };
        ExpectedAnswer {
            address: own().or_else(|| self.prefix.map(|prefix| prefix.embed(address.into()))),
            most_ttl: self.most_ttl,
            role: self.role,
        }
    }
}

/// A part of the namespace, which is used cyclically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRange {
    /// The number of its first name in the namespace.
    pub(crate) first: u64,
    /// The number of its names.
    pub(crate) count: u64,
}

/// The questions of one trial.
#[derive(Clone, Debug)]
pub(crate) struct Questions {
    names: Names,
    /// Names that were resolved before: `cached` of every hundred queries ask for one of them, in turn.
    pool: NameRange,
    /// The number of the first new name.
    fresh: u64,
    cached: u8,
    /// For each place in a hundred, the number of cached names that come before it.
    before: [u8; 100],
}

/// One question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// The name, as an address.
    pub(crate) address: u32,
    /// True if the name was resolved before.
    pub(crate) is_cached: bool,
}

impl Questions {
    /// Creates questions for new names starting with number `fresh`, except `cached` of every hundred for names from `pool`.
    pub(crate) fn new(names: Names, fresh: u64, cached: u8, pool: NameRange) -> Self {
        let mut before = [0; 100];
        for place in 1..100 {
            before[place] = before[place - 1] + u8::from(is_among(place as u64 - 1, cached));
        }
        Self {
            names,
            pool,
            fresh,
            cached,
            before,
        }
    }

    /// Creates questions for new names only, starting with number `first`.
    pub(crate) fn fresh(names: Names, first: u64) -> Self {
        Self::new(names, first, 0, NameRange { first: 0, count: 1 })
    }

    /// Returns the number of cached names among the first `queries`.
    #[inline]
    fn cached_before(&self, queries: u64) -> u64 {
        queries / 100 * u64::from(self.cached) + u64::from(self.before[(queries % 100) as usize])
    }

    /// Returns the number of new names among the first `queries`.
    pub(crate) fn fresh_in(&self, queries: u64) -> u64 {
        queries - self.cached_before(queries)
    }

    /// Returns question `sequence`.
    #[inline]
    pub(crate) fn at(&self, sequence: u64) -> Question {
        let cached = self.cached_before(sequence);
        let is_cached = self.cached > 0 && is_among(sequence, self.cached);
        let number = if is_cached {
            self.pool.first + cached % self.pool.count
        } else {
            self.fresh + (sequence - cached)
        };
        Question {
            address: self.address(number),
            is_cached,
        }
    }

    /// Returns the address of a name by its number in the namespace.
    #[inline]
    pub(crate) fn address(&self, number: u64) -> u32 {
        address(self.names, number)
    }
}

/// Returns the address of a name by its number; numbers wrap around.
#[inline]
pub(crate) fn address(names: Names, number: u64) -> u32 {
    // The count is a power of two.
    let within = number & (names.count() - 1);
    u32::from(names.first()).wrapping_add(within as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn names() -> Names {
        "10.0.0.0/16".parse().expect("names")
    }

    #[test]
    fn all_names_of_a_trial_without_caching_are_different() {
        let questions = Questions::fresh(names(), 100);
        let asked: BTreeSet<u32> = (0..50_000).map(|i| questions.at(i).address).collect();
        assert_eq!(asked.len(), 50_000);
        assert_eq!(questions.at(0).address, 0x0a00_0064);
        assert_eq!(questions.fresh_in(50_000), 50_000);
    }

    #[test]
    fn the_cached_share_is_exact_and_walks_the_pool_in_turn() {
        for cached in [20, 40, 60, 80, 100] {
            let questions = Questions::new(
                names(),
                1000,
                cached,
                NameRange {
                    first: 0,
                    count: 300,
                },
            );
            let asked: Vec<Question> = (0..10_000).map(|i| questions.at(i)).collect();
            let (old, new): (Vec<_>, Vec<_>) =
                asked.into_iter().partition(|question| question.is_cached);
            assert_eq!(old.len(), usize::from(cached) * 100);
            assert_eq!(questions.fresh_in(10_000), new.len() as u64);
            assert!(
                old.iter()
                    .zip(0u32..)
                    .all(|(q, i)| q.address == 0x0a00_0000 + i % 300)
            );
            assert!(
                new.iter()
                    .zip(0u32..)
                    .all(|(q, i)| q.address == 0x0a00_0000 + 1000 + i)
            );
        }
    }

    #[test]
    fn a_dns64_server_must_give_the_own_record_where_there_is_one() {
        let prefix = "64:ff9b::/96".parse().expect("a prefix");
        let population = NamePopulation { with_aaaa: 100 };
        let expectation = ExpectedAnswers {
            role: DnsRole::Dns64,
            prefix: Some(prefix),
            population,
            most_ttl: 1,
        };
        assert_eq!(
            expectation.for_address(0x0a00_0001).address,
            Some("2001:2:0:aaaa::a00:1".parse().expect("an address"))
        );
        let none = ExpectedAnswers {
            population: NamePopulation { with_aaaa: 0 },
            ..expectation
        };
        assert_eq!(
            none.for_address(0x0a00_0001).address,
            Some("64:ff9b::a00:1".parse().expect("an address"))
        );
        let authority = ExpectedAnswers {
            role: DnsRole::Authority,
            prefix: None,
            ..none
        };
        assert_eq!(authority.for_address(0x0a00_0001).address, None);
    }
}
