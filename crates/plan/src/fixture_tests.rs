//! The plan texts that tests of this crate share.

use crate::{parse, render};

/// The smallest plan there is.
pub(crate) const SMALLEST: &str = "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\n";

/// Returns a plan with a test for each set of lines, of the device that `dut` names for them.
pub(crate) fn plan<'a>(dut: impl Fn(&str) -> &'a str, tests: &[&str]) -> String {
    let test = |(number, lines): (usize, &&str)| format!("[[test]]\nname = \"t{number}\"\ndut = \"{}\"\n{lines}\n", dut(lines));
    "name = \"p\"\n".to_owned() + &tests.iter().enumerate().map(test).collect::<String>()
}

/// Returns the mistakes of a plan as a user sees them.
///
/// # Panics
/// There are none.
pub(crate) fn mistakes(source: &str, duts: &[&str]) -> String {
    render("plan.toml", source, &parse(source, duts).expect_err("mistakes"), false)
}
