//! `sixbench init`, `sixbench check` and `sixbench plan`: write a plan, validate it, and show what it would do.

use super::plan_text::mistakes_here;
use super::{PlanFile, list, read_plan, refused};
use crate::args;
use crate::exit::{Exit, Failed};
use crate::hints;
use crate::output::{self, tell};
use crate::view::{AnswerReader, columns, list_columns};
use sixbench_method::units::counted;
use sixbench_plan::description::{self, DescriptionPart, ShownClauses};
use sixbench_plan::wizard::{self, UnansweredQuestion};
use sixbench_report::layout::{aligned, wrapped};
use sixbench_runner::{rehearsed, store::write_new};
use sixbench_testbed::Library;
use std::io;
use std::path::{Path, PathBuf};

/// Asks for the details of a plan, and writes the plan if it can be read back.
pub(crate) fn init(path: &Path) -> Result<Exit, Failed> {
    if path.exists() {
        return Err(Failed::usage(format_args!(
            "{} exists already; name another: sixbench init NAME.toml",
            path.display()
        )));
    }
    let library = super::library(&[])?;
    let text = wizard::ask(&library, Terminal(AnswerReader::new())).map_err(unanswered)?;
    super::parse_plan(&path.display().to_string(), &text, &library)?;
    write_new(&[(path, &text)])?;
    output::line(format_args!(
        "{} is good; next: {}, {}",
        path.display(),
        hints::plan(path),
        hints::run(path)
    ))?;
    Ok(Exit::Done)
}

fn unanswered(question: UnansweredQuestion) -> Failed {
    let exit = match question {
        UnansweredQuestion::Interrupted(_) => Exit::Interrupted,
        UnansweredQuestion::NoInput(_) => Exit::Usage,
    };
    Failed::new(exit, question)
}

/// The terminal of the dialogue. What is not a question is on standard error, since standard output is for results.
struct Terminal(AnswerReader);

impl wizard::Screen for Terminal {
    fn tell(&mut self, text: &str) {
        output::to_stderr(format_args!("{text}"));
    }

    fn say(&mut self, sentence: &str) {
        self.tell(&wrapped(sentence, columns()));
    }

    fn answer(&mut self, question: &str) -> io::Result<String> {
        self.0.to(question)
    }

    fn show(&mut self, rows: &[[&str; 2]]) {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.map(str::to_owned).to_vec())
            .collect();
        self.tell(&aligned(&rows, 2, columns()));
    }

    fn show_devices(&mut self, library: &Library) {
        self.tell(&list::devices(library, columns()));
    }
}

/// Validates a plan file.
pub(crate) fn check(path: &Path, recipes: &[PathBuf]) -> Result<Exit, Failed> {
    let PlanFile {
        name,
        source,
        loaded,
        ..
    } = read_plan(path, recipes)?;
    let here = mistakes_here(&source, &loaded);
    if !here.is_empty() {
        return Err(refused(&name, &source, &here));
    }
    let points: usize = loaded
        .plan
        .tests
        .iter()
        .map(|test| test.frame_sizes.len())
        .sum();
    let (tests, points) = (
        counted(loaded.plan.tests.len() as u64, "test"),
        counted(points as u64, "point"),
    );
    output::line(format_args!("{name}: good ({tests}, {points})"))?;
    Ok(Exit::Done)
}

/// Shows hours, trials, compliance and tests, or the commands of the testbed.
pub(crate) fn plan(arguments: &args::PlanArgs) -> Result<Exit, Failed> {
    let PlanFile {
        source,
        mut loaded,
        library,
        ..
    } = read_plan(&arguments.plan, &arguments.further.recipes)?;
    super::follow(arguments.profile, &mut loaded.plan, &source);
    if arguments.shell {
        output::print(rehearsed(&loaded, &library)?)?;
        return Ok(Exit::Done);
    }
    if arguments.json {
        output::line(sixbench_runner::campaign::plan_json(&loaded.plan))?;
        return Ok(Exit::Done);
    }
    // The plan may be for another machine than the one on which its cost is looked at.
    for mistake in &mistakes_here(&source, &loaded) {
        tell!("note: not on this machine: {}", mistake.title);
    }
    let clauses = match (arguments.all, arguments.clauses) {
        (true, _) => ShownClauses::All,
        (false, true) => ShownClauses::NotMet,
        (false, false) => ShownClauses::Counts,
    };
    let sections: Vec<String> = description::describe(&loaded.plan, clauses)
        .iter()
        .map(shown)
        .collect();
    output::print(sections.join("\n"))?;
    Ok(Exit::Done)
}

fn shown(section: &DescriptionPart) -> String {
    let heading = if section.heading.is_empty() {
        String::new()
    } else {
        wrapped(&section.heading, list_columns())
    };
    heading + &aligned(&section.rows, 2, list_columns())
}
