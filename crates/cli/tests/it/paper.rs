//! The output of a results directory for papers and other programs, with simulated results: without root and in milliseconds.

use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, assert_valid, names_in, output, plans, signal, start, text,
    until_the_first_trial,
};
use sixbench_method::plan::ExportFormat;
use sixbench_method::record::Facts;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes a results directory of one completed test; returns its path.
fn simulated(scratch: &Scratch) -> String {
    let plan = crate::results::plan(&[crate::results::test("kernel")]);
    let records = crate::results::records(&plan, |_| crate::results::dut(50_000));
    crate::results::write(scratch, "results", &plan, &records, &Facts::default())
}

fn report(arguments: &[&str]) {
    let report = output(&[&["report"], arguments].concat());
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
}

/// Exports a run; returns what was printed.
fn export(arguments: &[&str]) -> String {
    let export = output(&[&["export"], arguments].concat());
    assert_eq!(export.status.code(), Some(0), "{}", text(&export.stderr));
    text(&export.stdout)
}

#[test]
fn the_style_of_a_paper_is_kept_when_it_is_written_again() {
    let scratch = Scratch::new("style");
    let results = simulated(&scratch);
    let latex = format!("{results}/exports/latex");
    let has_two_columns = || {
        let tables = fs::read_to_string(format!("{latex}/results.tex")).expect("results.tex");
        tables.contains("\\documentclass[a4paper,twocolumn]")
    };
    export(&[&results, "--to", "latex"]);
    assert!(!has_two_columns());
    report(&["--style", "two-column", &results]);
    assert!(has_two_columns());
    export(&[&results, "--to", "latex"]);
    assert!(has_two_columns(), "kept");
    report(&[&results]);
    assert!(has_two_columns(), "kept");
    report(&["--style", "one-column", &results]);
    assert!(!has_two_columns());
    fs::remove_dir_all(&latex).expect("removed");
    report(&["--style", "two-column", &results]);
    assert!(has_two_columns(), "a style asks for the format");
}

#[test]
fn every_table_has_a_file_that_the_whole_reads_and_old_ones_are_removed() {
    let scratch = Scratch::new("tables");
    let results = simulated(&scratch);
    let folder = "results/exports/latex/tables";
    fs::create_dir_all(scratch.path(folder)).expect("a folder");
    let gone = scratch.write(
        &format!("{folder}/gone.tex"),
        "% A table of sixbench. Of an earlier report.\n",
    );
    let own = scratch.write(&format!("{folder}/own.tex"), "% of the user\n");
    export(&[&results, "--to", "latex"]);
    assert!(!Path::new(&gone).exists(), "it is outdated");
    assert!(Path::new(&own).exists(), "it is not ours");
    let whole = fs::read_to_string(scratch.path("results/exports/latex/results.tex"));
    let whole = whole.expect("results.tex");
    let read = whole.matches("\\input{\\sixbenchfolder tables/").count();
    assert!(read > 3, "{whole}");
    assert_eq!(names_in(scratch.path(folder)).len(), read + 1);
}

#[test]
fn another_style_is_a_mistake_of_the_command_line() {
    let refused = output(&["report", "--style", "three-column", "."]);
    assert_eq!(refused.status.code(), Some(2));
    let error = text(&refused.stderr);
    assert!(
        error.contains("expected one-column or two-column, not `three-column`"),
        "{error}"
    );
}

#[test]
fn an_export_has_a_folder_for_each_format_and_nothing_else() {
    let scratch = Scratch::new("export");
    let results = simulated(&scratch);
    report(&[&results]);
    let root = names_in(&results);
    let written = export(&[&results, "--to", "markdown,junit", "--to", "latex"]);
    for name in [
        "markdown/results.md",
        "markdown/methods.md",
        "junit/junit.xml",
        "latex/results.tex",
        "latex/run.bib",
    ] {
        let path = Path::new(&results).join("exports").join(name);
        assert!(
            written.lines().any(|line| Path::new(line) == path),
            "{name} in {written}"
        );
        assert!(path.is_file(), "{name}");
    }
    let exports = format!("{results}/exports");
    assert_eq!(names_in(&exports), ["junit", "latex", "markdown"]);
    fs::remove_dir_all(exports).expect("removed");
    assert_eq!(names_in(&results), root);
}

