//! The preamble of a LaTeX file that compiles alone, and can be `\input` into a paper.

use super::style::PaperStyle;
use crate::layout::latex::escaped;
use std::fmt;

/// The command for a character that the fonts of pdfLaTeX lack.
pub(crate) const CHARACTERS: &str = "\
    % A character that the fonts of pdfLaTeX lack; XeLaTeX and LuaLaTeX print it where their font has it.\n\
    \\providecommand\\sixbenchchar{}%\n\
    \\ifdefined\\Umathcode\\protected\\def\\sixbenchchar#1{\\char\"#1\\relax}%\n\
    \\else\\protected\\def\\sixbenchchar#1{{\\scriptsize U+#1}}\\fi\n";

/// The commands before the text. `\@nodocument` is `\relax` once a document has begun, in which case this file is part of a paper.
pub(crate) struct Preamble {
    /// The class of the stand-alone file, with its options.
    class: String,
    /// Commands for the packages that the file needs.
    packages: String,
    /// Commands at the beginning of the stand-alone file.
    beginning: String,
    /// Commands at the end of the stand-alone file.
    ending: &'static str,
}

impl Preamble {
    /// Returns the preamble of a file with tables under a heading.
    pub(crate) fn of_tables(style: PaperStyle, title: &str) -> Self {
        Self {
            class: format!("[{}]{{article}}", style.class_options()),
            packages: "\\usepackage{array,booktabs}".to_owned(),
            beginning: format!("\\section*{{\\raggedright {}}}", escaped(title)),
            ending: "",
        }
    }

    /// Returns the preamble of a file with a single picture, which becomes a page of the picture's size.
    pub(crate) fn of_a_picture() -> Self {
        let packages = "\\usepackage{pgfplots}\\pgfplotsset{compat=1.16}".to_owned();
        Self {
            class: "{standalone}".to_owned(),
            packages,
            beginning: String::new(),
            ending: "",
        }
    }

    /// Adds this package and a list of references.
    pub(crate) fn with_references(self, package: &str, ending: &'static str) -> Self {
        Self {
            packages: format!("{}\\usepackage{{{package}}}", self.packages),
            ending,
            ..self
        }
    }
}

impl fmt::Display for Preamble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            class,
            packages,
            beginning,
            ending,
        } = self;
        // In a paper, the end of a line after a brace would add a space.
        write!(
            f,
            "\\makeatletter\n\
             \\ifx\\@nodocument\\relax\n\
             \\def\\sixbenchbegin{{}}\\def\\sixbenchend{{}}\n\
             \\else\n\
             \\documentclass{class}\n\
             {packages}\n\
             \\def\\sixbenchbegin{{\\begin{{document}}{beginning}}}\n\
             \\def\\sixbenchend{{{ending}\\end{{document}}}}\n\
             \\fi\n\
             \\makeatother\n\
             {CHARACTERS}\
             \\sixbenchbegin\n"
        )
    }
}

/// Returns text for a comment.
pub(crate) fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
