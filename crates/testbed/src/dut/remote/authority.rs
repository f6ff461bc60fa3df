//! The tester's authority on a machine of its own: its interfaces with their addresses, the program, and the server processes. Everything is undone
//! when this is dropped, and also when this process is killed or the connection breaks.

use super::authority_machine::AuthorityMachine;
use super::{links, sysctls};
use crate::dut::running::{Directory, ExecContext};
use crate::exec::{Daemon, ServerError, Shell, TestbedError, Undo};
use crate::facts::Machine;
use crate::net::{LOOP_ENDS, LOOP_PREFIX, namespace};
use crate::recipe::{Recipe, System};
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The timeout for a server to start listening.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The port of the server that the self-test queries.
const LOOPED_PORT: u16 = 5300;

/// The words with which a server reports that it listens.
const LISTENS: &str = "listening on ";

/// The zone that the authority serves, and its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedZone {
    /// The domain that contains all names.
    pub domain: String,
    /// The percentage of names that have their own AAAA record.
    pub with_aaaa: u8,
    /// The time to live of all records, seconds.
    pub ttl_s: u32,
    /// The address at which the device queries the authority.
    pub listen: SocketAddr,
    /// True if the user has declared that test traffic cannot leave the environment.
    pub is_isolated: bool,
}

/// A running authority. Fields are dropped in the order of declaration.
#[derive(Debug)]
pub struct RemoteAuthority {
    servers: Vec<(Daemon, PathBuf)>,
    served: Option<ServedZone>,
    machine: AuthorityMachine,
    program: PathBuf,
    version: String,
    directory: Directory,
    context: ExecContext,
}

impl RemoteAuthority {
    /// The address at which the tester's client queries it in the self-test.
    pub const LOOPED: SocketAddr = SocketAddr::new(IpAddr::V6(LOOP_ENDS[1]), LOOPED_PORT);

    /// Sets up the machine behind the device of `recipe`: brings up its interfaces with their addresses and installs the program in this `version`.
    /// Nothing is served yet. `run` distinguishes several testbeds of one process.
    ///
    /// # Errors
    /// A command fails, the connection is lost, or the program does not run there. Everything done until then is undone.
    pub fn bring_up(
        machine: &AuthorityMachine,
        recipe: &Recipe,
        run: &str,
        version: &str,
        shell: &Shell,
    ) -> Result<Self, TestbedError> {
        let own = machine.shell(shell);
        own.transcript()
            .comment(&format!("the authority, on the machine {}", machine.name()));
        let undo = Undo::open(machine.remote(), shell)?;
        set_up_links(machine, recipe, &own, &undo)?;
        let context = ExecContext {
            shell: own,
            name: namespace::name(run, "authority"),
            cores: vec![],
            undo: Some(undo),
        };
        let directory = Directory::make(&context)?;
        let program = match machine.program() {
            Some(program) => program.to_owned(),
            None => copy_program(machine, &directory, version, &context.shell)?,
        };
        let version = version.to_owned();
        Ok(Self {
            servers: Vec::new(),
            served: None,
            machine: machine.clone(),
            program,
            version,
            directory,
            context,
        })
    }

    /// Serves a zone, and for the self-test another one in which every name has an AAAA record. Returns once both answer. The previous zone is no
    /// longer served, unless it is the same.
    ///
    /// # Errors
    /// A server does not listen, with its last lines.
    pub fn serve(&mut self, zone: &ServedZone) -> Result<(), TestbedError> {
        if self.served.as_ref() == Some(zone) {
            return Ok(());
        }
        (self.served, self.servers) = (None, Vec::new());
        let looped = ServedZone {
            with_aaaa: 100,
            listen: Self::LOOPED,
            ..zone.clone()
        };
        for (zone, log) in [(zone, "authority.log"), (&looped, "self-test.log")] {
            self.start(zone, self.directory.path().join(log))?;
        }
        self.context.undo.iter().for_each(Undo::settle);
        self.served = Some(zone.clone());
        Ok(())
    }

    fn start(&mut self, zone: &ServedZone, log: PathBuf) -> Result<(), TestbedError> {
        let words = self.command(zone);
        let Some(server) = self.context.start(&words, &log)? else {
            return Ok(());
        };
        self.servers.push((server, log.clone()));
        let shell = self.context.shell.clone();
        let mut wait = shell.wait(TIMEOUT, Duration::from_millis(20));
        while !shell
            .last_lines(&log, 5)
            .iter()
            .any(|line| line.contains(LISTENS))
        {
            self.check_alive()?;
            if wait.is_over() {
                return Err(ServerError::NotListening {
                    machine: self.machine.name().to_owned(),
                    seconds: TIMEOUT.as_secs(),
                }
                .into());
            }
            wait.rest(|| format!("the authority on {}", self.machine.name()))?;
        }
        Ok(())
    }

