//! Traffic profiles for dimensioning: what one subscriber does in the busy hour. Every figure is a table with its `value` and its `source`.

use crate::plans::Ready;
use crate::reader::diagnostic::Diagnostic;
use crate::reader::words::identifier;
use crate::reader::{Mistakes, Section, table_of};
use sixbench_analysis::dimension::{Assumption, Imix, SubscriberTraffic};
use sixbench_method::measures::Keys;
use sixbench_method::names::check_title;
use sixbench_method::units::{self, ValueError, expected};
use std::fmt::Display;
use std::path::Path;
use thiserror::Error;

/// The names and texts of the profiles that come with sixbench, as listed by the build script, sorted by name.
const PROFILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// The default profile.
pub const USUAL: &str = "residential";

/// Returns the profiles that come with sixbench, by name.
pub fn ready() -> impl Iterator<Item = Ready> {
    let folder = "profiles";
    PROFILES
        .iter()
        .map(move |&(name, text)| Ready { folder, name, text })
}

/// Returns the profile that a path means when there is no such file: `residential`, `residential.toml`, `profiles/residential.toml`.
pub fn find(path: &Path) -> Option<Ready> {
    let path = path.strip_prefix("profiles").unwrap_or(path).to_str()?;
    let name = path.strip_suffix(".toml").unwrap_or(path);
    ready().find(|profile| profile.name == name)
}

/// Reads a traffic profile.
///
/// # Errors
/// All mistakes in the file, each with its place. A figure without a source is a mistake.
pub fn read(source: &str) -> Result<SubscriberTraffic, Vec<Diagnostic>> {
    let table = table_of(source)?;
    let mistakes = Mistakes::default();
    let file = Section::new(
        table.get_ref(),
        0..source.len().min(1),
        "the traffic profile",
        &mistakes,
    );
    let traffic = read_file(file);
    let found = mistakes.into_inner();
    match traffic {
        Some(traffic) if found.is_empty() => Ok(traffic),
        _ => Err(found),
    }
}

fn read_file(file: Section<'_>) -> Option<SubscriberTraffic> {
    let name = file.required_text("name", identifier);
    let title = file.required_text("title", |text| check_title(text).map(|()| text.to_owned()));
    let downstream = figure(&file, "downstream", units::bits_per_second);
    let upstream = figure(&file, "upstream", units::bits_per_second);
    let downstream_imix = figure(&file, "downstream-imix", Imix::read);
    let upstream_imix = figure(&file, "upstream-imix", Imix::read);
    let connections = connections(&file);
    let native_ipv6 = figure(&file, "native-ipv6", share);
    let growth = figure(&file, "growth", |text| {
        match text.trim().strip_prefix('-') {
            Some(fall) => share(fall).map(|fall| -fall),
            None => Ok(units::share(text)?),
        }
    });
    let years = figure(&file, "years", |text| {
        number(text, 0.0..=50.0, "years from 0 to 50")
    });
    let reserve = figure(&file, "reserve", share);
    let shared_processor = figure_of(&file, "shared-processor", |section| section.truth("value"));
    file.finish();
    let (new_connections, connection_lifetime, held_connections) = connections?;
    Some(SubscriberTraffic {
        name: name?,
        title: title?,
        downstream: downstream?,
        upstream: upstream?,
        downstream_imix: downstream_imix?,
        upstream_imix: upstream_imix?,
        new_connections,
        connection_lifetime,
        held_connections,
        native_ipv6: native_ipv6?,
        growth: growth?,
        years: years?,
        reserve: reserve?,
        shared_processor: shared_processor?,
    })
}

/// Reads two of the three figures on connections, and derives the third: the number held is the rate of new connections times their lifetime (J. D. C.
/// Little, Operations Research 9(3), 1961).
fn connections(file: &Section<'_>) -> Option<(Assumption<f64>, Assumption<f64>, Assumption<f64>)> {
    let keys = ["new-connections", "connection-lifetime", "held-connections"];
    let given = keys.iter().filter(|key| file.is_given(key)).count();
    if given != 2 {
        let title = format!(
            "{given} of `new-connections`, `connection-lifetime` and `held-connections` are given"
        );
        file.add(
            Diagnostic::new(file.span.clone(), title)
                .help("give two of them; the third follows by Little's law"),
        );
    }
    let new = optional(file, keys[0], |text| {
        number(text, 1e-6..=1e6, "connections per second such as 0.5")
    });
    let lifetime = optional(file, keys[1], |text| {
        above_zero(text, units::duration_ns(text)? as f64).map(|ns| ns / 1e9)
    });
    let held = optional(file, keys[2], |text| {
        number(text, 1e-3..=1e6, "connections such as 120")
    });
    match (new, lifetime, held) {
        (Some(new), Some(lifetime), None) => {
            let held = derived(
                new.value * lifetime.value,
                "new-connections times connection-lifetime",
            );
            Some((new, lifetime, held))
        }
        (Some(new), None, Some(held)) => {
            let lifetime = derived(
                held.value / new.value,
                "held-connections over new-connections",
            );
            Some((new, lifetime, held))
        }
        (None, Some(lifetime), Some(held)) => {
            let new = derived(
                held.value / lifetime.value,
                "held-connections over connection-lifetime",
            );
            Some((new, lifetime, held))
        }
        _ => None,
    }
}

fn derived(value: f64, how: &str) -> Assumption<f64> {
    Assumption {
        value,
        source: format!("derived: {how} (Little's law)"),
    }
}

/// Reads a figure with its source; a missing figure is a mistake.
fn figure<T, E: Display>(
    file: &Section<'_>,
    key: &'static str,
    read: impl Fn(&str) -> Result<T, E>,
) -> Option<Assumption<T>> {
    figure_of(file, key, |section| section.required("value", &read))
}

