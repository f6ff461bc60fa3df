//! Why a part of a plan cannot be selected.

use sixbench_method::campaign::CampaignError;
use std::io;
use std::path::PathBuf;

/// The reason why a part of a plan cannot be selected.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum SelectionError {
    /// The part does not exist, or cannot be measured separately.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// The file names measurements that are not in the plan or cannot be measured separately.
    #[error("{}: {source}", file.display())]
    InFile {
        file: PathBuf,
        source: CampaignError,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    NotRead { file: PathBuf, error: io::Error },
}
