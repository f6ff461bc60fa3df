//! Turns references to clauses of RFCs in a text into links.

use crate::plot::sheet::escaped;

/// Returns the text as HTML, with each `RFC 8219 section 7.1` in it as a link.
pub(crate) fn linked(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some((before, clause)) = rest.find("RFC ").map(|at| rest.split_at(at)) {
        let (number, section) = parts(clause);
        let length = if section.is_empty() {
            4 + number.len()
        } else {
            4 + number.len() + SECTION.len() + section.len()
        };
        html += &escaped(before);
        html += &if number.is_empty() {
            clause[..4].to_owned()
        } else {
            anchor(&clause[..length], number, section)
        };
        rest = &clause[length..];
    }
    html + &escaped(rest)
}

const SECTION: &str = " section ";

/// Returns the number of an RFC and of its section, `8219` and `7.1`; empty if there is none.
fn parts(clause: &str) -> (&str, &str) {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let rest = &clause[4..];
    let (number, rest) = rest.split_at(digits(rest));
    let section = rest
        .strip_prefix(SECTION)
        .filter(|_| !number.is_empty())
        .unwrap_or("");
    let end = section
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(section.len());
    (number, section[..end].trim_end_matches('.'))
}

fn anchor(text: &str, number: &str, section: &str) -> String {
    let fragment = if section.is_empty() {
        String::new()
    } else {
        format!("#section-{section}")
    };
    format!(
        "<a href=\"https://www.rfc-editor.org/rfc/rfc{number}{fragment}\">{}</a>",
        escaped(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_clause_is_a_link_to_its_section() {
        let link = |number, text| {
            format!("<a href=\"https://www.rfc-editor.org/rfc/rfc{number}\">{text}</a>")
        };
        let section = link("8219#section-9.2.1", "RFC 8219 section 9.2.1");
        assert_eq!(linked("RFC 8219 section 9.2.1"), section);
        assert_eq!(
            linked("<see RFC 2544.>"),
            format!("&lt;see {}.&gt;", link("2544", "RFC 2544"))
        );
        assert_eq!(
            linked("RFC 8219 section 9.2.1, RFC 9004"),
            format!("{section}, {}", link("9004", "RFC 9004"))
        );
        assert_eq!(
            linked("RFC 6815 section 3."),
            format!("{}.", link("6815#section-3", "RFC 6815 section 3"))
        );
        assert_eq!(linked("no RFC at all; RFC"), "no RFC at all; RFC");
    }
}