#[test]
fn the_exports_of_a_plan_are_written_with_its_report() {
    let scratch = Scratch::new("plan-exports");
    let mut plan = crate::results::plan(&[crate::results::test("kernel")]);
    plan.exports = vec![ExportFormat::Csv, ExportFormat::Svg];
    let records = crate::results::records(&plan, |_| crate::results::dut(50_000));
    let results = crate::results::write(&scratch, "results", &plan, &records, &Facts::default());
    report(&[&results]);
    let exports = format!("{results}/exports");
    assert_eq!(names_in(&exports), ["csv", "svg"]);
    assert!(Path::new(&format!("{exports}/svg/search.svg")).is_file());
    let searches = |file: &str| fs::read_to_string(format!("{results}/{file}")).expect("searches");
    assert_eq!(searches("exports/csv/results.csv"), searches("results.csv"));
}

#[test]
fn a_directory_of_an_earlier_version_keeps_its_files_beside_the_report() {
    let scratch = Scratch::new("export-earlier");
    let results = simulated(&scratch);
    // As version 0.2 left them; the texts are those of a report that has changed since.
    let tables = "% Style: two-column.\n";
    for (name, text) in [
        ("results.md", "old"),
        ("junit.xml", "old"),
        ("results.tex", tables),
        ("search.svg", "old"),
        ("figures/gone.tex", "% A figure of sixbench. "),
        ("results.parquet", "PAR1"),
    ] {
        scratch.write(&format!("results/{name}"), text);
    }
    let file = |name: &str| fs::read_to_string(format!("{results}/{name}")).expect("a file");
    export(&[&results, "--to", "latex"]);
    assert!(file("exports/latex/results.tex").contains("twocolumn"));
    assert_eq!(file("results.md"), "old", "an export leaves the report");
    report(&[&results]);
    for (name, content) in [
        ("results.md", "# simulated"),
        ("junit.xml", "<testsuite"),
        ("results.tex", "twocolumn"),
        ("search.svg", "<svg"),
        ("results-values.csv", "plan,test"),
    ] {
        assert!(file(name).contains(content), "{name}: {}", file(name));
    }
    assert_eq!(file("results.parquet"), "PAR1", "of no concern");
    let figures = names_in(format!("{results}/figures"));
    let is_gone = !figures.contains(&"gone.tex".to_owned());
    assert!(is_gone && !figures.is_empty(), "{figures:?}");
}

