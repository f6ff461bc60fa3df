//! Text that LaTeX must print literally, and its approximate width.

use sixbench_method::text::visible_lines;
use std::sync::LazyLock;

/// The widest unbreakable piece of a word, in widths of an M. A longer word may be broken, so that a command fits into any column.
const WIDEST_PIECE: f64 = 8.5;

/// Accented letters that are available in every font encoding of pdfLaTeX.
const MARKED: &str =
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŒœŁłŠšŽžČčĆćĚěŘřŮůŐőŰűŚśŹźŻżŃńŇň";

/// Characters that need a command in LaTeX.
const SIGNS: [(char, &str); 34] = [
    ('\\', "\\textbackslash{}"),
    ('~', "\\textasciitilde{}"),
    ('^', "\\textasciicircum{}"),
    ('<', "\\textless{}"),
    ('>', "\\textgreater{}"),
    ('|', "\\textbar{}"),
    ('"', "''"),
    ('\u{a0}', "~"),
    ('–', "--"),
    ('—', "---"),
    ('‘', "`"),
    ('’', "'"),
    ('“', "``"),
    ('”', "''"),
    ('…', "\\ldots{}"),
    ('≥', "$\\geq$"),
    ('≤', "$\\leq$"),
    ('≈', "$\\approx$"),
    ('×', "$\\times$"),
    ('±', "$\\pm$"),
    ('−', "$-$"),
    ('·', "$\\cdot$"),
    ('→', "$\\rightarrow$"),
    ('←', "$\\leftarrow$"),
    ('∞', "$\\infty$"),
    ('µ', "$\\mu$"),
    ('μ', "$\\mu$"),
    ('σ', "$\\sigma$"),
    ('α', "$\\alpha$"),
    ('κ', "$\\kappa$"),
    ('λ', "$\\lambda$"),
    ('Δ', "$\\Delta$"),
    ('°', "$^\\circ$"),
    ('§', "\\S{}"),
];

/// Returns the text for LaTeX. Long words may be broken after punctuation.
pub(crate) fn escaped(text: &str) -> String {
    let text = visible_lines(text);
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for (nth, word) in words(&text).enumerate() {
        escaped.push_str(if nth == 0 { "" } else { " " });
        for (nth, piece) in pieces(word).enumerate() {
            escaped.push_str(if nth == 0 { "" } else { "\\allowbreak{}" });
            piece.chars().for_each(|c| print(c, &mut escaped));
        }
    }
    escaped
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\n', '\r', '\t'])
}

/// Returns the parts of a word between which a line may break; only one unless the word is long.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let (is_short, mut is_first, mut rest) = (natural_width(word) <= WIDEST_PIECE, true, word);
    std::iter::from_fn(move || {
        // An empty word has one empty piece.
        if !std::mem::take(&mut is_first) && rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(if is_short {
            rest.len()
        } else {
            piece_length(rest)
        });
        rest = behind;
        Some(piece)
    })
}

/// Returns the length of the first piece of a long word, octets: up to its first punctuation mark, or as much as may stay together.
fn piece_length(word: &str) -> usize {
    let mut width = 0.0;
    let ends = |(at, c): (usize, char)| {
        let is_next = at > 0 && width + char_width(c) > WIDEST_PIECE;
        width += if "/_=:,.-@&\u{a0}".contains(c) {
            f64::INFINITY
        } else {
            char_width(c)
        };
        is_next.then_some(at)
    };
    word.char_indices().find_map(ends).unwrap_or(word.len())
}

fn print(c: char, into: &mut String) {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => into.push(c),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => into.extend(['\\', c]),
        _ => match SIGNS.iter().find(|(sign, _)| *sign == c) {
            Some((_, name)) => into.push_str(name),
            None if c.is_ascii_control() => into.push(' '),
            None if c.is_ascii() || MARKED.contains(c) => into.push(c),
            None => into.push_str(&format!("\\sixbenchchar{{{:X}}}", u32::from(c))),
        },
    }
}

/// Returns an upper bound of the text's width on one line, in widths of the letter M of Computer Modern at 8 points.
pub(crate) fn natural_width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

/// Returns the width of the widest part that cannot be broken.
pub(crate) fn least_width(text: &str) -> f64 {
    words(text)
        .flat_map(pieces)
        .map(natural_width)
        .fold(0.0, f64::max)
}

fn char_width(c: char) -> f64 {
    /// Indexed by code point.
    static ASCII: LazyLock<[f64; 128]> =
        LazyLock::new(|| std::array::from_fn(|of| width_of(char::from(of as u8))));
    ASCII
        .get(c as usize)
        .copied()
        .unwrap_or_else(|| width_of(c))
}

/// Returns an upper bound for a group of characters, rounded up from the metrics of cmr8.
fn width_of(c: char) -> f64 {
    match c {
        ' ' | '\u{a0}' | 'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.36,
        '-' | '(' | ')' | '[' | ']' | 'f' | 't' | 'r' | 's' | 'I' => 0.43,
        '0'..='9' | '/' | 'c' | 'e' | 'z' | 'a' | 'o' | 'g' | '–' => 0.54,
        'm' | 'w' | '%' | '&' | '@' | '#' => 0.9,
        'M' | 'W' | '—' | '…' => 1.1,
        'A'..='Z' | '<' | '>' | '=' | '+' | '~' => 0.84,
        'a'..='z' => 0.6,
        '"' | '$' | '_' | '\\' | '^' | '?' | '*' | '`' | '{' | '}' => 0.6,
        _ if c.is_ascii() || MARKED.contains(c) => 0.9,
        _ if SIGNS.iter().any(|(sign, _)| *sign == c) => 1.07,
        // Printed as the code point in hexadecimal, after `U+`.
        _ => 4.2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_latex_would_obey_is_printed() {
        assert_eq!(
            escaped("50\u{a0}% of {a_b} & #1 \\x ≥ 3"),
            "50~\\% of \\{a\\_b\\} \\& \\#1 \\textbackslash{}x $\\geq$ 3"
        );
    }

    #[test]
    fn letters_that_pdflatex_lacks_are_printed_by_their_code_points() {
        assert_eq!(
            escaped("Müller 中\u{1f600}"),
            "Müller \\sixbenchchar{4E2D}\\sixbenchchar{1F600}"
        );
    }

    #[test]
    fn only_long_words_may_be_broken() {
        assert_eq!(escaped("1,234,567 a-b"), "1,234,567 a-b");
        assert_eq!(
            escaped("/usr/local/bin/sixbench"),
            "/\\allowbreak{}usr/\\allowbreak{}local/\\allowbreak{}bin/\\allowbreak{}sixbench"
        );
        assert!(least_width(&"n".repeat(100)) <= WIDEST_PIECE);
    }
}
