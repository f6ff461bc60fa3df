//! Errors about the authority that a DNS64 server queries.

use std::net::SocketAddr;

/// The reason why an authority does not serve, here or on another machine; `machine` is the name ssh knows it by.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum ServerError {
    /// The recipe is not an authority's.
    #[error(
        "{recipe} is not an authority, its technology is {technology}: name a recipe of technology dns-authority"
    )]
    OtherTechnology {
        recipe: String,
        technology: &'static str,
    },
    /// The machine does not run Linux.
    #[error("{machine} runs {runs}, but the authority needs Linux")]
    NotLinux { machine: String, runs: String },
    /// The machine is also the tester's or a device's.
    #[error(
        "{machine} is the same machine as {other}: its queries would cross no cable; name another in [testbed.authority], or leave \
         that table out, and the tester is the authority itself"
    )]
    SameMachine { machine: String, other: String },
    /// The program there does not run.
    #[error("cannot run {program} on {machine}: {cause}; {cure}")]
    NotStarted {
        program: String,
        machine: String,
        cause: String,
        cure: String,
    },
    /// The program there is another one than this: `theirs` says which.
    #[error("{program} on {machine} is {theirs}, but this is sixbench {version}: {cure}")]
    OtherVersion {
        program: String,
        machine: String,
        theirs: String,
        version: String,
        // Boxed, so that the error stays small.
        cure: Box<str>,
    },
    /// This program cannot be copied there.
    #[error(
        "{machine} has a processor of the architecture {theirs}, for which this program ({}) cannot be copied there: install sixbench there, and \
         name it as `program` in [testbed.authority]",
        std::env::consts::ARCH
    )]
    OtherArchitecture { machine: String, theirs: String },
    /// Another server listens where the authority is to answer; `who` is what can be seen of it.
    #[error(
        "port {} of {machine} is taken: {who} listens at {local}, where the authority is to answer; end it there, or have it listen at \
         other addresses only",
        address.port()
    )]
    PortTaken {
        address: SocketAddr,
        machine: String,
        who: String,
        local: String,
    },
    /// The server does not come up in time.
    #[error("the authority on {machine} does not listen after {seconds} s")]
    NotListening { machine: String, seconds: u64 },
    /// The server has ended; `last` are the last lines it wrote.
    #[error("the authority on {machine} has ended: {last}")]
    Ended { machine: String, last: String },
}
