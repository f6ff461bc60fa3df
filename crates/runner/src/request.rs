//! The requests for a run and for a session, and the site where they take place.

use crate::code::Trusted;
use crate::error::RunError;
use crate::profile::subscribers;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{CoreLimits, Plan, Selection};
use sixbench_method::record::CoreLoad;
use sixbench_method::record::{Facts, SkippedTest, TrialRecord};
use sixbench_method::terms::FrameSize;
use sixbench_plan::Links;
use sixbench_testbed::{DutOptions, Library, Recipe, Shell, Zone};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The octets of Ethernet's header and FCS, which a frame size includes.
pub(crate) const ETHERNET_OCTETS: u16 = 18;

/// The minimum layer 3 MTU of the testbed's own links in octets: enough for every frame size up to Ethernet's usual maximum.
const ORDINARY_MTU: u32 = 1500;

/// The surroundings of a measurement: the links, and the means to run devices on them.
pub struct Site<'a> {
    /// Runs the testbed's commands and records them.
    pub shell: Shell,
    /// The links on which frames are sent and received.
    pub links: &'a Links,
    /// Set when everything is to end: the trial in progress is abandoned.
    pub stop: Arc<AtomicBool>,
    /// The user's declaration, if any, that test traffic cannot leave the environment.
    pub isolation: Isolation,
    /// The directory for captures of both ports' first frames, if they are captured.
    pub pcap: Option<&'a Path>,
}

/// The device to set up, and the requirements on its testbed.
pub struct SessionRequest<'a> {
    /// The recipe of the device.
    pub recipe: &'a Recipe,
    /// A name that distinguishes the testbeds of one process.
    pub name: String,
    /// The numbers of cores of the devices.
    pub cores: CoreLimits,
    /// The number of entries in its connection tracking table, if its recipe can set that.
    pub table_size: Option<u64>,
    /// The fields of the RSS hash of its network cards, on machines of their own.
    pub rss_hash: Option<String>,
    /// The number of its filter conditions, in addition to its recipe.
    pub filters: u32,
    /// For a DNS server: its zone, and the real authority at the tester's right end, if there is one.
    pub dns: Option<(Zone, Option<&'a Recipe>)>,
    /// The number of subscribers in its configuration files, if its recipe has a rule for them.
    pub subscribers: u32,
    /// The largest frame size, for which the links must be large enough.
    pub largest: FrameSize,
}

impl<'a> SessionRequest<'a> {
    /// Returns the length of the longest datagram in octets, including the outer header if it is encapsulated.
    pub(crate) fn longest_datagram(&self) -> u32 {
        u32::from(self.largest.0 + self.recipe.overhead())
            .saturating_sub(u32::from(ETHERNET_OCTETS))
    }

    /// Returns the layer 3 MTU of the testbed's own links in octets.
    pub(crate) fn mtu(&self) -> u32 {
        ORDINARY_MTU.max(self.longest_datagram())
    }

    /// Returns what the device is set up with in addition to its recipe.
    ///
    /// # Errors
    /// The subscribers are not ones for the recipe.
    pub(crate) fn device_options(&self) -> Result<DutOptions, RunError> {
        Ok(DutOptions {
            table_size: self.table_size,
            zone: self.dns.as_ref().map(|(zone, _)| zone.clone()),
            subscribers: subscribers::by_recipe(self.recipe, self.subscribers)?,
            cores: self.cores.clone(),
            rss_hash: self.rss_hash.clone(),
            filters: self.filters,
        })
    }

    /// Returns the request for the only testbed of this process.
    pub fn alone(recipe: &'a Recipe, largest: FrameSize) -> Self {
        let subscribers = recipe
            .subscribers
            .as_ref()
            .map_or(1, |section| section.count);
        let (name, cores) = (String::new(), CoreLimits::default());
        Self {
            recipe,
            name,
            cores,
            table_size: None,
            rss_hash: None,
            filters: 0,
            dns: None,
            subscribers,
            largest,
        }
    }
}

/// The inputs of a run.
pub struct RunRequest<'a> {
    /// The plan, with every default filled in.
    pub plan: &'a Plan,
    /// The recipes of its devices.
    pub library: &'a Library,
    /// The files of the plan whose commands may be executed; see [`crate::code`].
    pub trusted: &'a Trusted,
    /// The site where the devices run.
    pub site: Site<'a>,
    /// A function that returns the one of these cores that other work keeps busy, or `None` on a quiet machine.
    pub look_at_load: fn(&[u32]) -> Option<CoreLoad>,
    /// True if the record of every DNS query is kept.
    pub queries: bool,
    /// The labels that the user gives this run.
    pub labels: &'a [(String, String)],
    /// The part of the plan that the run measures. A resumed run keeps its original selection.
    pub selection: Selection,
    /// Tests of the plan file that were left out before the run started.
    pub left_out: &'a [SkippedTest],
    /// The time within which the run is to end, with what it has measured by then. `None` if it may take as long as it takes.
    pub within: Option<Duration>,
    /// A function that formats an error for the facts.
    pub in_words: fn(&RunError) -> String,
    /// Trials of an earlier part of the same run.
    pub records: Vec<TrialRecord>,
    /// The facts of the devices and the commands from the earlier part of the run.
    pub earlier: Option<(Facts, String)>,
}
