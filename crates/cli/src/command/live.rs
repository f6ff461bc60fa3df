//! `sixbench live`, and the page of `--live`.

use crate::exit::{Exit, Failed};
use crate::output::tell;
use sixbench_io::files::Folder;
use sixbench_live::{LivePage, LiveRun};
use sixbench_runner::store::{StoreError, StoredRun, folder, live_token, load_from};
use sixbench_runner::{follow, stop};
use std::net::SocketAddr;
use std::path::Path;

/// Shows a results directory until it is interrupted.
pub(crate) fn live(results: &Path, address: SocketAddr) -> Result<Exit, Failed> {
    let stop = stop::install()?;
    let usage = |error: StoreError| Failed {
        exit: Exit::Usage,
        ..error.into()
    };
    let results = &folder(results).map_err(usage)?;
    let (page, stored) = page(address, results, Vec::new())?;
    tell!("Ctrl-C ends the page and no run");
    follow::follow(results, stored, &stop, &mut |event| page.feed().note(event))?;
    Ok(Exit::Done)
}

/// Begins to serve the page of a results directory, and says where it is.
pub(super) fn page(
    address: SocketAddr,
    results: &Folder,
    cores: Vec<u32>,
) -> Result<(LivePage, StoredRun), Failed> {
    let stored = load_from(results).map_err(|error| Failed {
        exit: Exit::Usage,
        ..error.into()
    })?;
    let token = live_token(results)?;
    let (plan, records) = (stored.plan.clone(), stored.records.clone());
    let run = LiveRun {
        plan,
        records,
        directory: results.clone(),
        token,
        cores,
    };
    let page = LivePage::open(address, run).map_err(|error| {
        Failed::new(
            Exit::Usage,
            anyhow::anyhow!("{error}; choose another ADDRESS:PORT, or end that program"),
        )
    })?;
    tell!("live page: {}", page.url());
    Ok((page, stored))
}
