//! What stands before the text of a file of LaTeX that compiles by itself and may be `\input` into a paper.

use super::style::PaperStyle;
use super::text::escaped;
use std::fmt;

/// The commands before the text. `\@nodocument` is `\relax` once a document has begun: then this file is part of a paper.
pub(crate) struct Preamble {
    /// Options and name of the class of the file on its own.
    class: String,
    /// Commands for the packages that the file needs.
    packages: String,
    /// Commands behind the beginning of the file on its own.
    beginning: String,
    /// Commands before the end of the file on its own.
    ending: &'static str,
}

impl Preamble {
    /// Of a file with tables, under a heading.
    pub(crate) fn of_tables(style: PaperStyle, title: &str) -> Self {
        Self {
            class: format!("[{}]{{article}}", style.class_options()),
            packages: "\\usepackage{array,booktabs}".to_owned(),
            beginning: format!("\\section*{{\\raggedright {}}}", escaped(title)),
            ending: "",
        }
    }

    /// Of a file with a single picture, which becomes a page of its size.
    pub(crate) fn of_a_picture() -> Self {
        let packages = "\\usepackage{pgfplots}\\pgfplotsset{compat=1.16}".to_owned();
        Self { class: "{standalone}".to_owned(), packages, beginning: String::new(), ending: "" }
    }

    /// The same with this package and a list of references.
    pub(crate) fn with_references(self, package: &str, ending: &'static str) -> Self {
        Self { packages: format!("{}\\usepackage{{{package}}}", self.packages), ending, ..self }
    }
}

impl fmt::Display for Preamble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, packages, beginning, ending } = self;
        // In a paper a line that ends with a brace would be a space.
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
             % A character that the fonts of pdfLaTeX lack; XeLaTeX and LuaLaTeX print it where their font has it.\n\
             \\providecommand\\sixbenchchar{{}}%\n\
             \\ifdefined\\Umathcode\\protected\\def\\sixbenchchar#1{{\\char\"#1\\relax}}%\n\
             \\else\\protected\\def\\sixbenchchar#1{{{{\\scriptsize U+#1}}}}\\fi\n\
             \\sixbenchbegin\n"
        )
    }
}

/// Text in a comment.
pub(crate) fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
