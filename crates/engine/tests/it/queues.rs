//! The whole tester with ports of several queues and rigged devices in memory: counts are exact for any number of sending and receiving queues,
//! whichever queue a frame arrives on.

use crate::common::by_number::*;
use crate::common::*;
use sixbench_engine::Layout;
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::{LoopbackDevice, pair_with_queues};
use sixbench_io::{Halves, Port, PortError, Receive};
use sixbench_method::terms::{Direction, Directions, FrameRate, Share};
use sixbench_method::trial::{DirectionResult, TrialKind, TrialResult, TrialSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn spec() -> TrialSpec {
    TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000)
}

/// Runs a trial with each number and each choice of queues, and passes it to `check`.
fn each_way(
    profile: &TrafficProfile,
    device: impl Fn() -> LoopbackDevice,
    check: impl Fn(&DirectionResult, &TrialResult),
) {
    for queues in QUEUES {
        for choice in [by_number, in_turn] {
            let result = trial_between(
                pair_with_queues(device(), queues, choice()),
                profile.clone(),
                spec(),
            );
            let forward = &result.directions[0];
            assert_eq!(forward.direction, Direction::Forward);
            assert_eq!(
                (forward.intended, forward.offered),
                (FRAMES, FRAMES),
                "{queues} queues"
            );
            check(forward, &result);
        }
    }
}

fn corrupted(mut frame: Vec<u8>) -> Vec<u8> {
    *frame.last_mut().expect("octets") ^= 0x80;
    frame
}

fn readdressed(mut frame: Vec<u8>) -> Vec<u8> {
    frame[29] = 9;
    frame
}

/// Returns the profile of frames with some octets after the tag, which can be damaged.
fn filled() -> TrafficProfile {
    TrafficProfile {
        frame_size: sixbench_method::terms::FrameSize(128),
        ..ipv4()
    }
}

/// Returns the counts: received, lost, mistranslated, corrupt, duplicate, foreign.
fn counts(direction: &DirectionResult) -> [u64; 6] {
    let DirectionResult {
        received,
        mistranslated,
        corrupt,
        duplicate,
        foreign,
        ..
    } = *direction;
    [
        received,
        direction.lost(),
        mistranslated,
        corrupt,
        duplicate,
        foreign,
    ]
}

#[test]
fn a_wire_returns_every_frame_of_both_directions_by_all_queues() {
    each_way(
        &ipv4(),
        || device(|_, frame| vec![frame]),
        |_, result| {
            for direction in &result.directions {
                assert_eq!(counts(direction), [FRAMES, 0, 0, 0, 0, 0]);
                assert_eq!(direction.delay.as_ref().expect("delays").count, FRAMES);
            }
        },
    );
}

#[test]
fn queues_are_served_by_as_many_threads_as_there_are_cores() {
    let cores = sixbench_io::thread::allowed_cores().expect("cores");
    for threads in 1..=cores.len().min(4) {
        let layout = Layout {
            cores: cores[..threads].to_vec(),
        };
        let device = rigged(|frame| vec![readdressed(frame.clone()), frame.clone(), frame]);
        let result = trial_on(
            layout,
            pair_with_queues(device, 2, by_number()),
            ipv4(),
            spec(),
        );
        assert_eq!(
            counts(&result.directions[0]),
            [FRAMES - CHOSEN, 0, CHOSEN, 0, 2 * CHOSEN, 0],
            "{threads} threads"
        );
        assert_eq!(
            counts(&result.directions[1]),
            [FRAMES, 0, 0, 0, 0, 0],
            "{threads} threads"
        );
    }
}

#[test]
fn mixed_traffic_takes_its_turns_over_all_queues() {
    let profile = ipv6_with_background(Share {
        foreground: 9,
        of: 10,
    });
    each_way(
        &profile,
        || device(|_, frame| vec![frame]),
        |forward, _| assert_eq!(forward.received, FRAMES),
    );
}

#[test]
fn lost_frames_are_counted_and_placed_in_time() {
    each_way(
        &ipv4(),
        || rigged(|_| vec![]),
        |forward, _| {
            assert_eq!(counts(forward), [FRAMES - CHOSEN, CHOSEN, 0, 0, 0, 0]);
            assert_eq!(forward.lost_by_bin, [6, 5]);
            assert_eq!(forward.last_missing_ns, Some(975 * 200_000));
            let gaps = forward.gaps.as_ref().expect("gaps");
            assert_eq!((gaps.count, gaps.longest), (CHOSEN, 1));
            let distances = forward.gap_distances.as_ref().expect("distances");
            assert_eq!(
                (distances.count, distances.shortest, distances.longest),
                (CHOSEN - 1, 97, 97)
            );
        },
    );
}

