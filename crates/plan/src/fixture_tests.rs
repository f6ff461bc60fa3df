//! Plan texts shared by the tests of this crate.

use crate::{parse, render};

/// The smallest valid plan.
pub(crate) const SMALLEST: &str = "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\n";

/// Returns a plan with one test for each set of lines, with the device that `dut` returns for the lines.
pub(crate) fn plan<'a>(dut: impl Fn(&str) -> &'a str, tests: &[&str]) -> String {
    let test = |(number, lines): (usize, &&str)| {
        format!(
            "[[test]]\nname = \"t{number}\"\ndut = \"{}\"\n{lines}\n",
            dut(lines)
        )
    };
    "name = \"p\"\n".to_owned() + &tests.iter().enumerate().map(test).collect::<String>()
}

/// Returns the mistakes in a plan as a user sees them.
///
/// # Panics
/// The plan has no mistakes.
pub(crate) fn mistakes(source: &str, duts: &[&str]) -> String {
    render(
        "plan.toml",
        source,
        &parse(source, duts).expect_err("mistakes"),
        false,
    )
}
