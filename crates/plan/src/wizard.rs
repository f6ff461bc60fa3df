//! Creates a plan by questions and answers: one device, its place, the measures, and the duration. A question has one line for its answer, whether a person
//! edits it at a terminal, or a pipe or a test has it ready.

use crate::reader::nearest;
use crate::reader::words::{identifier, interface, profile};
use crate::schema;
use sixbench_method::measures::{Demand, Info, Measure};
use sixbench_method::names::NameError;
use sixbench_method::units::{ValueError, expected};
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{Library, Recipe, why_missing};
use std::fmt::Display;
use std::io;
use thiserror::Error;

/// A question that has no answer, so that there is no plan.
#[derive(Debug, Error)]
pub enum UnansweredQuestion {
    /// The input ended, or could not be read.
    #[error("init needs a terminal, or one answer per line; there was none for \"{0}\"")]
    NoInput(String),
    /// The user ended the dialogue with Ctrl-C.
    #[error("interrupted at \"{0}\"; no plan was written")]
    Interrupted(String),
}

/// The place of the device.
enum Place {
    /// In namespaces of this machine.
    Here,
    /// Between two interfaces of this machine, set up by the user.
    Cabled([String; 2]),
    /// Between two interfaces of this machine, set up over ssh; with the host, left and right interface of each device in a row, as in a plan.
    Ssh([String; 2], [Vec<String>; 3]),
}

/// The terminal of the dialogue, which knows its own width.
pub trait Screen {
    /// Prints a text as it is.
    fn tell(&mut self, text: &str);

    /// Prints a sentence on lines of its own, which break between words.
    fn say(&mut self, sentence: &str);

    /// Prints a question, and returns the line that answers it.
    ///
    /// # Errors
    /// Of the kind `Interrupted` if the user ended the dialogue; of any other if the input ended or could not be read.
    fn answer(&mut self, question: &str) -> io::Result<String>;

    /// Prints rows of a name and what it means, in columns.
    fn show(&mut self, rows: &[[&str; 2]]);

    /// Prints the devices, and what each of them needs to run here.
    fn show_devices(&mut self, library: &Library);
}

/// The answers that a question can have.
enum Choices<'l> {
    /// Any that can be read.
    Open,
    /// These, which are shown before the question, each with its meaning.
    Few(&'l [[&'l str; 2]]),
    /// The devices, which are shown when the answer is `?`.
    Devices(&'l Library),
    /// The measures, which are shown when the answer is `?`.
    Measures,
}

/// A question of the dialogue.
struct Prompt<'l> {
    text: &'l str,
    /// What an empty line means; empty if it means nothing.
    usual: &'l str,
    choices: Choices<'l>,
}

impl<'l> Prompt<'l> {
    /// Returns a question without a default.
    fn open(text: &'l str) -> Self {
        Self {
            text,
            usual: "",
            choices: Choices::Open,
        }
    }
}

const PLACES: [[&str; 2]; 3] = [
    ["here", "in namespaces of this machine"],
    [
        "cabled",
        "between two interfaces of this machine, set up by hand",
    ],
    [
        "ssh",
        "between two interfaces of this machine, set up over ssh",
    ],
];

const PROFILES: [[&str; 2]; 3] = [
    ["smoke", "trials of 0.75 s, to try the plan: minutes"],
    ["draft", "trials of 10 s, for results to work with: hours"],
    [
        "rfc",
        "trials of 60 s and 20 repetitions, as the RFCs demand: hours to days",
    ],
];

/// Asks for a plan and returns its text. `screen` shows questions, choices and error messages, and has the answers; an empty line takes the default.
///
/// # Errors
/// The input ended too early, or the user interrupted the dialogue.
pub fn ask(library: &Library, screen: impl Screen) -> Result<String, UnansweredQuestion> {
    let mut dialogue = Dialogue { screen };
    let named = Prompt {
        text: "Name of the plan",
        usual: "my-plan",
        choices: Choices::Open,
    };
    let name = dialogue.ask(&named, identifier)?;
    let asked = Prompt {
        text: "Device (? lists them)",
        usual: "tayga-nat64",
        choices: Choices::Devices(library),
    };
    let device = dialogue.ask(&asked, |text| device(library, text))?;
    let place = dialogue.place(device)?;
    if let Some(missing) = why_missing(device).filter(|_| matches!(place, Place::Here)) {
        dialogue
            .screen
            .say(&format!("note: it cannot run here yet: {missing}"));
    }
    let usual = if device.technology.is_dns() {
        "dns64"
    } else {
        "throughput"
    };
    let asked = Prompt {
        text: "Measures, with commas between (? lists them)",
        usual,
        choices: Choices::Measures,
    };
    let measures = dialogue.ask(&asked, |text| measures(device, text))?;
    let asked = Prompt {
        text: "Profile",
        usual: "smoke",
        choices: Choices::Few(&PROFILES),
    };
    let profile = dialogue.ask(&asked, |text| profile(text).map(|_| text.to_owned()))?;
    let tests: String = measures.iter().map(|info| test(device, info)).collect();
    Ok(format!(
        "#:schema {}\nname = \"{name}\"\nprofile = \"{profile}\"\n{}{tests}",
        schema::URL,
        testbed(&place)
    ))
}

