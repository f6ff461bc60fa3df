//! Queries from a file in the format of dnsperf: one on a line, a name and a type. The text is kept as it was read, so that a plan that holds it needs the
//! file no more. Nothing here opens a file.

mod line;
mod record_type;

pub use line::{FileQuery, QueryMistake};

use crate::fnv;
use crate::units::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The most octets of a file that a plan may hold: it is kept in the resolved plan.
pub const MOST_OCTETS_IN_PLAN: usize = 1 << 20;

/// The queries of a file, which are asked in order and from the start again after the last.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "StoredQueries", into = "StoredQueries")]
pub struct QueryFile {
    file: Arc<str>,
    text: Arc<str>,
    queries: Arc<[FileQuery]>,
}

/// The queries of a file, as a resolved plan has them.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct StoredQueries {
    /// The name of the file, as the plan has it.
    file: String,
    /// Its content when the plan was read: a name and a type on each line.
    text: String,
}

/// The reason why the text of a resolved plan is no file of queries.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoredQueriesError {
    /// A line is no query.
    #[error("line {} of the queries: {}", .0.line, .0.title)]
    Line(QueryMistake),
    /// The text is longer than a plan may have it.
    #[error("{0} octets of queries are more than the {MOST_OCTETS_IN_PLAN} that a plan may hold")]
    TooLong(usize),
}

impl QueryFile {
    /// Returns the queries of a file that is not read yet: none.
    pub fn unread(file: &str) -> Self {
        Self {
            file: file.into(),
            text: Arc::default(),
            queries: Arc::default(),
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All lines that are no queries, with their places; or that there is no query at all.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<QueryMistake>> {
        let queries = line::read_lines(text)?;
        Ok(Self {
            file: file.into(),
            text: text.into(),
            queries: queries.into(),
        })
    }

    /// Returns the name of the file, as the user has written it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns whether the file is still to be read.
    pub fn is_unread(&self) -> bool {
        self.queries.is_empty()
    }

    /// Returns the queries in the order of the file.
    pub fn queries(&self) -> &[FileQuery] {
        &self.queries
    }

    /// Returns a digest of the text, which tells a changed file from an unchanged one. It does not protect against forgery.
    pub fn digest(&self) -> String {
        format!("{:016x}", self.hash())
    }

    /// Returns the same as a number.
    pub fn hash(&self) -> u64 {
        fnv::hash(self.text.as_bytes())
    }

    /// Returns a description: the file, the number of its queries and its digest.
    pub fn description(&self) -> String {
        format!(
            "{} of {} (digest {})",
            counted(self.queries.len() as u64, "query"),
            self.file,
            self.digest()
        )
    }
}

impl fmt::Debug for QueryFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description())
    }
}

impl TryFrom<StoredQueries> for QueryFile {
    type Error = StoredQueriesError;

    fn try_from(stored: StoredQueries) -> Result<Self, StoredQueriesError> {
        let StoredQueries { file, text } = stored;
        if text.len() > MOST_OCTETS_IN_PLAN {
            return Err(StoredQueriesError::TooLong(text.len()));
        }
        Self::read(&file, &text).map_err(|mistakes| {
            StoredQueriesError::Line(mistakes.into_iter().next().unwrap_or_default())
        })
    }
}

impl From<QueryFile> for StoredQueries {
    fn from(queries: QueryFile) -> Self {
        Self {
            file: queries.file.to_string(),
            text: queries.text.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolved_plan_keeps_the_text_and_reads_the_same_queries_of_it() {
        let text = "; of a resolver's log\nwww.example.com A\nexample.com\tAAAA\n";
        let queries = QueryFile::read("log.txt", text).expect("queries");
        let kept = toml::to_string(&queries).expect("TOML");
        let again: QueryFile = toml::from_str(&kept).expect("the same");
        assert_eq!(again, queries);
        assert_eq!(
            queries.description(),
            format!("2 queries of log.txt (digest {})", again.digest())
        );
        let other = QueryFile::read("log.txt", "www.example.com A\n").expect("queries");
        assert_ne!(other.digest(), queries.digest());
    }

    #[test]
    fn a_text_without_a_query_is_refused() {
        for text in ["", "; nothing\n\n", "# nothing"] {
            let mistakes = QueryFile::read("empty", text).expect_err("no query");
            assert_eq!(mistakes[0].title, "the file has no query");
        }
        assert!(QueryFile::unread("later").is_unread());
        assert!(toml::from_str::<QueryFile>("file = \"f\"\ntext = \"\"\n").is_err());
    }
}
