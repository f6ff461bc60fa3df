//! `sixbench run` and `sixbench quickstart`.

use super::plan_text::check_here;
use super::{
    Consent, Permission, PlanFile, follow, library, live, locked, parse_plan, read_plan,
    stdout_color,
};
use crate::args::{self, WithinTime};
use crate::exit::{Exit, Failed, advised, of_run};
use crate::hints;
use crate::output::{self, tell};
use crate::view::{self, Choice, SharedView, View as _};
use sixbench_live::LivePage;
use sixbench_method::budget;
use sixbench_method::event::Event;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Plan, Profile, Selection};
use sixbench_method::record::CodeOrigin;
use sixbench_method::units::{counted, show_ns, show_seconds};
use sixbench_plan::plans;
use sixbench_plan::{Links, LoadedPlan, links_of};
use sixbench_report::expectations::{RunVerdict, judge, missed};
use sixbench_runner::campaign;
use sixbench_runner::code::Trusted;
use sixbench_runner::reporting::{self, ReportInputs};
use sixbench_runner::store::{
    Store, StoreError, StoredRun, begun, check_new, kept_recipes, load_from, source_of,
};
use sixbench_runner::{EndedRun, RunError, RunRequest, Site, perform, spare_cores, stop};
use sixbench_testbed::{Library, Recipe, Shell, doctor, sweep};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time in which a person who tries the program still waits for an answer.
const QUICKSTART_TIME: WithinTime = WithinTime::Within(Duration::from_mins(6));

/// Measures real devices without any files from the user.
pub(crate) fn quickstart(mut arguments: args::Quickstart) -> Result<Exit, Failed> {
    let library = library(&[])?;
    // Quickstart has neither `--force` nor `--trust-recipes`: its plan and recipes come with sixbench.
    if let Some(directory) = arguments.resume {
        return resume(&directory, &library, &arguments.output, Consent::default());
    }
    arguments.output.within.get_or_insert(QUICKSTART_TIME);
    let plan = plans::find(Path::new("quickstart")).expect("it comes with sixbench");
    let mut loaded = parse_plan(&plan.path(), plan.text, &library)?;
    keep(&mut loaded.plan, arguments.only.as_deref())?;
    tell_left_out(&mut loaded, &library);
    let planned = PlannedRun {
        loaded,
        source: plan.text,
        selection: Selection::default(),
    };
    start(planned, &library, &arguments.output, Consent::default())
}

/// Runs a plan file, or continues an interrupted run.
pub(crate) fn run(arguments: args::RunArgs) -> Result<Exit, Failed> {
    let consent = Consent {
        force: arguments.isolation.force,
        trust_recipes: arguments.further.trust_recipes,
    };
    if let Some(directory) = &arguments.resume {
        return resume(
            directory,
            &library(&arguments.further.named.recipes)?,
            &arguments.output,
            consent,
        );
    }
    let path = arguments
        .plan
        .as_deref()
        .ok_or_else(|| Failed::usage("a plan file is needed"))?;
    let PlanFile {
        name,
        source,
        mut loaded,
        library,
    } = read_plan(path, &arguments.further.named.recipes)?;
    keep(&mut loaded.plan, arguments.only.as_deref())?;
    follow(arguments.profile, &mut loaded.plan, &source);
    // Select before tests are left out, because which ones are depends on the machine.
    let selection = campaign::selection(
        &loaded.plan,
        arguments.shard,
        arguments.measurements.as_deref(),
    )?;
    tell_left_out(&mut loaded, &library);
    check_here(&name, &source, &loaded, &library)?;
    let planned = PlannedRun {
        loaded,
        source: &source,
        selection,
    };
    start(planned, &library, &arguments.output, consent)
}

fn tell_left_out(loaded: &mut LoadedPlan, library: &Library) {
    for text in sixbench_runner::leave_out_missing(loaded, library) {
        tell!("note: {text}");
    }
}

/// Keeps only the tests whose name matches.
fn keep(plan: &mut Plan, only: Option<&str>) -> Result<(), Failed> {
    let Some(pattern) = only else { return Ok(()) };
    let names: Vec<String> = plan.tests.iter().map(|test| test.name.clone()).collect();
    plan.retain_tests(|test| plans::is_matched(pattern, &test.name));
    if plan.tests.is_empty() {
        return Err(Failed::usage(format!(
            "no test matches `{pattern}`; the plan has: {}",
            names.join(", ")
        )));
    }
    Ok(())
}

/// A plan that is ready to be run.
pub(crate) struct PlannedRun<'s> {
    pub(crate) loaded: LoadedPlan,
    /// The text of the plan file.
    pub(crate) source: &'s str,
    /// The part of the plan that this run measures.
    pub(crate) selection: Selection,
}