/// Does the same as [`figure`], but a missing figure is not a mistake.
fn optional<T, E: Display>(
    file: &Section<'_>,
    key: &'static str,
    read: impl Fn(&str) -> Result<T, E>,
) -> Option<Assumption<T>> {
    if file.mentions(key) {
        figure(file, key, read)
    } else {
        None
    }
}

fn figure_of<'a, T>(
    file: &Section<'a>,
    key: &'static str,
    value: impl Fn(&Section<'a>) -> Option<T>,
) -> Option<Assumption<T>> {
    if !file.mentions(key) {
        let missing = Diagnostic::new(
            file.span.clone(),
            format!("the traffic profile needs a table [{key}]"),
        );
        file.add(missing.help("with a `value`, and a `source` that says where it is from"));
        return None;
    }
    let section = file.section(key, "this figure")?;
    let source = section.required_text("source", |text| {
        let is_empty = text.trim().is_empty();
        if is_empty {
            Err("a figure without a source is refused; an assumption says so")
        } else {
            Ok(text.to_owned())
        }
    });
    let value = value(&section);
    section.finish();
    Some(Assumption {
        value: value?,
        source: source?,
    })
}

/// The reason why a text is no share of a whole.
#[derive(Debug, Error)]
enum ShareError {
    /// The text is no share.
    #[error(transparent)]
    Share(#[from] ValueError),
    /// The share is the whole.
    #[error("the share must be below 100%, not `{0}`")]
    Whole(String),
}

/// Reads a share below 100 %.
fn share(text: &str) -> Result<f64, ShareError> {
    let share = units::share(text)?;
    if share >= 1.0 {
        Err(ShareError::Whole(text.to_owned()))
    } else {
        Ok(share)
    }
}

fn number(
    text: &str,
    range: std::ops::RangeInclusive<f64>,
    what: &'static str,
) -> Result<f64, ValueError> {
    let number = text
        .trim()
        .parse()
        .ok()
        .filter(|number| range.contains(number));
    number.ok_or_else(|| expected(what, text))
}

fn above_zero(text: &str, value: f64) -> Result<f64, ValueError> {
    if value > 0.0 {
        Ok(value)
    } else {
        Err(expected("a time above zero", text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render;

    fn usual() -> &'static str {
        find(Path::new(USUAL)).expect("the usual profile").text
    }

    fn refused(text: &str) -> String {
        render("mine.toml", text, &read(text).expect_err("mistakes"), false)
    }

    #[test]
    fn the_profiles_that_come_with_sixbench_are_read_and_have_the_names_of_their_files() {
        for Ready { name, text, .. } in ready() {
            let traffic = read(text)
                .unwrap_or_else(|mistakes| panic!("{}", render(name, text, &mistakes, false)));
            assert_eq!(traffic.name, name);
            assert!(
                traffic
                    .assumptions()
                    .iter()
                    .all(|one| one.source.len() > 10),
                "{name}: a source in words"
            );
        }
    }

    #[test]
    fn held_connections_follow_by_littles_law_from_the_other_two() {
        let traffic = read(usual()).expect("a profile");
        assert_eq!(
            (
                traffic.new_connections.value,
                traffic.connection_lifetime.value
            ),
            (0.4, 300.0)
        );
        assert_eq!(traffic.held_connections.value, 120.0);
        let other = usual().replace(
            "[connection-lifetime]\nvalue = \"5m\"",
            "[held-connections]\nvalue = 60",
        );
        assert_eq!(
            read(&other).expect("a profile").connection_lifetime.value,
            150.0
        );
        let other = usual().replace(
            "[new-connections]\nvalue = 0.4",
            "[held-connections]\nvalue = 60",
        );
        assert_eq!(read(&other).expect("a profile").new_connections.value, 0.2);
        let all = format!(
            "{}\n[held-connections]\nvalue = 60\nsource = \"ours\"\n",
            usual()
        );
        assert!(
            refused(&all).contains("3 of `new-connections`"),
            "{}",
            refused(&all)
        );
    }

    #[test]
    fn a_figure_without_a_source_is_refused_at_its_place() {
        let line = "source = \"assumption: the time until the device is replaced\"";
        let said = refused(&usual().replace(line, ""));
        assert!(
            said.contains("needs a `source`") && said.contains("| [years]"),
            "{said}"
        );
        assert!(
            refused(&usual().replace(line, "source = \" \""))
                .contains("without a source is refused")
        );
        let gone = usual().replace("[years]\nvalue = 3", "[yeers]\nvalue = 3");
        assert!(
            refused(&gone).contains("needs a table [years]")
                && refused(&gone).contains("unknown key `yeers`")
        );
    }

    #[test]
    fn figures_that_cannot_be_are_refused() {
        for (good, bad) in [
            ("value = \"50%\"", "value = \"100%\""),
            ("value = \"30%\"", "value = \"130%\""),
            ("value = 3", "value = -1"),
            ("value = 0.4", "value = 0"),
            ("value = \"5m\"", "value = \"0s\""),
            ("value = \"1.8M\"", "value = \"0\""),
            ("value = true", "value = \"yes\""),
            ("value = \"84:7, 594:4, 1518:1\"", "value = \"64:7\""),
        ] {
            let text = usual().replacen(good, bad, 1);
            assert!(text != usual() && read(&text).is_err(), "{bad}");
        }
        let falling = usual().replace("value = \"9.4%\"", "value = \"-5%\"");
        assert_eq!(read(&falling).expect("a profile").growth.value, -0.05);
    }
}
