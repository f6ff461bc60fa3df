//! `sixbench selftest`: measures the tester's own limits, and the accuracy of its delays.

use super::locked;
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_io::PortSpec;
use sixbench_plan::Links;
use sixbench_runner::selftest;
use sixbench_runner::stop;
use sixbench_testbed::doctor;

/// Runs the self-test.
pub(crate) fn selftest(arguments: &args::Selftest) -> Result<Exit, Failed> {
    let _locks = locked(&links(arguments), "selftest", None, &arguments.waiting)?;
    if arguments.accuracy {
        return accuracy(arguments);
    }
    if arguments.queries {
        return queries(arguments);
    }
    let is_all = !arguments.generate && !arguments.receive && arguments.queues.is_none();
    if is_all {
        check_root("the test over veth", ", or use --generate or --receive")?;
    }
    let mut figures = Vec::new();
    if arguments.generate || is_all {
        figures.extend(selftest::sending()?);
    }
    if arguments.receive || is_all {
        figures.extend(selftest::reception()?);
    }
    if let Some(queues) = arguments.queues {
        check_root("the test over veth", "")?;
        figures.extend(selftest::over_queues(
            arguments.io,
            arguments.size,
            queues,
            &stop::install()?,
        )?);
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
    selftest::table(&figures)
        .into_iter()
        .try_for_each(output::line)?;
    output::line(selftest::ceiling()?)?;
    Ok(Exit::Done)
}

/// Returns the interfaces that the self-test takes for itself.
fn links(arguments: &args::Selftest) -> Links {
    match &arguments.between[..] {
        [left, right] => Links {
            ports: Some([left, right].map(|end| PortSpec::parse(end))),
            ..Links::default()
        },
        _ => Links::default(),
    }
}

/// Returns an error without root for what needs it; `instead` names an alternative that does not.
fn check_root(what: &str, instead: &str) -> Result<(), Failed> {
    if doctor::is_root() {
        Ok(())
    } else {
        let text = format!("{what} needs root; run it with sudo{instead}");
        Err(Failed::new(Exit::Testbed, anyhow::anyhow!(text)))
    }
}

/// Measures the accuracy of delays on a device whose delay is known.
fn accuracy(arguments: &args::Selftest) -> Result<Exit, Failed> {
    check_root("the test over veth", "")?;
    let rows = selftest::accuracy(arguments.io, arguments.size, &stop::install()?)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&rows).map_err(anyhow::Error::from)?)?;
        return Ok(Exit::Done);
    }
    output::line(
        "a built-in delay line between the tester's ports, over veth; values are those of the quietest valid trial",
    )?;
    rows.iter().try_for_each(output::line)?;
    Ok(Exit::Done)
}

/// Measures how precisely DNS queries are sent, and how many are answered in time.
fn queries(arguments: &args::Selftest) -> Result<Exit, Failed> {
    let between: Option<[String; 2]> = arguments.between.clone().try_into().ok();
    if between.is_some() {
        check_root(
            "the test between two interfaces",
            ", or leave out --between",
        )?;
    }
    let of = selftest::QueryLoop {
        duration_ns: arguments.duration_ns,
        times: arguments.times,
        between,
    };
    let figures = selftest::queries(&of, &stop::install()?)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&figures).map_err(anyhow::Error::from)?)?;
        return Ok(Exit::Done);
    }
    output::line(
        "time of sending the queries of one second, milliseconds, 11 trials, and the real frequency, queries/s",
    )?;
    output::line(selftest::SENDING_COLUMNS)?;
    figures.sending.iter().try_for_each(output::line)?;
    selftest::table(&figures.looped)
        .into_iter()
        .try_for_each(output::line)?;
    output::line(match of.between {
        None => {
            "over loopback the kernel hands on many queries as one buffer (segmentation offload); between two interfaces: --between"
        }
        Some(_) => {
            "queries and answers crossed the interfaces; `ethtool -S` counts them independently"
        }
    })?;
    Ok(Exit::Done)
}
