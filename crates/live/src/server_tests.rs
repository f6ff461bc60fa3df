//! The page over TCP, with a client that treats HTTP as lines of text.

use crate::connections::ConnectionLimits;
use crate::{LiveError, LivePage, LiveRun};
use sixbench_io::files::Folder;
use sixbench_method::event::Event;
use sixbench_method::plan::{Plan, Profile, Test};
use sixbench_method::record::{FORMAT, TrialRecord};
use sixbench_method::search::{CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings};
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::{DirectionResult, TrialResult, TrialSettings, TrialSpec, Verdict};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const TOKEN: &str = "00112233445566778899aabbccddeeff";

fn run() -> LiveRun {
    let plan = Plan {
        name: "a <plan>".to_owned(),
        profile: Profile::Smoke,
        seed: 1,
        trial: TrialSettings {
            duration_ns: 1_000_000_000,
            residual_ns: 0,
            rest_ns: 0,
            frame_timeout_ns: 0,
            stall_ns: 2_000_000,
        },
        search: SearchSettings {
            method: SearchMethod::Binary,
            minimum: FrameRate(1_000),
            maximum: FrameRate(600_000),
            width: 0.01,
            goals: vec![LossRatio::ZERO],
            max_invalid: 3,
            start: RepetitionStart::Median,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        },
        patience_ns: Plan::USUAL_PATIENCE_NS,
        link_rate: None,
        interleave: false,
        exports: Vec::new(),
        reference: None,
        tests: vec![Test::new("t", "device")],
    };
    let directory = Folder::open(&std::env::temp_dir()).expect("a directory");
    LiveRun {
        plan,
        records: Vec::new(),
        directory,
        token: TOKEN.to_owned(),
        cores: Vec::new(),
    }
}

fn open() -> (LivePage, SocketAddr) {
    open_with(run(), ConnectionLimits::default())
}

fn open_with(run: LiveRun, limits: ConnectionLimits) -> (LivePage, SocketAddr) {
    let page = LivePage::open_with("127.0.0.1:0".parse().expect("an address"), run, limits)
        .expect("a free port");
    let address = page
        .url()
        .trim_start_matches("http://")
        .split('/')
        .next()
        .expect("an address")
        .parse();
    (page, address.expect("an address"))
}

fn ask(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a server");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    write!(stream, "{request}\r\nHost: {address}\r\n\r\n").expect("sent");
    stream
}

/// Returns the whole response.
fn answer(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a server");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

fn events(address: SocketAddr) -> BufReader<TcpStream> {
    BufReader::new(ask(address, &format!("GET /{TOKEN}/events HTTP/1.1")))
}

/// Reads until a line contains `text`.
fn wait_for(lines: &mut impl BufRead, text: &str) {
    let mut seen = String::new();
    while !seen.contains(text) {
        let before = seen.len();
        lines.read_line(&mut seen).expect("in time");
        assert!(
            seen.len() > before,
            "the stream ended without {text}: {seen}"
        );
    }
}

fn trial(number: u32, rate: u64, verdict: Verdict) -> Event {
    let point = run().plan.tests[0].points().next().expect("a point");
    let spec = TrialSpec::constant(FrameRate(rate), 1_000_000_000);
    let received = if verdict == Verdict::Passed {
        rate
    } else {
        rate - 7
    };
    let result = TrialResult::new(
        spec,
        vec![DirectionResult::counted(Direction::Forward, rate, received)],
        vec![],
    );
    let started = "2026-01-01T00:00:00Z".to_owned();
    let record = TrialRecord {
        format: FORMAT,
        point,
        repetition: 1,
        trial: number,
        load: None,
        started,
        result,
        watch: None,
    };
    Event::TrialEnded {
        record: Box::new(record),
        verdict,
    }
}

#[test]
fn nothing_is_shown_to_who_has_no_token() {
    let (_page, address) = open();
    for path in [
        "/",
        "/metrics",
        "/ffffffffffffffffffffffffffffffff/",
        "/events",
    ] {
        let answer = answer(address, path);
        assert!(
            answer.starts_with("HTTP/1.1 403")
                && answer.contains("token")
                && !answer.contains("plan"),
            "{answer}"
        );
    }
    assert!(answer(address, &format!("/{TOKEN}/nothing")).starts_with("HTTP/1.1 404"));
    assert!(answer(address, &format!("/{TOKEN}/..%2fCargo.html")).starts_with("HTTP/1.1 404"));
    let page = answer(address, &format!("/{TOKEN}/"));
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("EventSource"),
        "{page}"
    );
    assert!(!page.contains("NONCE") && !page.contains("/*STYLE*/"));
}

