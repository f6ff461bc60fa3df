//! The rules for all names. A name becomes part of a path, of a command and of a table, so it must not act as an option, a path or a terminal
//! command. Titles are free text in any script, but only one line.

use crate::text::is_control;
use thiserror::Error;

/// The syntax of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// The thing that is named, with its article.
    what: &'static str,
    has_capitals: bool,
    /// The characters allowed besides letters and digits.
    signs: &'static str,
    /// The maximum number of characters.
    longest: usize,
    /// A valid name.
    example: &'static str,
}

/// The name of a recipe: a file name and a word of commands.
pub const RECIPE: NameRule = NameRule {
    what: "the name of a recipe",
    has_capitals: false,
    signs: "-",
    longest: 64,
    example: "tayga-siit",
};

/// The name of a plan or a test. A dot separates a test from its step in a series.
pub const TEST: NameRule = NameRule {
    what: "a name",
    has_capitals: true,
    signs: "-_.",
    longest: 64,
    example: "nat64-84",
};

/// The name of a test of a resolved plan, which may end with the steps of several series.
pub const RESOLVED_TEST: NameRule = NameRule {
    longest: 160,
    ..TEST
};

/// The name of an interface: a name that the kernel allows, without characters that are special to shells or `ip`.
pub const INTERFACE: NameRule = NameRule {
    what: "the name of an interface",
    has_capitals: true,
    signs: "-_.+=@",
    longest: 15,
    example: "enp3s0f0",
};

/// A machine as ssh knows it: an alias, a name or an address, optionally preceded by a user.
pub const HOST: NameRule = NameRule {
    what: "the name of a machine that ssh knows",
    has_capitals: true,
    signs: "-_.@:%[]",
    longest: 255,
    example: "dut",
};

/// The number of characters of a name that is too long by which a message shows it.
const SHOWN: usize = 40;

/// The maximum number of characters of a title.
const LONGEST_TITLE: usize = 200;

/// The maximum number of characters of the title of a test of a resolved plan, which may end with the steps of several series.
const LONGEST_RESOLVED_TITLE: usize = 300;

/// The reason why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// The name has more characters than its rule allows.
    #[error("{} has at most {} characters, but {} has {}", rule.what, rule.longest, shortened(name), name.len())]
    TooLong {
        /// The rule.
        rule: NameRule,
        /// The text.
        name: String,
    },
    /// The name is empty or has other characters than its rule allows. It is quoted, since it may contain anything.
    #[error(
        "expected {}: 1 to {} {} and {}, beginning with neither `-` nor `.`, such as `{}`, not {name:?}",
        rule.what, rule.longest, rule.letters(), rule.quoted_signs(), rule.nearest(name)
    )]
    Malformed {
        /// The rule.
        rule: NameRule,
        /// The text.
        name: String,
    },
}

/// The reason why a text is not a title.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TitleError {
    /// The text has a control character.
    #[error("a title is one line of text, and this one has the control character {0:?}")]
    ControlCharacter(char),
    /// The text has nothing that can be seen.
    #[error("a title has at least one character that can be seen")]
    Invisible,
    /// The text has too many characters.
    #[error("a title has at most {longest} characters, and this one has {length}")]
    TooLong {
        /// The characters that a title may have.
        longest: usize,
        /// The characters that this one has.
        length: usize,
    },
}

impl NameRule {
    /// Checks a name.
    ///
    /// # Errors
    /// The name is not valid; the error describes the syntax and suggests a valid name.
    pub fn check(&self, name: &str) -> Result<(), NameError> {
        let begins_well = !name.starts_with(['-', '.']);
        let is_well_formed = begins_well && !name.is_empty() && name.chars().all(|c| self.has(c));
        let (rule, name) = (*self, name.to_owned());
        match is_well_formed {
            true if name.len() <= self.longest => Ok(()),
            true => Err(NameError::TooLong { rule, name }),
            false => Err(NameError::Malformed { rule, name }),
        }
    }

    fn letters(&self) -> &'static str {
        if self.has_capitals {
            "letters, digits"
        } else {
            "lower-case letters, digits"
        }
    }

    fn quoted_signs(&self) -> String {
        let signs: Vec<String> = self.signs.chars().map(|sign| format!("`{sign}`")).collect();
        signs.join(" ")
    }

    fn has(&self, c: char) -> bool {
        c.is_ascii_lowercase()
            || c.is_ascii_digit()
            || (self.has_capitals && c.is_ascii_uppercase())
            || self.signs.contains(c)
    }

    /// Returns a valid name that resembles this one.
    fn nearest(&self, name: &str) -> String {
        let changed: String = name
            .chars()
            .map(|c| {
                if self.has_capitals {
                    c
                } else {
                    c.to_ascii_lowercase()
                }
            })
            .map(|c| if self.has(c) { c } else { '-' })
            .collect();
        let parts: Vec<&str> = changed
            .split('-')
            .filter(|part| !part.trim_matches('.').is_empty())
            .collect();
        let near: String = parts
            .join("-")
            .trim_start_matches('.')
            .chars()
            .take(self.longest)
            .collect();
        if near.is_empty() {
            self.example.to_owned()
        } else {
            near
        }
    }
}

