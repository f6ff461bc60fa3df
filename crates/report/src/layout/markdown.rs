//! Tables and text in Markdown.

use crate::layout::table::{ColumnHead, Table};

pub(crate) fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = line(
        table
            .columns
            .iter()
            .map(|c| escaped(&c.full_name()))
            .collect(),
    );
    let rule = line(
        table
            .columns
            .iter()
            .map(|c: &ColumnHead| if c.number { "--:" } else { ":--" }.to_owned())
            .collect(),
    );
    let rows: String = table
        .rows
        .iter()
        .map(|r| line(r.iter().map(|c| escaped(c)).collect()))
        .collect();
    let notes: String = table
        .notes
        .iter()
        .map(|n| format!("\n{}\n", escaped(n)))
        .collect();
    format!("{head}{rule}{rows}{notes}")
}

/// A zero-width space, as a character reference. GitHub finds mentions in the rendered text, where it separates the sign from the name.
const BREAK: &str = "&#8203;";

/// Returns text that Markdown shows literally, and in which GitHub and GitLab find no mention: a report in a comment must not notify the people (`@name`)
/// or link the issues (`#1`) that a title happens to name.
///
/// These are escaped: `|`, which separates cells; `*`, `_` and `~`, which emphasise and strike out; `` ` `` and `$`, which set code and mathematics; `[` of a
/// link, `<` of HTML and the escape itself; and an `&` that begins a character reference. `]`, `(` and `>` mean nothing without them.
pub(crate) fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = characters.next() {
        let following = characters.peek().copied().unwrap_or(' ');
        match c {
            '|' | '*' | '_' | '~' | '`' | '$' | '[' | '<' | '\\' => plain.extend(['\\', c]),
            '&' if following == '#' || following.is_alphanumeric() => plain.push_str("\\&"),
            '@' if following.is_alphanumeric() && !before.is_alphanumeric() => {
                plain.extend(["@", BREAK]);
            }
            '#' | '!' if following.is_ascii_digit() => {
                plain.extend([c.to_string().as_str(), BREAK]);
            }
            '\n' | '\r' => plain.push(' '),
            _ => plain.push(c),
        }
        before = c;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_mentions_nobody_and_links_no_issue() {
        assert_eq!(
            escaped("@torvalds, (@org/team) #1 a/b#2 !3"),
            "@&#8203;torvalds, (@&#8203;org/team) #&#8203;1 a/b#&#8203;2 !&#8203;3"
        );
        assert_eq!(
            escaped("&#64;torvalds &commat;torvalds"),
            "\\&#&#8203;64;torvalds \\&commat;torvalds"
        );
        assert_eq!(escaped("~~1~~ $2$"), "\\~\\~1\\~\\~ \\$2\\$");
        assert_eq!(
            escaped("_@torvalds `@torvalds`"),
            "\\_@&#8203;torvalds \\`@&#8203;torvalds\\`"
        );
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "jool-nat64@netns",
            "a@example.org",
            "5 & 6 %",
            "C# # @ !",
            "2 k frames/s",
        ] {
            assert_eq!(escaped(text), text);
        }
    }
}
