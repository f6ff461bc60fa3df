//! Words and names as written in plan files and on the command line.

use crate::reader::diagnostic::Diagnostic;
use crate::reader::{Section, nearest};
use sixbench_io::{Backend, PortSpec};
use sixbench_method::measures::Keys;
use sixbench_method::names::{self, NameError, TitleError};
use sixbench_method::plan::{Ports, Profile, ValueOrder};
use sixbench_method::search::{RepetitionStart, SearchMethod};
use sixbench_method::terms::Directions;
use sixbench_method::terms::bounds::NumberBound;
use sixbench_method::text::{is_control, visible};
use sixbench_method::units::{self, ValueError, expected, word};
use sixbench_testbed::recipe::check_reference;
use std::convert::Infallible;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use thiserror::Error;

/// The reason why a text is not a word or a name of a plan file.
#[derive(Debug, Error)]
pub(crate) enum WordError {
    /// The text has another form.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The name breaks its rule.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The text could show another one to those who are asked about it.
    #[error(
        "expected a text without control characters, but `{}` has {control:?}",
        visible(text)
    )]
    ControlCharacter { text: String, control: char },
    /// The text is empty, or would be taken for an option.
    #[error("expected the name or the path of a program, not {0:?}")]
    Program(String),
    /// The kernel has no such names.
    #[error("`{0}` is not a name of the kernel's: expected letters, digits, `-` and `_`")]
    KernelName(String),
}

pub(crate) fn identifier(text: &str) -> Result<String, NameError> {
    names::TEST.check(text).map(|()| text.to_owned())
}

pub(crate) fn resolved_identifier(text: &str) -> Result<String, NameError> {
    names::RESOLVED_TEST.check(text).map(|()| text.to_owned())
}

pub(crate) fn title(text: &str) -> Result<String, TitleError> {
    names::check_title(text).map(|()| text.to_owned())
}

pub(crate) fn interface(text: &str) -> Result<String, NameError> {
    names::INTERFACE.check(text).map(|()| text.to_owned())
}

/// Reads the name of a port: an interface of the kernel, or a backend and an address.
pub(crate) fn port(text: &str) -> Result<PortSpec, WordError> {
    match PortSpec::parse(text) {
        PortSpec::Interface(name) => Ok(PortSpec::Interface(interface(&name)?)),
        address @ PortSpec::Address(..) => path(text).map(|_| address),
    }
}

