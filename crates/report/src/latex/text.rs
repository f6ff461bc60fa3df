//! Text that LaTeX shall print as it is, and about how wide it becomes.

use sixbench_method::text::visible_lines;

/// The width of a word, in widths of an M, that may stand together; a longer one may be broken, so that a command fits into any column.
const WIDEST_PIECE: f64 = 8.5;

/// Letters with marks that every encoding of pdfLaTeX's fonts can print.
const MARKED: &str = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŒœŁłŠšŽžČčĆćĚěŘřŮůŐőŰűŚśŹźŻżŃńŇň";

/// Signs that have another name in LaTeX.
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

/// Returns the text for LaTeX. Long words may be broken after their signs.
pub(crate) fn escaped(text: &str) -> String {
    let words: Vec<String> = words(&visible_lines(text)).map(|word| joined(&pieces(word))).collect();
    words.join(" ")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\n', '\r', '\t'])
}

fn joined(pieces: &[String]) -> String {
    let printed: Vec<String> = pieces.iter().map(|piece| piece.chars().map(printed).collect()).collect();
    printed.join("\\allowbreak{}")
}

/// Returns the parts of a word between which a line may end: one, unless the word is long.
fn pieces(word: &str) -> Vec<String> {
    if natural_width(word) <= WIDEST_PIECE {
        return vec![word.to_owned()];
    }
    let (mut pieces, mut width) = (Vec::<String>::new(), f64::INFINITY);
    for c in word.chars() {
        if width + char_width(c) > WIDEST_PIECE {
            pieces.push(String::new());
            width = 0.0;
        }
        pieces.last_mut().expect("one piece at least").push(c);
        width += if "/_=:,.-@&\u{a0}".contains(c) { f64::INFINITY } else { char_width(c) };
    }
    pieces
}

fn printed(c: char) -> String {
    match c {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        _ => match SIGNS.iter().find(|(sign, _)| *sign == c) {
            Some((_, name)) => (*name).to_owned(),
            None if c.is_ascii_control() => " ".to_owned(),
            None if c.is_ascii() || MARKED.contains(c) => c.to_string(),
            None => format!("\\sixbenchchar{{{:X}}}", u32::from(c)),
        },
    }
}

/// Returns at most how wide the text is on one line, in widths of the letter M of Computer Modern at 8 points.
pub(crate) fn natural_width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

/// Returns the width of the widest part that no line break can divide.
pub(super) fn least_width(text: &str) -> f64 {
    words(text).flat_map(pieces).map(|piece| natural_width(&piece)).fold(0.0, f64::max)
}

/// Upper bounds for groups of characters, rounded up from the metrics of cmr8.
fn char_width(c: char) -> f64 {
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
        // The code point in hexadecimal, after `U+`.
        _ => 4.2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_latex_would_obey_is_printed() {
        assert_eq!(escaped("50\u{a0}% of {a_b} & #1 \\x ≥ 3"), "50~\\% of \\{a\\_b\\} \\& \\#1 \\textbackslash{}x $\\geq$ 3");
    }

    #[test]
    fn letters_that_pdflatex_lacks_are_printed_by_their_code_points() {
        assert_eq!(escaped("Müller 中\u{1f600}"), "Müller \\sixbenchchar{4E2D}\\sixbenchchar{1F600}");
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
