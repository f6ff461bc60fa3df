//! Reads a TOML table key by key, and collects what was not understood, so that all mistakes in a file are reported at once.

pub(crate) mod bounds;
pub(crate) mod diagnostic;
mod home;
pub(crate) mod place;
pub(crate) mod words;

use crate::reader::diagnostic::Diagnostic;
use sixbench_method::measures::Keys;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt::Display;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Returns the table that a TOML file contains.
///
/// # Errors
/// The syntax errors, each with its place.
pub(crate) fn table_of(source: &str) -> Result<Spanned<DeTable<'_>>, Vec<Diagnostic>> {
    let (table, syntax) = DeTable::parse_recoverable(source);
    match (syntax.is_empty(), other_language(source)) {
        (true, _) => Ok(table),
        (false, Some(other)) => Err(vec![other]),
        (false, None) => Err(syntax
            .iter()
            .map(|e| Diagnostic::new(e.span().unwrap_or(0..0), e.message()))
            .collect()),
    }
}

/// Returns the tables `[[test]]` of a plan file, as far as they can be read, for looks that need the recipes of their devices.
pub(crate) fn tests_of<'t>(table: &'t DeTable<'_>) -> impl Iterator<Item = &'t DeTable<'t>> {
    let tests = table
        .get("test")
        .and_then(|tests| tests.get_ref().as_array());
    tests
        .into_iter()
        .flatten()
        .filter_map(|test| test.get_ref().as_table())
}

/// Returns the mistake of a file in another language than TOML, in place of one for each of its lines.
fn other_language(source: &str) -> Option<Diagnostic> {
    let mut lines = source.split_inclusive('\n').scan(0, |start, line| {
        let place = *start;
        *start += line.len();
        Some((place, line.trim_end()))
    });
    let (start, first) = lines
        .find(|(_, line)| !line.trim_start().is_empty() && !line.trim_start().starts_with('#'))?;
    let language = match first {
        _ if first.starts_with('{') => "JSON",
        "---" => "YAML",
        _ if is_yaml_key(first) => "YAML",
        _ => return None,
    };
    let help = "write `name = \"NAME\"` and a table [[test]] for each test, in the syntax of TOML";
    Some(
        Diagnostic::new(
            start..start + first.len(),
            format!("this is {language}, but a plan is TOML"),
        )
        .help(help),
    )
}

/// Returns whether a line begins with a key of YAML: a word and a colon.
fn is_yaml_key(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, value)| {
        !key.is_empty()
            && key
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
            && (value.is_empty() || value.starts_with(' '))
    })
}

#[derive(Default)]
pub(crate) struct Mistakes(RefCell<Vec<Diagnostic>>);

impl Mistakes {
    pub(crate) fn add(&self, mistake: Diagnostic) {
        self.0.borrow_mut().push(mistake);
    }

    pub(crate) fn are_none(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub(crate) fn into_inner(self) -> Vec<Diagnostic> {
        self.0.into_inner()
    }
}

pub(crate) struct Section<'a> {
    table: &'a DeTable<'a>,
    /// The place of the table, for mistakes about keys that are missing in it.
    pub(crate) span: Range<usize>,
    /// Its name in messages, such as `[trial]`.
    name: &'static str,
    known: RefCell<BTreeSet<&'static str>>,
    mistakes: &'a Mistakes,
}

impl<'a> Section<'a> {
    pub(crate) fn new(
        table: &'a DeTable<'a>,
        span: Range<usize>,
        name: &'static str,
        mistakes: &'a Mistakes,
    ) -> Self {
        Self {
            table,
            span,
            name,
            known: RefCell::default(),
            mistakes,
        }
    }