struct Dialogue<S> {
    screen: S,
}

impl<S: Screen> Dialogue<S> {
    /// Asks until an answer can be read; prints why an answer cannot.
    fn ask<V, E: Display>(
        &mut self,
        question: &Prompt,
        read: impl Fn(&str) -> Result<V, E>,
    ) -> Result<V, UnansweredQuestion> {
        if let Choices::Few(rows) = question.choices {
            self.screen.tell("\n");
            self.screen.show(rows);
        }
        loop {
            let line = self.line(question)?;
            let answer = if line.trim().is_empty() {
                question.usual
            } else {
                line.trim()
            };
            match (answer, &question.choices) {
                ("?", Choices::Devices(library)) => self.screen.show_devices(library),
                ("?", Choices::Measures) => {
                    let rows: Vec<[&str; 2]> = Measure::infos()
                        .map(|info| [info.term.name, info.summary])
                        .collect();
                    self.screen.show(&rows);
                }
                ("?", Choices::Few(rows)) => self.screen.show(rows),
                _ => match read(answer) {
                    Ok(value) => return Ok(value),
                    Err(reason) => self.screen.say(&reason.to_string()),
                },
            }
        }
    }

    /// Prints a question with what an empty line means, and returns the answer.
    fn line(&mut self, question: &Prompt) -> Result<String, UnansweredQuestion> {
        let default = if question.usual.is_empty() {
            String::new()
        } else {
            format!(" [{}]", question.usual)
        };
        let asked = format!("{}{default}: ", question.text);
        let text = || question.text.to_owned();
        self.screen
            .answer(&asked)
            .map_err(|error| match error.kind() {
                io::ErrorKind::Interrupted => UnansweredQuestion::Interrupted(text()),
                _ => UnansweredQuestion::NoInput(text()),
            })
    }

    fn place(&mut self, device: &Recipe) -> Result<Place, UnansweredQuestion> {
        let is_by_hand = device.host == DeviceHost::Manual;
        let is_elsewhere = !is_by_hand && !device.is_for_namespaces();
        let usual = if is_by_hand {
            "cabled"
        } else if is_elsewhere {
            "ssh"
        } else {
            "here"
        };
        let asked = Prompt {
            text: "Where it is",
            usual,
            choices: Choices::Few(&PLACES),
        };
        let place = self.ask(&asked, |text| match text {
            "here" if is_by_hand => Err(format!(
                "{} is set up by hand: it can only be cabled",
                device.name
            )),
            "here" if is_elsewhere => Err(format!(
                "{} runs on {}, on a machine of its own: ssh or cabled",
                device.name,
                device.system.title()
            )),
            "here" | "cabled" | "ssh" => Ok(text.to_owned()),
            other => Err(format!("expected here, cabled or ssh, not `{other}`")),
        })?;
        if place == "here" {
            return Ok(Place::Here);
        }
        let ports = self.ask(
            &Prompt::open("Interfaces of this machine that are cabled to it, LEFT,RIGHT"),
            pair,
        )?;
        if place == "cabled" {
            return Ok(Place::Cabled(ports));
        }
        Ok(Place::Ssh(ports, self.machines(device)?))
    }

