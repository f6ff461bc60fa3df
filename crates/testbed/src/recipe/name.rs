//! The rule for names of recipes, which are used as file names and on command lines.

use sixbench_method::names::{NameError, RECIPE};

/// Checks the name of a recipe: lower-case letters, digits and `-`, but no `-` at the start.
///
/// # Errors
/// The problem.
pub fn check_name(name: &str) -> Result<(), NameError> {
    RECIPE.check(name)
}

/// Checks a name that may include the host on which the recipe is to run, such as `jool-siit@lab`.
///
/// # Errors
/// The problem.
pub fn check_reference(name: &str) -> Result<(), NameError> {
    let own = ["@lab", "@netns"]
        .iter()
        .find_map(|host| name.strip_suffix(host))
        .unwrap_or(name);
    check_name(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        for name in ["tayga-siit", "a", "6to4", &"x".repeat(64)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "../../x",
            "/abs/x",
            "..",
            ".",
            "a/b",
            "a\nb",
            "-o",
            "A",
            "a b",
            "a@lab",
            "$(x)",
            &"x".repeat(65),
        ] {
            let error = check_name(name).expect_err(name);
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        assert_eq!(check_reference("tayga-siit@lab"), Ok(()));
        assert!(check_reference("../x@lab").is_err());
        assert!(check_reference("a@b").is_err());
    }
}
