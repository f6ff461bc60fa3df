//! The page, and the data that it shows, which is published after each event.

use crate::LiveRun;
use crate::metrics::{self, PointResult};
use crate::state::{RunState, Stage};
use sixbench_io::files::Folder;
use sixbench_method::event::Event;
use sixbench_method::plan::Plan;
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay;
use sixbench_report::{Document, Input, STYLE};
use std::sync::Arc;
use tokio::sync::watch;

const TEMPLATE: &str = include_str!("page.html");

/// The page as it is sent.
pub(crate) struct LiveHtml {
    pub(crate) html: String,
    /// The policy that lets only this page's own script run.
    pub(crate) policy: String,
}

impl LiveHtml {
    /// Returns the page. The nonce of its script is a part of the token.
    pub(crate) fn new(token: &str) -> Self {
        // A part of the token is as hard to guess as a number drawn for it, and the same for all requests, so that the page is made once. Whoever can
        // read the page has shown the token, so it gives nothing away.
        let nonce = token.chars().rev().take(16).collect::<String>();
        let html = TEMPLATE
            .replace("/*STYLE*/", STYLE)
            .replace("NONCE", &nonce);
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; connect-src 'self'"
        );
        Self { html, policy }
    }
}

/// The results so far in the form of the report, and a number that changes with them.
#[derive(Default)]
pub(crate) struct AnswerFragment {
    pub(crate) html: String,
    pub(crate) number: u64,
}

/// The run at one moment.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub(crate) state: RunState,
    pub(crate) json: String,
    pub(crate) answer: Arc<AnswerFragment>,
    pub(crate) results: Arc<Vec<PointResult>>,
}

/// Keeps the state of the run, and passes it on to the browsers that watch.
pub(crate) struct Publisher {
    plan: Plan,
    records: Vec<TrialRecord>,
    directory: Folder,
    state: RunState,
    answer: Arc<AnswerFragment>,
    results: Arc<Vec<PointResult>>,
    has_new_results: bool,
    sender: watch::Sender<Arc<Snapshot>>,
}

impl Publisher {
    /// Publishes the initial state of the run.
    pub(crate) fn new(run: LiveRun) -> (Self, watch::Receiver<Arc<Snapshot>>) {
        let LiveRun {
            plan,
            records,
            directory,
            ..
        } = run;
        let shown = directory
            .path()
            .canonicalize()
            .unwrap_or_else(|_| directory.path().to_owned())
            .display()
            .to_string();
        let state = RunState::new(&plan, &records, shown);
        let (sender, receiver) = watch::channel(Arc::default());
        let (answer, results) = Default::default();
        let mut publisher = Self {
            plan,
            records,
            directory,
            state,
            answer,
            results,
            // The records of an earlier part of the run have results that no event announces.
            has_new_results: true,
            sender,
        };
        // So that the first browser finds the results of earlier parts of the run.
        publisher.publish(0, false);
        (publisher, receiver)
    }

    /// Updates the state with an event.
    pub(crate) fn note(&mut self, event: Event) {
        self.state.note(&event);
        match event {
            Event::TrialEnded { record, .. } => self.records.push(*record),
            Event::MeasurementEnded { .. } | Event::DutReady { .. } | Event::RunEnded { .. } => {
                self.has_new_results = true;
            }
            _ => {}
        }
    }

    /// Passes the state on. `is_last` says that this server is about to end.
    pub(crate) fn publish(&mut self, dropped: u64, is_last: bool) {
        (self.state.dropped, self.state.is_last) = (dropped, is_last);
        if std::mem::take(&mut self.has_new_results) {
            self.find_results();
        }
        let json = serde_json::to_string(&self.state).unwrap_or_default();
        let (answer, results) = (self.answer.clone(), self.results.clone());
        self.sender.send_replace(Arc::new(Snapshot {
            state: self.state.clone(),
            json,
            answer,
            results,
        }));
    }

    /// Returns whether a browser still waits for a state; one receiver is the server's own.
    pub(crate) fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 1
    }

    fn find_results(&mut self) {
        let outcomes = replay::outcomes(&self.plan, &self.records);
        self.results = Arc::new(metrics::results(&self.plan, &outcomes));
        // The page does without facts that are not written yet.
        let facts = self.directory.text("facts.json").ok();
        let facts: Facts = facts
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let input = Input {
            plan: &self.plan,
            records: &self.records,
            outcomes: &outcomes,
            facts: &facts,
            commands: "",
            generated: "",
            interrupted: self.state.stage != Stage::Complete,
            rfc_budget: None,
        };
        let html = Document::new(&input).and_then(|document| document.answer_html());
        let html =
            html.unwrap_or_else(|error| format!("<p>{}</p>", html_escaped(&error.to_string())));
        // Server-sent events cannot carry a carriage return.
        let html = html.replace('\r', "");
        self.answer = Arc::new(AnswerFragment {
            html,
            number: self.answer.number + 1,
        });
    }
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