#[test]
fn neighbours_that_several_queues_sent_are_lost_in_one_gap() {
    let losing = || {
        device(|number, frame| {
            if (300..317).contains(&number) || number == 999 {
                vec![]
            } else {
                vec![frame]
            }
        })
    };
    each_way(&ipv4(), losing, |forward, _| {
        let gaps = forward.gaps.as_ref().expect("gaps");
        assert_eq!(
            (gaps.count, gaps.shortest, gaps.longest, gaps.total),
            (2, 1, 17, 18)
        );
        let distances = forward.gap_distances.as_ref().expect("a distance");
        assert_eq!((distances.count, distances.total), (1, 999 - 316));
    });
}

#[test]
fn frames_changed_or_damaged_are_found_by_their_numbers() {
    each_way(
        &ipv4(),
        || rigged(|frame| vec![readdressed(frame)]),
        |forward, _| {
            assert_eq!(counts(forward), [FRAMES - CHOSEN, 0, CHOSEN, 0, 0, 0]);
            assert_eq!(forward.examples.len(), 5);
            for example in &forward.examples {
                let number = example
                    .strip_prefix("forward frame ")
                    .and_then(|rest| rest.split(':').next()?.parse().ok());
                assert!(number.is_some_and(is_chosen), "{example}");
                assert!(
                    example.ends_with("source address: expected 198.18.0.2, got 198.18.0.9"),
                    "{example}"
                );
            }
        },
    );
    each_way(
        &filled(),
        || rigged(|frame| vec![corrupted(frame)]),
        |forward, _| {
            assert_eq!(counts(forward), [FRAMES - CHOSEN, 0, 0, CHOSEN, 0, 0]);
            assert_eq!(forward.lost_by_bin, [6, 5]);
        },
    );
}

#[test]
fn two_copies_are_one_frame_and_a_duplicate_on_whichever_queue_they_come() {
    each_way(
        &ipv4(),
        || rigged(|frame| vec![frame.clone(), frame]),
        |forward, _| {
            assert_eq!(counts(forward), [FRAMES, 0, 0, 0, CHOSEN, 0]);
        },
    );
}

#[test]
fn a_duplicate_on_another_queue_does_not_hide_a_loss() {
    let losing = || {
        device(|number, frame| match number % 97 {
            5 => vec![],
            6 => vec![frame.clone(), frame],
            _ => vec![frame],
        })
    };
    each_way(&ipv4(), losing, |forward, _| {
        assert_eq!(counts(forward), [FRAMES - CHOSEN, CHOSEN, 0, 0, CHOSEN, 0]);
    });
}

#[test]
fn of_a_right_and_a_wrong_copy_the_right_one_counts() {
    each_way(
        &ipv4(),
        || rigged(|frame| vec![frame.clone(), readdressed(frame)]),
        |forward, _| {
            assert_eq!(counts(forward), [FRAMES, 0, 0, 0, CHOSEN, 0]);
            assert!(forward.examples.is_empty(), "{:?}", forward.examples);
            assert!(forward.lost_by_bin.is_empty());
        },
    );
}

#[test]
fn of_two_wrong_copies_one_counts_and_the_other_is_a_duplicate() {
    let twice_wrong = || rigged(|frame| vec![readdressed(frame.clone()), corrupted(frame)]);
    each_way(&filled(), twice_wrong, |forward, _| {
        assert_eq!(counts(forward), [FRAMES - CHOSEN, 0, CHOSEN, 0, CHOSEN, 0]);
        assert_eq!(
            (forward.lost_by_bin.as_slice(), forward.last_missing_ns),
            (&[6, 5][..], Some(975 * 200_000))
        );
    });
}

#[test]
fn foreign_frames_are_counted_on_every_queue() {
    let with_foreign = || {
        rigged(|frame| {
            let mut foreign = frame.clone();
            foreign[42..46].copy_from_slice(b"none");
            vec![foreign, frame]
        })
    };
    each_way(&ipv4(), with_foreign, |forward, _| {
        assert_eq!(counts(forward), [FRAMES, 0, 0, 0, 0, CHOSEN]);
    });
}

#[test]
fn frames_sent_back_are_misdirected_on_whichever_queue_they_come() {
    let returning = || -> LoopbackDevice {
        Box::new(|frame, from_left, out| {
            let goes_back = from_left && tag(frame).is_some_and(|tag| is_chosen(tag.sequence));
            out.push((from_left != goes_back, frame.to_vec()));
        })
    };
    each_way(&ipv4(), returning, |forward, result| {
        assert_eq!(
            (forward.received, forward.lost()),
            (FRAMES - CHOSEN, CHOSEN)
        );
        assert_eq!(
            (
                result.directions[1].misdirected,
                result.directions[1].received
            ),
            (CHOSEN, FRAMES)
        );
    });
}

/// Returns a device that delays the chosen frames until `by` frames later.
fn holding(by: u64) -> LoopbackDevice {
    let mut held: Vec<(u64, Vec<u8>)> = Vec::new();
    Box::new(move |frame, from_left, out| {
        let number = tag(frame).filter(|_| from_left).map(|tag| tag.sequence);
        match number {
            Some(number) if is_chosen(number) => held.push((number, frame.to_vec())),
            _ => out.push((from_left, frame.to_vec())),
        }
        let (due, waiting) = held.drain(..).partition(|(of, _)| number == Some(of + by));
        held = waiting;
        out.extend(
            due.into_iter()
                .map(|(_, frame): (u64, Vec<u8>)| (true, frame)),
        );
    })
}

