//! The addresses and routes of an interface of this machine before the tester takes it, as the commands that restore them. The kernel removes them
//! when the interface moves to another namespace.

use super::occupied::{self, RouteOver};
use crate::exec::{Shell, TestbedError};

/// Flags that are specified when an address is added. The others follow from its other properties, or are states.
const FLAGS: [&str; 4] = ["noprefixroute", "mngtmpaddr", "home", "autojoin"];

/// Properties of an address with a name and a value. `proto` is left out: not every `ip` that prints it accepts it.
const PROPERTIES: [&str; 7] = [
    "peer",
    "brd",
    "any",
    "metric",
    "scope",
    "valid_lft",
    "preferred_lft",
];

/// Words after a route that describe its state and are not specified when it is added.
const ROUTE_STATES: [&str; 4] = ["linkdown", "dead", "offload", "trap"];

/// Returns the commands that restore an interface's addresses and routes, in the order in which they must run. The interface must be up.
///
/// # Errors
/// `ip` cannot list them.
pub(super) fn commands(shell: &Shell, interface: &str) -> Result<Vec<String>, TestbedError> {
    let described = shell.look(&["ip", "-o", "address", "show", "dev", interface])?;
    let addresses = described
        .lines()
        .filter_map(|line| address_command(line, interface));
    let routes = occupied::routes(shell, interface)?;
    let routes = routes
        .iter()
        .filter(|route| !route.is_of_kernel())
        .map(route_command);
    Ok(addresses.chain(routes).collect())
}

/// Returns the command for an address in a line of `ip -o address`, or `None` for one that the kernel creates by itself.
fn address_command(line: &str, interface: &str) -> Option<String> {
    let line = line.replace('\\', " ");
    let mut words = line
        .split_whitespace()
        .skip_while(|word| *word != "inet" && *word != "inet6");
    let (_, address) = (words.next()?, words.next()?);
    let rest: Vec<&str> = words.collect();
    if rest.contains(&"temporary") || rest.contains(&"kernel_ll") {
        return None;
    }
    let pairs = rest.windows(2).filter(|pair| PROPERTIES.contains(&pair[0]));
    // `ip` accepts all values as it prints them, except for the unit of a lifetime.
    let properties: String = pairs
        .map(|pair| format!(" {} {}", pair[0], pair[1].trim_end_matches("sec")))
        .collect();
    let flags: String = rest
        .iter()
        .filter(|word| FLAGS.contains(word))
        .map(|flag| format!(" {flag}"))
        .collect();
    let label = rest
        .iter()
        .find(|word| word.starts_with(&format!("{interface}:")));
    let label = label
        .map(|label| format!(" label {label}"))
        .unwrap_or_default();
    Some(format!(
        "ip address replace {address}{properties}{flags} dev {interface}{label}"
    ))
}

fn route_command(route: &RouteOver) -> String {
    let mut words: Vec<&str> = route
        .line
        .split(' ')
        .filter(|word| !ROUTE_STATES.contains(word))
        .collect();
    // `ip` prints a route's remaining lifetime in a form that it does not accept.
    if let Some(at) = words.iter().position(|word| *word == "expires") {
        words.drain(at..(at + 2).min(words.len()));
    }
    format!("ip {} route replace {}", route.family, words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_set_again_with_all_that_was_said_of_it() {
        let command = |line| address_command(line, "e0");
        for (line, expected) in [
            (
                r"3: e0    inet 10.0.0.1/24 brd 10.0.0.255 scope global e0\       valid_lft forever preferred_lft forever",
                "ip address replace 10.0.0.1/24 brd 10.0.0.255 scope global valid_lft forever preferred_lft forever dev e0",
            ),
            (
                r"3: e0    inet 10.0.0.3 peer 10.0.0.4/32 scope link e0:x\       valid_lft forever preferred_lft forever",
                "ip address replace 10.0.0.3 peer 10.0.0.4/32 scope link valid_lft forever preferred_lft forever dev e0 label e0:x",
            ),
            (
                r"3: e0    inet 10.0.0.7/24 metric 100 brd 10.0.0.255 scope global secondary dynamic noprefixroute e0\       valid_lft 3400sec preferred_lft 3400sec",
                "ip address replace 10.0.0.7/24 metric 100 brd 10.0.0.255 scope global valid_lft 3400 preferred_lft 3400 noprefixroute dev e0",
            ),
            (
                r"3: e0    inet6 fd00::1/64 scope global tentative \       valid_lft forever preferred_lft forever",
                "ip address replace fd00::1/64 scope global valid_lft forever preferred_lft forever dev e0",
            ),
        ] {
            assert_eq!(command(line).as_deref(), Some(expected));
        }
        for line in [
            r"3: e0    inet6 fe80::1/64 scope link proto kernel_ll \       valid_lft forever preferred_lft forever",
            r"3: e0    inet6 fd00::7/64 scope global temporary dynamic \       valid_lft 60sec preferred_lft 60sec",
        ] {
            assert_eq!(command(line), None);
        }
    }

    #[test]
    fn a_route_is_set_again_without_its_state() {
        let route = |line: &str| {
            route_command(&RouteOver {
                family: "-6",
                line: line.to_owned(),
            })
        };
        let expected =
            "ip -6 route replace fd01::/64 via fd00::9 dev e0 table 7 metric 1024 pref medium";
        assert_eq!(
            route(
                "fd01::/64 via fd00::9 dev e0 table 7 metric 1024 linkdown expires 99sec pref medium"
            ),
            expected
        );
    }
}
