//! Words and names as written in plan files and on the command line.

use crate::reader::diagnostic::Diagnostic;
use crate::reader::{Section, nearest};
use sixbench_io::{Backend, PortSpec};
use sixbench_method::measures::Keys;
use sixbench_method::names;
use sixbench_method::plan::{Ports, Profile, ValueOrder};
use sixbench_method::search::{RepetitionStart, SearchMethod};
use sixbench_method::terms::Directions;
use sixbench_method::terms::bounds::NumberBound;
use sixbench_method::text::{is_control, visible};
use sixbench_method::units::{self, word};
use sixbench_testbed::recipe::check_reference;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

pub(crate) fn identifier(text: &str) -> Result<String, String> {
    names::TEST.check(text).map(|()| text.to_owned())
}

pub(crate) fn resolved_identifier(text: &str) -> Result<String, String> {
    names::RESOLVED_TEST.check(text).map(|()| text.to_owned())
}

pub(crate) fn title(text: &str) -> Result<String, String> {
    names::check_title(text).map(|()| text.to_owned())
}

pub(crate) fn interface(text: &str) -> Result<String, String> {
    names::INTERFACE.check(text).map(|()| text.to_owned())
}

/// Reads the name of a port: an interface of the kernel, or a backend and an address.
pub(crate) fn port(text: &str) -> Result<PortSpec, String> {
    match PortSpec::parse(text) {
        PortSpec::Interface(name) => interface(&name).map(PortSpec::Interface),
        address => path(text).map(|_| address),
    }
}

/// Reads a path, or another text that people are to see as it is: control characters could show another one to those who are asked about it.
pub(crate) fn path(text: &str) -> Result<String, String> {
    match text.chars().find(|c| is_control(*c)) {
        Some(c) => Err(format!(
            "expected a text without control characters, but `{}` has {:?}",
            visible(text),
            c
        )),
        None => Ok(text.to_owned()),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum DutHost {
    /// In a namespace, or at interfaces of this machine, set up by the user.
    #[default]
    Netns,
    /// On another machine, by its name in ssh's configuration.
    Ssh(String),
}

pub(crate) fn host(text: &str) -> Result<DutHost, String> {
    if text == "netns" {
        return Ok(DutHost::Netns);
    }
    let expected = || {
        format!(
            "expected `netns`, or `ssh:NAME` with the name of a machine that ssh knows, not `{text}`"
        )
    };
    text.strip_prefix("ssh:")
        .ok_or_else(expected)
        .and_then(|_| ssh_host(text))
        .map(DutHost::Ssh)
}

/// Reads `ssh:NAME`; returns the name.
pub(crate) fn ssh_host(text: &str) -> Result<String, String> {
    let expected =
        || format!("expected `ssh:NAME` with the name of a machine that ssh knows, not `{text}`");
    let name = text.strip_prefix("ssh:").ok_or_else(expected)?;
    // ssh would take a leading dash for an option.
    names::HOST.check(name).map(|()| name.to_owned())
}

/// Reads the name or the path of a program on another machine.
pub(crate) fn program(text: &str) -> Result<String, String> {
    match text.is_empty() || text.starts_with('-') {
        true => Err(format!(
            "expected the name or the path of a program, not {text:?}"
        )),
        false => path(text),
    }
}

/// Returns `text`, the value of `key`, if it names a recipe; reports it otherwise.
pub(crate) fn known_dut(
    section: &Section<'_>,
    key: &str,
    text: String,
    duts: &[&str],
) -> Option<String> {
    if let Err(title) = check_reference(&text) {
        section.mistake(key, title);
        return None;
    }
    // A suffix selects another host than the recipe does.
    let name = text
        .strip_suffix("@lab")
        .or(text.strip_suffix("@netns"))
        .unwrap_or(&text);
    if duts.contains(&name) {
        return Some(text);
    }
    let (hint, lists_recipes) = match nearest(&text, duts) {
        Some(near) => (format!("did you mean `{near}`?"), false),
        None => (format!("known: {}", duts.join(", ")), true),
    };
    let mistake = Diagnostic::new(
        section.span_of(key),
        format!("no recipe is named `{text}`; {hint}"),
    );
    section.add(Diagnostic {
        lists_recipes,
        ..mistake
    });
    None
}

pub(crate) fn any(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Reads the name of a profile: `smoke`, `draft` or `rfc`.
///
/// # Errors
/// The text is none of the words; the error lists them.
pub fn profile(text: &str) -> Result<Profile, String> {
    word(
        text,
        "a profile",
        &[
            ("smoke", Profile::Smoke),
            ("draft", Profile::Draft),
            ("rfc", Profile::Rfc),
        ],
    )
}

pub(crate) fn method(text: &str) -> Result<SearchMethod, String> {
    word(
        text,
        "a search method",
        &SearchMethod::ALL.map(|method| (method.info().word, method)),
    )
}

pub(crate) fn start(text: &str) -> Result<RepetitionStart, String> {
    let words =
        [RepetitionStart::Cold, RepetitionStart::Dithered].map(|start| (start.word(), start));
    word(text, "how a repetition starts", &words)
}

/// Reads the name of a backend of interfaces, such as `packet`, or `auto`.
///
/// # Errors
/// The text is none of the words; the error lists them.
pub fn backend(text: &str) -> Result<Backend, String> {
    word(text, "a backend", &Backend::words().collect::<Vec<_>>())
}

/// Returns the word for a backend, which [`backend`] reads.
pub fn backend_word(backend: Backend) -> &'static str {
    Backend::words()
        .find(|(_, named)| *named == backend)
        .map_or("auto", |(word, _)| word)
}

/// Reads directions: `both`, `forward` or `reverse`.
///
/// # Errors
/// The text is none of the words; the error lists them.
pub fn directions(text: &str) -> Result<Directions, String> {
    let words = [
        ("both", Directions::Both),
        ("forward", Directions::Forward),
        ("reverse", Directions::Reverse),
    ];
    word(text, "directions", &words)
}

pub(crate) fn ports(text: &str) -> Result<Ports, String> {
    word(
        text,
        "the ports",
        &[("rfc4814", Ports::RFC_4814), ("fixed", Ports::FIXED)],
    )
}

pub(crate) fn order(text: &str) -> Result<ValueOrder, String> {
    let words = [
        ("fixed", ValueOrder::Fixed),
        ("increasing", ValueOrder::Increasing),
        ("decreasing", ValueOrder::Decreasing),
        ("pseudorandom", ValueOrder::Pseudorandom),
    ];
    word(text, "an order", &words)
}

pub(crate) fn count(text: &str, bound: NumberBound) -> Result<u32, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number: &u32| bound.contains(f64::from(*number)));
    number.ok_or_else(|| format!("expected a whole number {}, not `{text}`", bound.from_to()))
}

