//! Line wrapping for terminals.

/// Returns text in terminated lines of at most `width` characters, all as far indented as the text; a longer word is not broken. No-break spaces, which
/// the texts of reports have before units, count as any others.
pub fn wrapped(text: &str, width: usize) -> String {
    let indent = text.len() - text.trim_start().len();
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |l| l.chars().count());
        let empty = lines.last().is_none_or(|l| l.trim().is_empty());
        if !empty && line + 1 + word.chars().count() > width {
            lines.push(" ".repeat(indent));
        }
        if let Some(line) = lines.last_mut() {
            let gap = if line.trim().is_empty() { "" } else { " " };
            line.push_str(gap);
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}
