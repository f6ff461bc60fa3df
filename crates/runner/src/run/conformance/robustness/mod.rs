//! Malformed frames for a device in a namespace or in the kernel lab: its testbed is built, and built anew after each crash, and everything is undone.

mod directory;
mod target;

use super::MTU;
use super::sides::DeviceSides;
use crate::error::RunError;
use crate::error::robustness::{Elsewhere, RobustnessError};
use crate::request::Site;
pub use directory::RobustnessDirectory;
use sixbench_conformance::Vector;
use sixbench_conformance::frame::Side;
use sixbench_conformance::robustness::{
    FrameGrammar, MalformedFrame, ProbeOutcome, kept_frames, probe, replay, valid_datagrams,
};
use sixbench_io::pcap::TimedFrame;
use sixbench_method::record::DutFacts;
use sixbench_plan::Links;
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::{DeviceHost, Technology};
use std::path::{Path, PathBuf};
use target::RestartedDevice;

/// The frames to send.
pub enum FrameSource<'v> {
    /// The first frames of a seed, made from those of vectors.
    Seed {
        /// The seed.
        seed: u64,
        /// Their number.
        frames: u64,
        /// The vectors.
        vectors: Vec<&'v Vector>,
    },
    /// Those that a file has, once more.
    File(KeptFrames),
}

/// The frames of a file.
pub struct KeptFrames {
    file: PathBuf,
    frames: Vec<MalformedFrame>,
}

/// The result of a device.
pub struct ProbedRecord {
    /// The facts of the device, with its version as its recipe prints it.
    pub facts: DutFacts,
    /// The outcome.
    pub outcome: ProbeOutcome,
    /// After a crash: the frames as they were sent when it happened last.
    pub capture: Vec<TimedFrame>,
}

impl KeptFrames {
    /// Reads the frames of a file that an earlier run has written.
    ///
    /// # Errors
    /// It cannot be read, or is another file.
    pub fn read(file: &Path) -> Result<Self, RobustnessError> {
        let text = std::fs::read_to_string(file).map_err(|error| RobustnessError::NotRead {
            file: file.to_owned(),
            error,
        })?;
        let frames = kept_frames(&text).map_err(|error| RobustnessError::Unreadable {
            file: file.to_owned(),
            error,
        })?;
        Ok(Self {
            file: file.to_owned(),
            frames,
        })
    }

    /// Refuses frames for sides that a device does not have.
    fn check(&self, recipe: &Recipe, sides: [Side; 2]) -> Result<(), RobustnessError> {
        let mut frames = self.frames.iter();
        let Some(other) = frames.find(|frame| !sides.contains(&frame.side)) else {
            return Ok(());
        };
        Err(RobustnessError::OtherDevice {
            file: self.file.clone(),
            recipe: recipe.name.clone(),
            side: other.side.to_string(),
        })
    }
}

/// Refuses a device that a crash would cost something, or from which frames could get out.
///
/// # Errors
/// The device, with the reason.
pub fn check(links: &Links, recipe: &Recipe) -> Result<(), RunError> {
    let place = match recipe.host {
        _ if !links.machines.is_empty() || links.agent.is_some() => Some(Elsewhere::OverSsh),
        _ if links.ports.is_some() => Some(Elsewhere::OnPorts),
        DeviceHost::Memif => Some(Elsewhere::InMemory),
        DeviceHost::Manual => Some(Elsewhere::ByHand),
        DeviceHost::Netns | DeviceHost::Lab => None,
    };
    if let Some(place) = place {
        return Err(RobustnessError::Elsewhere(place).into());
    }
    if recipe.technology == Technology::Dns64 {
        return Err(no_frames(recipe).into());
    }
    DeviceSides::of_recipe(recipe).map(drop)
}

fn no_frames(recipe: &Recipe) -> RobustnessError {
    RobustnessError::NoFrames {
        recipe: recipe.name.clone(),
    }
}

/// Brings a device up and sends it malformed frames. After a crash, `notice` is told of it, and the device is brought up again and again, to find the fewest
/// frames that make it.
///
/// # Errors
/// [`check`] refuses the device, no frame can be made for it, its testbed cannot be built, it passes no control frame to begin with, or a stop was
/// requested.
pub fn probe_device(
    site: &Site<'_>,
    recipe: &Recipe,
    source: &FrameSource<'_>,
    notice: &dyn Fn(&str),
) -> Result<ProbedRecord, RunError> {
    check(site.links, recipe)?;
    let sides = DeviceSides::of_recipe(recipe)?;
    let setting = sides.setting(MTU)?;
    super::admit(site.isolation, &setting)?;
    let mut device = RestartedDevice::new(site, recipe, &sides, setting.clone(), notice);
    let outcome = match source {
        FrameSource::Seed {
            seed,
            frames,
            vectors,
        } => {
            let valid = valid_datagrams(vectors, &setting, sides.sides());
            let grammar = FrameGrammar::new(*seed, &valid, &setting);
            let grammar = grammar.ok_or_else(|| no_frames(recipe))?;
            probe(&mut device, &grammar, *frames)?
        }
        FrameSource::File(kept) => {
            kept.check(recipe, sides.sides())?;
            replay(&mut device, &kept.frames)?
        }
    };
    Ok(device.record(outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_io::PortSpec;
    use sixbench_testbed::Library;

    fn refused(links: &Links, name: &str) -> String {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let recipe = library.get(name).expect("the recipe");
        check(links, recipe).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn only_devices_in_namespaces_and_in_the_lab_are_sent_malformed_frames() {
        let own = Links::default();
        for name in ["tayga-siit", "tayga-nat64", "nft-nat44", "jool-siit"] {
            assert_eq!(refused(&own, name), "", "{name}");
        }
        assert!(refused(&own, "vpp-map-e").ends_with(
            "this one serves shared memory, in which nothing bounds what a crash takes along"
        ));
        let cabled = Links {
            ports: Some(["eth1", "eth2"].map(PortSpec::parse)),
            ..Links::default()
        };
        let told = refused(&cabled, "tayga-siit");
        assert!(told.ends_with("cabled to ports of this machine"), "{told}");
        let told = refused(&own, "bind9-dns64");
        assert!(told.contains("its vectors are queries"), "{told}");
    }

    #[test]
    fn a_file_of_another_kind_of_device_is_refused() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let recipe = library.get("nft-nat44").expect("the recipe");
        let frame = MalformedFrame {
            index: 1,
            side: Side::Ipv6,
            vector: "64-udp".to_owned(),
            mistakes: Vec::new(),
            octets: vec![0x60],
        };
        let kept = KeptFrames {
            file: "robustness.json".into(),
            frames: vec![frame],
        };
        let error = kept.check(recipe, [Side::Inside, Side::Outside]);
        assert_eq!(
            error.expect_err("refused").to_string(),
            "robustness.json has frames for another kind of device than nft-nat44: they were sent on 6"
        );
    }
}
