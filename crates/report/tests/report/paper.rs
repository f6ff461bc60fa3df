//! The parts of a report for papers, and its LaTeX files compiled with pdflatex, alone and as parts of a paper. If TeX is not installed, the tests say
//! so and compile nothing.

use crate::formats::{figures, latex_files, latex_for, methods, methods_for, paper_figures};
use crate::sample::Sample;
use sixbench_method::record::{CoreLoad, Warning};
use sixbench_method::trial::Fault;
use sixbench_report::PaperStyle;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn samples() -> Vec<(&'static str, Sample)> {
    vec![
        ("complete", Sample::complete()),
        ("measures", Sample::of_every_measure()),
        ("stateful", Sample::of_stateful_gateways()),
        ("dns", Sample::of_dns_servers()),
        ("chains", Sample::of_chains()),
    ]
}

fn has_pdflatex() -> bool {
    let found = Command::new("pdflatex")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: pdflatex is not installed");
    }
    found
}

/// A folder for TeX files, removed when dropped.
struct TexFolder(PathBuf);

impl TexFolder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("sixbench-paper-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Writes `results.tex` and the files that it reads below a folder of this name, which is empty or ends in `/`.
    fn write_results(&self, below: &str, sample: &Sample, style: PaperStyle) {
        for (name, text) in latex_files(&sample.input(), style) {
            self.write(&format!("{below}{name}"), &text);
        }
    }

    /// Compiles a text and returns TeX's log without its line breaks.
    fn compile(&self, text: &str) -> String {
        self.write("paper.tex", text);
        let log = self.run(
            "pdflatex",
            &["-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        );
        assert!(self.0.join("paper.pdf").exists(), "{log}");
        log
    }

    /// Compiles a text that cites `run.bib` until its references are resolved; returns the last log.
    fn compile_with_references(&self, text: &str) -> String {
        self.compile(text);
        let log = self.run("bibtex", &["paper"]);
        assert!(
            !log.contains("Warning--") && !log.contains("error message"),
            "{log}"
        );
        self.compile(text);
        self.compile(text)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let path: &Path = &self.0;
        let output = Command::new(program)
            .args(arguments)
            .current_dir(path)
            .env("max_print_line", "1000")
            .output();
        let output = output.expect("a program of TeX");
        let log = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{program}: {log}");
        log
    }
}

impl Drop for TexFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn assert_fits(name: &str, log: &str) {
    let wrong = [
        "Overfull \\hbox",
        "too large for page",
        "multiply defined",
        "LaTeX Error",
    ];
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| wrong.iter().any(|words| line.contains(words)))
        .collect();
    assert!(lines.is_empty(), "{name}:\n{}", lines.join("\n"));
}

fn assert_compiles_alone(style: PaperStyle) {
    if !has_pdflatex() {
        return;
    }
    for (name, sample) in samples() {
        let folder = TexFolder::new(&format!("{style:?}-{name}"));
        folder.write_results("", &sample, style);
        let results = std::fs::read_to_string(folder.0.join("results.tex")).expect("a file");
        assert_fits(name, &folder.compile(&results));
    }
}

#[test]
fn the_tables_compile_by_themselves_and_fit_into_a_column() {
    assert_compiles_alone(PaperStyle::OneColumn);
}

#[test]
fn the_tables_compile_by_themselves_and_fit_into_two_columns() {
    assert_compiles_alone(PaperStyle::TwoColumn);
}

#[test]
fn a_paper_takes_the_tables_in_and_refers_to_them_twice_compiled() {
    if !has_pdflatex() {
        return;
    }
    let folder = TexFolder::new("input");
    let sample = Sample::of_every_measure();
    for (style, class) in [
        (PaperStyle::OneColumn, ""),
        (PaperStyle::TwoColumn, "[twocolumn]"),
    ] {
        folder.write_results("run/", &sample, style);
        let paper = format!(
            "\\documentclass{class}{{article}}\n\\usepackage{{array,booktabs}}\n\\begin{{document}}\n\\listoftables\n\
             See table~\\ref{{tab:sixbench-throughput}}.\n\\def\\sixbenchfolder{{run/}}\\input{{run/results}}\nThe end.\n\\end{{document}}\n"
        );
        folder.compile(&paper);
        let log = folder.compile(&paper);
        assert_fits(class, &log);
        assert!(!log.contains("undefined references"), "{log}");
    }
}

#[test]
fn a_paper_of_two_columns_takes_a_single_table_in() {
    if !has_pdflatex() {
        return;
    }
    let folder = TexFolder::new("single");
    folder.write_results("", &Sample::complete(), PaperStyle::TwoColumn);
    let paper = "\\documentclass[twocolumn]{article}\n\\usepackage{array,booktabs}\n\\begin{document}\n\
                 See table~\\ref{tab:sixbench-throughput}.\n\\input{tables/throughput}\n\\end{document}\n";
    folder.compile(paper);
    let log = folder.compile(paper);
    assert_fits("single", &log);
    assert!(!log.contains("undefined references"), "{log}");
}

#[test]
fn the_tables_name_the_command_for_the_other_style_and_repeat_no_column() {
    let text = latex_for(&Sample::complete().input(), PaperStyle::OneColumn);
    let style = text.lines().find(|line| line.starts_with("% Style: "));
    assert_eq!(
        style,
        Some("% Style: one-column. For a two-column paper: sixbench report --style two-column DIR")
    );
    let (_, throughput) = text
        .split_once("\\label{tab:sixbench-throughput}")
        .expect("the first table");
    let head = throughput
        .split_once("\\midrule")
        .map(|(head, _)| head)
        .expect("a head");
    assert!(head.contains("Median & Min & Max & n"), "{head}");
    assert!(
        throughput.contains("P1 and P99 are left out: in every row they are Min and Max."),
        "{throughput}"
    );
}

#[test]
fn titles_that_pdflatex_has_no_letters_for_are_compiled() {
    if !has_pdflatex() {
        return;
    }
    let mut sample = Sample::complete();
    let title = "性能測定 Производительность Ωμέγα 🚀 Zażółć";
    sample.plan.name = title.to_owned();
    sample
        .plan
        .tests
        .iter_mut()
        .for_each(|test| test.title = title.to_owned());
    let text = latex_for(&sample.input(), PaperStyle::OneColumn);
    assert!(text.contains("\\sixbenchchar{6027}"), "{text}");
    assert_fits("titles", &TexFolder::new("titles").compile(&text));
}

#[test]
fn the_methods_stay_as_they_were_reviewed() {
    for (name, sample) in [
        ("measures", Sample::of_every_measure()),
        ("stateful", Sample::of_stateful_gateways()),
    ] {
        let [markdown, bibliography] = methods(&sample.input());
        insta::assert_snapshot!(format!("methods-{name}"), markdown);
        insta::assert_snapshot!(format!("bibliography-{name}"), bibliography);
    }
}

/// Adds the keys of settings that have a value, in the form used in reports.
fn add_keys(value: &serde_json::Value, keys: &mut std::collections::BTreeSet<String>) {
    let serde_json::Value::Object(object) = value else {
        return;
    };
    for (key, value) in object {
        keys.insert(key.trim_end_matches("-ns").replace('-', " "));
        add_keys(value, keys);
    }
}

#[test]
fn the_methods_state_what_disturbed_a_run_and_advise_nothing() {
    let mut sample = Sample::of_every_measure();
    let device = sample.plan.tests[0].dut.clone();
    let is_of_device = |test: &str| {
        sample
            .plan
            .test(test)
            .is_some_and(|test| test.dut == device)
    };
    let of_device = |sample: &Sample| {
        sample
            .records
            .iter()
            .filter(|record| is_of_device(&record.point.test))
            .count()
    };
    let all = of_device(&sample);
    let first = sample
        .records
        .iter_mut()
        .find(|record| is_of_device(&record.point.test))
        .expect("a trial");
    first.result.faults.push(Fault::CpuTaken {
        milliseconds: first.result.spec.duration_ns / 2_000_000,
    });
    let during = Warning::DisturbedTrials {
        dut: device.clone(),
    };
    let busy = |core: u32| {
        let load = CoreLoad {
            core,
            busy_percent: 77,
            by: "qemu, process 4711: 60 %".to_owned(),
        };
        Warning::BusyBeforeSetUp {
            dut: device.clone(),
            load,
        }
    };
    sample.facts.warnings = vec![during, busy(0), busy(1), busy(2)];
    sample
        .facts
        .host
        .insert("memory".to_owned(), "24683656 kB".to_owned());
    sample.facts.host.insert("cores".to_owned(), "1".to_owned());
    let [text, _] = methods(&sample.input());
    let tex = methods_for(&sample.input(), PaperStyle::OneColumn);
    for advice in ["see top", "stop it", "Warning of the run", "kB of memory"] {
        assert!(
            !text.contains(advice) && !tex.contains(advice),
            "{advice}: {text}"
        );
    }
    let text = text.replace('\u{a0}', " ");
    assert!(
        text.contains("(1 core) and 23.5 GiB of memory, and runs Linux"),
        "{text}"
    );
    assert!(
        text.contains(&format!(" in 1 of {all} trials that were not repeated.")),
        "{text}"
    );
    assert_eq!(
        text.matches("busy with other work").count(),
        1,
        "one sentence for each kind: {text}"
    );
}

#[test]
fn no_parameter_of_a_plan_is_missing_from_its_methods() {
    for (name, sample) in samples() {
        let [markdown, _] = methods(&sample.input());
        let mut keys = std::collections::BTreeSet::new();
        let settings = serde_json::to_value(&sample.plan).expect("JSON");
        add_keys(&settings, &mut keys);
        for test in settings["test"].as_array().expect("tests") {
            for (key, value) in test.as_object().expect("a test") {
                // The keys that identify a test are in another table.
                if ![
                    "name",
                    "title",
                    "dut",
                    "frame-sizes",
                    "optional",
                    "series",
                    "expect",
                ]
                .contains(&key.as_str())
                {
                    add_keys(&serde_json::json!({ key: value }), &mut keys);
                }
            }
        }
        // These are written as words: `9 of 10 frames`, `1024–65535, pseudorandom`.
        for in_words in ["name", "test", "first", "last", "order", "of"] {
            keys.remove(in_words);
        }
        let names: Vec<&str> = markdown
            .split("### Parameters")
            .nth(1)
            .expect("a table")
            .lines()
            .collect();
        let is_told = |key: &String| {
            names
                .iter()
                .any(|line| line.contains(key.trim_end_matches(" s")))
        };
        let missing: Vec<_> = keys.iter().filter(|key| !is_told(key)).collect();
        assert!(keys.len() > 20 && missing.is_empty(), "{name}: {missing:?}");
    }
}

#[test]
fn the_methods_compile_with_their_references_and_fit_into_a_column() {
    if !has_pdflatex() {
        return;
    }
    for (name, sample) in samples() {
        for style in [PaperStyle::OneColumn, PaperStyle::TwoColumn] {
            let folder = TexFolder::new(&format!("methods-{style:?}-{name}"));
            let [_, bibliography] = methods(&sample.input());
            folder.write("run.bib", &bibliography);
            let log = folder.compile_with_references(&methods_for(&sample.input(), style));
            assert_fits(name, &log);
            assert!(!log.contains("undefined"), "{name}: {log}");
        }
    }
}

#[test]
fn every_panel_has_a_file_of_its_own_for_a_paper() {
    for (name, sample) in samples() {
        let files = paper_figures(&sample.input(), PaperStyle::OneColumn);
        let panels: usize = figures(&sample.input())
            .iter()
            .map(|(_, svg)| svg.matches("role=\"img\"").count())
            .sum();
        let names: std::collections::BTreeSet<&String> =
            files.iter().map(|(name, _)| name).collect();
        assert_eq!((files.len(), names.len()), (panels, panels), "{name}");
        for (file, text) in &files {
            assert!(
                file.starts_with("figures/") && file.is_ascii() && !file.contains(' '),
                "{file}"
            );
            assert!(text.contains("\\addplot["), "{file} draws nothing: {text}");
            assert!(
                !text.contains("NaN") && !text.contains("inf,"),
                "{file}: {text}"
            );
        }
    }
}

#[test]
fn a_figure_of_a_search_stays_as_it_was_reviewed() {
    let files = paper_figures(&Sample::of_every_measure().input(), PaperStyle::OneColumn);
    let (name, text) = files
        .iter()
        .find(|(name, _)| name.contains("loss-rate"))
        .expect("a figure");
    insta::assert_snapshot!("figure", format!("{name}\n{text}"));
}

#[test]
fn a_paper_takes_every_figure_in_and_none_is_wider_than_its_column() {
    if !has_pdflatex() {
        return;
    }
    for (index, (name, sample)) in samples().into_iter().enumerate() {
        // TeX is slow, so only the first sample is tested in both styles, and only one panel of each figure.
        let styles = [
            (PaperStyle::TwoColumn, "[twocolumn]"),
            (PaperStyle::OneColumn, ""),
        ];
        for (style, class) in styles.into_iter().take(if index == 0 { 2 } else { 1 }) {
            let folder = TexFolder::new(&format!("figures-{style:?}-{name}"));
            std::fs::create_dir(folder.0.join("figures")).expect("a folder");
            let mut files = paper_figures(&sample.input(), style);
            let figure = |text: &str| {
                text.lines()
                    .next()
                    .and_then(|line| line.split(':').next())
                    .map(str::to_owned)
            };
            let mut seen = std::collections::BTreeSet::new();
            files.retain(|(_, text)| seen.insert(figure(text)));
            assert!(files.len() > 3, "{name}");
            for (name, text) in &files {
                folder.write(name, text);
            }
            let inputs = files.iter().map(|(name, _)| {
                format!(
                    "\\noindent\\input{{{}}}\\par\\clearpage\n",
                    name.trim_end_matches(".tex")
                )
            });
            let paper = format!(
                "\\documentclass{class}{{article}}\n\\usepackage{{pgfplots}}\\pgfplotsset{{compat=1.16}}\n\\begin{{document}}\n\
                 \\def\\sixbenchfigurewidth{{\\columnwidth}}\n{}\\end{{document}}\n",
                inputs.collect::<String>()
            );
            let log = folder.compile(&paper);
            assert_fits(name, &log);
            assert!(
                !log.contains("NOTE: coordinate") && !log.contains("Warning"),
                "{name}: {log}"
            );
        }
    }
}

#[test]
fn a_figure_compiles_by_itself() {
    if !has_pdflatex() {
        return;
    }
    let folder = TexFolder::new("figure");
    let files = paper_figures(&Sample::complete().input(), PaperStyle::TwoColumn);
    let (_, text) = files
        .iter()
        .find(|(name, _)| name.contains("repetitions"))
        .expect("a figure");
    folder.compile(text);
}
