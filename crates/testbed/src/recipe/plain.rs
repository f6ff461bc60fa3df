//! Values of recipes that become words of commands, file names or parts of configuration files. They may only contain characters without a special
//! meaning to a shell, to nft, to a sysctl or in a server's configuration, so that none of these can interpret a value as anything else.

use ipnet::{Ipv4Net, Ipv6Net};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::str::FromStr;

/// The punctuation in values, besides letters and digits.
const SIGNS: &str = "-_.:,/@%+=";

/// The punctuation in names, which are neither paths nor options.
const SIGNS_OF_NAMES: &str = "-_.+";

/// Checks a value that replaces a placeholder.
///
/// # Errors
/// A message with the first character that could have a special meaning.
pub(crate) fn check_value(value: &str) -> Result<(), String> {
    // Letters of any script have no meaning to a shell. Names are limited to ASCII because packages and modules are.
    let is_plain = |c: char| c.is_alphanumeric() || SIGNS.contains(c);
    value.chars().find(|c| !is_plain(*c)).map_or(Ok(()), |c| {
        Err(format!(
            "{value:?} has the character {c:?}; a value has only letters, digits and {SIGNS}"
        ))
    })
}

/// Reads the name of a program, a package or a kernel module.
pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    named(String::deserialize(deserializer)?)
}

pub(super) fn optional_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(deserializer)?
        .map(named)
        .transpose()
}

/// Reads a list of names.
pub(super) fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Vec::<String>::deserialize(deserializer)?
        .into_iter()
        .map(named)
        .collect()
}

fn named<E: Error>(name: String) -> Result<String, E> {
    if name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || SIGNS_OF_NAMES.contains(c))
    {
        Ok(name)
    } else {
        Err(E::custom(format!(
            "expected a name of letters, digits and {SIGNS_OF_NAMES}, not {name:?}"
        )))
    }
}

/// Reads the path of a file below a directory.
pub(super) fn path_below<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let path = String::deserialize(deserializer)?;
    check_value(&path).map_err(D::Error::custom)?;
    if path
        .split('/')
        .all(|part| !part.is_empty() && !part.starts_with(['.', '-']))
    {
        Ok(path)
    } else {
        Err(D::Error::custom(format!(
            "expected a path relative to {{dir}}, of which no part begins with `.` or `-`, not {path:?}"
        )))
    }
}

/// Reads the path of a sysctl.
pub(super) fn sysctl_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let path = String::deserialize(deserializer)?;
    let is_sysctl = ["/proc/sys/", "/sys/"]
        .iter()
        .any(|folder| path.starts_with(folder))
        && !path.contains("..");
    if is_sysctl && check_value(&path).is_ok() {
        Ok(path)
    } else {
        Err(D::Error::custom(format!(
            "{path:?} is not a sysctl under /proc/sys or /sys"
        )))
    }
}

/// Reads the value of a sysctl: one or more words, some of which may be placeholders.
pub(super) fn sysctl_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = String::deserialize(deserializer)?;
    // A value such as `-w` would be an option of the command that writes it; a negative number is not.
    let is_option = value.starts_with('-') && value.parse::<i64>().is_err();
    let mut words = value.split([' ', '\t']).map(|word| {
        word.strip_prefix('{')
            .and_then(|w| w.strip_suffix('}'))
            .unwrap_or(word)
    });
    match words.try_for_each(check_value) {
        Ok(()) if is_option => Err(D::Error::custom(format!(
            "{value:?} is no value of a sysctl"
        ))),
        checked => checked.map(|()| value.clone()).map_err(D::Error::custom),
    }
}

/// Reads an IPv6 prefix, as written.
pub(super) fn prefix6<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    prefix::<Ipv6Net, D::Error>(String::deserialize(deserializer)?, IPV6_EXAMPLE)
}

/// Reads an IPv4 prefix, as written.
pub(super) fn prefix4<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    prefix::<Ipv4Net, D::Error>(String::deserialize(deserializer)?, IPV4_EXAMPLE)
}

/// Reads an optional IPv4 prefix, as written.
pub(super) fn optional_prefix4<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(deserializer)?
        .map(|text| prefix::<Ipv4Net, D::Error>(text, IPV4_EXAMPLE))
        .transpose()
}