fn start(
    mut planned: PlannedRun<'_>,
    library: &Library,
    output: &args::Output,
    consent: Consent,
) -> Result<Exit, Failed> {
    let permission = Permission::granted(consent, &planned.loaded, library)?;
    for text in sixbench_runner::leave_out_missing_elsewhere(&mut planned.loaded, library)? {
        tell!("note: {text}");
    }
    measure(planned, library, output, &permission)?.ended(output.json)
}

/// The results directory of a run, and how the run ended.
pub(crate) struct RunResults {
    pub(crate) directory: PathBuf,
    pub(crate) exit: Exit,
    /// The reason for the exit code.
    reason: Option<String>,
}

impl RunResults {
    /// Prints the reason for the exit code as the command's last output. With JSON it goes to standard error, since it is not an event.
    fn ended(self, is_json: bool) -> Result<Exit, Failed> {
        match self.reason {
            Some(reason) if is_json => tell!("{reason}"),
            Some(reason) => output::line(reason)?,
            None => {}
        }
        Ok(self.exit)
    }
}

/// Runs the selected part of a plan, after checking that it is feasible and locking what it uses.
pub(crate) fn measure(
    planned: PlannedRun<'_>,
    library: &Library,
    output: &args::Output,
    permission: &Permission,
) -> Result<RunResults, Failed> {
    let PlannedRun {
        mut loaded,
        source,
        selection,
    } = planned;
    let directory = output
        .output
        .clone()
        .unwrap_or_else(|| new_directory(&loaded.plan.name));
    // A run must not wait for hours only to find out that the directory exists.
    check_new(&directory)?;
    // Held until this function returns; a plain `_` would release them at once.
    let _locks = locked(
        &loaded.links,
        &loaded.plan.name,
        Some(&directory),
        &output.waiting,
    )?;
    sixbench_runner::find_link_rate(&mut loaded);
    sixbench_runner::check(&loaded, library, permission.isolation)?;
    let mut store = Store::create(&directory, &loaded.plan, source, &selection)?;
    store.keep_recipes(recipes_of(&loaded.plan, library))?;
    let request = |site| RunRequest {
        selection,
        left_out: &loaded.left_out,
        ..new_request(&loaded.plan, library, &permission.trusted, site, output)
    };
    perform_and_show(
        &loaded.links,
        permission.isolation,
        request,
        &mut store,
        output,
    )
}

/// Returns the recipes of the devices and authorities of a plan, each once.
fn recipes_of<'l>(plan: &Plan, library: &'l Library) -> impl Iterator<Item = &'l Recipe> {
    let mut names = BTreeSet::new();
    for test in &plan.tests {
        names.insert(test.dut.clone());
        names.extend(test.measure.authority().map(str::to_owned));
    }
    names.into_iter().filter_map(move |name| library.get(&name))
}

/// Returns the request for a run of a whole plan that begins now.
fn new_request<'a>(
    plan: &'a Plan,
    library: &'a Library,
    trusted: &'a Trusted,
    site: Site<'a>,
    output: &'a args::Output,
) -> RunRequest<'a> {
    RunRequest {
        plan,
        library,
        trusted,
        site,
        look_at_load: doctor::look_at_load,
        queries: output.queries,
        labels: &output.labels,
        selection: Selection::default(),
        left_out: &[],
        within: output.within.and_then(WithinTime::within),
        in_words: advised,
        records: Vec::new(),
        earlier: None,
    }
}

/// Returns the directory `results/<plan>-<date>-<time>`; such names sort by time.
fn new_directory(plan: &str) -> PathBuf {
    let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
    Path::new("results").join(format!("{plan}-{time}"))
}

fn resume(
    directory: &Path,
    library: &Library,
    output: &args::Output,
    consent: Consent,
) -> Result<Exit, Failed> {
    // Opened once: a user who may write to the parent directory could replace it in the meantime.
    let folder = begun(directory)?;
    let links = links_of(&source_of(&folder)?);
    // The recipes as they were when the run began take precedence over any of the same name.
    let library = library
        .clone()
        .with_texts(kept_recipes(&folder)?, CodeOrigin::Plan);
    let library = &library.map_err(|error| Failed::new(Exit::Usage, error))?;
    let loaded = LoadedPlan {
        plan: load_from(&folder)?.plan,
        links,
        left_out: Vec::new(),
    };
    let links = &loaded.links;
    let Permission { isolation, trusted } = Permission::granted(consent, &loaded, library)?;
    let (mut store, stored) = Store::reopen(folder)?;
    let StoredRun {
        plan,
        records,
        is_torn,
        facts,
        commands,
    } = stored;
    let _locks = locked(links, &plan.name, Some(directory), &output.waiting)?;
    sixbench_runner::check(&loaded, library, isolation)?;
    if !output.json {
        let torn = if is_torn {
            " (the last line was incomplete, so its trial is repeated)"
        } else {
            ""
        };
        let trials = counted(records.len() as u64, "trial");
        tell!("continuing after {trials}{torn}");
    }
    let request = |site| RunRequest {
        records,
        earlier: Some((facts, commands)),
        ..new_request(&plan, library, &trusted, site, output)
    };
    perform_and_show(links, isolation, request, &mut store, output)?.ended(output.json)
}

