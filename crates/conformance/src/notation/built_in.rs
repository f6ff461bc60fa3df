//! The vectors that come with sixbench.

use super::file::{RequirementFile, read};
use super::mistake::NotationError;
use std::sync::LazyLock;

/// The files of the folder `conformance`: name and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

/// Returns the files of vectors that come with sixbench, in the order of their names. They are read once: a plan asks for them at each of its tests.
///
/// # Errors
/// The mistakes of the first file that has some.
pub fn built_in() -> Result<&'static [RequirementFile], &'static NotationError> {
    static READ: LazyLock<Result<Vec<RequirementFile>, NotationError>> =
        LazyLock::new(|| FILES.iter().map(|(name, text)| read(name, text)).collect());
    READ.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_vectors_that_come_along_are_read_and_have_names_of_their_own() {
        let files = built_in().unwrap_or_else(|error| panic!("{error}"));
        let names: Vec<&str> = files
            .iter()
            .flat_map(|file| &file.vectors)
            .map(|vector| vector.name.as_str())
            .collect();
        assert!(names.len() > 100, "{}", names.len());
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
