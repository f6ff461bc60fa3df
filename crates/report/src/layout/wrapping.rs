//! Line wrapping for terminals.

/// Returns text in terminated lines of at most `width` characters, all as far indented as the text; a longer word is not broken. No-break spaces, which
/// the texts of reports have before units, count as any others.
pub fn wrapped(text: &str, width: usize) -> String {
    let indent = text.len() - text.trim_start().len();
    let mut lines = vec![" ".repeat(indent)];
    for word in unbroken(text) {
        let line = lines.last().map_or(0, |l| l.chars().count());
        let empty = lines.last().is_none_or(|l| l.trim().is_empty());
        if !empty && line + 1 + word.chars().count() > width {
            lines.push(" ".repeat(indent));
        }
        if let Some(line) = lines.last_mut() {
            let gap = if line.trim().is_empty() { "" } else { " " };
            line.push_str(gap);
            line.push_str(&word);
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the words of a text between which a line may end. A per cent sign belongs to the number before it.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(number) if word.starts_with('%') => *number += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    words
}
