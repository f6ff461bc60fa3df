//! `sixbench init` at a terminal, which echoes, sends lines when Enter is pressed, and turns keys into signals. The terminal is simulated by `script`
//! (Debian's bsdutils, which is always installed): what is written to its input is typed.

use crate::common::{Scratch, output, text, with_environment};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const ENTER: &str = "\n";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const BACKSPACE: &str = "\x7f";
const LEFT: &str = "\x1b[D";
const HOME: &str = "\x1b[H";

/// A terminal in which `sixbench init` runs.
struct Terminal {
    script: Child,
    shown: Arc<Mutex<String>>,
    /// The length of what was shown before the last answer, octets: the next question must follow it.
    read: usize,
}

impl Terminal {
    fn start(plan: &str) -> Self {
        let mut command = with_environment(Command::new("script"));
        // A test in the background would inherit an ignored SIGINT.
        let line = format!(
            "exec env --default-signal=INT {} init {plan}",
            env!("CARGO_BIN_EXE_sixbench")
        );
        command
            .env("TERM", "xterm")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut script = command.spawn().expect("script, of the package bsdutils");
        let (shown, mut screen) = (
            Arc::new(Mutex::new(String::new())),
            script.stdout.take().expect("a pipe"),
        );
        let kept = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(octets @ 1..) = screen.read(&mut piece) {
                kept.lock()
                    .expect("a lock")
                    .push_str(&text(&piece[..octets]));
            }
        });
        Self {
            script,
            shown,
            read: 0,
        }
    }

    fn shown(&self) -> String {
        self.shown.lock().expect("a lock").clone()
    }

    /// Waits until `question` is shown, and types.
    fn answer(&mut self, question: &str, typed: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        let at = loop {
            let shown = self.shown();
            if let Some(at) = shown[self.read..].find(question) {
                break self.read + at + question.len();
            }
            assert!(Instant::now() < end, "`{question}` is not shown: {shown}");
            std::thread::sleep(Duration::from_millis(5));
        };
        self.read = at;
        self.script
            .stdin
            .as_mut()
            .expect("a pipe")
            .write_all(typed.as_bytes())
            .expect("typed");
    }

    /// Waits until the program has ended. The input stays open until then, since `script` would otherwise also end the terminal's input.
    fn end(mut self) -> (ExitStatus, String) {
        let input = self.script.stdin.take();
        let end = Instant::now() + Duration::from_secs(60);
        let status = loop {
            match self.script.try_wait().expect("a state") {
                Some(status) => break status,
                None if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                None => {
                    self.script.kill().expect("killed");
                    panic!("it does not end: {}", self.shown());
                }
            }
        };
        drop(input);
        (status, self.shown())
    }
}

fn assert_nothing_left(scratch: &Scratch) {
    let left: Vec<_> = std::fs::read_dir(scratch.path(""))
        .expect("the directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn five_answers_at_a_terminal_make_a_plan_that_check_calls_good() {
    let scratch = Scratch::new("init-good");
    let plan = scratch.path("plan.toml");
    let mut terminal = Terminal::start(&plan);
    terminal.answer("Name of the plan [my-plan]: ", "office\n");
    terminal.answer("Device (? lists them) [tayga-nat64]: ", "linux-ipv6\n");
    terminal.answer("Where it is", ENTER);
    terminal.answer("Measures", "throughput, latency\n");
    terminal.answer("Profile", ENTER);
    let (status, shown) = terminal.end();
    assert!(status.success(), "{shown}");
    assert!(
        shown.contains("sixbench run"),
        "the next command is told: {shown}"
    );
    let written = std::fs::read_to_string(&plan).expect("the plan");
    assert!(
        written.contains("name = \"office\"") && written.contains("dut = \"linux-ipv6\""),
        "{written}"
    );
    let checked = output(&["check", &plan]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    assert!(
        text(&checked.stdout).contains("good (2 tests"),
        "{}",
        text(&checked.stdout)
    );
}

#[test]
fn a_wrong_answer_is_asked_again_and_the_right_one_is_taken() {
    let scratch = Scratch::new("init-again");
    let plan = scratch.path("plan.toml");
    let mut terminal = Terminal::start(&plan);
    terminal.answer("Name of the plan", "two words\n");
    terminal.answer("Name of the plan", "p\n");
    terminal.answer("Device", "linux-ipv66\n");
    terminal.answer("did you mean `linux-ipv6`?", "");
    terminal.answer("Device", "linux-ipv6\n");
    terminal.answer("Where it is", "there\n");
    terminal.answer("expected here, cabled or ssh, not `there`", "");
    terminal.answer("Where it is", "cabled\n");
    terminal.answer("LEFT,RIGHT", "eth1\n");
    terminal.answer("LEFT,RIGHT", "eth1,eth2\n");
    // Keys that delete: 0x7f, which terminals send for Backspace, and Ctrl-U for the whole line.
    terminal.answer("Measures", "nonsense\x15throughputt\x7f\n");
    terminal.answer("Profile", "long\n");
    terminal.answer("Profile", "draft\n");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{shown}");
    let checked = output(&["check", &plan]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let written = std::fs::read_to_string(&plan).expect("the plan");
    assert!(
        written.contains("profile = \"draft\"") && written.contains("left = \"eth1\""),
        "{written}"
    );
}

#[test]
fn an_answer_is_edited_before_it_is_given() {
    let scratch = Scratch::new("init-edited");
    let plan = scratch.path("plan.toml");
    let mut terminal = Terminal::start(&plan);
    terminal.answer("Name of the plan", &format!("abx{LEFT}{BACKSPACE}{ENTER}"));
    terminal.answer("Device", &format!("inux-ipv6{HOME}l{ENTER}"));
    terminal.answer("Where it is", ENTER);
    terminal.answer("Measures", ENTER);
    terminal.answer("Profile", ENTER);
    let (status, shown) = terminal.end();
    assert!(status.success() && !shown.contains("^["), "{shown}");
    let written = std::fs::read_to_string(&plan).expect("the plan");
    assert!(
        written.contains("name = \"ax\"") && written.contains("dut = \"linux-ipv6\""),
        "{written}"
    );
}

#[test]
fn ctrl_c_and_the_end_of_input_end_it_and_leave_no_file() {
    for (name, keys, exit) in [("init-ctrl-c", CTRL_C, 130), ("init-ctrl-d", CTRL_D, 2)] {
        let scratch = Scratch::new(name);
        let mut terminal = Terminal::start(&scratch.path("plan.toml"));
        terminal.answer("Name of the plan", "p\n");
        terminal.answer("Device", keys);
        let (status, shown) = terminal.end();
        assert_eq!(status.code(), Some(exit), "{name}: {shown}");
        assert_nothing_left(&scratch);
    }
}

#[test]
fn a_plan_that_exists_is_told_before_the_first_question_and_left_as_it_is() {
    let scratch = Scratch::new("init-exists");
    let plan = scratch.write("plan.toml", "name = \"mine\"\n");
    let (status, shown) = Terminal::start(&plan).end();
    assert_eq!(status.code(), Some(2), "{shown}");
    assert!(
        shown.contains("exists") && !shown.contains("Name of the plan"),
        "{shown}"
    );
    assert_eq!(
        std::fs::read_to_string(Path::new(&plan)).expect("the plan"),
        "name = \"mine\"\n"
    );
}