/// Reads a path, or another text that people are to see as it is: control characters could show another one to those who are asked about it.
pub(crate) fn path(text: &str) -> Result<String, WordError> {
    match text.chars().find(|c| is_control(*c)) {
        Some(control) => Err(WordError::ControlCharacter {
            text: text.to_owned(),
            control,
        }),
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

pub(crate) fn host(text: &str) -> Result<DutHost, WordError> {
    if text == "netns" {
        return Ok(DutHost::Netns);
    }
    if !text.starts_with("ssh:") {
        let form = "`netns`, or `ssh:NAME` with the name of a machine that ssh knows";
        return Err(expected(form, text).into());
    }
    ssh_host(text).map(DutHost::Ssh)
}

/// Reads `ssh:NAME`; returns the name.
pub(crate) fn ssh_host(text: &str) -> Result<String, WordError> {
    let form = "`ssh:NAME` with the name of a machine that ssh knows";
    let name = text.strip_prefix("ssh:");
    let name = name.ok_or_else(|| expected(form, text))?;
    // ssh would take a leading dash for an option.
    names::HOST.check(name)?;
    Ok(name.to_owned())
}

/// Reads the name or the path of a program on another machine.
pub(crate) fn program(text: &str) -> Result<String, WordError> {
    if text.is_empty() || text.starts_with('-') {
        Err(WordError::Program(text.to_owned()))
    } else {
        path(text)
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
        section.mistake(key, title.to_string());
        return None;
    }
    // A suffix selects another host than the recipe does. Recipes move to these two only.
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

#[expect(
    clippy::unnecessary_wraps,
    reason = "a reader of words like those that can fail"
)]
pub(crate) fn any(text: &str) -> Result<String, Infallible> {
    Ok(text.to_owned())
}

/// Reads the name of a profile: `smoke`, `draft` or `rfc`.
///
/// # Errors
/// The text is none of the words; the error lists them.
pub fn profile(text: &str) -> Result<Profile, ValueError> {
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

pub(crate) fn method(text: &str) -> Result<SearchMethod, ValueError> {
    word(
        text,
        "a search method",
        &SearchMethod::ALL.map(|method| (method.info().word, method)),
    )
}

pub(crate) fn start(text: &str) -> Result<RepetitionStart, ValueError> {
    let words =
        [RepetitionStart::Cold, RepetitionStart::Dithered].map(|start| (start.word(), start));
    word(text, "how a repetition starts", &words)
}

/// Reads the name of a backend of interfaces, such as `packet`, or `auto`.
///
/// # Errors
/// The text is none of the words; the error lists them.
pub fn backend(text: &str) -> Result<Backend, ValueError> {
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
pub fn directions(text: &str) -> Result<Directions, ValueError> {
    let words = [
        ("both", Directions::Both),
        ("forward", Directions::Forward),
        ("reverse", Directions::Reverse),
    ];
    word(text, "directions", &words)
}

pub(crate) fn ports(text: &str) -> Result<Ports, ValueError> {
    word(
        text,
        "the ports",
        &[("rfc4814", Ports::RFC_4814), ("fixed", Ports::FIXED)],
    )
}

pub(crate) fn order(text: &str) -> Result<ValueOrder, ValueError> {
    let words = [
        ("fixed", ValueOrder::Fixed),
        ("increasing", ValueOrder::Increasing),
        ("decreasing", ValueOrder::Decreasing),
        ("pseudorandom", ValueOrder::Pseudorandom),
    ];
    word(text, "an order", &words)
}

pub(crate) fn count(text: &str, bound: NumberBound) -> Result<u32, ValueError> {
    let number = text
        .parse()
        .ok()
        .filter(|number: &u32| bound.contains(f64::from(*number)));
    number.ok_or_else(|| expected(format!("a whole number {}", bound.from_to()), text))
}

/// Reads the number of queues of a port, at least one.
pub(crate) fn queues(text: &str) -> Result<NonZeroU32, ValueError> {
    text.parse()
        .map_err(|_| expected("a number of queues of at least 1", text))
}

/// Reads a name that the kernel gives a setting, such as an offload or a governor.
pub(crate) fn setting(text: &str) -> Result<String, WordError> {
    let is_name = text.starts_with(char::is_alphanumeric)
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_name {
        return Ok(text.to_owned());
    }
    Err(WordError::KernelName(text.to_owned()))
}

/// Reads the size of a ring, frames.
pub(crate) fn ring_size(text: &str) -> Result<NonZeroU32, ValueError> {
    text.parse()
        .map_err(|_| expected("a number of frames of at least 1", text))
}

/// Reads the time for which an interrupt waits for further frames, microseconds.
pub(crate) fn interrupt_delay(text: &str) -> Result<u32, ValueError> {
    let delay = text.parse().ok().filter(|delay| *delay <= 1_000_000);
    delay.ok_or_else(|| expected("a number of microseconds up to 1000000", text))
}

/// Reads the fields of an RSS hash.
pub(crate) fn hash_fields(text: &str) -> Result<String, ValueError> {
    if !text.is_empty() && text.chars().all(|letter| "mvtsdfn".contains(letter)) {
        return Ok(text.to_owned());
    }
    let form = "letters of `ethtool -N` such as `sdfn`";
    Err(expected(form, text))
}

/// Reads the path of a program on another machine, which must be absolute, since no directory there is the current one.
pub(crate) fn program_path(text: &str) -> Result<PathBuf, WordError> {
    if text.starts_with('/') && !text.contains(char::is_whitespace) {
        path(text).map(PathBuf::from)
    } else {
        let form = "the whole path of a program, without spaces, such as `/usr/local/bin/sixbench`";
        Err(expected(form, text).into())
    }
}

/// Reads the number of threads of a server, at least one.
pub(crate) fn threads(text: &str) -> Result<NonZeroUsize, ValueError> {
    text.parse()
        .map_err(|_| expected("a number of threads of at least 1", text))
}

/// Reads the number of a core.
pub(crate) fn core(text: &str) -> Result<u32, ValueError> {
    text.parse()
        .map_err(|_| expected("the number of a core", text))
}

/// Reads a share, which is at most 1, or a rate in frames per second, which is above 100: up to there a number without its unit is a forgotten `%`.
pub(crate) fn share_or_rate(text: &str) -> Result<f64, ValueError> {
    let rate = units::rate(text);
    if let Ok(rate) = &rate
        && rate.0 > 100
    {
        return Ok(rate.0 as f64);
    }
    units::share(text).map_err(|share| match rate {
        // A number that is neither was meant as a rate: of a share it would be more than all.
        Err(rate @ ValueError::Rate(_)) => rate,
        _ => share,
    })
}
