//! Translates a siitperf configuration into a plan and a recipe. Text in, text out: nothing here opens a file or sends anything. A key without a
//! counterpart becomes a note, a mistake becomes an error at its line, and all of them are reported together.
#![forbid(unsafe_code)]

mod addresses;
mod checks;
mod device;
mod endpoints;
mod findings;
mod notes;
mod options;
mod phases;
mod plan;
mod recipe;
mod setting;
mod siitperf;
mod stateful;
mod syntax;
#[cfg(test)]
mod tests;

pub use findings::Note;
pub use options::{OptionError, Options, Phase1, ScriptOptions, foreground, phase_1};

use device::ImportedDevice;
use findings::ImportFindings;
use setting::Reader;
use siitperf::Config;
use sixbench_plan::Diagnostic;

/// The plan and the recipe made from a configuration.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The text of `plan.toml`.
    pub plan: String,
    /// The text of `recipes/siitperf.toml`, next to the plan.
    pub recipe: String,
    /// Notes on the settings that were not taken over unchanged, in the order of the file.
    pub notes: Vec<Note>,
}

/// Reads the siitperf configuration `source`. `path` is its name in messages, and `options` are siitperf's command-line options.
///
/// # Errors
/// All mistakes in the file, each with its place.
pub fn import(path: &str, source: &str, options: &Options) -> Result<Imported, Vec<Diagnostic>> {
    let mut findings = ImportFindings::default();
    let entries = syntax::read(source, &siitperf::KEYS, &mut findings);
    let config = Config::read(&mut Reader::new(
        &entries,
        // A missing key is shown at the end of the text, not on the empty lines behind it.
        source.trim_end().len(),
        &mut findings,
    ));
    checks::check(&config, options, &mut findings);
    stateful::check(&config, options, &mut findings);
    let device = ImportedDevice::new(&config, options, &mut findings);
    let Some(device) = device.filter(|_| findings.mistakes.is_empty()) else {
        return Err(findings.mistakes);
    };
    notes::note_all(&config, options, &device, &mut findings);
    let mut notes = findings.notes;
    notes.sort_by_key(|note| note.line);
    let plan = plan::text(path, &config, options, &notes);
    Ok(Imported {
        plan,
        recipe: recipe::text(path, &device),
        notes,
    })
}