/// Performs a run, and shows how it goes and how it ended.
fn perform_and_show<'a>(
    links: &'a Links,
    isolation: Isolation,
    request: impl FnOnce(Site<'a>) -> RunRequest<'a>,
    store: &mut Store,
    output: &args::Output,
) -> Result<RunResults, Failed> {
    let stop = stop::install()?;
    // Served until this function returns.
    let page = output
        .live
        .map(|address| live::page(address, store.folder(), spare_cores(links)));
    let mut view = open_view(page.as_ref(), output.json);
    let shell = Shell::new()
        .stopped_by(stop.clone())
        .told_to(view.listener())
        .waiting_for_other_runs(output.waiting.wait);
    for name in sweep(&shell)? {
        let text = format!("removed {name}, left by a killed run");
        view.show(&Event::Warning { text });
    }
    let request = request(Site {
        shell,
        links,
        stop,
        isolation,
        pcap: None,
    });
    let plan = request.plan;
    let ended = perform(request, store, &mut |event| view.show(event))?;
    let mut printed = view.close();
    drop(view);
    let EndOfRun {
        lines,
        exit,
        reason,
    } = end_of_run(plan, &ended);
    // If nothing was measured there is no summary; the error is then the only output.
    if !output.json && !ended.records.is_empty() {
        printed = printed.and(print_results(plan, &ended, store.directory(), &lines));
    }
    tell_early_end(&ended, exit, store.directory(), output.json);
    let results = RunResults {
        directory: store.directory().to_owned(),
        exit,
        reason,
    };
    // An output that cannot be written decides the exit code only where nothing more serious has happened.
    match (printed, exit) {
        (Err(error), Exit::Done) => Err(error.into()),
        (Err(error), _) => {
            tell!("error: {error}");
            Ok(results)
        }
        (Ok(()), _) => Ok(results),
    }
}

/// Opens the view of a run, which also feeds its live page. A page that cannot be served is a warning only.
fn open_view(page: Option<&Result<(LivePage, StoredRun), Failed>>, is_json: bool) -> SharedView {
    let choice = if is_json {
        Choice::Json
    } else {
        Choice::People
    };
    match page {
        None => view::open(choice, None),
        Some(Ok((page, _))) => view::open(choice, Some(page.feed())),
        Some(Err(error)) => {
            let mut view = view::open(choice, None);
            let text = format!("{}; the run goes on without it", error.error);
            view.show(&Event::Warning { text });
            view
        }
    }
}

/// Prints the files of a run, its summary, and its verdict in `lines`.
fn print_results(plan: &Plan, ended: &EndedRun, directory: &Path, lines: &str) -> io::Result<()> {
    let mut conformance = String::new();
    let mut printed = Ok(());
    if !is_displaced(ended) {
        conformance = not_conformant(plan, directory);
        printed = output::line(files(ended.report.as_deref(), directory));
    }
    let summary = summary(plan, ended).trim_end().to_owned() + "\n";
    printed
        .and(output::print_colored(&summary))
        .and(output::print(lines.to_owned() + &conformance))
}

/// Tells why a run ended early, and what it has left behind; nothing of one that measured everything.
fn tell_early_end(ended: &EndedRun, exit: Exit, directory: &Path, is_json: bool) {
    let left = || what_is_left(ended.records.len(), ended.report.as_deref(), directory);
    let are_in_place = !is_displaced(ended);
    if let Some(error) = &ended.error {
        let word = if exit == Exit::Interrupted {
            "stopped"
        } else {
            "error"
        };
        tell!("{word}: {}", advised(error));
        if are_in_place {
            tell!("{}", left());
        }
    }
    if let Some(within_s) = ended.time_up_s().filter(|_| !is_json && are_in_place) {
        tell!(
            "the time of {} was up before everything was measured\n{}",
            show_seconds(within_s),
            left()
        );
    }
}

/// Returns true if the results were removed or moved while the run wrote to them, so that nothing is at their path.
fn is_displaced(ended: &EndedRun) -> bool {
    ended.error.as_ref().is_some_and(|error| {
        matches!(
            error.root(),
            RunError::Store(StoreError::Removed(_) | StoreError::Moved { .. })
        )
    })
}