/// Returns a device on which frames of other queues overtake the chosen ones, but none of the same queue; counts how often one did.
fn overtaken_by_others(queues: u64, overtaken: Arc<AtomicU64>) -> LoopbackDevice {
    let mut held: Option<(u64, Vec<u8>)> = None;
    Box::new(move |frame, from_left, out| {
        let number = tag(frame).filter(|_| from_left).map(|tag| tag.sequence);
        let is_of_its_queue = |of: u64| number.is_some_and(|number| number % queues == of % queues);
        let before = held.take_if(|(of, _)| is_of_its_queue(*of));
        out.extend(before.map(|(_, frame)| (true, frame)));
        if let Some(number) = number.filter(|number| is_chosen(*number)) {
            held = Some((number, frame.to_vec()));
            return;
        }
        out.push((from_left, frame.to_vec()));
        if number.is_some_and(|_| held.is_some()) {
            overtaken.fetch_add(1, Ordering::Relaxed);
            out.extend(held.take().map(|(_, frame)| (true, frame)));
        }
    })
}

#[test]
fn order_is_that_of_the_frames_of_a_queue() {
    let profile = TrafficProfile {
        directions: Directions::Forward,
        ..ipv4()
    };
    let reordered = |device, queues| {
        let result = trial_between(
            pair_with_queues(device, queues, by_number()),
            profile.clone(),
            spec(),
        );
        assert_eq!(result.directions[0].received, FRAMES);
        result.directions[0].reordered
    };
    for queues in QUEUES {
        // Four frames later is on the same queue, with one, two or four queues.
        assert_eq!(reordered(holding(4), queues), CHOSEN, "{queues} queues");
    }
    for queues in [2, 4] {
        let overtaken = Arc::new(AtomicU64::new(0));
        assert_eq!(
            reordered(
                overtaken_by_others(queues, overtaken.clone()),
                queues as usize
            ),
            0,
            "{queues} queues"
        );
        assert!(overtaken.load(Ordering::Relaxed) > 0, "{queues} queues");
    }
}

#[test]
fn each_request_has_its_reply_by_whichever_queue_it_came() {
    let spec = TrialSpec::response(FrameRate(FRAMES * 5), 200_000_000);
    for queues in QUEUES {
        for choice in [by_number, in_turn] {
            let device = rigged(|frame| vec![frame.clone(), frame]);
            let result = trial_between(pair_with_queues(device, queues, choice()), ipv4(), spec);
            assert_eq!(result.spec.kind, TrialKind::Response);
            let [forward, reverse] = &result.directions[..] else {
                panic!("two directions")
            };
            assert_eq!(
                (forward.received, forward.duplicate),
                (FRAMES, CHOSEN),
                "{queues} queues"
            );
            assert_eq!(
                (reverse.intended, reverse.offered, reverse.received),
                (FRAMES, FRAMES, FRAMES),
                "{queues} queues"
            );
        }
    }
}

/// Withholds a frame for a while.
struct Withholding {
    inner: Box<dyn Receive>,
    number: u64,
    held: Option<(Instant, Vec<u8>)>,
}

const WITHHELD: Duration = Duration::from_millis(100);

impl Receive for Withholding {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        if let Some((_, frame)) = self.held.take_if(|(since, _)| since.elapsed() > WITHHELD) {
            each(&frame);
            return Ok(1);
        }
        let (number, held) = (self.number, &mut self.held);
        self.inner.receive(&mut |frame| match tag(frame) {
            Some(tag) if tag.sequence == number => *held = Some((Instant::now(), frame.to_vec())),
            _ => each(frame),
        })
    }

    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        self.inner.answer(frame)
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        self.inner.overruns()
    }
}

#[test]
fn a_frame_is_waited_for_although_another_came_on_two_queues() {
    let withheld = 997;
    let withhold = |port: Port| -> Port {
        let each = |Halves { transmit, receive }| {
            let receive = Box::new(Withholding {
                inner: receive,
                number: withheld,
                held: None,
            });
            Halves {
                transmit,
                receive: receive as Box<dyn Receive>,
            }
        };
        Port {
            queues: port.queues.into_iter().map(each).collect(),
            ..port
        }
    };
    let device = device(|number, frame| {
        if number == 998 {
            vec![frame.clone(), frame]
        } else {
            vec![frame]
        }
    });
    let (left, right) = pair_with_queues(device, 2, in_turn());
    let profile = TrafficProfile {
        directions: Directions::Forward,
        ..ipv4()
    };
    let result = trial_between((left, withhold(right)), profile, spec());
    assert_eq!(counts(&result.directions[0]), [FRAMES, 0, 0, 0, 1, 0]);
}
