//! Text from external sources: titles of plans and recipes, versions and answers of devices, names of processes. It is displayed, never interpreted:
//! on a terminal a control character may move the cursor, rename the window or write to the clipboard. Also nouns with their numbers.

use std::borrow::Cow;
use std::fmt::Display;

/// Returns whether a character controls whatever displays it: a control character, one that changes the text direction, or one that only some
/// programs treat as a line end.
pub fn is_control(c: char) -> bool {
    let turns_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns the text of one line with every control character escaped as in `\u001b`, including line ends and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// Returns the text of several lines with every control character except line ends and tabs escaped as in `\u001b`.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    if has_control(text) {
        shown(text, is_kept_in_lines)
    } else {
        Cow::Borrowed(text)
    }
}

fn shown(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_control(c) && !is_kept(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) && !is_kept(c) {
            shown.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Returns whether a text contains a control character other than line ends and tabs. It examines many octets at a time, because report files are
/// long and rarely contain one.
fn has_control(text: &str) -> bool {
    let is_begin = |octets: &[u8]| {
        let (a, b, c) = (octets[0], octets[1], octets[2]);
        let is_ascii = ((a < 0x20) & (a != b'\n') & (a != b'\t')) | (a == 0x7f);
        // U+0080 to U+009F, U+061C, and those of U+2000 to U+207F.
        let is_of_two = ((a == 0xc2) & (b < 0xa0)) | ((a == 0xd8) & (b == 0x9c));
        let is_of_general = (b == 0x80) & ((c == 0x8e) | (c == 0x8f) | (0xa8..=0xae).contains(&c));
        is_ascii
            | is_of_two
            | ((a == 0xe2) & (is_of_general | ((b == 0x81) & (0xa6..=0xa9).contains(&c))))
    };
    let octets = text.as_bytes();
    let begins = (0..octets.len()).step_by(256);
    let mut parts = begins.map(|begin| &octets[begin..octets.len().min(begin + 258)]);
    parts.any(|part| {
        part.windows(3)
            .fold(false, |any, octets| any | is_begin(octets))
    }) || text
        .chars()
        .rev()
        .take(2)
        .any(|c| is_control(c) && !is_kept_in_lines(c))
}

fn is_kept_in_lines(c: char) -> bool {
    c == '\n' || c == '\t'
}

/// Returns a text for a terminal: like [`visible_lines`], but keeping the colours that reports and messages use. All other terminal commands are
/// escaped, including those that hide text.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        let color = color_at(from).unwrap_or_default();
        safe.push_str(&visible_lines(before));
        safe.push_str(if color.is_empty() { "\\u001b" } else { color });
        rest = &from[color.len().max(1)..];
    }
    safe.push_str(&visible_lines(rest));
    Cow::Owned(safe)
}

/// Returns the escape sequence at the start of a text if it sets only colour or weight.
fn color_at(text: &str) -> Option<&str> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| c != ';' && !c.is_ascii_digit())?;
    let numbers: Vec<&str> = codes[..end].split(';').collect();
    // One of 256 colours.
    let is_indexed = matches!(numbers[..], ["38", "5", _]);
    let is_color = codes[end..].starts_with('m')
        && codes[..end].len() <= 16
        && (is_indexed || numbers.iter().all(|code| is_plain_code(code)));
    is_color.then(|| &text[..end + 3])
}

/// Returns whether a number of an escape sequence, whose default is 0, sets weight or one of the 16 colours.
fn is_plain_code(code: &str) -> bool {
    code.is_empty()
        || matches!(code.parse().unwrap_or(u32::MAX), 0..=4 | 22..=24 | 30..=37 | 39 | 90..=97)
}

/// Returns a number with its noun: `1 tag`, `500 tags`, `2 searches`.
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    format!("{n} {}", agreeing(n == N::from(1), noun))
}

/// Returns a percentage: `110 %` for 1.1, and not 110.00000000000001.
pub fn show_percent(share: f64) -> String {
    format!("{} %", (share * 1e5).round() / 1e3)
}

/// Returns a part of a number of things: `2 of 3 trials`, `1 of 1 trial`, `none of 3 trials`.
pub fn part_of(part: usize, of: usize, noun: &str) -> String {
    let part = if part == 0 {
        "none".to_owned()
    } else {
        part.to_string()
    };
    format!("{part} of {}", counted(of as u64, noun))
}

