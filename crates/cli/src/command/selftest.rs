//! `sixbench selftest`: what the tester itself can do, and how accurate its delays are.

use crate::args;
use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_method::terms::FrameRate;
use sixbench_method::units::show_rate;
use sixbench_runner::selftest::{self, DelayRow};
use sixbench_runner::stop;
use sixbench_testbed::doctor;

/// Runs the self-test.
pub(crate) fn selftest(arguments: &args::Selftest) -> Result<Exit, Failed> {
    if arguments.accuracy {
        return accuracy(arguments);
    }
    let is_all = !arguments.generate && !arguments.receive && arguments.queues.is_none();
    if is_all {
        check_root(", or use --generate or --receive")?;
    }
    let mut figures = Vec::new();
    if arguments.generate || is_all {
        figures.extend(selftest::sending()?);
    }
    if arguments.receive || is_all {
        figures.extend(selftest::reception()?);
    }
    if let Some(queues) = arguments.queues {
        check_root("")?;
        figures.extend(selftest::over_queues(arguments.io, arguments.size, queues, &stop::install()?)?);
    }
    if is_all {
        let stop = stop::install()?;
        figures.extend(selftest::over_veth(arguments.io, arguments.size, &stop)?);
        figures.extend(selftest::dns(&stop)?);
    }
    if arguments.json {
        output::line(serde_json::to_string_pretty(&figures).map_err(anyhow::Error::from)?)?;
        return Ok(Exit::Done);
    }
    let width = figures.iter().map(|figure| figure.what.len()).max().unwrap_or(0);
    for figure in &figures {
        let error = figure.offered_load_error.map_or(String::new(), |e| format!("  (offered load off by {e:.1e})"));
        let rate = show_rate(FrameRate(figure.per_second));
        output::line(format_args!("{:<width$} {rate:>8} {}{error}", figure.what, figure.unit))?;
    }
    Ok(Exit::Done)
}

/// Refuses what needs root; `instead` names what does not.
fn check_root(instead: &str) -> Result<(), Failed> {
    match doctor::is_root() {
        true => Ok(()),
        false => {
            let text = format!("the test over veth needs root; run it with sudo{instead}");
            Err(Failed::new(Exit::Testbed, anyhow::anyhow!(text)))
        }
    }
}

/// Measures how accurate delays are, on a device whose delay is known.
fn accuracy(arguments: &args::Selftest) -> Result<Exit, Failed> {
    check_root("")?;
    let rows = selftest::accuracy(arguments.io, arguments.size, &stop::install()?)?;
    match arguments.json {
        true => output::line(serde_json::to_string_pretty(&rows).map_err(anyhow::Error::from)?)?,
        false => output::print(describe(&rows))?,
    }
    Ok(Exit::Done)
}

/// Returns the rows in words.
fn describe(rows: &[DelayRow]) -> String {
    let us = |ns: f64| format!("{:.1} us", ns / 1000.0);
    let mut text = String::from(
        "a built-in delay line between the tester's ports, over veth; values are those of the quietest valid trial\n",
    );
    for row in rows {
        let delay = us(row.delay_ns as f64);
        text += &match &row.result {
            None => format!("delay {delay:>10}: no quiet trial of {}\n", row.made),
            Some(best) => format!(
                "delay {delay:>10}: typical latency off by {:>8}, PDV {:>8} ({} frames, longest stall of the tester {}; {} of {} trials quiet)\n",
                us(best.median_error_ns as f64),
                us(best.pdv_ns as f64),
                best.frames,
                us(best.worst_gap_ns as f64),
                row.quiet,
                row.made
            ),
        };
    }
    text
}