#[test]
fn parquet_is_referred_to_the_package_for_python() {
    let scratch = Scratch::new("export-parquet");
    let told = "sixbench no longer writes Parquet; its package for Python does: python3 -m sixbench to_parquet DIR";
    let plan = scratch.write(
        "plan.toml",
        &format!("exports = [\"parquet\"]\n{}", plans::KERNEL),
    );
    for arguments in [&["export", ".", "--to", "parquet"][..], &["check", &plan]] {
        let refused = output(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let error = text(&refused.stderr);
        assert!(error.contains(told), "{arguments:?}: {error}");
    }
}

#[test]
fn an_unknown_export_and_a_directory_without_results_are_mistakes() {
    let unknown = output(&["export", ".", "--to", "markdwn"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        text(&unknown.stderr).contains("a similar value exists: 'markdown'"),
        "{}",
        text(&unknown.stderr)
    );
    let scratch = Scratch::new("export-nothing");
    let nothing = output(&["export", &scratch.0.display().to_string(), "--to", "svg"]);
    assert_eq!(nothing.status.code(), Some(2), "{}", text(&nothing.stderr));
    assert!(!scratch.0.join("exports").exists());
}

fn archive(arguments: &[&str]) -> std::process::Output {
    output(&[&["archive"], arguments].concat())
}

/// Unpacks an archive with the system's tools, and returns its folder.
fn unpacked(scratch: &Scratch, archive: &str, name: &str) -> PathBuf {
    let directory = scratch.0.join(name);
    fs::create_dir(&directory).expect("a directory");
    let tar = Command::new("tar")
        .args(["--zstd", "-xf", archive, "-C"])
        .arg(&directory)
        .status();
    assert!(tar.expect("tar").success(), "tar and zstd read it");
    let mut folders = fs::read_dir(&directory).expect("a directory");
    folders.next().expect("a folder").expect("a folder").path()
}

#[test]
fn the_same_results_give_the_same_archive_which_the_usual_tools_unpack_and_check() {
    let scratch = Scratch::new("archive");
    let results = simulated(&scratch);
    report(&[&results]);
    scratch.write("results/.live-token", "0123456789abcdef0123456789abcdef");
    let [first, second] = ["first.tar.zst", "second.tar.zst"].map(|name| scratch.path(name));
    let written = archive(&[&results, "-o", &first]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    // The archive contains neither the owner nor the time of a file.
    let touched = Command::new("touch")
        .args(["-d", "2001-02-03", &format!("{results}/report.html")])
        .status();
    assert!(touched.expect("touch").success());
    assert_eq!(archive(&[&results, "-o", &second]).status.code(), Some(0));
    assert!(fs::read(&first).expect("octets") == fs::read(&second).expect("octets"));
    let sum = Command::new("sha256sum")
        .arg(&first)
        .output()
        .expect("sha256sum");
    assert_eq!(text(&written.stdout), text(&sum.stdout));

    let folder = unpacked(&scratch, &first, "unpacked");
    let checked = Command::new("sha256sum")
        .args(["--strict", "-c", "SHA256SUMS"])
        .current_dir(&folder)
        .output();
    let checked = text(&checked.expect("sha256sum").stdout);
    let files = fs::read_dir(&folder).expect("files").count();
    assert!(
        checked.lines().count() >= files - 1 && checked.lines().all(|line| line.ends_with(": OK")),
        "{checked}"
    );
    assert!(
        fs::read_to_string(folder.join("README"))
            .expect("a text")
            .starts_with("simulated: results of sixbench\n")
    );
    assert!(
        !folder.join(".live-token").exists(),
        "what opens the live page is a secret"
    );
    assert_eq!(
        fs::read(folder.join("trials.jsonl")).expect("trials"),
        fs::read(format!("{results}/trials.jsonl")).expect("trials")
    );

    assert_describes_itself(&folder);

    // The unpacked files are a results directory, which gives the same archive again.
    let third = scratch.path("third.tar.zst");
    assert_eq!(
        archive(&[&folder.display().to_string(), "-o", &third])
            .status
            .code(),
        Some(0)
    );
    assert!(fs::read(&first).expect("octets") == fs::read(&third).expect("octets"));
}

/// Fails unless the metadata of an unpacked archive are those that RO-Crate 1.2 requires, with an entity for each file.
fn assert_describes_itself(folder: &Path) {
    let text = fs::read_to_string(folder.join("ro-crate-metadata.json")).expect("metadata");
    let metadata: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let graph = metadata["@graph"].as_array().expect("entities");
    let entity = |id: &str| {
        let found = graph.iter().find(|entity| entity["@id"] == id);
        found.unwrap_or_else(|| panic!("no entity {id}: {text}"))
    };
    let descriptor = entity("ro-crate-metadata.json");
    assert_eq!(
        descriptor["conformsTo"]["@id"],
        "https://w3id.org/ro/crate/1.2"
    );
    assert_eq!(descriptor["about"]["@id"], "./");
    let root = entity("./");
    assert_eq!(root["@type"], "Dataset");
    for property in ["name", "description", "datePublished", "license"] {
        let value = root[property].as_str().unwrap_or_default();
        assert!(!value.is_empty(), "{property}: {text}");
    }
    let described: Vec<&str> = root["hasPart"]
        .as_array()
        .expect("files")
        .iter()
        .map(|part| part["@id"].as_str().expect("an identifier"))
        .collect();
    for name in names_in(folder) {
        let path = folder.join(&name);
        if !path.is_file() || name == "ro-crate-metadata.json" {
            continue;
        }
        assert!(described.contains(&name.as_str()), "{name}: {text}");
        let size = entity(&name)["contentSize"].as_str();
        let octets = fs::metadata(&path).expect("a file").len().to_string();
        assert!(size.is_none_or(|size| size == octets), "{name}: {text}");
    }
    assert!(described.iter().all(|id| entity(id)["@type"] == "File"));
    let run = graph
        .iter()
        .find(|entity| entity["@type"] == "CreateAction");
    let run = run.expect("the run");
    let program = entity(run["instrument"]["@id"].as_str().expect("a program"));
    assert_eq!(program["@type"], "SoftwareApplication");
}

#[test]
fn an_archive_stands_beside_its_directory_and_replaces_nothing() {
    let scratch = Scratch::new("archive-place");
    let results = simulated(&scratch);
    let of_the_user = scratch.write("results.tar.zst.part", "mine");
    let of_a_killed_command = scratch.write("results.tar.zst.sixbench-new", "half");
    assert_eq!(archive(&[&format!("{results}/")]).status.code(), Some(0));
    assert_eq!(
        fs::read_to_string(&of_the_user).expect("it is still there"),
        "mine"
    );
    assert!(!Path::new(&of_a_killed_command).exists());
    fs::remove_file(of_the_user).expect("removed");
    assert!(Path::new(&scratch.path("results.tar.zst")).is_file());
    let refused = |arguments: &[&str], reason: &str| {
        let output = archive(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            text(&output.stderr).contains(reason),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
    };
    refused(&[&results], "results.tar.zst exists already; move it away");
    refused(
        &[&results, "-o", &format!("{results}/recipes.tar.zst")],
        "is in the results directory; choose a place outside",
    );
    refused(
        &[&results, "-o", &scratch.path("no/such.tar.zst")],
        "cannot write",
    );
    refused(&[&scratch.path("missing")], "is not a results directory");
    let parts = fs::read_dir(&scratch.0).expect("files").filter(|file| {
        file.as_ref().is_ok_and(|file| {
            file.path()
                .extension()
                .is_some_and(|end| end == "sixbench-new")
        })
    });
    assert_eq!(
        parts.count(),
        0,
        "nothing is left of an archive that was not written"
    );
}

#[test]
fn a_run_that_goes_on_is_not_archived() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("archive-running");
    let plan = scratch.write("plan.toml", &plans::that_lasts(plans::KERNEL));
    let results = scratch.path("results");
    let mut run = start(&["run", &plan, "-o", &results]);
    until_the_first_trial(&mut run, &results);
    let refused = archive(&[&results]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("the run goes on"),
        "{}",
        text(&refused.stderr)
    );
    signal(&run, "INT");
    assert_eq!(
        run.wait_with_output().expect("ended").status.code(),
        Some(130)
    );
    assert_eq!(archive(&[&results]).status.code(), Some(0));
}

#[test]
fn everything_that_a_run_writes_for_programs_is_as_the_schemas_say() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("schemas");
    let plan = scratch.write("plan.toml", plans::KERNEL);
    let results = scratch.path("results");
    let run = output(&["run", &plan, "-o", &results, "--json"]);
    assert_ran(&run);
    let read = |name: &str| fs::read_to_string(Path::new(&results).join(name)).expect("a file");
    let json = |text: &str| serde_json::from_str(text).expect("JSON");
    let events: Vec<serde_json::Value> = text(&run.stdout)
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(json)
        .collect();
    assert!(events.len() > 5, "{}", text(&run.stdout));
    assert_valid("event", &events);
    assert_valid(
        "trial",
        &read("trials.jsonl").lines().map(json).collect::<Vec<_>>(),
    );
    assert_valid("facts", &[json(&read("facts.json"))]);
    assert_valid("results", &[json(&read("results.json"))]);
    let resolved: toml::Table = read("resolved.toml").parse().expect("TOML");
    assert_valid("plan", &[serde_json::to_value(resolved).expect("JSON")]);
    let refused = output(&["schema", "record"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains(
            "expected one of trial, facts, results, plan, event, conformance, plan-file, recipe"
        ),
        "{}",
        text(&refused.stderr)
    );
}
