//! A tester whose ends are two testers in separate threads, with clocks an hour apart, which exchange over channels what two machines would tell
//! each other: every fault of a rigged device is counted as exactly as with a tester on one machine.

use crate::common::*;
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_engine::{
    Companion, DistantPort, EndResult, EndTrial, FrameTester, Layout, MeasureError, OneEnd,
    SentShare,
};
use sixbench_io::Port;
use sixbench_io::clock::Clock;
use sixbench_io::loopback::{LoopbackDevice, pair_with, pair_with_queues};
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::{Direction, Directions, FrameRate};
use sixbench_method::trial::{DirectionResult, Fault, TrialResult, TrialSettings, TrialSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const HOUR_NS: i64 = 3_600_000_000_000;

/// A message from one machine to the other.
enum Said {
    StartAt(u64),
    Sent(Vec<SentShare>),
}

/// The other machine, as seen by one of them.
struct Peer {
    chooses_start: bool,
    out: Sender<Said>,
    from: Receiver<Said>,
    lost: Arc<AtomicBool>,
}

impl Peer {
    fn hear(&self) -> Result<Said, MeasureError> {
        self.from
            .recv_timeout(Duration::from_secs(60))
            .map_err(|_| MeasureError::OtherMachine("it says nothing".to_owned()))
    }

    fn say(&self, said: Said) {
        // A machine that has ended does not listen.
        let _ = self.out.send(said);
    }
}

impl Companion for Peer {
    fn agree(&mut self, clock: &Clock) -> Result<u64, MeasureError> {
        if self.chooses_start {
            let start_ns = clock.now_ns() + 100_000_000;
            self.say(Said::StartAt(start_ns));
            return Ok(start_ns);
        }
        match self.hear()? {
            Said::StartAt(start_ns) => Ok(start_ns),
            Said::Sent(_) => panic!("nothing was sent yet"),
        }
    }

    fn swap(&mut self, sent: &[SentShare]) -> Result<Vec<SentShare>, MeasureError> {
        self.say(Said::Sent(sent.to_vec()));
        match self.hear()? {
            Said::Sent(sent) => Ok(sent),
            Said::StartAt(_) => panic!("the start was agreed on before"),
        }
    }

    fn lost(&self) -> Arc<AtomicBool> {
        self.lost.clone()
    }
}

fn distant(port: &Port) -> DistantPort {
    DistantPort {
        mac: port.mac,
        queues: port.queues.len(),
    }
}

fn end(
    sends: Direction,
    (port, other): (Port, DistantPort),
    profile: &TrafficProfile,
) -> FrameTester {
    let settings = TrialSettings {
        duration_ns: 0,
        residual_ns: 500_000_000,
        rest_ns: 0,
        frame_timeout_ns: 0,
        // Counts are tested here, not timing.
        stall_ns: 10_000_000_000,
    };
    let profile = Isolation::Declared
        .admit(profile.clone())
        .expect("declared");
    FrameTester::at_one_end(
        OneEnd {
            sends,
            port,
            distant: other,
        },
        profile,
        settings,
        Layout::default(),
        Arc::default(),
    )
}

fn part(spec: TrialSpec, measures_delays: bool) -> EndTrial {
    // Much more than the difference of the clocks in this process, as between two machines.
    EndTrial {
        spec,
        number: 7,
        clocks_apart_ns: 50_000_000,
        measures_delays,
    }
}

/// Returns a trial of two machines that are connected to each other, and to a device.
fn apart(ports: (Port, Port), profile: &TrafficProfile, trial: EndTrial) -> TrialResult {
    let _guard = ONE_AT_A_TIME.lock();
    let ((to_right, from_left), (to_left, from_right)) = (channel(), channel());
    let distant = (distant(&ports.0), distant(&ports.1));
    let mut left = end(Direction::Forward, (ports.0, distant.1), profile);
    let mut right = end(Direction::Reverse, (ports.1, distant.0), profile);
    // The clocks were started at different times; in addition, the left one is set an hour ahead, and the right one is set by it.
    left.set_clock(left.clock().set_forward(HOUR_NS));
    let ahead_ns = left.clock().now_ns() as i64 - right.clock().now_ns() as i64;
    assert!(ahead_ns > HOUR_NS / 2);
    right.set_clock(right.clock().set_forward(ahead_ns));
    let mut at_left = Peer {
        chooses_start: true,
        out: to_right,
        from: from_right,
        lost: Arc::default(),
    };
    let mut at_right = Peer {
        chooses_start: false,
        out: to_left,
        from: from_left,
        lost: Arc::default(),
    };
    let (here, there) = std::thread::scope(|scope| {
        let there = scope.spawn(move || right.measure_end(&trial, &mut at_right));
        (
            left.measure_end(&trial, &mut at_left),
            there.join().expect("no panic"),
        )
    });
    EndResult::joined(
        here.expect("the left end"),
        trial.spec,
        there.expect("the right end"),
        "tester2",
    )
}

fn constant() -> TrialSpec {
    TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000)
}

