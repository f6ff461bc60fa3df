//! The files of a report: what each has is a [`document::Document`], made once.

mod answer;
mod bibliography;
mod chapter;
pub(crate) mod clauses;
mod continuous;
mod csv;
pub(crate) mod document;
mod download;
pub(crate) mod export;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod latex;
mod markdown;
mod methods;
pub(crate) mod paper;
mod terminal;
mod verdict;