#[test]
fn a_browser_gets_the_whole_state_first_and_then_each_change() {
    let (page, address) = open();
    page.feed().note(&trial(1, 1000, Verdict::Passed));
    let mut early = events(address);
    wait_for(&mut early, "event: answer");
    wait_for(&mut early, r#""trials":{"passed":1,"lost":0,"invalid":0}"#);
    page.feed().note(&trial(2, 2000, Verdict::Lost));
    wait_for(&mut early, r#""missing":7"#);
    // A browser that comes later, or reconnects, needs nothing from before.
    wait_for(
        &mut events(address),
        r#""trials":{"passed":1,"lost":1,"invalid":0}"#,
    );
}

#[test]
fn browsers_that_never_read_stop_neither_the_run_nor_others() {
    let (page, address) = open();
    let silent: Vec<TcpStream> = (0..8)
        .map(|_| ask(address, &format!("GET /{TOKEN}/events HTTP/1.1")))
        .collect();
    let mut reader = events(address);
    for number in 1..=3000 {
        page.feed()
            .note(&trial(number, u64::from(number) + 10, Verdict::Passed));
        if number % 500 == 0 {
            wait_for(&mut reader, &format!(r#""number":{number},"#));
        }
    }
    assert_eq!(silent.len(), 8);
}

#[test]
fn the_last_state_reaches_those_who_watch_before_the_page_is_gone() {
    let (page, address) = open();
    let mut reader = events(address);
    wait_for(&mut reader, "event: state");
    page.feed().note(&Event::RunEnded {
        results: String::new(),
        interrupted: false,
    });
    drop(page);
    wait_for(&mut reader, r#""stage":"complete""#);
    // Its thread runs on idle cores only, and the run does not wait for it on a busy machine.
    let end = Instant::now() + Duration::from_secs(120);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < end, "the server is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_port_in_use_is_told() {
    let (_page, address) = open();
    let error = LivePage::open(address, run()).err().expect("it is in use");
    assert!(
        matches!(error, LiveError::InUse(_)) && error.to_string().contains(&address.to_string()),
        "{error}"
    );
}

#[test]
fn metrics_are_openmetrics_text() {
    let (page, address) = open();
    page.feed().note(&trial(1, 1000, Verdict::Lost));
    let Event::TrialEnded {
        mut record,
        verdict,
    } = trial(2, 1000, Verdict::Lost)
    else {
        panic!("a trial")
    };
    record.result.directions[0].duplicate = 12;
    page.feed().note(&Event::TrialEnded { record, verdict });
    wait_for(&mut events(address), r#""lost":2"#);
    let answer = answer(address, &format!("/metrics?t={TOKEN}"));
    assert!(
        answer.contains("content-type: application/openmetrics-text"),
        "{answer}"
    );
    for line in [
        "# TYPE sixbench_trials counter",
        "sixbench_trials_total{verdict=\"lost\"} 2",
        "# TYPE sixbench_anomalous_frames counter",
        "sixbench_anomalous_frames_total{test=\"t\",kind=\"duplicate\"} 12",
        "sixbench_anomalous_frames_total{test=\"t\",kind=\"foreign\"} 0",
        "sixbench_last_offered{direction=\"forward\"} 1000",
        "sixbench_last_missing{direction=\"forward\"} 7",
    ] {
        assert!(
            answer.lines().any(|found| found == line),
            "{line} is missing: {answer}"
        );
    }
    assert!(
        answer.ends_with("# EOF\n") || answer.contains("# EOF\n"),
        "{answer}"
    );
}

/// Limits short enough for a test.
const SHORT: ConnectionLimits = ConnectionLimits {
    most: 2,
    most_unknown: 16,
    most_unknown_of_address: 8,
    unknown: Duration::from_millis(300),
    head: Duration::from_millis(300),
    unread: Duration::from_millis(1000),
};

/// Returns the time until the server has closed a connection, and what it sent before.
fn closed_after(mut stream: TcpStream) -> (Duration, String) {
    let begun = Instant::now();
    let mut text = Vec::new();
    // A reset also means closed.
    let _ = stream.read_to_end(&mut text);
    (begun.elapsed(), String::from_utf8_lossy(&text).into_owned())
}

fn connected(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a server");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    stream
}

#[test]
fn one_that_asks_nothing_or_never_comes_to_an_end_is_closed() {
    let (_page, address) = open_with(run(), SHORT);
    let (time, _) = closed_after(connected(address));
    assert!(
        time >= SHORT.head && time < Duration::from_secs(20),
        "it asked nothing: {time:?}"
    );
    let mut endless = connected(address);
    let begun = Instant::now();
    // One letter at a time does not keep a connection open: the whole head must arrive in time.
    while write!(endless, "G").is_ok() && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
    let (time, told) = closed_after(ask(address, &format!("GET /{TOKEN}/metrics HTTP/1.1")));
    assert!(
        told.contains("# EOF") && time >= SHORT.head,
        "it asked once and no more: {time:?}"
    );
}

#[test]
fn a_head_without_end_is_refused_before_it_takes_much_memory() {
    let (_page, address) = open();
    let mut stream = connected(address);
    let line = format!("X-Long: {}\r\n", "x".repeat(1000));
    let _ = write!(stream, "GET /{TOKEN}/ HTTP/1.1\r\nHost: {address}\r\n");
    let written = (0..10_000)
        .take_while(|_| stream.write_all(line.as_bytes()).is_ok())
        .count();
    assert!(written < 10_000, "ten million octets of head were taken");
}

/// Limits that close nothing by its time within a test.
const PATIENT: ConnectionLimits = ConnectionLimits {
    most: 2,
    most_unknown: 16,
    most_unknown_of_address: 8,
    unknown: Duration::from_secs(3600),
    head: Duration::from_secs(3600),
    unread: Duration::from_secs(3600),
};

/// The time in which an answer must come, far more than it takes, and far less than the limits of `PATIENT`.
const AT_ONCE: Duration = Duration::from_secs(30);

#[test]
fn who_has_the_token_is_answered_whatever_others_without_it_do() {
    let (page, address) = open_with(run(), PATIENT);
    let refused: Vec<TcpStream> = (0..60)
        .map(|_| ask(address, "GET /wrong/ HTTP/1.1"))
        .collect();
    let idle: Vec<TcpStream> = (0..60).map(|_| connected(address)).collect();
    let slow: Vec<TcpStream> = (0..60).map(|_| connected(address)).collect();
    for mut stream in &slow {
        drop(write!(stream, "GET /{TOKEN}/ HTTP/1.1\r\n"));
    }
    let begun = Instant::now();
    for _ in 0..3 {
        assert!(answer(address, &format!("/{TOKEN}/metrics")).contains("# EOF"));
    }
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    // A peer that has shown the token keeps its place.
    let mut watching = events(address);
    wait_for(&mut watching, "event: state");
    let more: Vec<TcpStream> = (0..60).map(|_| connected(address)).collect();
    assert!(answer(address, &format!("/{TOKEN}/metrics")).contains("# EOF"));
    drop(page);
    wait_for(&mut watching, r#""is_last":true"#);
    drop((refused, idle, slow, more));
}

#[test]
fn a_refused_connection_is_closed() {
    let (_page, address) = open_with(run(), PATIENT);
    for request in [
        "GET / HTTP/1.1",
        "GET /wrong/events HTTP/1.1",
        "POST / HTTP/1.1",
    ] {
        let (time, told) = closed_after(ask(address, request));
        assert!(
            told.contains("connection: close") && time < AT_ONCE,
            "{time:?}: {told}"
        );
    }
}

#[test]
fn connections_with_the_token_beyond_those_that_there_may_be_are_refused() {
    let (_page, address) = open_with(run(), PATIENT);
    let mut watching: Vec<BufReader<TcpStream>> =
        (0..PATIENT.most).map(|_| events(address)).collect();
    for reader in &mut watching {
        wait_for(reader, "event: state");
    }
    let refused = answer(address, &format!("/{TOKEN}/metrics"));
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("close some pages"),
        "{refused}"
    );
}

#[test]
fn browsers_beyond_the_limit_are_told_so_and_the_page_stays_there_for_others() {
    let (_page, address) = open();
    let mut watching: Vec<BufReader<TcpStream>> = (0..32).map(|_| events(address)).collect();
    for reader in &mut watching {
        wait_for(reader, "event: state");
    }
    let refused = answer(address, &format!("/{TOKEN}/events"));
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("close some"),
        "{refused}"
    );
    assert!(answer(address, &format!("/{TOKEN}/")).contains("EventSource"));
    watching.pop();
    let end = Instant::now() + Duration::from_secs(60);
    let mut again = events(address);
    let mut status = String::new();
    again.read_line(&mut status).expect("an answer");
    while !status.contains("200") && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
        again = events(address);
        status.clear();
        again.read_line(&mut status).expect("an answer");
    }
    wait_for(&mut again, "event: state");
}

#[test]
fn one_that_reads_nothing_is_given_up_and_its_place_is_free_again() {
    let (page, address) = open_with(run(), ConnectionLimits { most: 1, ..SHORT });
    let mut silent = ask(address, &format!("GET /{TOKEN}/events HTTP/1.1"));
    // It has its place as soon as there is an answer.
    silent
        .read_exact(&mut [0; 8])
        .expect("the beginning of an answer");
    let free = move || {
        while !answer(address, &format!("/{TOKEN}/metrics")).contains("# EOF") {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let waiting = std::thread::spawn(free);
    let end = Instant::now() + Duration::from_secs(60);
    let mut number = 0;
    while !waiting.is_finished() && Instant::now() < end {
        number += 1;
        page.feed()
            .note(&trial(number, u64::from(number) + 10, Verdict::Passed));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(waiting.is_finished(), "the place was never free");
    // Everything sent before can still be read, and then the connection has ended.
    let _ = silent.read_to_end(&mut Vec::new());
}

/// Returns the resident memory of this process, octets.
fn memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    4096 * statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .expect("a number")
}

#[test]
fn a_long_file_does_not_stand_in_memory_for_each_that_fetches_it() {
    let directory = std::env::temp_dir().join(format!("sixbench-live-file-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let long = "x".repeat(64 << 20);
    std::fs::write(directory.join("results.json"), &long).expect("a file");
    std::fs::create_dir(directory.join("directory.json")).expect("a directory");
    let (_page, address) = open_with(
        LiveRun {
            directory: Folder::open(&directory).expect("a directory"),
            ..run()
        },
        ConnectionLimits::default(),
    );
    let before = memory();
    let silent: Vec<TcpStream> = (0..16)
        .map(|_| ask(address, &format!("GET /{TOKEN}/results.json HTTP/1.1")))
        .collect();
    assert!(answer(address, &format!("/{TOKEN}/directory.json")).starts_with("HTTP/1.1 404"));
    let grown = memory().saturating_sub(before);
    assert!(
        grown < 256 << 20,
        "16 that fetch 64 MB and read nothing take {grown} octets"
    );
    let text = answer(address, &format!("/{TOKEN}/results.json"));
    assert!(
        text.contains("application/json") && text.matches('x').count() >= long.len(),
        "{} octets",
        text.len()
    );
    drop(silent);
    std::fs::remove_dir_all(directory).expect("removed");
}
