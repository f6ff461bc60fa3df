//! `sixbench explain`: definition, clause, how it is measured here, unit.

mod technologies;
pub(crate) mod terms;

use crate::config::nearest;
use crate::exit::{Exit, Failed};
use technologies::TECHNOLOGIES;
use terms::{MEASURES, TERMS};

/// Explains a term, or lists all.
pub(crate) fn explain(term: Option<&str>) -> Result<Exit, Failed> {
    let Some(wanted) = term else {
        all().for_each(|term| println!("{:<28} {}", term.name, term.definition));
        return Ok(Exit::Done);
    };
    let Some(term) = all().find(|term| term.name == wanted) else {
        let names: Vec<&str> = all().map(|term| term.name).collect();
        let hint = nearest(wanted, &names).map_or_else(|| names.join(", "), |near| format!("did you mean {near}?"));
        return Err(Failed::usage(format!("no explanation of `{wanted}`; {hint}")));
    };
    println!("{}\n\n{}\n", term.name, term.definition);
    println!("clause  {}\nhere    {}\nunit    {}", term.clause, term.here, term.unit);
    Ok(Exit::Done)
}

fn all() -> impl Iterator<Item = &'static terms::Term> {
    MEASURES.iter().chain(&TECHNOLOGIES).chain(&TERMS)
}
