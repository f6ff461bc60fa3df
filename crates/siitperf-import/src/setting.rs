//! The value of a key together with its place in the file, at which mistakes are shown.

use super::findings::ImportFindings;
use super::syntax::ConfigEntry;
use sixbench_plan::Diagnostic;
use std::fmt;
use std::net::IpAddr;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use thiserror::Error;

#[derive(Clone, Debug)]
pub(super) struct Setting<T> {
    pub(super) key: String,
    pub(super) value: T,
    /// The line, from 1; `None` if the key is not in the file and this is siitperf's default.
    pub(super) line: Option<usize>,
    /// The place of the value or, if the key is not in the file, the place where the key could be added.
    pub(super) span: Range<usize>,
}

/// Shows a setting and its line: `IP-L-Vers 6 at line 3`.
impl<T: fmt::Display> fmt::Display for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{} {} at line {line}", self.key, self.value),
            None => write!(f, "{} {} (siitperf's default)", self.key, self.value),
        }
    }
}

impl<T> Setting<T> {
    /// Returns a mistake with this title that is shown at the value.
    pub(super) fn mistake(&self, title: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.span.clone(), title)
    }

    /// Adds a note at the line of the key; 0 means the whole file (`Note::line`).
    pub(super) fn note(&self, findings: &mut ImportFindings, text: impl fmt::Display) {
        findings.note(self.line.unwrap_or(0), format!("{}: {text}", self.key));
    }
}

impl<T: fmt::Display> Setting<T> {
    pub(super) fn note_on_value(&self, findings: &mut ImportFindings, text: impl fmt::Display) {
        findings.note(
            self.line.unwrap_or(0),
            format!("{} {}: {text}", self.key, self.value),
        );
    }
}

/// Reads values by their keys.
pub(super) struct Reader<'a, 'f> {
    entries: &'a [ConfigEntry<'a>],
    /// The place where a missing key could be added.
    end: usize,
    findings: &'f mut ImportFindings,
    /// The keys that were asked for.
    asked: Vec<String>,
    misread: Vec<String>,
}

impl<'a, 'f> Reader<'a, 'f> {
    pub(super) fn new(
        entries: &'a [ConfigEntry<'a>],
        end: usize,
        findings: &'f mut ImportFindings,
    ) -> Self {
        Self {
            entries,
            end,
            findings,
            asked: Vec::new(),
            misread: Vec::new(),
        }
    }

    pub(super) fn asked(self) -> Vec<String> {
        self.asked
    }

    /// Returns the keys whose values were invalid: they have been reported, and are not missing.
    pub(super) fn misread(&self) -> &[String] {
        &self.misread
    }

    /// Returns the value of `key` as `read` understands it; `None` if the file does not have the key, or if the value is a mistake.
    pub(super) fn optional<T>(
        &mut self,
        key: String,
        read: impl Fn(&str) -> Result<T, Misread>,
    ) -> Option<Setting<T>> {
        self.asked.push(key.clone());
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        match read(entry.value) {
            Ok(value) => Some(Setting {
                key,
                value,
                line: Some(entry.line),
                span: entry.span.clone(),
            }),
            Err(what) => {
                self.findings.mistake(Diagnostic::new(
                    entry.span.clone(),
                    format!("`{key}` {what}, not `{}`", entry.value),
                ));
                self.misread.push(key);
                None
            }
        }
    }

    /// Returns a number within a range, or `default` if the file has none.
    pub(super) fn number(
        &mut self,
        key: String,
        range: RangeInclusive<u32>,
        default: u32,
    ) -> Setting<u32> {
        self.optional(key.clone(), |text| number(text, &range))
            .unwrap_or_else(|| self.default(key, default))
    }

    pub(super) fn default<T>(&self, key: String, value: T) -> Setting<T> {
        Setting {
            key,
            value,
            line: None,
            span: self.end..self.end,
        }
    }

    /// Does the same as [`Reader::number`] for a key that has no default in siitperf.
    pub(super) fn optional_number(
        &mut self,
        key: String,
        range: RangeInclusive<u32>,
    ) -> Option<Setting<u32>> {
        self.optional(key, |text| number(text, &range))
    }

    /// Returns an address of one family. siitperf's users write the unspecified address to mean that there is none.
    pub(super) fn address<A: FromStr + Into<IpAddr>>(
        &mut self,
        key: String,
    ) -> Option<Setting<IpAddr>> {
        let family = if key.starts_with("IPv4") {
            "IPv4"
        } else {
            "IPv6"
        };
        self.optional(key, |text| {
            text.parse::<A>()
                .map(Into::into)
                .map_err(|_| Misread::Address(family))
        })
    }
}

/// What the text of a value should be.
#[derive(Debug, Error)]
pub(super) enum Misread {
    #[error("must be a number from {} to {}", .0.start(), .0.end())]
    Number(RangeInclusive<u32>),
    #[error("must be an {0} address")]
    Address(&'static str),
    #[error("must be a number from 0 to 65535 or from 0x0 to 0xffff")]
    AddressPart,
    #[error("must be a MAC address such as 02:00:00:00:00:01")]
    Mac,
    #[error("must be 4 or 6")]
    IpVersion,
}

fn number(text: &str, range: &RangeInclusive<u32>) -> Result<u32, Misread> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| Misread::Number(range.clone()))
}

/// Reads the variable 16 bits of an address as C reads integers: decimal, hexadecimal after `0x`, or octal after `0`.
pub(super) fn address_part(text: &str) -> Result<u32, Misread> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let number = match (digits, text.strip_prefix('0')) {
        (Some(digits), _) => u16::from_str_radix(digits, 16),
        (None, Some(digits)) if !digits.is_empty() => u16::from_str_radix(digits, 8),
        _ => text.parse(),
    };
    number.map(u32::from).map_err(|_| Misread::AddressPart)
}

/// Reads six octets in hexadecimal.
pub(super) fn mac(text: &str) -> Result<String, Misread> {
    let is_octet =
        |octet: &str| matches!(octet.len(), 1 | 2) && octet.chars().all(|c| c.is_ascii_hexdigit());
    if text.split(':').count() == 6 && text.split(':').all(is_octet) {
        Ok(text.to_owned())
    } else {
        Err(Misread::Mac)
    }
}
