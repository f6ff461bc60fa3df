//! The procedure with a translator in memory.

use super::{rigs, valid};
use crate::frame::{LayerKind, PayloadPattern, Side, dissect, vector_number_in};
use crate::notation::FrameSpec;
use crate::octets::{Resolver, build};
use crate::robustness::{
    BatchOutcome, CrashSign, DeviceMemory, FrameGrammar, MalformedFrame, MemoryOwner,
    MemoryVerdict, ProbeOutcome, RobustnessTarget, kept_frames, probe, replay,
};
use crate::robustness::{MemoryCourse, RobustnessResults};
use crate::tests::rigs::reference::translator::Translator;
use std::convert::Infallible;

const MEBIOCTET: u64 = 1 << 20;
const CONTROL: PayloadPattern = PayloadPattern { vector: u16::MAX };

/// What is wrong with the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weakness {
    /// Nothing.
    None,
    /// Its process ends at a fragment with an offset, once an ICMP error has come.
    FragmentAfterError,
    /// It forwards nothing more once it has seen a source that is loopback.
    SilentAfterLoopback,
    /// Its process ends at the hundredth frame that it gets in its life, and never again after a restart.
    OnceOnly,
    /// Its kernel warns at a source that is loopback, and it goes on.
    WarnsAtLoopback,
    /// Each frame costs it so many octets.
    Leaks(u64),
    /// It fills a cache of 4 MiB with the first hundred frames.
    Caches,
}

/// The reference translator with a weakness.
struct WeakTranslator {
    weakness: Weakness,
    translator: Translator,
    starts: u32,
    frames: u64,
    has_seen_error: bool,
    is_ended: bool,
    is_silent: bool,
    has_warned: bool,
    /// The number of frames after which a crash was seen.
    seen_after: Option<u64>,
}

impl WeakTranslator {
    fn new(weakness: Weakness) -> Self {
        Self {
            weakness,
            translator: rigs::translator(None),
            starts: 0,
            frames: 0,
            has_seen_error: false,
            is_ended: false,
            is_silent: false,
            has_warned: false,
            seen_after: None,
        }
    }

    fn receive(&mut self, side: Side, octets: &[u8]) -> Vec<Vec<u8>> {
        if self.is_ended || self.is_silent {
            return Vec::new();
        }
        self.frames += 1;
        let layers = dissect(octets);
        let is_error = layers.iter().any(|layer| layer.is_in_error);
        let mut outside = layers.iter().filter(|layer| !layer.is_in_error);
        let is_later_fragment = outside.any(|layer| layer.value("offset").unwrap_or_default() > 0);
        let source = layers.first().and_then(|ip| ip.value("src"));
        let is_loopback = matches!(source, Some(0x7f00_0001 | 1));
        match self.weakness {
            Weakness::FragmentAfterError => {
                self.is_ended = is_later_fragment && self.has_seen_error;
                self.has_seen_error |= is_error;
            }
            Weakness::SilentAfterLoopback => self.is_silent = is_loopback,
            Weakness::WarnsAtLoopback => self.has_warned |= is_loopback,
            Weakness::OnceOnly => self.is_ended = self.starts == 1 && self.frames == 100,
            Weakness::None | Weakness::Leaks(_) | Weakness::Caches => {}
        }
        if self.is_ended || self.is_silent {
            return Vec::new();
        }
        let sent = self.translator.receive(side, octets);
        sent.into_iter().map(|sent| sent.octets).collect()
    }

    /// Returns true if a control frame from a side passes.
    fn passes(&mut self, side: Side) -> bool {
        let (setting, text) = (rigs::setting(), rigs::setting().control_frame(side, 777));
        let frame = FrameSpec::parse(&text).expect("a frame");
        let resolver = Resolver {
            setting: &setting,
            sent: &frame,
        };
        let datagram = build(&frame, CONTROL, &resolver).expect("a datagram");
        let came = self.receive(side, &datagram);
        came.iter()
            .any(|octets| vector_number_in(octets) == Some(u16::MAX))
    }
}

impl RobustnessTarget for WeakTranslator {
    type Error = Infallible;

    fn bring_up(&mut self) -> Result<(), Infallible> {
        let starts = self.starts + 1;
        *self = Self {
            starts,
            seen_after: self.seen_after,
            ..Self::new(self.weakness)
        };
        Ok(())
    }

    fn send(&mut self, frames: &[MalformedFrame]) -> Result<BatchOutcome, Infallible> {
        let mut came = 0;
        for frame in frames {
            came += self.receive(frame.side, &frame.octets).len() as u64;
        }
        let mut silent = vec![Side::Ipv4, Side::Ipv6];
        silent.retain(|side| !self.passes(*side));
        let crash = if self.is_ended {
            let how = "ended by itself (signal: 11)".to_owned();
            Some(CrashSign::Ended { how })
        } else {
            (!silent.is_empty()).then_some(CrashSign::Silent { from: silent })
        };
        Ok(BatchOutcome { came, crash })
    }

    fn memory(&mut self) -> Option<DeviceMemory> {
        let grown = match self.weakness {
            Weakness::Leaks(octets) => octets * self.frames,
            Weakness::Caches => 4 * MEBIOCTET / 100 * self.frames.min(100),
            _ => 0,
        };
        Some(DeviceMemory {
            owner: MemoryOwner::Processes,
            octets: 2 * MEBIOCTET + grown,
        })
    }

    fn crash_seen(&mut self, _: &CrashSign, after: u64) {
        self.seen_after = Some(after);
    }

