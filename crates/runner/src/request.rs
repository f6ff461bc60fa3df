//! What a run and a session are asked for, and where they take place.

use super::code::Trusted;
use super::error::RunError;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{CoreLimits, Plan, Selection};
use sixbench_method::record::{Facts, SkippedTest, TrialRecord};
use sixbench_method::terms::FrameSize;
use sixbench_plan::Links;
use sixbench_testbed::{Library, Recipe, Shell, Zone};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The surroundings of a measurement: the links, and how devices are run on them.
pub struct Site<'a> {
    /// Runs the testbed's commands, and writes them down.
    pub shell: Shell,
    /// The links on which frames leave and come back.
    pub links: &'a Links,
    /// Set when everything is to end: the trial under way is given up.
    pub stop: Arc<AtomicBool>,
    /// The user's declaration, if any, that test traffic cannot leave the environment.
    pub isolation: Isolation,
    /// The directory of the first frames of both ports; `None` if they are not kept.
    pub pcap: Option<&'a Path>,
}

/// The device to set up, and what its testbed must be able to do.
pub struct SessionRequest<'a> {
    /// The recipe of the device.
    pub recipe: &'a Recipe,
    /// A name that tells the testbeds of one process apart.
    pub name: String,
    /// The numbers of cores of the devices.
    pub cores: CoreLimits,
    /// Entries of its connection tracking table, if its recipe can set that.
    pub table_size: Option<u64>,
    /// For a DNS server: the zone it is set up for, and the real authority that stands at the tester's right end, if one does.
    pub dns: Option<(Zone, Option<&'a Recipe>)>,
    /// The number of subscribers that its configuration files name, if its recipe has a rule for them.
    pub subscribers: u32,
    /// The largest frame size, for which the links must have room.
    pub largest: FrameSize,
}

impl<'a> SessionRequest<'a> {
    /// Returns the octets of the longest datagram, with the header around it where it is encapsulated.
    pub(super) fn longest_datagram(&self) -> u32 {
        // Ethernet's header and FCS are no part of it.
        u32::from(self.largest.0 + self.recipe.overhead()).saturating_sub(18)
    }

    /// Returns the request for the only testbed of this process.
    pub fn alone(recipe: &'a Recipe, largest: FrameSize) -> Self {
        let subscribers = recipe.subscribers.as_ref().map_or(1, |section| section.count);
        Self { recipe, name: String::new(), cores: CoreLimits::default(), table_size: None, dns: None, subscribers, largest }
    }
}

/// All that a run is given to begin with.
pub struct RunRequest<'a> {
    /// The plan, with every default filled in.
    pub plan: &'a Plan,
    /// The recipes of its devices.
    pub library: &'a Library,
    /// The files of the plan whose commands may be run; see [`crate::code`].
    pub trusted: &'a Trusted,
    /// Where the devices are run.
    pub site: Site<'a>,
    /// Returns the other work on these cores, in words; `None` on a quiet machine.
    pub look_at_load: fn(&[u32]) -> Option<String>,
    /// True if the record of every DNS query is kept.
    pub queries: bool,
    /// The labels that the user gives this run.
    pub labels: &'a [(String, String)],
    /// What the run measures of its plan; a run that is resumed goes on with what it was given when it began.
    pub selection: Selection,
    /// Tests of the plan file that were left out before the run began.
    pub left_out: &'a [SkippedTest],
    /// Puts an error into the words that the facts keep of it.
    pub in_words: fn(&RunError) -> String,
    /// Trials of an earlier part of the same run.
    pub records: Vec<TrialRecord>,
    /// The facts of the devices and the commands from the earlier part of the run.
    pub earlier: Option<(Facts, String)>,
}
