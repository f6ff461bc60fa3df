//! Checks the recipes of DNS servers for errors.

use super::{DeviceHost, DnsSection, Recipe, Technology};
use ipnet::Ipv6Net;

/// The valid lengths of a prefix (RFC 6052 section 2.2).
const LENGTHS: [u8; 6] = [32, 40, 48, 56, 64, 96];

/// Returns the problems of a recipe that concern it as a DNS server, one line each. Recipes of other devices have none.
pub(super) fn problems(recipe: &Recipe) -> Vec<String> {
    let is_server = recipe.technology.is_dns();
    let Some(dns) = &recipe.dns else {
        return is_server
            .then(|| {
                format!(
                    "[dns] is missing: the technology is {}",
                    recipe.technology.title()
                )
            })
            .into_iter()
            .collect();
    };
    if !is_server {
        return vec![format!(
            "[dns]: the technology is {}, which is not a DNS server",
            recipe.technology.title()
        )];
    }
    [
        check_ports(dns),
        check_prefix(recipe.technology, dns),
        check_ends(recipe),
        check_sections(recipe),
    ]
    .concat()
}

fn check_ports(dns: &DnsSection) -> Vec<String> {
    let is_shared = dns.tls_port == Some(dns.port);
    let problem = format!(
        "[dns]: `tls-port` is `port`, {}: TLS needs a port of its own (RFC 7858 section 3.1)",
        dns.port
    );
    is_shared.then_some(problem).into_iter().collect()
}

fn check_prefix(technology: Technology, dns: &DnsSection) -> Vec<String> {
    let problem = match (technology, dns.prefix) {
        (Technology::Dns64, None) => {
            "[dns]: `prefix` is missing: in which prefix does it synthesise addresses?".to_owned()
        }
        (Technology::Dns64, Some(prefix)) => return check_length(prefix),
        (_, Some(prefix)) => {
            format!(
                "[dns]: an authoritative server synthesises nothing, so the prefix {prefix} is not needed"
            )
        }
        (_, None) => return Vec::new(),
    };
    vec![problem]
}

fn check_length(prefix: Ipv6Net) -> Vec<String> {
    let mut problems = Vec::new();
    if !LENGTHS.contains(&prefix.prefix_len()) {
        problems.push(format!("[dns]: the prefix {prefix} must be of length 32, 40, 48, 56, 64 or 96 (RFC 6052 section 2.2)"));
    }
    if prefix.trunc() != prefix {
        problems.push(format!(
            "[dns]: the prefix {prefix} has bits set beyond its length; did you mean {}?",
            prefix.trunc()
        ));
    }
    if prefix.network().octets()[8] != 0 {
        problems.push(format!(
            "[dns]: bits 64 to 71 of the prefix {prefix} must be zero (RFC 6052 section 2.2)"
        ));
    }
    problems
}

fn check_ends(recipe: &Recipe) -> Vec<String> {
    let (left, right) = (recipe.foreground.left, recipe.foreground.right);
    let mut problems = Vec::new();
    if !recipe
        .left
        .dut
        .iter()
        .any(|own| own.addr() == left.destination)
    {
        let asked = left.destination;
        problems.push(format!(
            "foreground.left: the query goes to the server: {asked} is not a dut address of [left]"
        ));
    }
    if !recipe
        .right
        .dut
        .iter()
        .any(|own| own.addr() == right.source)
    {
        let asks = right.source;
        problems.push(format!("foreground.right: the query comes from the server: {asks} is not a dut address of [right]"));
    }
    if recipe.technology == Technology::Dns64 && left.destination.is_ipv4() {
        problems.push(
            "foreground.left: a DNS64 server is asked over IPv6 (RFC 8219 section 9.1)".to_owned(),
        );
    }
    problems
}

