//! `sixbench dimension`: estimates from results how many subscribers a device can serve.

use super::{PlanFile, read_plan, refused};
use crate::exit::{Exit, Failed};
use crate::output;
use crate::view::columns;
use sixbench_analysis::dimension::{SubscriberTraffic, divided, shares_addresses};
use sixbench_plan::traffic_profile;
use sixbench_report::dimension::{coverage, coverage_json};
use sixbench_runner::dimensioned;
use std::path::Path;

/// Prints how many subscribers the devices of a results directory can serve, or how well a plan would answer that question.
pub(crate) fn dimension(of: &Path, traffic: &Path, json: bool) -> Result<Exit, Failed> {
    let traffic = read_traffic(traffic)?;
    let (text, values) = if of.is_dir() {
        dimensioned(of, &traffic, columns())?
    } else {
        let PlanFile {
            loaded, library, ..
        } = read_plan(of, &[])?;
        let technology = |dut: &str| {
            let recipe = library.get(dut)?;
            let title = recipe.technology.title();
            Some((
                title.to_owned(),
                shares_addresses(title, recipe.path_facts().as_ref()),
            ))
        };
        let (devices, others) = divided(&loaded.plan, technology);
        (
            coverage(&traffic, &devices, &others, columns()),
            coverage_json(&traffic, &loaded.plan.name, &devices, &others),
        )
    };
    if json {
        output::line(values)?;
    } else {
        output::print(text)?;
    }
    Ok(Exit::Done)
}

/// Reads a traffic profile from a file, or one that comes with sixbench.
fn read_traffic(path: &Path) -> Result<SubscriberTraffic, Failed> {
    let name = path.display().to_string();
    let source = match (std::fs::read_to_string(path), traffic_profile::find(path)) {
        (Ok(source), _) => source,
        (Err(_), Some(ready)) => ready.text.to_owned(),
        (Err(error), None) => {
            return Err(Failed::usage(format!(
                "cannot read the traffic profile {name}: {error} (sixbench list traffic)"
            )));
        }
    };
    traffic_profile::read(&source).map_err(|mistakes| refused(&name, &source, &mistakes))
}