/// Reads the number of queues of a port, at least one.
pub(crate) fn queues(text: &str) -> Result<NonZeroU32, String> {
    text.parse()
        .map_err(|_| format!("expected a number of queues of at least 1, not `{text}`"))
}

/// Reads a name that the kernel gives a setting, such as an offload or a governor.
pub(crate) fn setting(text: &str) -> Result<String, String> {
    let is_name = text.starts_with(char::is_alphanumeric)
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_name {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` is not a name of the kernel's: expected letters, digits, `-` and `_`"
    ))
}

/// Reads the size of a ring, frames.
pub(crate) fn ring_size(text: &str) -> Result<NonZeroU32, String> {
    text.parse()
        .map_err(|_| format!("expected a number of frames of at least 1, not `{text}`"))
}

/// Reads the fields of an RSS hash.
pub(crate) fn hash_fields(text: &str) -> Result<String, String> {
    if !text.is_empty() && text.chars().all(|letter| "mvtsdfn".contains(letter)) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected letters of `ethtool -N` such as `sdfn`, not `{text}`"
    ))
}

/// Reads the path of a program on another machine, which must be absolute, since no directory there is the current one.
pub(crate) fn program_path(text: &str) -> Result<PathBuf, String> {
    match text.starts_with('/') && !text.contains(char::is_whitespace) {
        true => path(text).map(PathBuf::from),
        false => Err(format!(
            "expected the whole path of a program, without spaces, such as `/usr/local/bin/sixbench`, not `{text}`"
        )),
    }
}

/// Reads the number of threads of a server, at least one.
pub(crate) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| format!("expected a number of threads of at least 1, not `{text}`"))
}

/// Reads the number of a core.
pub(crate) fn core(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("expected the number of a core, not `{text}`"))
}

/// Reads a share, which is at most 1, or a rate in frames per second, which is above 100: up to there a number without its unit is a forgotten `%`.
pub(crate) fn share_or_rate(text: &str) -> Result<f64, String> {
    match units::rate(text) {
        Ok(rate) if rate.0 > 100 => Ok(rate.0 as f64),
        _ => units::share(text),
    }
}