    fn command(&self, zone: &ServedZone) -> Vec<String> {
        let ServedZone {
            domain,
            with_aaaa,
            ttl_s,
            listen,
            is_isolated,
        } = zone;
        let program = self.program.display();
        let line = format!(
            "{program} authority --listen {listen} --domain {domain} --with-aaaa {with_aaaa}% --ttl {ttl_s}s"
        );
        let threads = self
            .machine
            .threads()
            .map(|threads| format!("--threads {threads}"));
        let force = is_isolated.then(|| "--force".to_owned());
        let options = threads
            .into_iter()
            .chain(force)
            .flat_map(|option| option.split(' ').map(str::to_owned).collect::<Vec<_>>());
        line.split(' ').map(str::to_owned).chain(options).collect()
    }

    /// Returns an error if the connection is lost or hangs, or a server has ended, with the last lines it wrote.
    ///
    /// # Errors
    /// If that is so.
    pub fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.context.undo.as_ref().map_or(Ok(()), Undo::check)?;
        self.context.shell.check_answers()?;
        let ended = self
            .servers
            .iter_mut()
            .find_map(|(server, log)| Some((server.ended()?, log.clone())));
        let Some((_, log)) = ended else { return Ok(()) };
        Err(ServerError::Ended {
            machine: self.machine.name().to_owned(),
            last: self.context.shell.last_lines(&log, 5).join("; "),
        }
        .into())
    }

    /// Returns a sentence about where the authority is and how it is reached.
    pub fn layout(&self) -> String {
        let [behind, direct] = self.machine.interfaces();
        format!(
            "the authority behind the DUT is sixbench {} on the machine {}, started over ssh; its interface {behind} is cabled to the DUT, and \
             {direct} to the tester, for the self-test",
            self.version,
            self.machine.name()
        )
    }

    /// Returns the name of its machine.
    pub fn name(&self) -> &str {
        self.machine.name()
    }

    /// Returns the facts about its machine by name.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let links = self.machine.interfaces().each_ref().map(String::as_str);
        let own = [("machine", self.machine.name()), ("version", &self.version)];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        own.into_iter()
            .chain(Machine::read(&self.context.shell, &links).facts(&[], &links))
            .collect()
    }
}

/// Copies the running program to the machine and checks that it runs there.
fn copy_program(
    machine: &AuthorityMachine,
    directory: &Directory,
    version: &str,
    shell: &Shell,
) -> Result<PathBuf, TestbedError> {
    let program = directory.path().join("sixbench");
    shell.copy_this_program(&program)?;
    if !shell.is_rehearsal() {
        machine.check_version(&program, version, shell)?;
    }
    Ok(program)
}

/// Brings the interfaces up and adds their addresses: those of the tester's right end, and that of the far end of the direct link.
fn set_up_links(
    machine: &AuthorityMachine,
    recipe: &Recipe,
    shell: &Shell,
    undo: &Undo,
) -> Result<(), TestbedError> {
    let [behind, direct] = machine.interfaces();
    let looped = IpNet::new_assert(LOOP_ENDS[1].into(), LOOP_PREFIX);
    let of_link = addresses(recipe)
        .into_iter()
        .map(|address| (behind, address));
    let addresses: Vec<_> = of_link.chain([(direct, looped)]).collect();
    for interface in machine.interfaces() {
        let has_ipv6 = addresses
            .iter()
            .any(|(link, address)| *link == interface && address.addr().is_ipv6());
        // Without duplicate address detection an address can be used at once.
        for (key, value) in [("disable_ipv6", "0"), ("accept_dad", "0")]
            .into_iter()
            .filter(|_| has_ipv6)
        {
            sysctls::write(
                &format!("/proc/sys/net/ipv6/conf/{interface}/{key}"),
                value,
                shell,
                undo,
            )?;
        }
        links::take_up(System::Linux, interface, shell, undo)?;
    }
    let addresses = addresses
        .into_iter()
        .map(|(interface, address)| System::Linux.address(address, interface));
    let routes = routes(recipe)
        .into_iter()
        .map(|(prefix, gateway)| System::Linux.route(prefix, gateway, behind));
    addresses.chain(routes).try_for_each(|[add, remove]| {
        // The undo command is recorded after the command, which no stop request interrupts: an existing address is left alone.
        shell.line(&add)?;
        undo.by_line(remove)
    })
}

