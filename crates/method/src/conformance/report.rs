//! The requirements on every report.

use crate::clause::Clause;

pub(super) fn clauses() -> Vec<Clause> {
    vec![
        Clause::should(
            "RFC 8219 section 12",
            "median and percentiles by RFC 2330 section 11.3",
            "as required, with the size of the sample",
            true,
        ),
        Clause::must(
            "RFC 8219 section 5.1",
            "the media are noted in the report",
            "the links are listed among the facts",
            true,
        ),
        Clause::must(
            "RFC 2544 section 7",
            "the version of the DUT's software and its exact configuration are in the report",
            "versions, configuration files and every command",
            true,
        ),
        Clause::must(
            "RFC 5180 section 4",
            "the DUT's resources are observed out of band",
            "by the kernel's own counters, not through the interfaces under test",
            true,
        ),
    ]
}