    /// Returns the same section again, for checks after it is finished.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.table, self.span.clone(), self.name, self.mistakes)
    }

    fn get(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.borrow_mut().insert(key);
        self.table.get(key)
    }

    /// Returns the boolean value of `key`; `None` if it is missing or not a boolean, which is a mistake.
    pub(crate) fn truth(&self, key: &'static str) -> Option<bool> {
        self.scalar(self.get(key)?, ValueKind::Truth, &|text| {
            Ok::<_, Infallible>(text == "true")
        })
    }

    /// Does the same as [`Section::text`], and reports a missing key.
    pub(crate) fn required_text<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.check_given(key);
        self.text(key, read)
    }

    fn check_given(&self, key: &'static str) {
        if self.get(key).is_none() {
            self.mistakes.add(Diagnostic::new(
                self.span.clone(),
                format!("{} needs a `{key}`", self.name),
            ));
        }
    }

    /// Returns a list of strings; a single string may be written without brackets.
    pub(crate) fn texts<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        self.items(key, ValueKind::Text, read)
    }

    /// Returns a list of whole numbers; a single number may be written without brackets.
    pub(crate) fn numbers<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        self.items(key, ValueKind::Number, read)
    }

    fn items<T, E: Display>(
        &self,
        key: &'static str,
        kind: ValueKind,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        self.items_of(self.get(key)?, kind, &read)
    }

    fn items_of<T, E: Display>(
        &self,
        value: &Spanned<DeValue<'_>>,
        kind: ValueKind,
        read: &impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        match value.get_ref() {
            DeValue::Array(items) => Some(
                items
                    .iter()
                    .filter_map(|item| self.scalar(item, kind, read))
                    .collect(),
            ),
            _ => self.scalar(value, kind, read).map(|one| vec![one]),
        }
    }

    /// Returns the entries of the table `key`: names that `check` accepts, each with a list of numbers or strings; a single one may be written without
    /// brackets. `None` if the value is not a table; the caller then reads it differently.
    pub(crate) fn named_lists<T, C: Display, E: Display>(
        &self,
        key: &'static str,
        check: impl Fn(&str) -> Result<(), C>,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<(String, Vec<T>)>> {
        let table = self.get(key)?.get_ref().as_table()?;
        Some(
            table
                .iter()
                .filter_map(|(name, value)| {
                    check(name.get_ref())
                        .map_err(|title| {
                            self.mistakes
                                .add(Diagnostic::new(name.span(), title.to_string()));
                        })
                        .ok()?;
                    Some((
                        name.get_ref().to_string(),
                        self.items_of(value, ValueKind::Quantity, &read)?,
                    ))
                })
                .collect(),
        )
    }

    /// Returns whether `key` is given at all, and marks it as known.
    pub(crate) fn mentions(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn is_text(&self, key: &str) -> bool {
        self.table
            .get(key)
            .is_some_and(|value| value.get_ref().is_str())
    }

    /// Returns whether the value of the key is a list with a text in it.
    pub(crate) fn has_text_in_list(&self, key: &str) -> bool {
        let items = self
            .table
            .get(key)
            .and_then(|value| value.get_ref().as_array());
        items.is_some_and(|items| items.iter().any(|item| item.get_ref().is_str()))
    }

    pub(crate) fn is_empty_list(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|value| {
            value
                .get_ref()
                .as_array()
                .is_some_and(|items| items.is_empty())
        })
    }

    /// Returns the table `key` in this one. Any other value is a mistake.
    pub(crate) fn section(&self, key: &'static str, name: &'static str) -> Option<Section<'a>> {
        self.section_of(self.get(key)?, name, &format!("a table [{key}]"))
    }

    /// Returns `value` as a table. Any other value is a mistake.
    fn section_of(
        &self,
        value: &'a Spanned<DeValue<'a>>,
        name: &'static str,
        expected: &str,
    ) -> Option<Section<'a>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Section::new(table, value.span(), name, self.mistakes)),
            other => self.wrong_type(value.span(), expected, other.type_str()),
        }
    }

    pub(crate) fn sections(&self, key: &'static str, name: &'static str) -> Vec<Section<'a>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let DeValue::Array(items) = value.get_ref() else {
            let _: Option<()> = self.wrong_type(
                value.span(),
                &format!("tables [[{key}]]"),
                value.get_ref().type_str(),
            );
            return Vec::new();
        };
        items
            .iter()
            .filter_map(|item| self.section_of(item, name, &format!("a table [[{key}]]")))
            .collect()
    }

    /// Returns one or several tables if the value of `key` is a table or a list; `None` for any other value, which the caller then reads differently.
    pub(crate) fn tables(&self, key: &'static str, name: &'static str) -> Option<Vec<Section<'a>>> {
        let value = self.get(key)?;
        let section = |item| self.section_of(item, name, &format!("tables {{ ... }} in `{key}`"));
        match value.get_ref() {
            DeValue::Table(_) => Some(section(value).into_iter().collect()),
            DeValue::Array(items) => Some(items.iter().filter_map(section).collect()),
            _ => None,
        }
    }

    /// Returns the place of the value of `key`, or that of the table if the key is missing.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.table
            .get(key)
            .map_or_else(|| self.span.clone(), Spanned::span)
    }

    pub(crate) fn add(&self, mistake: Diagnostic) {
        self.mistakes.add(mistake);
    }

    /// Does the same as [`Section::finish`], but treats `keys`, which were not read because of another mistake, as known.
    pub(crate) fn finish_with(self, keys: &[&'static str]) {
        self.known.borrow_mut().extend(keys);
        self.finish();
    }

    fn scalar<T, E: Display>(
        &self,
        value: &Spanned<DeValue<'_>>,
        kind: ValueKind,
        read: &impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = match (value.get_ref(), kind) {
            (DeValue::String(text), ValueKind::Text | ValueKind::Quantity) => text.to_string(),
            (DeValue::Integer(number), ValueKind::Number | ValueKind::Quantity) => digits(number),
            (DeValue::Float(number), ValueKind::Quantity) => number.as_str().to_owned(),
            (DeValue::Boolean(truth), ValueKind::Truth) => truth.to_string(),
            (other, kind) => return self.wrong_type(value.span(), kind.title(), other.type_str()),
        };
        read(&text)
            .map_err(|title| {
                self.mistakes
                    .add(Diagnostic::new(value.span(), title.to_string()));
            })
            .ok()
    }

    fn wrong_type<T>(&self, span: Range<usize>, expected: &str, got: &str) -> Option<T> {
        self.mistakes.add(Diagnostic::new(
            span,
            format!("expected {expected}, found a TOML {got}"),
        ));
        None
    }
}