const IPV6_EXAMPLE: &str = "an IPv6 prefix such as 2001:db8::/32";
const IPV4_EXAMPLE: &str = "an IPv4 prefix such as 192.0.2.0/24";

fn prefix<P: FromStr, E: Error>(text: String, example: &str) -> Result<String, E> {
    match text.parse::<P>() {
        Ok(_) => Ok(text),
        Err(_) => Err(E::custom(format!("expected {example}, not {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::recipe::Library;
    use crate::recipe::built_in::BUILT_IN;
    use sixbench_method::record::CodeOrigin;
    use std::path::Path;

    /// Values that a shell, nft, a server or a terminal would interpret.
    const HOSTILE: [&str; 9] = [
        "1; touch x",
        "$(touch x)",
        "`touch x`",
        "1\\ntouch x",
        "it's",
        "a\\\"b",
        "{dir}; x",
        "x\\u001b[2J",
        "a|b",
    ];

    /// The places of a recipe whose value ends up in a command or a file: a built-in recipe, the text there, and the same text with a slot for
    /// another value.
    const PLACES: [(&str, &str, &str); 16] = [
        ("nft-nat44", "value = \"{table-size}\"", "value = \"@\""),
        (
            "nft-nat44",
            "file = \"/proc/sys/net/netfilter/nf_conntrack_max\"",
            "file = \"/proc/sys/@\"",
        ),
        ("nft-nat44", "pool = [\"198.19.0.1\"]", "pool = [\"@\"]"),
        (
            "nft-nat44",
            "pool-ports = \"1024-65535\"",
            "pool-ports = \"@\"",
        ),
        ("tayga-siit", "program = \"tayga\"", "program = \"@\""),
        ("tayga-siit", "package = \"tayga\"", "package = \"@\""),
        ("tayga-siit", "path = \"tayga.conf\"", "path = \"@\""),
        ("tayga-siit", "name = \"tayga-siit\"", "name = \"@\""),
        ("tayga-siit", "dut = [\"198.19.0.1/24\"", "dut = [\"@\""),
        ("tayga-siit", "tester = [\"198.19.0.2\"", "tester = [\"@\""),
        (
            "jool-siit",
            "modules = [\"jool_siit\"]",
            "modules = [\"@\"]",
        ),
        (
            "linux-ip6tnl-map-e",
            "ipv6-prefix = \"2001:db8:ce::/51\"",
            "ipv6-prefix = \"@\"",
        ),
        (
            "linux-ip6tnl-map-e",
            "ipv4-prefix = \"192.0.2.0/24\"",
            "ipv4-prefix = \"@\"",
        ),
        ("linux-ip6tnl-map-e", "ea-bits = 13", "ea-bits = \"@\""),
        (
            "unbound-dns64",
            "prefix = \"64:ff9b::/96\"",
            "prefix = \"@\"",
        ),
        (
            "linux-sit-6to4",
            "ipv6-prefix = \"2002::/16\"",
            "ipv6-prefix = \"@\"",
        ),
    ];

    #[test]
    fn a_value_that_would_be_more_than_a_value_is_refused_at_its_line_wherever_it_stands() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        for (recipe, from, to) in PLACES {
            let text = BUILT_IN
                .iter()
                .find(|(file, _)| file.trim_end_matches(".toml") == recipe)
                .expect("a recipe")
                .1;
            let before = text
                .split_once(from)
                .unwrap_or_else(|| panic!("{recipe}: {from}"))
                .0;
            for value in HOSTILE {
                let hostile = text.replacen(from, &to.replace('@', value), 1);
                let refused = library
                    .clone()
                    .with_texts(vec![("r.toml".to_owned(), hostile)], CodeOrigin::Plan);
                let error = refused
                    .map(drop)
                    .expect_err(&format!("{recipe}: {to} with {value}"))
                    .to_string();
                let line = format!(
                    "line {}",
                    before.lines().count() + usize::from(before.ends_with('\n'))
                );
                // Names and pools are checked with the whole recipe, so the error has no line number.
                assert!(
                    error.contains(&line) || error.contains("name: "),
                    "{recipe}: {to} with {value}: {line}: {error}"
                );
            }
        }
    }
}