fn check_sections(recipe: &Recipe) -> Vec<String> {
    let sections = [
        ("state", recipe.state.is_some()),
        ("translation", recipe.translation.is_some()),
        ("background", recipe.background.is_some()),
    ];
    let stray = sections.into_iter().filter(|(_, is_there)| *is_there);
    let mut problems: Vec<String> = stray
        .map(|(section, _)| {
            format!("[{section}]: a DNS server forwards no frames; leave the section out")
        })
        .collect();
    if recipe.daemon.is_none() && recipe.host != DeviceHost::Manual {
        problems.push("[daemon] is missing: it is the server".to_owned());
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const DNS64: &str = include_str!("../../../../recipes/unbound-dns64.toml");
    const AUTHORITY: &str = include_str!("../../../../recipes/nsd-authority.toml");

    fn told(text: &str) -> Vec<String> {
        toml::from_str::<Recipe>(text).expect("a recipe").problems()
    }

    fn with(text: &str, from: &str, to: &str) -> Vec<String> {
        assert!(text.contains(from), "{from} is in the recipe no more");
        told(&text.replacen(from, to, 1))
    }

    #[test]
    fn a_server_listens_on_the_port_called_domain_unless_it_says_otherwise() {
        let recipe: Recipe = toml::from_str(AUTHORITY).expect("a recipe");
        assert_eq!(recipe.dns.map(|dns| dns.port), Some(53));
        assert!(told(AUTHORITY).is_empty() && told(DNS64).is_empty());
    }

    #[test]
    fn tls_has_a_port_of_its_own() {
        let told = with(DNS64, "tls-port = 853", "tls-port = 53");
        assert!(told[0].contains("`tls-port` is `port`, 53"), "{told:?}");
    }

    #[test]
    fn a_dns64_server_has_a_prefix_and_an_authority_has_none() {
        let prefix = "prefix = \"64:ff9b::/96\"";
        assert!(with(DNS64, prefix, "")[0].contains("`prefix` is missing"));
        assert!(
            with(AUTHORITY, "[dns]", &format!("[dns]\n{prefix}"))[0]
                .contains("synthesises nothing")
        );
    }

    #[test]
    fn a_prefix_is_one_of_rfc_6052() {
        for good in [
            "2001:db8::/32",
            "2001:db8:100::/40",
            "2001:db8:122::/48",
            "2001:db8:122:300::/56",
            "2001:db8:122:344::/64",
        ] {
            assert!(with(DNS64, "64:ff9b::/96", good).is_empty(), "{good}");
        }
        assert!(
            with(DNS64, "64:ff9b::/96", "64:ff9b::/80")[0].contains("32, 40, 48, 56, 64 or 96")
        );
        assert!(
            with(DNS64, "64:ff9b::/96", "64:ff9b::1/96")[0].contains("did you mean 64:ff9b::/96?")
        );
        assert!(with(DNS64, "64:ff9b::/96", "2001:db8:1:2:100::/96")[0].contains("bits 64 to 71"));
    }

    #[test]
    fn the_query_goes_from_the_tester_to_the_server_and_from_there_to_the_authority() {
        let left = with(
            DNS64,
            "destination = \"2001:2::1\"",
            "destination = \"2001:2::9\"",
        );
        assert!(
            left[0].contains("2001:2::9 is not a dut address of [left]"),
            "{left:?}"
        );
        let right = with(DNS64, "source = \"198.18.0.1\"", "source = \"198.18.0.9\"");
        assert!(
            right[0].contains("198.18.0.9 is not a dut address of [right]"),
            "{right:?}"
        );
        let four = DNS64
            .replace("2001:2::2", "198.19.0.2")
            .replace("2001:2::1/64", "198.19.0.1/24");
        assert!(
            told(&four.replace("2001:2::1", "198.19.0.1"))[0]
                .contains("asked over IPv6 (RFC 8219 section 9.1)")
        );
    }

    #[test]
    fn servers_and_only_servers_have_the_section() {
        let siit = with(DNS64, "technology = \"dns64\"", "technology = \"siit\"");
        assert!(
            siit.iter()
                .any(|problem| problem.contains("SIIT, which is not a DNS server")),
            "{siit:?}"
        );
        let without = DNS64
            .replace("[dns]\ntls-port = 853\n", "")
            .replace("prefix = \"64:ff9b::/96\"", "");
        assert!(told(&without)[0].contains("[dns] is missing"));
        let stray = format!("{DNS64}\n[translation]\nprefix = \"64:ff9b::/96\"\n");
        assert_eq!(
            told(&stray),
            ["[translation]: a DNS server forwards no frames; leave the section out"]
        );
    }

    #[test]
    fn placeholders_of_servers_are_unknown_to_other_devices() {
        let router = include_str!("../../../../recipes/linux-ipv4.toml");
        let told = told(&format!("{router}\n[ready]\nrun = \"dig @{{listen}}\"\n"));
        assert!(told[0].contains("unknown placeholder {listen}"), "{told:?}");
    }
}
