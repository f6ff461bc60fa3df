//! `results.tex` under pdflatex: by itself and as part of a paper. Where TeX is not installed, the tests say so and compile nothing.

use crate::formats::latex_for;
use crate::sample::Sample;
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
    let found = Command::new("pdflatex").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: pdflatex is not installed");
    }
    found
}

/// A folder for files of TeX, which goes with the value.
struct TexFolder(PathBuf);

impl TexFolder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sixbench-paper-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// Compiles a text and returns the log of TeX without the breaks that it puts into its lines.
    fn compile(&self, text: &str) -> String {
        let path: &Path = &self.0;
        std::fs::write(path.join("paper.tex"), text).expect("a file");
        let mut tex = Command::new("pdflatex");
        tex.args(["-interaction=nonstopmode", "-halt-on-error", "paper.tex"]).current_dir(path).env("max_print_line", "1000");
        let output = tex.output().expect("pdflatex");
        let log = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && path.join("paper.pdf").exists(), "{log}");
        log
    }
}

impl Drop for TexFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn assert_fits(name: &str, log: &str) {
    let wrong = ["Overfull \\hbox", "too large for page", "multiply defined", "LaTeX Error"];
    let lines: Vec<&str> = log.lines().filter(|line| wrong.iter().any(|words| line.contains(words))).collect();
    assert!(lines.is_empty(), "{name}:\n{}", lines.join("\n"));
}

fn assert_compiles_alone(style: PaperStyle) {
    if !has_pdflatex() {
        return;
    }
    for (name, sample) in samples() {
        let folder = TexFolder::new(&format!("{style:?}-{name}"));
        assert_fits(name, &folder.compile(&latex_for(&sample.input(), style)));
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
    for (style, class) in [(PaperStyle::OneColumn, ""), (PaperStyle::TwoColumn, "[twocolumn]")] {
        std::fs::write(folder.0.join("results.tex"), latex_for(&sample.input(), style)).expect("a file");
        let paper = format!(
            "\\documentclass{class}{{article}}\n\\usepackage{{array,booktabs}}\n\\begin{{document}}\n\\listoftables\n\
             See table~\\ref{{tab:sixbench-throughput}}.\n\\input{{results}}\nThe end.\n\\end{{document}}\n"
        );
        folder.compile(&paper);
        let log = folder.compile(&paper);
        assert_fits(class, &log);
        assert!(!log.contains("undefined references"), "{log}");
    }
}

#[test]
fn titles_that_pdflatex_has_no_letters_for_are_compiled() {
    if !has_pdflatex() {
        return;
    }
    let mut sample = Sample::complete();
    let title = "性能測定 Производительность Ωμέγα 🚀 Zażółć";
    sample.plan.name = title.to_owned();
    sample.plan.tests.iter_mut().for_each(|test| test.title = title.to_owned());
    let text = latex_for(&sample.input(), PaperStyle::OneColumn);
    assert!(text.contains("\\sixbenchchar{6027}"), "{text}");
    assert_fits("titles", &TexFolder::new("titles").compile(&text));
}