/// Returns a trial at a constant load of a tester on two machines.
pub(crate) fn through(device: LoopbackDevice, profile: &TrafficProfile) -> TrialResult {
    apart(pair_with(device), profile, part(constant(), false))
}

/// Returns the counts: received, lost, mistranslated, corrupt, duplicate, reordered.
fn counts(direction: &DirectionResult) -> [u64; 6] {
    let DirectionResult {
        received,
        mistranslated,
        corrupt,
        duplicate,
        reordered,
        ..
    } = *direction;
    assert_eq!((direction.intended, direction.offered), (FRAMES, FRAMES));
    [
        received,
        direction.lost(),
        mistranslated,
        corrupt,
        duplicate,
        reordered,
    ]
}

/// Returns a device that, in both directions and of each hundred frames, loses frame 50, doubles 51, damages 52, changes the address of 53, and
/// lets 55 overtake 54.
fn rigged() -> LoopbackDevice {
    let mut held = None;
    each(move |number, mut frame| match number % 100 {
        50 => vec![],
        51 => vec![frame.clone(), frame],
        52 => {
            *frame.last_mut().expect("octets") ^= 0x80;
            vec![frame]
        }
        53 => {
            frame[29] = 9;
            vec![frame]
        }
        54 => {
            held = Some(frame);
            vec![]
        }
        55 => [Some(frame), held.take()].into_iter().flatten().collect(),
        _ => vec![frame],
    })
}

/// Returns the profile of frames with some octets after the tag, which can be damaged.
fn filled(directions: Directions) -> TrafficProfile {
    TrafficProfile {
        frame_size: sixbench_method::terms::FrameSize(128),
        directions,
        ..ipv4()
    }
}

#[test]
fn every_wrong_of_a_device_is_counted_exactly_although_sender_and_receiver_are_on_two_machines() {
    for directions in [Directions::Forward, Directions::Reverse] {
        let result = through(rigged(), &filled(directions));
        let [direction] = &result.directions[..] else {
            panic!("{result:?}")
        };
        assert_eq!(direction.direction, directions.each()[0]);
        assert_eq!(counts(direction), [970, 10, 10, 10, 10, 10]);
        assert_eq!(
            direction.lost_by_bin,
            [15, 15],
            "the lost, the damaged and the mistranslated ones by their due times"
        );
        let example = direction
            .examples
            .iter()
            .find(|example| example.contains("address: expected 198.1"))
            .expect("an example");
        assert!(
            example.starts_with(&format!("{} frame ", direction.direction)),
            "{example}"
        );
    }
}

#[test]
fn both_directions_are_joined_into_one_result() {
    let result = through(each(|_, frame| vec![frame]), &ipv4());
    let directions: Vec<_> = result
        .directions
        .iter()
        .map(|direction| direction.direction)
        .collect();
    assert_eq!(directions, [Direction::Forward, Direction::Reverse]);
    for direction in &result.directions {
        assert_eq!(counts(direction), [FRAMES, 0, 0, 0, 0, 0]);
        assert!(direction.sending.took_ns >= 199_000_000, "{direction:?}");
    }
}

#[test]
fn delays_are_measured_only_where_the_clocks_are_known() {
    let with = |measures_delays| {
        apart(
            pair_with(each(|_, frame| vec![frame])),
            &ipv4(),
            part(constant(), measures_delays),
        )
    };
    let unknown = with(false);
    assert!(
        unknown
            .directions
            .iter()
            .all(|d| d.delay.is_none() && d.delays.is_empty() && d.received == FRAMES)
    );
    let known = with(true);
    assert!(
        known
            .directions
            .iter()
            .all(|d| d.delay.as_ref().is_some_and(|delay| delay.count == FRAMES))
    );
}