    fn read_kernel_log(&mut self) -> Result<Option<CrashSign>, Infallible> {
        let lines = vec!["WARNING: at a.c:1".to_owned()];
        Ok(self.has_warned.then_some(CrashSign::KernelLog { lines }))
    }

    fn has_kernel_log(&self) -> bool {
        self.weakness == Weakness::WarnsAtLoopback
    }
}

fn probed(weakness: Weakness, frames: u64) -> (ProbeOutcome, WeakTranslator) {
    let (valid, setting) = (valid(), rigs::setting());
    let grammar = FrameGrammar::new(1, &valid, &setting).expect("a grammar");
    let mut device = WeakTranslator::new(weakness);
    let outcome = probe(&mut device, &grammar, frames);
    let Ok(outcome) = outcome;
    (outcome, device)
}

#[test]
fn a_device_that_lives_gets_every_frame_and_its_memory_is_what_it_was() {
    let (outcome, device) = probed(Weakness::None, 1000);
    assert_eq!((outcome.sent, outcome.batches), (1000, 32));
    assert_eq!(device.starts, 1);
    assert!(outcome.came > 100, "{}", outcome.came);
    assert!(!outcome.is_violation(), "{outcome:?}");
    let verdict = outcome.memory.map(|memory| memory.verdict);
    assert_eq!(verdict, Some(MemoryVerdict::Unchanged));
}

#[test]
fn of_the_frames_before_a_crash_the_two_are_found_that_make_it() {
    let (outcome, mut device) = probed(Weakness::FragmentAfterError, 1000);
    let crash = outcome.crash.as_ref().expect("a crash");
    assert_eq!(device.seen_after, Some(crash.after), "told at once");
    assert!(crash.is_repeatable && crash.is_minimal, "{crash:?}");
    assert!(matches!(crash.sign, CrashSign::Ended { .. }));
    assert!(crash.attempts <= 150, "{}", crash.attempts);
    assert!(outcome.is_violation() && outcome.memory.is_none());
    let results = RobustnessResults::new("d", "D", "1", outcome.clone());
    let text = serde_json::to_string(&results).expect("JSON");
    let frames = kept_frames(&text).expect("frames");
    let [error, fragment] = &frames[..] else {
        panic!("{} frames", frames.len())
    };
    assert!(error.index < fragment.index && fragment.index < crash.after);
    let is_error = dissect(&error.octets).iter().any(|layer| layer.is_in_error);
    assert!(is_error, "{error:?}");
    let layers = dissect(&fragment.octets);
    let mut offsets = layers
        .iter()
        .filter(|layer| matches!(layer.kind, LayerKind::Ipv4 | LayerKind::Frag))
        .filter_map(|layer| layer.value("offset"));
    assert!(offsets.any(|offset| offset > 0), "{fragment:?}");

    let Ok(again) = replay(&mut device, &frames);
    assert_eq!(again.crash.expect("the same crash").frames.len(), 2);
    let Ok(one) = replay(&mut device, &frames[1..]);
    assert_eq!(one.crash, None, "the fragment alone does nothing");
}

#[test]
fn a_device_that_only_stops_to_forward_has_crashed_too() {
    let (outcome, _) = probed(Weakness::SilentAfterLoopback, 3000);
    let crash = outcome.crash.expect("a crash");
    let from = vec![Side::Ipv4, Side::Ipv6];
    assert_eq!(crash.sign, CrashSign::Silent { from });
    assert_eq!(crash.frames.len(), 1, "{:?}", crash.frames);
    assert!(crash.is_minimal && crash.is_repeatable);
}

#[test]
fn a_warning_in_the_log_of_the_kernel_is_found_though_it_is_not_read_after_each_batch() {
    let (outcome, _) = probed(Weakness::WarnsAtLoopback, 3000);
    let crash = outcome.crash.expect("a crash");
    assert!(matches!(crash.sign, CrashSign::KernelLog { .. }));
    // Eight batches of 32 lie between two looks, of which the last frames make it.
    assert_eq!(crash.after % 256, 0, "{}", crash.after);
    assert_eq!(crash.frames.len(), 1, "{:?}", crash.frames);
    assert!(crash.is_minimal && crash.is_repeatable);
    // The last frames are looked at as well, however many they are.
    let after_it = crash.frames[0].index + 1;
    let (outcome, _) = probed(Weakness::WarnsAtLoopback, after_it);
    assert_eq!(outcome.crash.expect("the same crash").after, after_it);
}

#[test]
fn of_a_crash_that_does_not_happen_again_all_frames_are_kept() {
    let (outcome, device) = probed(Weakness::OnceOnly, 1000);
    let crash = outcome.crash.expect("a crash");
    assert!(!crash.is_repeatable && !crash.is_minimal);
    assert_eq!(crash.frames.len() as u64, crash.after);
    // The last batch, the last two, and so on.
    let attempts = (crash.after as f64 / 32.0).log2().ceil() as usize + 1;
    assert_eq!(crash.attempts, attempts);
    assert_eq!(device.starts as usize, 1 + attempts);
}

#[test]
fn a_leak_goes_on_in_the_second_half_and_a_cache_does_not() {
    let verdict = |weakness| {
        let (outcome, _) = probed(weakness, 4000);
        let memory: MemoryCourse = outcome.memory.expect("its memory");
        assert_eq!(
            outcome.is_violation(),
            memory.verdict == MemoryVerdict::Growing
        );
        memory.verdict
    };
    assert_eq!(verdict(Weakness::Leaks(2000)), MemoryVerdict::Growing);
    assert_eq!(verdict(Weakness::Leaks(20)), MemoryVerdict::Unchanged);
    assert_eq!(verdict(Weakness::Caches), MemoryVerdict::Settled);
}