/// Returns the addresses of the right end: those that `recipe` gives the tester there, and the one that the device queries.
fn addresses(recipe: &Recipe) -> Vec<IpNet> {
    let link = &recipe.right;
    let beside = |address: &IpAddr| {
        link.dut
            .iter()
            .find(|prefix| prefix.contains(address))
            .map(IpNet::prefix_len)
    };
    let whole = |address: &IpAddr| if address.is_ipv4() { 32 } else { 128 };
    let asked = recipe.foreground.right.destination;
    let other = [asked]
        .into_iter()
        .filter(|asked| !link.tester.contains(asked));
    let all = link.tester.iter().copied().chain(other);
    all.map(|address| IpNet::new_assert(address, beside(&address).unwrap_or(whole(&address))))
        .collect()
}

/// Returns the prefixes of the device's queries that are not on its link, each with the device's address as the next hop.
fn routes(recipe: &Recipe) -> Vec<(IpNet, IpAddr)> {
    let link = &recipe.right;
    let pools = recipe
        .state
        .iter()
        .flat_map(|state| state.pool.iter().map(|pool| pool.net()));
    let sources = pools.chain([IpNet::from(recipe.foreground.right.source)]);
    let away = sources.filter(|source| !link.dut.iter().any(|prefix| prefix.contains(source)));
    let gateway = |source: &IpNet| {
        let same = link
            .dut
            .iter()
            .filter(|prefix| prefix.addr().is_ipv4() == source.addr().is_ipv4());
        same.filter(|prefix| link.tester.iter().any(|tester| prefix.contains(tester)))
            .map(IpNet::addr)
            .next()
    };
    let mut routes: Vec<_> = away
        .filter_map(|source| Some((source.trunc(), gateway(&source)?)))
        .collect();
    routes.sort();
    routes.dedup();
    routes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Library;
    use std::path::Path;

    fn of_recipe(name: &str) -> (Vec<String>, Vec<String>) {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let recipe = library.get(name).expect("a recipe");
        let routes = routes(recipe)
            .into_iter()
            .map(|(prefix, gateway)| format!("{prefix} via {gateway}"));
        (
            addresses(recipe).iter().map(ToString::to_string).collect(),
            routes.collect(),
        )
    }

    #[test]
    fn the_authority_has_the_addresses_of_the_testers_right_end_and_a_way_back() {
        assert_eq!(
            of_recipe("unbound-dns64"),
            (vec!["198.18.0.2/24".to_owned()], vec![])
        );
        let (addresses, routes) = of_recipe("linux-ipv6");
        assert_eq!(
            (addresses, routes),
            (
                vec!["2001:2:0:8000::2/112".to_owned()],
                vec!["2001:2::2/128 via 2001:2:0:8000::1".to_owned()],
            )
        );
    }

    #[test]
    fn a_rehearsal_shows_every_command_of_the_authority() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let shell = Shell::rehearsal();
        let machine = AuthorityMachine::new("auth", None, ["e0".to_owned(), "e1".to_owned()]);
        let recipe = library.get("unbound-dns64").expect("a recipe");
        let mut authority =
            RemoteAuthority::bring_up(&machine, recipe, "", "0.1.0", &shell).expect("rehearsed");
        let listen = "198.18.0.2:53".parse().expect("an address");
        let zone = ServedZone {
            domain: "a.test".to_owned(),
            with_aaaa: 20,
            ttl_s: 60,
            listen,
            is_isolated: false,
        };
        authority.serve(&zone).expect("rehearsed");
        drop(authority);
        let script = shell.transcript().text();
        for part in [
            "ssh auth 'ip address add 198.18.0.2/24 dev e0'",
            "ssh auth 'ip address add 2001:2:0:fffe::2/64 dev e1 nodad'",
            "authority --listen 198.18.0.2:53 --domain a.test --with-aaaa 20% --ttl 60s",
            "authority --listen '[2001:2:0:fffe::2]:5300' --domain a.test --with-aaaa 100% --ttl 60s",
            "ssh auth 'ip address del 198.18.0.2/24 dev e0'",
        ] {
            assert!(
                script.replace("'\\''", "'").contains(part),
                "{part} is not in {script}"
            );
        }
    }
}
