//! Configurations of siitperf. A mistake has a position; importing one gives a recipe that is accepted, and a plan for it.

use crate::input::Input;
use sixbench_method::record::CodeOrigin;
use sixbench_method::terms::{FrameSize, Share};
use sixbench_siitperf_import::{Imported, Options, Phase1, import};
use sixbench_testbed::Library;

/// The first octet selects siitperf's command line options; the rest is the text of the file.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    let options = options(input.octet());
    let Ok(source) = std::str::from_utf8(input.0) else {
        return;
    };
    match import("siitperf.conf", source, &options) {
        Err(mistakes) => super::check_mistakes(source, &mistakes),
        Ok(imported) => check(imported),
    }
}

fn options(how: u8) -> Options {
    let is_set = |bit: u8| how & bit != 0;
    let phase_1 = Phase1 {
        frames: 4_000_000,
        state_table: 4_000_000,
        rate: 8_000_000,
        timeout_ms: 500,
        delay_ms: 1500,
    };
    Options {
        frame_sizes: if is_set(1) {
            vec![FrameSize(84), FrameSize(1518)]
        } else {
            Vec::new()
        },
        duration_ns: is_set(2).then_some(10_000_000_000),
        timeout_ns: is_set(4).then_some(2_000_000_000),
        foreground: is_set(8).then_some(Share {
            foreground: 9,
            of: 10,
        }),
        frame_timeout_ns: is_set(16).then_some(1_000_000),
        phase_1: is_set(32).then_some(phase_1),
        ..Options::default()
    }
}

fn check(
    Imported {
        plan,
        recipe,
        notes,
    }: Imported,
) {
    assert!(notes.iter().all(|note| !note.text.is_empty()));
    let library = Library::default().with_texts(
        vec![("siitperf.toml".to_owned(), recipe.clone())],
        CodeOrigin::Plan,
    );
    let library = library.unwrap_or_else(|error| panic!("{error}\n{recipe}"));
    if let Err(mistakes) = sixbench_plan::load(&plan, &library) {
        panic!(
            "{}",
            sixbench_plan::render("plan.toml", &plan, &mistakes, false)
        );
    }
}
