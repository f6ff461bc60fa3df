//! The load beside vectors of requirements (`under-load`): which devices and links can have it. A plan that asks for it elsewhere is refused at its line.

use crate::reader::diagnostic::Diagnostic;
use crate::reader::tests_of;
use crate::reader::words::backend_word;
use sixbench_io::{Backend, PortSpec};
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{Library, Recipe};
use toml::de::DeTable;

/// The reason why a device cannot be asked under load.
#[derive(Debug, thiserror::Error)]
pub enum VectorLoadRefusal {
    /// The device has state.
    #[error(
        "{0} keeps connections, and the frames of the load belong to none: only stateless devices are asked under load"
    )]
    Stateful(String),
    /// The device is a server.
    #[error(
        "{0} is a DNS server, which forwards no frames: only devices that do are asked under load"
    )]
    Server(String),
    /// The device's links are in shared memory.
    #[error(
        "{0} has links in shared memory, whose ends are opened only once, but vectors and load have a port each: only devices with kernel \
         interfaces are asked under load"
    )]
    SharedMemory(String),
    /// The backend opens an interface only once.
    #[error(
        "vectors and load have a port each on the same interfaces, and the backend `{}` allows only one: `{}` allows several",
        backend_word(*.0),
        backend_word(Backend::shared())
    )]
    Backend(Backend),
    /// The ports are no kernel interfaces.
    #[error(
        "vectors and load have a port each on the same interfaces: name kernel interfaces, since others are opened only once"
    )]
    Ports,
}

/// Refuses a load beside which this device cannot be asked, or not over links with this backend, nor at these ports, if it is cabled to some.
///
/// # Errors
/// The reason.
pub fn check_vector_load(
    recipe: &Recipe,
    io: Backend,
    ports: Option<&[PortSpec; 2]>,
) -> Result<(), VectorLoadRefusal> {
    let name = recipe.name.clone();
    if recipe.technology.is_dns() {
        return Err(VectorLoadRefusal::Server(name));
    }
    if recipe.state.is_some() {
        return Err(VectorLoadRefusal::Stateful(name));
    }
    if recipe.host == DeviceHost::Memif {
        return Err(VectorLoadRefusal::SharedMemory(name));
    }
    if ![Backend::Auto, Backend::shared()].contains(&io) {
        return Err(VectorLoadRefusal::Backend(io));
    }
    let mut named = ports.into_iter().flatten();
    if named.all(|port| port.interface().is_some()) {
        Ok(())
    } else {
        Err(VectorLoadRefusal::Ports)
    }
}

/// Returns the mistake of each test of a plan file whose device cannot have the load that it asks for, over links with this backend. Reports only this
/// mistake; the plan reader reports all others. Ports are not checked here, because a plan that names ports is refused for vectors anyway.
pub(crate) fn unfit_loads(source: &str, library: &Library, io: Backend) -> Vec<Diagnostic> {
    let (table, _) = DeTable::parse_recoverable(source);
    tests_of(table.get_ref())
        .filter_map(|test| unfit_load(test, library, io))
        .collect()
}

/// Returns the mistake of one test. The measure need not be checked: for any other measure the reader reports `under-load` as an unknown key.
fn unfit_load(test: &DeTable<'_>, library: &Library, io: Backend) -> Option<Diagnostic> {
    let (load, dut) = (test.get("under-load")?, test.get("dut")?);
    let recipe = library.get(dut.get_ref().as_str()?)?;
    let refusal = check_vector_load(recipe, io, None).err()?;
    let without = "leave `under-load` out: the vectors are then sent quietly alone";
    let help = match refusal {
        VectorLoadRefusal::Backend(_) => format!(
            "set `io = \"{}\"` in [testbed], or {without}",
            backend_word(Backend::shared())
        ),
        _ => without.to_owned(),
    };
    Some(Diagnostic::new(load.span(), refusal.to_string()).help(help))
}

#[cfg(test)]
mod tests {
    use crate::{load, render};
    use sixbench_testbed::Library;
    use std::path::Path;

    /// Returns the mistakes in a plan with a test of the requirements of each device, under load.
    fn mistakes(testbed: &str, duts: &[&str]) -> String {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let test = |dut: &&str| {
            format!(
                "[[test]]\nname = \"{dut}\"\ndut = \"{dut}\"\nmeasure = \"conformance\"\nunder-load = \"20k\"\n"
            )
        };
        let tests: String = duts.iter().map(test).collect();
        let source = format!("name = \"p\"\n{testbed}{tests}");
        load(&source, &library).map_or_else(
            |mistakes| render("plan.toml", &source, &mistakes, false),
            |_| String::new(),
        )
    }

    #[test]
    fn a_device_that_can_have_a_load_is_asked_under_it() {
        assert_eq!(mistakes("", &["tayga-siit", "jool-siit"]), "");
        let shared = "[testbed]\nio = \"packet\"\n";
        assert_eq!(mistakes(shared, &["tayga-siit"]), "");
    }

    #[test]
    fn a_device_that_cannot_have_a_load_is_told_at_the_line_that_asks_for_it() {
        insta::assert_snapshot!(mistakes(
            "",
            &["nft-nat44", "bind9-dns64", "tayga-siit", "vpp-map-t"]
        ));
        insta::assert_snapshot!(mistakes("[testbed]\nio = \"xdp\"\n", &["tayga-siit"]), @r#"
        error: vectors and load have a port each on the same interfaces, and the backend `xdp` allows only one: `packet` allows several
         --> plan.toml:8:14
          |
        8 | under-load = "20k"
          |              ^^^^^
          |
          = help: set `io = "packet"` in [testbed], or leave `under-load` out: the vectors are then sent quietly alone
        "#);
    }
}