    /// Asks for the machines of a device over ssh, and returns them as [`Place::Ssh`] has them.
    fn machines(&mut self, device: &Recipe) -> Result<[Vec<String>; 3], UnansweredQuestion> {
        let mut machines = [vec![], vec![], vec![]];
        for part in device.devices() {
            let of = if device.parts.is_empty() {
                String::new()
            } else {
                format!(" of {}", part.name)
            };
            let host = self.ask(
                &Prompt::open(&format!("ssh host{of}, as ssh knows it")),
                |text| {
                    let is_name = !text.is_empty()
                        && text
                            .chars()
                            .all(|c| c.is_ascii_alphanumeric() || "-_.@".contains(c));
                    if is_name {
                        Ok(format!("ssh:{text}"))
                    } else {
                        Err(format!("expected a host or USER@HOST, not `{text}`"))
                    }
                },
            )?;
            let [left, right] = self.ask(
                &Prompt::open("Its interfaces at the other ends, LEFT,RIGHT"),
                pair,
            )?;
            machines
                .iter_mut()
                .zip([host, left, right])
                .for_each(|(all, one)| all.push(format!("\"{one}\"")));
        }
        Ok(machines)
    }
}

/// The reason why an answer is refused.
#[derive(Debug, Error)]
enum AnswerError {
    /// The answer has another form.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// An interface cannot have such a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Both ends are one interface.
    #[error("left and right must be two interfaces")]
    OneInterface,
    /// The recipes have no such device.
    #[error("there is no device `{name}`; {hint}")]
    NoDevice { name: String, hint: String },
    /// There is no such measure.
    #[error("there is no measure `{name}`; {hint}")]
    NoMeasure { name: String, hint: String },
    /// The measure needs a device that keeps no connections.
    #[error("{measure} is not for stateful devices such as {device}")]
    Stateful {
        measure: &'static str,
        device: String,
    },
    /// The measure needs a device that keeps connections.
    #[error("{measure} is for stateful devices, which {device} is not")]
    Stateless {
        measure: &'static str,
        device: String,
    },
    /// The measure queries, and the device is no server of it; or the other way round.
    #[error("{device} cannot be measured by {measure}")]
    OtherService {
        measure: &'static str,
        device: String,
    },
}

/// Reads the names of two interfaces.
fn pair(text: &str) -> Result<[String; 2], AnswerError> {
    let (left, right) = text
        .split_once(',')
        .ok_or_else(|| expected("two interfaces, LEFT,RIGHT", text))?;
    let (left, right) = (interface(left.trim())?, interface(right.trim())?);
    if left == right {
        Err(AnswerError::OneInterface)
    } else {
        Ok([left, right])
    }
}

/// Returns the advice for a name that is not known.
fn hint(name: &str, known: &[&str]) -> String {
    nearest(name, known).map_or("? lists them".to_owned(), |near| {
        format!("did you mean `{near}`?")
    })
}

fn device<'l>(library: &'l Library, text: &str) -> Result<&'l Recipe, AnswerError> {
    library.get(text).ok_or_else(|| AnswerError::NoDevice {
        name: text.to_owned(),
        hint: hint(text, &library.names()),
    })
}

/// Reads the names of measures that apply to the device.
fn measures(device: &Recipe, text: &str) -> Result<Vec<&'static Info>, AnswerError> {
    let names = text.split(',').map(str::trim);
    names.map(|name| measure_of(device, name)).collect()
}

/// Reads the name of a measure that applies to the device.
fn measure_of(recipe: &Recipe, name: &str) -> Result<&'static Info, AnswerError> {
    let info = Measure::infos().find(|info| info.term.name == name);
    let info = info.ok_or_else(|| {
        let known: Vec<&str> = Measure::infos().map(|info| info.term.name).collect();
        AnswerError::NoMeasure {
            name: name.to_owned(),
            hint: hint(name, &known),
        }
    })?;
    let (measure, device) = (info.term.name, recipe.name.clone());
    let is_stateful = recipe.state.is_some();
    if info.family.ends_with_phase_one() && !is_stateful {
        Err(AnswerError::Stateless { measure, device })
    } else if info.demand == Some(Demand::NoConnections) && is_stateful {
        Err(AnswerError::Stateful { measure, device })
    } else if !info.family.has_load() {
        // Devices of every kind have vectors; those of one without are refused when the plan is checked.
        Ok(info)
    } else if recipe.technology.is_dns() != matches!(measure, "dns64" | "dns-authority") {
        Err(AnswerError::OtherService { measure, device })
    } else {
        Ok(info)
    }
}

fn ports([left, right]: &[String; 2]) -> String {
    format!("\n[testbed]\nleft = \"{left}\"\nright = \"{right}\"\n")
}

/// Returns the value of a key that takes one value or a list.
fn one_or_list(all: &[String]) -> String {
    match all {
        [one] => one.clone(),
        all => format!("[{}]", all.join(", ")),
    }
}