#[test]
fn a_burst_is_received_to_its_last_frame() {
    let trial = part(TrialSpec::burst(FrameRate(20_000), FRAMES), false);
    let result = apart(pair_with(each(|_, frame| vec![frame])), &ipv4(), trial);
    assert!(
        result
            .directions
            .iter()
            .all(|direction| direction.received == FRAMES),
        "{result:?}"
    );
}

#[test]
fn ports_of_several_queues_are_counted_as_well() {
    let mut turn = 0;
    let in_turn = Box::new(move |_: &[u8]| {
        turn += 1;
        turn
    });
    let result = apart(
        pair_with_queues(rigged(), 2, in_turn),
        &filled(Directions::Forward),
        part(constant(), false),
    );
    let [received, lost, mistranslated, corrupt, duplicate, _] = counts(&result.directions[0]);
    assert_eq!(
        [received, lost, mistranslated, corrupt, duplicate],
        [970, 10, 10, 10, 10]
    );
}

#[test]
fn the_faults_of_the_other_machine_bear_its_name() {
    let late = |frames| Fault::SenderStalled {
        direction: Direction::Forward,
        worst_lateness_ns: 2_000_000,
        frames,
    };
    let one = |direction, faults| EndResult {
        directions: vec![DirectionResult::counted(direction, 100, 100)],
        faults,
    };
    let result = one(Direction::Reverse, vec![late(1)]).joined(
        constant(),
        one(Direction::Forward, vec![late(2)]),
        "tester2",
    );
    let words: Vec<String> = result.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        words[0],
        "forward: the sender stalled for 2.00 ms; 1 frame was sent late"
    );
    assert_eq!(
        words[1],
        "forward: the sender stalled for 2.00 ms; 2 frames were sent late (on tester2)"
    );
}

#[test]
fn a_trial_ends_when_the_other_machine_is_lost() {
    let (left, right) = pair_with(each(|_, frame| vec![frame]));
    let mut tester = end(Direction::Forward, (left, distant(&right)), &ipv4());
    let (out, from) = channel();
    let mut companion = Peer {
        chooses_start: true,
        out,
        from,
        lost: Arc::new(AtomicBool::new(true)),
    };
    let minute = TrialSpec::constant(FrameRate(100), 60_000_000_000);
    let error = tester
        .measure_end(&part(minute, false), &mut companion)
        .expect_err("lost");
    assert!(matches!(error, MeasureError::Parted), "{error}");
    companion.lost.store(false, Ordering::Relaxed);
    let error = tester
        .measure_end(
            &part(TrialSpec::response(FrameRate(100), 1), false),
            &mut companion,
        )
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "a tester on two machines cannot make a trial of requests and replies"
    );
}

#[test]
fn a_machine_that_does_not_agree_on_a_start_ends_the_trial_before_the_first_frame() {
    let (left, right) = pair_with(each(|_, _| panic!("nothing may be sent")));
    let mut tester = end(Direction::Forward, (left, distant(&right)), &ipv4());
    let (out, _) = channel();
    // The other end no longer exists.
    let (_, from) = channel();
    let mut companion = Peer {
        chooses_start: false,
        out,
        from,
        lost: Arc::default(),
    };
    let error = tester
        .measure_end(&part(constant(), false), &mut companion)
        .expect_err("no start");
    assert_eq!(error.to_string(), "it says nothing");
}

#[test]
fn what_a_device_answers_at_one_end_is_told_of_the_direction_that_the_other_end_receives() {
    let refusing: LoopbackDevice = Box::new(|frame, from_left, out| {
        let message = crate::common::floods::quoting(3, 13, frame);
        let error = crate::common::floods::to_all(
            crate::common::floods::IPV4,
            &crate::common::floods::ipv4_datagram(1, &message),
        );
        out.push((false, if from_left { error } else { frame.to_vec() }));
    });
    let result = through(refusing, &ipv4());
    let [forward, reverse] = &result.directions[..] else {
        panic!("{result:?}")
    };
    assert_eq!(
        (
            forward.received,
            forward.answered_with_errors(),
            reverse.answered_with_errors()
        ),
        (0, FRAMES, 0)
    );
    assert_eq!(
        forward.icmp_errors[0].wrong_checksum, FRAMES,
        "the device of this test computes none"
    );
}