impl Keys for Section<'_> {
    fn value<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.scalar(self.get(key)?, ValueKind::Quantity, &read)
    }

    fn text<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.scalar(self.get(key)?, ValueKind::Text, &read)
    }

    fn number<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.scalar(self.get(key)?, ValueKind::Number, &read)
    }

    fn required<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.check_given(key);
        self.value(key, read)
    }

    fn list<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        self.items(key, ValueKind::Quantity, read)
    }

    fn table(&self, key: &'static str, name: &'static str) -> Option<Self> {
        self.get(key)?.get_ref().as_table()?;
        self.section(key, name)
    }

    fn is_given(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    fn mistake(&self, key: &str, title: impl Into<String>) {
        self.mistakes.add(Diagnostic::new(self.span_of(key), title));
    }

    fn mistake_with_help(&self, key: &str, title: impl Into<String>, help: impl Into<String>) {
        self.mistakes
            .add(Diagnostic::new(self.span_of(key), title).help(help));
    }

    fn finish(self) {
        let known = self.known.borrow();
        for key in self
            .table
            .keys()
            .filter(|key| !known.contains(key.get_ref().as_ref()))
        {
            let title = format!("unknown key `{}` in {}", key.get_ref(), self.name);
            let mistake = Diagnostic::new(key.span(), title);
            let all: Vec<&str> = known.iter().copied().collect();
            let elsewhere = home::of_key(key.get_ref(), self.name);
            self.mistakes
                .add(match (elsewhere, nearest(key.get_ref(), &all)) {
                    (Some(home), _) => mistake.help(format!("it is a key of {home}")),
                    (None, Some(near)) => mistake.help(format!("did you mean `{near}`?")),
                    (None, None) => mistake.help(format!("known keys: {}", all.join(", "))),
                });
        }
    }
}

#[derive(Clone, Copy)]
enum ValueKind {
    Text,
    Number,
    Truth,
    Quantity,
}

impl ValueKind {
    fn title(self) -> &'static str {
        match self {
            Self::Text => "a string in quotes",
            Self::Number => "a whole number without quotes",
            Self::Truth => "true or false without quotes",
            Self::Quantity => "a number, or a string with a number and its unit",
        }
    }
}

/// Returns the number in decimal digits: TOML also has hexadecimal, octal and binary numbers.
fn digits(number: &DeInteger<'_>) -> String {
    let text = number.as_str();
    i128::from_str_radix(text, number.radix())
        .map_or_else(|_| text.to_owned(), |number| number.to_string())
}

/// Returns the candidate that begins with the word; otherwise the nearest of those that differ from it in at most a third of their letters.
pub fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    if let Some(candidate) = candidates
        .iter()
        .find(|c| word.len() > 2 && c.starts_with(word))
    {
        return Some(candidate);
    }
    let letters = word.chars().count();
    let most = |candidate: &str| candidate.len().max(3) / 3;
    // Computing a distance takes time proportional to the product of both lengths. The distance is at least the difference of the lengths, so most
    // candidates can be skipped, and all of them for a long word.
    let alike = candidates
        .iter()
        .filter(|c| c.len().abs_diff(letters) <= most(c));
    let near = alike
        .map(|c| (strsim::levenshtein(word, c), *c))
        .filter(|(distance, c)| *distance <= most(c));
    near.min().map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        assert_eq!(
            nearest("frame-size", &["frame-sizes", "dut"]),
            Some("frame-sizes")
        );
        assert_eq!(
            nearest("tayga", &["linux-ipv4", "tayga-siit"]),
            Some("tayga-siit")
        );
        assert_eq!(nearest("colour", &["frame-sizes", "dut"]), None);
    }

    #[test]
    fn a_shorter_candidate_that_is_too_different_does_not_hide_a_longer_one() {
        assert_eq!(
            nearest("coresea", &["cores", "cores-each"]),
            Some("cores-each")
        );
        assert_eq!(nearest("coresea", &["cores"]), None);
    }
}
