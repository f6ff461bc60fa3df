//! Rows in aligned columns, the last of which holds sentences.

use super::wrapped;

/// The spaces between two columns.
const GAP: usize = 2;
/// The least room for the last column beside the others, characters. With less, it goes below them.
const LEAST_ROOM: usize = 24;

/// Returns rows as columns that begin at `indent`. The last cell of a row breaks between words at `width` and goes on below its beginning, or, where the
/// other columns leave too little room for it, on lines of its own.
pub fn aligned(rows: &[Vec<String>], indent: usize, width: usize) -> String {
    let columns = rows
        .iter()
        .map(Vec::len)
        .max()
        .unwrap_or(0)
        .saturating_sub(1);
    let widths: Vec<usize> = (0..columns)
        .map(|column| width_of_column(rows, column))
        .collect();
    let start = indent + widths.iter().map(|width| width + GAP).sum::<usize>();
    let is_beside = width >= start + LEAST_ROOM;
    rows.iter()
        .map(|row| {
            if is_beside {
                beside(row, &widths, indent, width)
            } else {
                below(row, indent, width)
            }
        })
        .collect()
}

fn width_of_column(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter()
        .filter_map(|row| row.get(column))
        .map(|cell| cell.chars().count())
        .max()
        .unwrap_or(0)
}

/// Returns a row whose last cell stands beside the others.
fn beside(row: &[String], widths: &[usize], indent: usize, width: usize) -> String {
    let Some((last, others)) = row.split_last() else {
        return String::new();
    };
    let cells: String = others
        .iter()
        .zip(widths)
        .map(|(cell, width)| format!("{cell:<0$}", width + GAP))
        .collect();
    let start = indent + cells.chars().count();
    let first = format!("{:indent$}{cells}", "");
    let lines = wrapped(last, width - start);
    let next = format!("\n{:start$}", "");
    (first + &lines.trim_end().replace('\n', &next))
        .trim_end()
        .to_owned()
        + "\n"
}

/// Returns a row whose last cell stands below the others.
fn below(row: &[String], indent: usize, width: usize) -> String {
    let Some((last, others)) = row.split_last() else {
        return String::new();
    };
    let head = wrapped(&format!("{:indent$}{}", "", others.join("  ")), width);
    let text = wrapped(&format!("{:1$}{last}", "", indent + GAP), width);
    if last.is_empty() { head } else { head + &text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: usize) -> String {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let long = "a stateless translator between IPv6 and IPv4 in the space of the user";
        aligned(
            &[
                row(["tayga-siit", "SIIT", long]),
                row(["jool", "stateful NAT64", ""]),
            ],
            2,
            width,
        )
    }

    #[test]
    fn the_last_column_goes_on_below_its_beginning() {
        insta::assert_snapshot!(shown(66), @r"
          tayga-siit  SIIT            a stateless translator between IPv6
                                      and IPv4 in the space of the user
          jool        stateful NAT64
        ");
    }

    #[test]
    fn on_a_narrow_terminal_the_last_column_goes_below_the_others() {
        insta::assert_snapshot!(shown(40), @r"
          tayga-siit SIIT
            a stateless translator between IPv6
            and IPv4 in the space of the user
          jool stateful NAT64
        ");
    }

    #[test]
    fn without_a_terminal_each_row_is_one_line() {
        assert_eq!(shown(usize::MAX).lines().count(), 2);
    }
}
