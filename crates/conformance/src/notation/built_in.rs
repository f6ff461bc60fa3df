//! The vectors that come with sixbench.

use super::file::{RequirementFile, read};
use super::mistake::NotationError;

/// The files of the folder `conformance`: name and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

/// Returns the files of vectors that come with sixbench, in the order of their names.
///
/// # Errors
/// The mistakes of the first file that has some.
pub fn built_in() -> Result<Vec<RequirementFile>, NotationError> {
    FILES.iter().map(|(name, text)| read(name, text)).collect()
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
