//! The lines of a file of queries: a name, space, a type; comments begin with `;` or `#`, as in dnsperf.

use super::record_type::{self, TypeError};
use std::ops::Range;

/// The most octets of a label and of a name in a message (RFC 1035 section 2.3.4).
const LONGEST_LABEL: usize = 63;
const LONGEST_NAME: usize = 255;
/// Mistakes that are kept: a file that is something else has one on each line.
const MOST_MISTAKES: usize = 1000;

/// A query of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileQuery {
    /// The name in wire format, with the letters as the file has them.
    pub name: Box<[u8]>,
    /// The number of the type.
    pub record_type: u16,
}

impl FileQuery {
    /// Returns whether it asks for the AAAA record.
    pub fn asks_for_aaaa(&self) -> bool {
        self.record_type == record_type::AAAA
    }

    /// Returns the mnemonic of its type.
    pub fn type_name(&self) -> String {
        record_type::name_of(self.record_type)
    }
}

/// A line that is no query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryMistake {
    /// The number of the line, from 1.
    pub line: usize,
    /// The place in the line at which it is wrong, in characters from 1.
    pub column: usize,
    /// The octets of the text that are wrong.
    pub span: Range<usize>,
    /// The mistake in one line.
    pub title: String,
    /// The advice on what to write instead.
    pub help: String,
}

/// A mistake in a word, without its place in the file.
struct WordMistake {
    span: Range<usize>,
    title: String,
    help: &'static str,
}

impl WordMistake {
    fn new(span: Range<usize>, title: impl Into<String>, help: &'static str) -> Self {
        let title = title.into();
        Self { span, title, help }
    }
}

/// Reads all lines.
pub(super) fn read_lines(text: &str) -> Result<Vec<FileQuery>, Vec<QueryMistake>> {
    let (mut queries, mut mistakes, mut start) = (Vec::new(), Vec::new(), 0);
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end_matches(['\n', '\r']);
        match read_line(line) {
            Ok(query) => queries.extend(query),
            Err(mistake) if mistakes.len() < MOST_MISTAKES => {
                mistakes.push(placed(&mistake, line, index, start));
            }
            Err(_) => {}
        }
        start += whole.len();
    }
    if queries.is_empty() && mistakes.is_empty() {
        mistakes.push(QueryMistake {
            line: 1,
            column: 1,
            span: 0..text.len().min(1),
            title: "the file has no query".to_owned(),
            help: HELP.to_owned(),
        });
    }
    if mistakes.is_empty() {
        Ok(queries)
    } else {
        Err(mistakes)
    }
}

const HELP: &str = "write a name and a type on each line, such as `www.example.com AAAA`";

fn placed(mistake: &WordMistake, line: &str, index: usize, start: usize) -> QueryMistake {
    let Range { start: from, end } = mistake.span;
    QueryMistake {
        line: index + 1,
        column: line
            .get(..from)
            .map_or(1, |before| before.chars().count() + 1),
        span: start + from..start + end,
        title: mistake.title.clone(),
        help: mistake.help.to_owned(),
    }
}

/// Reads a line; `None` if it has no query.
fn read_line(line: &str) -> Result<Option<FileQuery>, WordMistake> {
    let mut words = words_of(line);
    let Some(name) = words.next() else {
        return Ok(None);
    };
    let Some(asked) = words.next() else {
        let title = format!("the query for `{}` has no type", &line[name.clone()]);
        return Err(WordMistake::new(name, title, HELP));
    };
    if let Some(more) = words.next() {
        let title = format!("`{}` is one word too many", &line[more.clone()]);
        let help = "a query is a name and a type; the class is always IN, and updates are not sent";
        return Err(WordMistake::new(more, title, help));
    }
    let wire = read_name(&line[name.clone()], name.start)?;
    let record_type = read_type(&line[asked.clone()], asked)?;
    Ok(Some(FileQuery {
        name: wire.into(),
        record_type,
    }))
}

/// Returns the words of a line before its comment.
fn words_of(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line[at..];
        let from = at + rest.find(|c: char| !c.is_ascii_whitespace())?;
        if line[from..].starts_with([';', '#']) {
            return None;
        }
        let length = line[from..].find(|c: char| c.is_ascii_whitespace());
        at = length.map_or(line.len(), |length| from + length);
        Some(from..at)
    })
}

fn read_type(word: &str, span: Range<usize>) -> Result<u16, WordMistake> {
    record_type::number_of(word).map_err(|error| match error {
        TypeError::Unknown => WordMistake::new(
            span,
            format!("`{word}` is no type of records"),
            "write a type such as A, AAAA, MX or TXT, or its number as TYPE65",
        ),
        TypeError::NoQuestion => WordMistake::new(
            span,
            format!("`{word}` is no question with one answer"),
            "leave it out: transfers and signatures are not measured",
        ),
    })
}

