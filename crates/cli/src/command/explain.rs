//! `sixbench explain`: definition, clause, how it is measured here, unit.

mod technologies;
pub(crate) mod terms;

use crate::config::nearest;
use crate::exit::{Exit, Failed};
use crate::output;
use technologies::TECHNOLOGIES;
use terms::{MEASURES, TERMS};

/// Explains a term, or lists all.
pub(crate) fn explain(term: Option<&str>) -> Result<Exit, Failed> {
    let Some(wanted) = term else {
        let terms: String = all().map(|term| format!("{:<28} {}\n", term.name, term.definition)).collect();
        output::print(terms)?;
        return Ok(Exit::Done);
    };
    let Some(term) = all().find(|term| term.name == wanted) else {
        let names: Vec<&str> = all().map(|term| term.name).collect();
        let hint = nearest(wanted, &names).map_or_else(|| names.join(", "), |near| format!("did you mean {near}?"));
        return Err(Failed::usage(format!("no explanation of `{wanted}`; {hint}")));
    };
    let terms::Term { name, definition, clause, here, unit } = term;
    output::print(format_args!("{name}\n\n{definition}\n\nclause  {clause}\nhere    {here}\nunit    {unit}\n"))?;
    Ok(Exit::Done)
}

fn all() -> impl Iterator<Item = &'static terms::Term> {
    MEASURES.iter().chain(&TECHNOLOGIES).chain(&TERMS)
}