fn testbed(place: &Place) -> String {
    match place {
        Place::Here => String::new(),
        Place::Cabled(own) => ports(own),
        Place::Ssh(own, machines) => {
            let [hosts, left, right] = machines.each_ref().map(|all| one_or_list(all));
            format!(
                "{}host = {hosts}\ndut-left = {left}\ndut-right = {right}\n",
                ports(own)
            )
        }
    }
}

/// Returns the table of a test, with the keys that its measure requires, and with values for a first try where the defaults take hours or suppose a
/// large gateway.
fn test(device: &Recipe, info: &Info) -> String {
    let measure = info.term.name;
    let mut text = format!(
        "\n[[test]]\nname = \"{measure}\"\ndut = \"{}\"\nmeasure = \"{measure}\"\n",
        device.name
    );
    // The number of connections may be what is searched for, and the kernel's sockets and vectors open those that they need.
    let opens_some = info.family.has_frame_sizes() && measure != "table-capacity";
    if device.state.is_some() && opens_some {
        text += "connections = \"10k\"\nphase-1-rate = \"5k\"\n";
    }
    match measure {
        // Hours for each size: the middle one of the mix of sizes in the traffic profiles.
        "soak" => text + "frame-sizes = [594]\nrepetitions = 1\n",
        "tcp-soak" => text + "repetitions = 1\n",
        "table-capacity" => text + "start = \"10k\"\nmost = \"160k\"\nrepetitions = 1\n",
        // The size of the requests in plans/6to4-paper.toml.
        "response-time" => text + "rate-per-client = \"1k\"\nframe-sizes = [118]\n",
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    const CTRL_C: &str = "\x03";

    /// A screen that keeps what it shows, at which these lines are typed.
    struct Kept<'t> {
        answers: std::str::Lines<'t>,
        told: &'t mut String,
    }

    impl Screen for Kept<'_> {
        fn tell(&mut self, text: &str) {
            self.told.push_str(text);
        }

        fn say(&mut self, sentence: &str) {
            self.tell(&format!("{sentence}\n"));
        }

        fn answer(&mut self, question: &str) -> io::Result<String> {
            self.tell(question);
            match self.answers.next() {
                Some(CTRL_C) => Err(io::ErrorKind::Interrupted.into()),
                Some(answer) => Ok(answer.to_owned()),
                None => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }

        fn show(&mut self, rows: &[[&str; 2]]) {
            for [name, meaning] in rows {
                self.tell(&format!("{name}: {meaning}\n"));
            }
        }

        fn show_devices(&mut self, library: &Library) {
            self.tell(&format!("{} devices\n", library.names().len()));
        }
    }

    /// Answers with these lines; returns the plan's text and everything that was printed.
    fn asked(answers: &str) -> (Result<String, UnansweredQuestion>, String) {
        let library = Library::load::<&str>(&[]).expect("recipes");
        let mut told = String::new();
        let (answers, shown) = (answers.lines(), &mut told);
        let plan = ask(
            &library,
            Kept {
                answers,
                told: shown,
            },
        );
        (plan, told)
    }

    #[test]
    fn defaults_make_a_plan_that_the_reader_of_plans_takes() {
        let (plan, told) = asked("\n\n\n\n\n");
        let library = Library::load::<&str>(&[]).expect("recipes");
        let loaded = load(&plan.expect("a plan"), &library).expect("a good plan");
        assert_eq!(
            (loaded.plan.tests[0].dut.as_str(), loaded.plan.tests.len()),
            ("tayga-nat64", 1)
        );
        assert!(
            told.contains("Device (? lists them) [tayga-nat64]: "),
            "{told}"
        );
    }

    #[test]
    fn every_measure_and_place_makes_a_good_plan() {
        let library = Library::load::<&str>(&[]).expect("recipes");
        for device in ["tayga-nat64", "linux-ipv6", "unbound-dns64", "jool-siit"] {
            for info in Measure::infos() {
                let measure = info.term.name;
                if measures(library.get(device).expect("a device"), measure).is_err() {
                    continue;
                }
                for place in [
                    "here\n",
                    "cabled\neth1,eth2\n",
                    "ssh\neth1,eth2\nroot@router\nens1,ens2\n",
                ] {
                    let (plan, _) = asked(&format!("p\n{device}\n{place}{measure}\nsmoke\n"));
                    let text = plan.expect("a plan");
                    load(&text, &library).unwrap_or_else(|mistakes| {
                        panic!("{}", crate::render("p", &text, &mistakes, false))
                    });
                }
            }
        }
    }

    #[test]
    fn each_device_of_a_row_over_ssh_has_a_machine_of_its_own() {
        let (plan, told) =
            asked("p\njool-464xlat\nssh\neth1,eth2\nce\nens1,ens2\nroot@br\nens3,ens4\n\n\n");
        let plan = plan.expect("a plan");
        let machines = "host = [\"ssh:ce\", \"ssh:root@br\"]\ndut-left = [\"ens1\", \"ens3\"]\ndut-right = [\"ens2\", \"ens4\"]\n";
        assert!(plan.contains(machines), "{plan}");
        assert!(
            told.contains("ssh host of jool-clat, as")
                && told.contains("ssh host of jool-plat, as"),
            "{told}"
        );
        let library = Library::load::<&str>(&[]).expect("recipes");
        let loaded = load(&plan, &library)
            .unwrap_or_else(|mistakes| panic!("{}", crate::render("p", &plan, &mistakes, false)));
        assert_eq!(loaded.plan.tests[0].dut, "jool-464xlat");
    }

    #[test]
    fn a_bad_answer_is_asked_again_with_the_reason() {
        let (plan, told) = asked(
            "p\ntayga-nat46x\nlinux-ipv6\nthere\nhere\ntable-capacity\nthroughputt\nthroughput\nlong\nsmoke\n",
        );
        assert!(plan.expect("a plan").contains("dut = \"linux-ipv6\""));
        for reason in [
            "did you mean `tayga-nat46`?",
            "expected here, cabled or ssh, not `there`",
            "table-capacity is for stateful devices, which linux-ipv6 is not",
            "did you mean `throughput`?",
        ] {
            assert!(told.contains(reason), "{reason}: {told}");
        }
        assert_eq!(told.matches("Profile [smoke]: ").count(), 2);
    }

    #[test]
    fn choices_are_shown_before_the_question_or_when_it_is_answered_by_a_question_mark() {
        let (plan, told) = asked("?\np\n?\nlinux-ipv6\n?\nhere\n?\n\n\n");
        assert!(plan.is_ok(), "{told}");
        assert_eq!(
            told.matches(" devices\nDevice (? lists them)").count(),
            1,
            "{told}"
        );
        assert_eq!(
            told.matches("ssh: between two interfaces").count(),
            2,
            "before the question, and again: {told}"
        );
        assert_eq!(told.matches("rfc: trials of 60 s").count(), 1, "{told}");
        assert!(told.contains("\npdv: "), "{told}");
        assert!(
            told.contains("expected a name: 1 to 64"),
            "a name is no choice: {told}"
        );
    }

    #[test]
    fn a_device_that_cannot_run_here_is_told_before_the_plan_is_written() {
        let library = Library::load::<&str>(&[]).expect("recipes");
        let missing = why_missing(library.get("map646").expect("a recipe"));
        let (_, here) = asked("p\nmap646\nhere\n\n\n");
        assert_eq!(
            here.contains("note: it cannot run here yet: "),
            missing.is_some(),
            "{here}"
        );
        let (_, cabled) = asked("p\nmap646\ncabled\neth1,eth2\n\n\n");
        assert!(!cabled.contains("note: "), "{cabled}");
    }

    #[test]
    fn a_device_on_another_system_is_not_here() {
        let (plan, told) = asked("p\nopenbsd-pf-nat64\nhere\n\neth1,eth2\nbsd\nem0,em1\n\n\n");
        assert!(
            told.contains(
                "openbsd-pf-nat64 runs on OpenBSD, on a machine of its own: ssh or cabled"
            ),
            "{told}"
        );
        assert!(
            plan.expect("a plan").contains("host = \"ssh:bsd\""),
            "{told}"
        );
    }

    #[test]
    fn a_name_of_an_interface_that_is_too_long_is_told_how_long_it_may_be() {
        let (_, told) = asked("p\nlinux-ipv6\ncabled\nestablishment-rate,eth1\n");
        assert!(told.contains("at most 15 characters"), "{told}");
    }

    #[test]
    fn answers_that_end_too_early_name_the_question() {
        let (plan, _) = asked("p\ntayga-nat64\n");
        assert!(
            plan.unwrap_err()
                .to_string()
                .contains("there was none for \"Where it is")
        );
    }

    #[test]
    fn a_dialogue_that_is_interrupted_makes_no_plan_and_says_so() {
        let (plan, _) = asked("p\n\x03\n\n\n\n");
        assert_eq!(
            plan.expect_err("no plan").to_string(),
            "interrupted at \"Device (? lists them)\"; no plan was written"
        );
    }
}
