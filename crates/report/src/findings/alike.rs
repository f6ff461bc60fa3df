//! Sentences of one kind, which differ only in a device's name or a number: printed once, with what differs.

use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use sixbench_method::lists::each_once;

/// Sentences of one kind: the words of the first, and those of each of the others.
struct SentenceKind<'s> {
    first: Vec<&'s str>,
    others: Vec<Vec<&'s str>>,
}

/// Returns a table with a row for each kind that has several sentences, and the sentences that are the only ones of their kind.
pub(crate) fn told_once(title: &str, sentences: &[String]) -> (Table, Vec<String>) {
    let kinds = kinds(sentences);
    let (alone, repeated): (Vec<SentenceKind>, Vec<SentenceKind>) = kinds.into_iter().partition(|kind| kind.others.is_empty());
    let table = Table::of(title, columns(), repeated.iter());
    (table, alone.iter().map(|kind| kind.first.join(" ")).collect())
}

/// Returns a sentence for each kind. If only one word differs, its variants are listed; otherwise the first sentence represents the kind, with the
/// number of the others.
pub(crate) fn in_brief(sentences: &[String]) -> Vec<String> {
    kinds(sentences).iter().map(SentenceKind::in_brief).collect()
}

/// Returns the sentences grouped by kind, in the order of the first sentence of each kind.
fn kinds(sentences: &[String]) -> Vec<SentenceKind<'_>> {
    let mut kinds: Vec<SentenceKind> = Vec::new();
    for sentence in sentences {
        let words: Vec<&str> = sentence.split(' ').collect();
        match kinds.iter_mut().find(|kind| is_alike(&kind.first, &words)) {
            Some(kind) => kind.others.push(words),
            None => kinds.push(SentenceKind { first: words, others: Vec::new() }),
        }
    }
    kinds
}

impl SentenceKind<'_> {
    /// Returns the words that all sentences share, with an ellipsis for the others.
    fn common(&self) -> String {
        let mut common: Vec<&str> =
            (0..self.first.len()).map(|i| if self.is_common(i) { self.first[i] } else { "…" }).collect();
        common.dedup_by(|a, b| a == b && *a == "…");
        common.join(" ")
    }

    /// Returns the words in which the sentences differ, each variant once.
    fn each_differing(&self) -> String {
        let all = std::iter::once(&self.first).chain(&self.others);
        each_once(all.map(|words| self.differing(words))).join(", ")
    }

    fn differing(&self, words: &[&str]) -> String {
        let differing = (0..words.len()).filter(|&i| !self.is_common(i)).map(|i| words[i]);
        differing.collect::<Vec<_>>().join(" ")
    }

    /// Returns whether all sentences have the same word at this position.
    fn is_common(&self, place: usize) -> bool {
        self.others.iter().all(|other| other[place] == self.first[place])
    }

    fn in_brief(&self) -> String {
        let differing: Vec<usize> = (0..self.first.len()).filter(|place| !self.is_common(*place)).collect();
        match (&differing[..], self.others.len()) {
            (_, 0) => self.first.join(" "),
            ([place], _) => {
                let mut words = self.first.clone();
                let mut each: Vec<&str> = std::iter::once(&self.first).chain(&self.others).map(|other| other[*place]).collect();
                each.dedup();
                let listed = each.join(", ");
                words[*place] = &listed;
                words.join(" ")
            }
            (_, n) => format!("{} (and {n} more of this kind)", self.first.join(" ")),
        }
    }
}

/// Returns whether most words are the same at the same positions.
fn is_alike(a: &[&str], b: &[&str]) -> bool {
    let same = a.iter().zip(b).filter(|(a, b)| a == b).count();
    a.len() == b.len() && same >= 4 && 5 * same >= 3 * a.len()
}

fn columns<'k>() -> [Column<'k, &'k SentenceKind<'k>>; 3] {
    [
        Column::text("Warning", |kind: &&SentenceKind| kind.common()),
        Column::text("Devices (…)", |kind: &&SentenceKind| kind.each_differing()),
        Column::number("Count", |kind: &&SentenceKind| Cell::Number(kind.others.len() as u64 + 1)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_a_name_are_a_row_and_others_stay() {
        let of = |dut: &str| format!("other work used the processors of {dut} during trials");
        let sentences = [of("tayga"), "the machine is virtual".to_owned(), of("jool"), of("tayga")];
        let (table, alone) = told_once("", &sentences);
        assert_eq!(table.rows, [["other work used the processors of … during trials", "tayga, jool", "3"]]);
        assert_eq!(alone, ["the machine is virtual"]);
    }

    #[test]
    fn in_brief_a_kind_is_one_sentence() {
        let of = |dut: &str| format!("other work used the processors of {dut} during trials");
        let busy = |dut: &str, core: u32| format!("before {dut} was set up: core {core} is busy with other work");
        let told = in_brief(&[of("tayga"), busy("tayga", 1), of("jool"), of("jool"), busy("jool", 2)]);
        assert_eq!(
            told,
            [of("tayga, jool"), "before tayga was set up: core 1 is busy with other work (and 1 more of this kind)".to_owned()]
        );
    }

    #[test]
    fn short_sentences_are_not_taken_for_each_other() {
        let (table, alone) = told_once("", &["no lab here".to_owned(), "no lab there".to_owned()]);
        assert!(table.rows.is_empty() && alone.len() == 2);
    }
}