/// Reads a name as master files have it (RFC 1035 section 5.1), with `\.` and `\032`. It is absolute with and without its final dot.
fn read_name(word: &str, at: usize) -> Result<Vec<u8>, WordMistake> {
    let whole = at..at + word.len();
    if let Some((index, other)) = word.char_indices().find(|(_, c)| !c.is_ascii_graphic()) {
        let span = at + index..at + index + other.len_utf8();
        let title = format!("`{}` is not allowed in a name", other.escape_debug());
        let help = "write names in ASCII: others have a form that begins with xn-- (RFC 5891)";
        return Err(WordMistake::new(span, title, help));
    }
    if word == "." {
        return Ok(vec![0]);
    }
    let mut wire = Vec::with_capacity(word.len() + 2);
    let mut label = Vec::new();
    let mut octets = word.bytes();
    while let Some(octet) = octets.next() {
        match octet {
            b'.' => end_label(&mut wire, &mut label, &whole)?,
            b'\\' => label.push(escaped(&mut octets, &whole)?),
            _ => label.push(octet),
        }
    }
    if !label.is_empty() {
        end_label(&mut wire, &mut label, &whole)?;
    }
    wire.push(0);
    if wire.len() > LONGEST_NAME {
        let title = format!("the name has {} octets in a message", wire.len());
        return Err(WordMistake::new(whole, title, "a name has at most 255"));
    }
    Ok(wire)
}

fn end_label(
    wire: &mut Vec<u8>,
    label: &mut Vec<u8>,
    whole: &Range<usize>,
) -> Result<(), WordMistake> {
    if label.is_empty() {
        let help = "remove one of two adjacent dots, or the one at the start; the root is `.`";
        return Err(WordMistake::new(
            whole.clone(),
            "the name has an empty label",
            help,
        ));
    }
    if label.len() > LONGEST_LABEL {
        let title = format!("a label of the name has {} octets", label.len());
        return Err(WordMistake::new(
            whole.clone(),
            title,
            "a label has at most 63",
        ));
    }
    wire.push(label.len() as u8);
    wire.append(label);
    Ok(())
}

/// Returns the octet after a backslash: a character, or three decimal digits.
fn escaped(octets: &mut impl Iterator<Item = u8>, whole: &Range<usize>) -> Result<u8, WordMistake> {
    let wrong = || {
        let help = "write `\\.` for a dot within a label, or the octet as three digits: `\\032`";
        WordMistake::new(
            whole.clone(),
            "the name has a backslash without an octet from 000 to 255",
            help,
        )
    };
    let first = octets.next().ok_or_else(wrong)?;
    if !first.is_ascii_digit() {
        return Ok(first);
    }
    let mut digits = vec![first];
    digits.extend(octets.take(2));
    let number = std::str::from_utf8(&digits)
        .ok()
        .filter(|text| text.len() == 3);
    number.and_then(|text| text.parse().ok()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(line: &str) -> (Vec<u8>, u16) {
        let read = read_lines(line).expect("a query");
        let [query] = &read[..] else {
            panic!("{read:?}")
        };
        (query.name.to_vec(), query.record_type)
    }

    #[test]
    fn names_and_types_are_read_as_dnsperf_reads_them() {
        let expected = (b"\x03www\x07example\x03com\x00".to_vec(), 28);
        for line in [
            "www.example.com AAAA",
            "www.example.com. aaaa\r\n",
            "\t www.example.com \t AAAA  ; asked by many\n",
            "# log\n\nwww.example.com TYPE28 # of today",
        ] {
            assert_eq!(one(line), expected, "{line}");
        }
        assert_eq!(one(". NS"), (vec![0], 2));
        assert_eq!(one("a\\.b.\\032. A").0, b"\x03a.b\x01 \x00");
        assert_eq!(one("_25._tcp.MX.example TLSA").0[..5], *b"\x03_25\x04");
        assert_eq!(one("#.example A\nx A").0, b"\x01x\x00", "a comment");
    }

    #[test]
    fn each_bad_line_is_told_with_its_place_and_what_to_write() {
        let long = format!("{} A", "a".repeat(64));
        let longest = format!("{} A", "abcdefg.".repeat(32));
        let text = format!(
            "ok.example A\nalone\n  b..c A\nd.example AAA\ne.example IN A\nf\u{fc}r.example A\n{long}\n{longest}\ng\\25 A\nh AXFR\ni\\ A\n"
        );
        let mistakes = read_lines(&text).expect_err("mistakes");
        let told: Vec<String> = mistakes
            .iter()
            .map(|mistake| {
                let QueryMistake {
                    line,
                    column,
                    span,
                    title,
                    help,
                } = mistake;
                let shown = text[span.clone()].chars().take(12).collect::<String>();
                format!("{line}:{column} [{shown}] {title}; {help}")
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn the_mistakes_of_a_file_of_something_else_are_limited() {
        let text = "word\n".repeat(5000);
        assert_eq!(
            read_lines(&text).expect_err("mistakes").len(),
            MOST_MISTAKES
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_at_a_place_within_it(text in "\\PC{0,80}|[a-z\\\\0-9. ;#\n\t]{0,120}") {
            match read_lines(&text) {
                Ok(queries) => for query in queries {
                    prop_assert!(query.name.len() <= LONGEST_NAME && query.name.last() == Some(&0));
                    prop_assert!(query.record_type > 0);
                },
                Err(mistakes) => for mistake in mistakes {
                    prop_assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?}");
                    let line = text.split('\n').nth(mistake.line - 1);
                    prop_assert!(line.is_some_and(|line| mistake.column <= line.chars().count() + 1));
                },
            }
        }
    }
}
