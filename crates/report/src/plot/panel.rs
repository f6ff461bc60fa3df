//! A panel of a figure, for the page and for papers.

use super::pgf::Picture;
use serde::Serialize;

/// A panel of a figure.
#[derive(Serialize)]
pub(crate) struct Panel {
    /// The drawing for the page.
    pub(crate) svg: String,
    /// The same for LaTeX.
    #[serde(skip)]
    pub(crate) picture: Picture,
    /// The texts beside its marks, such as the signs of bounds.
    #[serde(skip)]
    pub(crate) signs: Vec<String>,
}
