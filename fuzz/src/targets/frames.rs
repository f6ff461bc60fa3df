//! Frames that arrive at the tester, for every technology that has a recipe. The comparison of octets and the judgement by fields must agree, and
//! a frame judged right must equal the one built for its number, except for the parts that a device may choose; its IPv4 headers are also parsed
//! by etherparse, which shares no code with `wire`.

use crate::input::Input;
use etherparse::Ipv4HeaderSlice;
use sixbench_engine::fuzzing::{FRAMES, FrameJudge, RightFrame};
use sixbench_method::plan::Plan;
use sixbench_runner::profile::{Job, job};
use sixbench_testbed::{Library, Recipe};
use std::cell::RefCell;
use std::path::Path;

/// The variants of a recipe's test with different frames. Devices that do not support a variant are left out of it.
const VARIANTS: [&str; 5] = [
    "frame-sizes = [84]\n",
    "frame-sizes = [84]\nbackground = \"40%\"\n",
    "frame-sizes = [84]\npayload = \"echo\"\n",
    "frame-sizes = [84]\nports = \"fixed\"\n",
    "frame-sizes = [1518]\nflows = 7\n",
];

thread_local! {
    static JUDGES: RefCell<Vec<FrameJudge>> = RefCell::new(judges());
}

/// Returns the receivers of every recipe in every variant.
fn judges() -> Vec<FrameJudge> {
    let library = Library::load::<&Path>(&[]).expect("the recipes of sixbench");
    let jobs = library
        .iter()
        .flat_map(|recipe| VARIANTS.map(|variant| (recipe, plan(recipe, variant, &library))));
    jobs.flat_map(|(recipe, plan)| plan.map(|plan| of(recipe, &plan)).unwrap_or_default())
        .collect()
}

fn plan(recipe: &Recipe, variant: &str, library: &Library) -> Option<Plan> {
    let measure = if recipe.state.is_some() {
        "connections = 64\nestablishment-rate = \"1000\"\n"
    } else {
        ""
    };
    let name = &recipe.name;
    let text = |more: &str| {
        format!(
            "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"{name}\"\nmeasure = \"throughput\"\n{variant}{more}"
        )
    };
    let loaded = sixbench_plan::load(&text(measure), library)
        .or_else(|_| sixbench_plan::load(&text(""), library));
    loaded.ok().map(|loaded| loaded.plan)
}

fn of(recipe: &Recipe, plan: &Plan) -> Vec<FrameJudge> {
    let test = &plan.tests[0];
    match job(recipe, test, test.frame_sizes[0], 42, plan.trial) {
        Ok(Job::Frames(profile, _)) => FrameJudge::all(&profile),
        _ => Vec::new(),
    }
}

/// The first three octets select a receiver, and whether a right frame is changed (and its checksums are corrected) or the rest is the frame.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    JUDGES.with_borrow_mut(|judges| {
        let count = judges.len();
        let judge = &mut judges[usize::from(u16::from_be_bytes(input.array())) % count];
        let how = input.octet();
        if how & 1 == 0 {
            return check(judge, input.0);
        }
        let mut frame = judge
            .frame(u64::from(how >> 2) % FRAMES, input.u64())
            .into_vec();
        input.change(&mut frame);
        if how & 2 != 0 {
            super::checksums::mend(&mut frame);
        }
        check(judge, &frame);
    });
}

fn check(judge: &mut FrameJudge, frame: &[u8]) {
    if let Some(right) = judge.judge(frame) {
        assert_eq!(
            frame.len(),
            right.expected.len(),
            "a right frame has another length"
        );
        if let Some(at) = (0..frame.len())
            .find(|&at| frame[at] != right.expected[at] && !is_free(&right, frame, at))
        {
            panic!(
                "octet {at} of a right frame is {:#04x}, and not {:#04x}",
                frame[at], right.expected[at]
            );
        }
        check_header(&frame[ETHERNET..]);
        let inner = inner_at(frame);
        check_header(&frame[inner..]);
    }
}

const ETHERNET: usize = 14;

/// Returns the offset of the innermost datagram.
fn inner_at(frame: &[u8]) -> usize {
    match (
        frame[ETHERNET] >> 4,
        frame[ETHERNET + 6],
        frame[ETHERNET + 9],
    ) {
        (6, 4, _) => ETHERNET + 40,
        (4, _, 41) => ETHERNET + 20,
        _ => ETHERNET,
    }
}

/// Returns whether a device may choose an octet, or a part of it, in a frame that is otherwise right.
fn is_free(right: &RightFrame, frame: &[u8], at: usize) -> bool {
    let inner = inner_at(frame);
    let is_encapsulated = inner != ETHERNET;
    let differs = frame[at] ^ right.expected[at];
    // Identification, don't-fragment, and the header's checksum, which etherparse verifies.
    let of_ipv4 = |header: usize| {
        frame[header] >> 4 == 4
            && ((header + 4..header + 6).contains(&at)
                || (at == header + 6 && differs == 0x40)
                || (header + 10..header + 12).contains(&at))
    };
    let of_label =
        at == ETHERNET + 1 && differs < 0x10 || (ETHERNET + 2..ETHERNET + 4).contains(&at);
    (at < 12 && !right.knows_peer)
        || (is_encapsulated && of_ipv4(ETHERNET))
        || (is_encapsulated && frame[ETHERNET] >> 4 == 6 && of_label)
        || (right.is_translated && of_ipv4(inner))
}

fn check_header(datagram: &[u8]) {
    if datagram[0] >> 4 == 4 {
        let header = Ipv4HeaderSlice::from_slice(datagram)
            .expect("a right frame has an IPv4 header that others can read");
        assert_eq!(
            header.header_checksum(),
            header.to_header().calc_header_checksum(),
            "the checksum of a right frame"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technology_has_receivers_that_find_their_own_frames_right() {
        let mut judges = judges();
        assert!(judges.len() > 500, "{}", judges.len());
        for (nth, judge) in judges.iter_mut().enumerate() {
            let frame = judge.frame(5, 1_000_000_000);
            assert!(
                judge.judge(&frame).is_some(),
                "receiver {nth}: {frame:02x?}"
            );
            check(judge, &frame);
        }
    }

    #[test]
    fn what_a_device_may_not_choose_of_a_right_frame_is_seen() {
        let mut judges = judges();
        let judge = judges
            .iter_mut()
            .find(|judge| judge.frame(0, 0)[12..14] == [8, 0])
            .expect("IPv4");
        let frame = judge.frame(5, 1_000_000_000);
        let right = judge.judge(&frame).expect("a right frame");
        assert!(
            !is_free(&right, &frame, ETHERNET + 12) && !is_free(&right, &frame, frame.len() - 1)
        );
    }
}