/// The outcome of a run, for the terminal.
struct EndOfRun {
    /// One line for each expectation that was not met.
    lines: String,
    exit: Exit,
    /// The reason for the exit code; `None` if there was nothing to judge.
    reason: Option<String>,
}

/// Returns the verdict on the plan's expectations, with the exit code of the run and the reason for it.
fn end_of_run(plan: &Plan, ended: &EndedRun) -> EndOfRun {
    if let Some(error) = &ended.error {
        let exit = of_run(error);
        let was_built = exit == Exit::Testbed && !ended.records.is_empty();
        let reason = if was_built {
            exit.because("device or testbed failed after the first trial")
        } else {
            exit.with_meaning()
        };
        return EndOfRun {
            lines: missed(plan, &ended.records),
            exit,
            reason: Some(reason),
        };
    }
    let RunVerdict {
        lines,
        verdict,
        reason,
    } = judge(
        plan,
        &ended.records,
        &ended.facts,
        "; sixbench doctor shows what disturbs it",
    );
    let exit = Exit::from(verdict);
    EndOfRun {
        lines,
        exit,
        reason: reason.map(|reason| exit.because(reason)),
    }
}

/// Returns the tables of the run for the terminal.
fn summary(plan: &Plan, ended: &EndedRun) -> String {
    let EndedRun {
        records,
        facts,
        commands,
        error,
        ..
    } = ended;
    let inputs = ReportInputs {
        plan,
        records,
        facts,
        commands,
        interrupted: error.is_some() || ended.time_up_s().is_some(),
    };
    reporting::terminal(&inputs, view::columns(), stdout_color())
        .unwrap_or_else(|error| format!("no summary: {error}\n"))
}

/// Returns the files that people want, a line each.
fn files(report: Option<&Path>, directory: &Path) -> String {
    let others = [
        ("numbers", directory.join("results.csv")),
        ("trials", directory.join("trials.jsonl")),
    ];
    report
        .map(|report| ("report", report.to_owned()))
        .into_iter()
        .chain(others)
        .map(|(word, path)| format!("{word:<7} {}\n", path.display()))
        .collect()
}

/// Returns a description of what a run that ended early has left behind, and of how to continue it.
fn what_is_left(trials: usize, report: Option<&Path>, directory: &Path) -> String {
    let (report_again, resume) = (hints::report(directory), hints::resume(directory));
    let directory = directory.display();
    let kept = match trials {
        0 => format!(
            "nothing was measured; the plan and the commands that were run are in {directory}"
        ),
        1 => format!("one trial is kept in {directory}/trials.jsonl"),
        trials => format!("{trials} trials are kept in {directory}/trials.jsonl"),
    };
    let lost = || format!("\nthe report could not be written; write it with: {report_again}");
    let report = if report.is_none() && trials > 0 {
        lost()
    } else {
        String::new()
    };
    format!("{kept}{report}\ncontinue with: {resume}")
}

/// Returns a description of how a plan falls short of the RFCs' durations, with the cost of a conformant run; empty if the plan's profile is `rfc`, and
/// if it has no load.
fn not_conformant(plan: &Plan, directory: &Path) -> String {
    if plan.profile == Profile::Rfc || !plan.has_loads() {
        return String::new();
    }
    let budget = budget::estimate_rfc(plan);
    let repetitions = plan.repetitions_in_words();
    format!(
        "Not conformant: trials of {} instead of 60s, {repetitions} instead of 20. The conformant run takes {}, {}:\n\
         {}\n",
        show_ns(plan.trial.duration_ns),
        counted(budget.trials, "trial"),
        show_seconds(budget.seconds),
        hints::run_conformant(directory)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_only_asks_for_requirements_is_not_told_to_be_too_short() {
        let library = library(&[]).expect("recipes");
        let of_measure = |measure: &str| {
            let text = format!(
                "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"tayga-siit\"\nmeasure = \"{measure}\"\n"
            );
            let loaded = parse_plan("p", &text, &library).expect("a plan");
            not_conformant(&loaded.plan, Path::new("results"))
        };
        assert_eq!(of_measure("conformance"), "");
        assert!(of_measure("throughput").starts_with("Not conformant: trials of "));
    }

    #[test]
    fn the_quickstarts_plan_is_good() {
        let library = library(&[]).expect("recipes");
        let text = plans::find(Path::new("quickstart"))
            .expect("a ready plan")
            .text;
        let loaded = parse_plan("quickstart", text, &library).expect("a plan");
        let (optional, always): (Vec<_>, Vec<_>) =
            loaded.plan.tests.iter().partition(|test| test.optional);
        assert_eq!(
            (optional.len(), always.len()),
            (3, 6),
            "what needs the lab may be missing"
        );
    }
}