/// Checks a title: one line of text in any script.
///
/// # Errors
/// The title is not valid; the error says why.
pub fn check_title(title: &str) -> Result<(), TitleError> {
    check_title_up_to(title, LONGEST_TITLE)
}

/// Checks the title of a test of a resolved plan, which may be longer, just as its name ([`RESOLVED_TEST`]).
///
/// # Errors
/// The title is not valid; the error says why.
pub fn check_resolved_title(title: &str) -> Result<(), TitleError> {
    check_title_up_to(title, LONGEST_RESOLVED_TITLE)
}

fn check_title_up_to(title: &str, longest: usize) -> Result<(), TitleError> {
    if let Some(control) = title.chars().find(|c| is_control(*c)) {
        return Err(TitleError::ControlCharacter(control));
    }
    if title.chars().all(|c| c.is_whitespace() || is_invisible(c)) {
        return Err(TitleError::Invisible);
    }
    let length = title.chars().count();
    if length > longest {
        Err(TitleError::TooLong { longest, length })
    } else {
        Ok(())
    }
}

/// Returns whether a character is one of no width: joiners, soft hyphens, marks of byte order, fillers, tags and selectors of variants.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}')
        || matches!(c, '\u{2060}'..='\u{2064}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a name in quotes, without its end if it is very long. It consists of ASCII characters.
fn shortened(name: &str) -> String {
    if name.len() <= SHOWN {
        format!("{name:?}")
    } else {
        format!("{:?}...", name.chars().take(SHOWN).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [NameRule; 5] = [RECIPE, TEST, RESOLVED_TEST, INTERFACE, HOST];

    #[test]
    fn a_name_is_no_path_no_option_and_no_command() {
        for name in [
            "",
            "..",
            ".",
            "/abs/x",
            "../../x",
            "a/b",
            "a\nb",
            "a\u{1b}[2J",
            "-o",
            ".x",
            "a b",
            "$(x)",
            "a;b",
            "a'b",
            "ä",
            "%d\u{202e}",
        ] {
            for rule in ALL {
                let error = rule.check(name).expect_err(name);
                assert!(!error.to_string().contains(is_control), "{error}");
            }
        }
        assert!(
            RECIPE.check("A").is_err()
                && RECIPE.check("a@lab").is_err()
                && RECIPE.check("a.b").is_err()
        );
        for rule in ALL {
            assert_eq!(rule.check(&"x".repeat(rule.longest)), Ok(()));
            assert!(rule.check(&"x".repeat(rule.longest + 1)).is_err());
            assert_eq!(rule.check(rule.example), Ok(()));
        }
    }

    #[test]
    fn names_that_are_in_use_are_names() {
        for name in [
            "eth0",
            "enp3s0f0np0",
            "eth0.100",
            "br-lan",
            "e=1",
            "veth+",
            "em0",
        ] {
            assert_eq!(INTERFACE.check(name), Ok(()), "{name}");
        }
        for name in [
            "dut",
            "root@10.0.0.1",
            "root@2001:db8::1",
            "fe80::1%eth0",
            "lab-7.example.org",
        ] {
            assert_eq!(HOST.check(name), Ok(()), "{name}");
        }
        assert_eq!(TEST.check("Kernel_6.12.cores2"), Ok(()));
        assert_eq!(RECIPE.check("6to4"), Ok(()));
    }

    #[test]
    fn a_mistaken_name_is_told_with_one_that_is_right() {
        for (rule, name, near) in [
            (RECIPE, "../../Tayga SIIT", "tayga-siit"),
            (RECIPE, "..", "tayga-siit"),
            (TEST, "two words", "two-words"),
            (TEST, "-a", "a"),
            (INTERFACE, "eth0/../eth1", "eth0-eth1"),
            (HOST, "-oProxyCommand=x", "oProxyCommand-x"),
        ] {
            let error = rule.check(name).expect_err(name);
            assert!(
                error
                    .to_string()
                    .contains(&format!("such as `{near}`, not {name:?}")),
                "{error}"
            );
            assert_eq!(rule.check(near), Ok(()), "{near}");
        }
    }

    #[test]
    fn a_name_that_is_only_too_long_is_told_its_greatest_length() {
        let error = INTERFACE
            .check("establishment-rate")
            .expect_err("18 characters");
        assert_eq!(
            error.to_string(),
            "the name of an interface has at most 15 characters, but \"establishment-rate\" has 18"
        );
    }

    #[test]
    fn a_title_is_one_line_in_any_script() {
        for title in ["TAYGA SIIT (2 cores) – “fast”", "日本語"] {
            assert_eq!(check_title(title), Ok(()));
        }
        for title in [
            "a\nb",
            "a\u{1b}]0;x\u{7}",
            "a\u{202e}b",
            "",
            " \u{a0} ",
            "\u{200b}",
            " \u{feff}\u{ad}",
        ] {
            let error = check_title(title).expect_err(title);
            assert!(!error.to_string().contains(is_control));
        }
        assert!(check_title(&"x".repeat(201)).is_err());
        assert_eq!(check_resolved_title(&"x".repeat(300)), Ok(()));
        assert!(check_resolved_title(&"x".repeat(301)).is_err());
    }
}
