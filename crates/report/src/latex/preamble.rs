//! What stands before the text of a file of LaTeX that compiles by itself and may be `\input` into a paper.

use super::style::PaperStyle;
use super::text::escaped;

/// The commands before the tables. `\@nodocument` is `\relax` once a document has begun: then this file is part of a paper.
pub(crate) fn preamble(style: PaperStyle, title: &str) -> String {
    format!(
        "\\makeatletter\n\
         \\ifx\\@nodocument\\relax\n\
         \\def\\sixbenchbegin{{}}\\def\\sixbenchend{{}}\n\
         \\else\n\
         \\documentclass[{}]{{article}}\n\
         \\usepackage{{array,booktabs}}\n\
         \\def\\sixbenchbegin{{\\begin{{document}}\\section*{{\\raggedright {}}}}}\n\
         \\def\\sixbenchend{{\\end{{document}}}}\n\
         \\fi\n\
         \\makeatother\n\
         % A character that the fonts of pdfLaTeX lack; XeLaTeX and LuaLaTeX print it where their font has it.\n\
         \\providecommand\\sixbenchchar{{}}\n\
         \\ifdefined\\Umathcode\\protected\\def\\sixbenchchar#1{{\\char\"#1\\relax}}\n\
         \\else\\protected\\def\\sixbenchchar#1{{{{\\scriptsize U+#1}}}}\\fi\n\
         \\sixbenchbegin\n",
        style.class_options(),
        escaped(title)
    )
}