/// Returns the form of a verb that goes with a number of things: `one` with a single one, `many` with none or several.
pub fn verb_for<'t>(number: usize, one: &'t str, many: &'t str) -> &'t str {
    if number == 1 { one } else { many }
}

/// Returns the form of a noun in the singular or in the plural: `trial` or `trials`. Of several words, the last one changes.
pub fn agreeing(is_one: bool, noun: &str) -> Cow<'_, str> {
    let is_after_vowel = || {
        noun.chars()
            .rev()
            .nth(1)
            .is_some_and(|letter| "aeiou".contains(letter))
    };
    match noun {
        _ if is_one || noun.ends_with("series") => Cow::Borrowed(noun),
        _ if noun.ends_with("is") => Cow::Owned(format!("{}es", &noun[..noun.len() - 2])),
        _ if noun.ends_with('y') && !is_after_vowel() => {
            Cow::Owned(format!("{}ies", &noun[..noun.len() - 1]))
        }
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => {
            Cow::Owned(format!("{noun}es"))
        }
        _ => Cow::Owned(format!("{noun}s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets the window title, clears the screen, hides text, changes the text direction and rings the bell.
    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{1b}[2Jb\u{1b}[8mc\u{202e}d\r\u{9b}2Je";

    #[test]
    fn control_characters_are_found_by_their_octets() {
        for c in '\0'..='\u{ffff}' {
            let is_shown = is_control(c) && !is_kept_in_lines(c);
            for text in [
                format!("{c}"),
                format!("{}{c}", "–".repeat(85)),
                format!("{c}ab"),
                format!("ab{c}\u{a0}·x"),
            ] {
                assert_eq!(has_control(&text), is_shown, "{:x} in {text}", u32::from(c));
            }
        }
    }

    #[test]
    fn every_command_in_a_text_is_shown_and_not_obeyed() {
        let shown = "a\\u001b]0;x\\u0007\\u001b[2Jb\\u001b[8mc\\u202ed\\u000d\\u009b2Je";
        assert_eq!(visible(HOSTILE), shown);
        assert_eq!(visible_lines(HOSTILE), shown);
        assert_eq!(for_terminal(HOSTILE), shown);
        assert_eq!(visible("a\nb\tc"), "a\\u000ab\\u0009c");
        assert_eq!(visible_lines("a\nb\tc"), "a\nb\tc");
    }

    #[test]
    fn a_text_of_any_script_stays_as_it_is() {
        for text in [
            "Linux 6.18",
            "µs ≥ 27 k",
            "日本語",
            "می\u{200c}خواهم",
            "👩\u{200d}🔬",
        ] {
            assert!(
                matches!(visible(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
            assert!(matches!(for_terminal(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn colours_reach_the_terminal_and_nothing_that_looks_like_them() {
        let colored = "\u{1b}[1m\u{1b}[38;5;9merror\u{1b}[0m: \u{1b}[1;33mx\u{1b}[m\n";
        assert_eq!(for_terminal(colored), colored);
        for (hostile, shown) in [
            ("\u{1b}[8m", "\\u001b[8m"),
            ("\u{1b}[0;8m", "\\u001b[0;8m"),
            ("\u{1b}[31", "\\u001b[31"),
            ("\u{1b}[31H", "\\u001b[31H"),
            ("\u{1b}", "\\u001b"),
            ("\u{1b}\u{1b}[1m", "\\u001b\u{1b}[1m"),
            ("\u{1b}[48;5;0m", "\\u001b[48;5;0m"),
            (
                "\u{1b}[99999999999999999999m",
                "\\u001b[99999999999999999999m",
            ),
        ] {
            assert_eq!(for_terminal(hostile), shown, "{hostile:?}");
        }
    }

    #[test]
    fn a_line_of_json_stays_json_of_the_same_text() {
        // JSON does not escape DEL and the control characters above it.
        let json = "{\"text\":\"a\u{7f}\u{9b}\u{202e}\"}";
        assert_eq!(for_terminal(json), "{\"text\":\"a\\u007f\\u009b\\u202e\"}");
    }
}
