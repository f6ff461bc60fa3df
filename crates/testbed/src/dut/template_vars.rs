//! The values of a recipe's placeholders in braces, and the options that a plan may set for a device beyond its recipe.

use crate::dut::lines;
use crate::dut::subscriber::{self, Subscriber};
use crate::exec::DeviceError;
use crate::net::topology::LINKS;
use crate::recipe::{self, Recipe, RecipeLink, StateSection, check_value};
use sixbench_method::plan::CoreLimits;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A plan's options for a device, beyond its recipe.
#[derive(Clone, Debug, Default)]
pub struct DutOptions {
    /// The size of its connection tracking table, if its recipe can set that.
    pub table_size: Option<u64>,
    /// The zone that a DNS server is queried for, or serves.
    pub zone: Option<Zone>,
    /// The subscribers that configuration files list one by one, by recipe name: each device in a row has its own.
    pub subscribers: BTreeMap<String, Arc<[Subscriber]>>,
    /// The cores that stay online on machines of their own. (A namespace uses those of its topology.)
    pub cores: CoreLimits,
    /// The fields of the RSS hash for UDP of its network cards, on machines of their own.
    pub rss_hash: Option<String>,
    /// The number of filter conditions that the device has in addition to its recipe.
    pub filters: u32,
}

/// The names that a DNS server is queried for.
#[derive(Clone, Debug)]
pub struct Zone {
    /// The domain, without a trailing dot.
    pub domain: String,
    /// The zone file (RFC 1035 section 5) for an authoritative server. It can be many megabytes. Without it, the served zone contains nothing but
    /// its apex.
    pub text: Option<Arc<str>>,
    /// The port of the authority that a DNS64 server queries. The authority's address is in the recipe.
    pub authority_port: u16,
}

impl Default for Zone {
    fn default() -> Self {
        Self {
            domain: "dns64perf.test".to_owned(),
            text: None,
            authority_port: 53,
        }
    }
}

impl Zone {
    pub(crate) fn file(&self) -> Arc<str> {
        let apex = || {
            format!(
                "$ORIGIN {}.\n$TTL 3600\n@ SOA ns root 1 3600 600 86400 3600\n@ NS ns\nns A 192.0.2.1\n",
                self.domain
            )
        };
        self.text.clone().unwrap_or_else(|| apex().into())
    }
}

/// The values of the placeholders in braces, for one device or server.
#[derive(Clone, Debug, Default)]
pub(crate) struct TemplateVars {
    pub(crate) directory: String,
    pub(crate) table_size: Option<u64>,
    /// The device's cores as a list for `taskset -c`. Empty if it has a machine of its own.
    pub(crate) cores: String,
    /// The number of threads, equal to the number of cores.
    pub(crate) threads: usize,
    /// The device's interfaces if their names differ from those in our namespaces, or its sockets in shared memory.
    pub(crate) links: Option<[String; 2]>,
    /// The links of the recipe, left and right, or `None` if no device is set up with them.
    pub(crate) recipe_links: Option<[RecipeLink; 2]>,
    /// The directory of the VPP build, if the recipe needs one.
    pub(crate) vpp: String,
    /// Present for DNS servers only.
    pub(crate) server: Option<ServerVars>,
    /// The recipe rule's placeholders and values, and its subscribers.
    pub(crate) rule: Vec<(String, String)>,
    pub(crate) subscribers: Arc<[Subscriber]>,
}

/// The address and port on which a DNS server listens, the authority that it queries, and the domain of the queries.
#[derive(Clone, Debug)]
pub(crate) struct ServerVars {
    pub(crate) listen: SocketAddr,
    /// The port for TLS, if it serves TLS.
    pub(crate) tls_port: Option<u16>,
    pub(crate) authority: IpAddr,
    pub(crate) authority_port: u16,
    pub(crate) domain: String,
}

impl ServerVars {
    /// Returns the values for the server of `recipe`, if it is one. Under test, it listens where its foreground goes.
    pub(crate) fn for_recipe(recipe: &Recipe, zone: &Zone) -> Option<Self> {
        let dns = recipe.dns.as_ref()?;
        Some(Self {
            listen: SocketAddr::new(recipe.foreground.left.destination, dns.port),
            tls_port: dns.tls_port,
            authority: recipe.foreground.right.destination,
            authority_port: zone.authority_port,
            domain: zone.domain.clone(),
        })
    }
}

impl TemplateVars {
    /// Replaces the placeholders by their values, which have no braces themselves.
    pub(crate) fn fill(&self, text: &str) -> String {
        self.values()
            .iter()
            .fold(text.to_owned(), |text, (word, value)| {
                text.replace(&format!("{{{word}}}"), value)
            })
    }

    /// Returns the words of a command line. A value never splits a word, whatever it contains.
    pub(crate) fn command_words(&self, line: &str) -> Vec<String> {
        line.split_whitespace()
            .map(|word| self.fill(word))
            .collect()
    }

    /// Refuses values that a shell or a configuration file could interpret as more than a value.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        for (placeholder, value) in self.values() {
            let Err(wrong) = check_value(&value) else {
                continue;
            };
            let advice = match placeholder.as_str() {
                "dir" => "; set TMPDIR to another directory",
                "vpp" => "; set SIXBENCH_LAB to another directory",
                _ => "",
            };
            return Err(DeviceError::Placeholder {
                placeholder,
                wrong,
                advice,
            });
        }
        Ok(())
    }

    fn values(&self) -> Vec<(String, String)> {
        let [left, right] = self.links.clone().unwrap_or(LINKS.map(str::to_owned));
        let own = [
            ("dir", self.directory.clone()),
            (
                "table-size",
                self.table_size
                    .map(|size| size.to_string())
                    .unwrap_or_default(),
            ),
            ("left", left),
            ("right", right),
            ("threads", self.threads.to_string()),
            ("cores", self.cores.clone()),
            ("vpp", self.vpp.clone()),
        ];
        let of_server = self
            .server
            .iter()
            .flat_map(|server| server.values(self.zone_path()));
        let named = own
            .into_iter()
            .chain(of_server)
            .map(|(word, value)| (word.to_owned(), value));
        named.chain(self.rule.iter().cloned()).collect()
    }

    /// Returns the placeholders of the rule that defines a recipe's subscribers, with their values.
    pub(crate) fn rule_of(recipe: &Recipe) -> Vec<(String, String)> {
        recipe
            .subscribers
            .as_ref()
            .map(recipe::Subscribers::placeholders)
            .unwrap_or_default()
    }

    /// Returns the paths of the sysctls that a stateful device needs on its machine, each with its value.
    pub(crate) fn sysctls(&self, state: &StateSection) -> Vec<(String, String)> {
        state
            .host
            .iter()
            .map(|sysctl| (sysctl.file.clone(), self.fill(&sysctl.value)))
            .collect()
    }

    /// Fills in a configuration file. Its lines about a subscriber, an address or a route are repeated for each.
    pub(crate) fn fill_file(&self, text: &str) -> String {
        let text = subscriber::fill(&self.fill(text), &self.subscribers);
        self.recipe_links
            .as_ref()
            .map_or(text.clone(), |links| lines::of_links(&text, links))
    }

    pub(crate) fn zone_path(&self) -> String {
        format!("{}/zone", self.directory)
    }
}

impl ServerVars {
    fn values(&self, zone: String) -> [(&'static str, String); 7] {
        let tls_port = self.tls_port.map(|port| port.to_string());
        [
            ("listen", self.listen.ip().to_string()),
            ("port", self.listen.port().to_string()),
            ("tls-port", tls_port.unwrap_or_default()),
            ("authority", self.authority.to_string()),
            ("authority-port", self.authority_port.to_string()),
            ("domain", self.domain.clone()),
            ("zone", zone),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_where_to_listen_and_whom_to_ask() {
        let server = ServerVars {
            listen: "[2001:2::1]:53".parse().expect("an address"),
            tls_port: Some(853),
            authority: "198.18.0.2".parse().expect("an address"),
            authority_port: 5300,
            domain: Zone::default().domain,
        };
        let vars = TemplateVars {
            directory: "/d".to_owned(),
            threads: 2,
            server: Some(server),
            ..TemplateVars::default()
        };
        let filled = vars.fill(
            "{threads} { {listen}@{port}; {tls-port}; } {domain} {zone} {authority}@{authority-port} {left}",
        );
        assert_eq!(
            filled,
            "2 { 2001:2::1@53; 853; } dns64perf.test /d/zone 198.18.0.2@5300 left"
        );
        let other = TemplateVars {
            directory: "/d".to_owned(),
            threads: 1,
            ..TemplateVars::default()
        };
        assert_eq!(other.fill("{dir} {threads} {port}"), "/d 1 {port}");
    }

    #[test]
    fn a_value_is_one_word_and_one_that_would_be_more_is_refused() {
        let vars = |directory: &str, domain: &str| {
            let server = ServerVars {
                listen: "[2001:2::1]:53".parse().expect("an address"),
                tls_port: None,
                authority: "198.18.0.2".parse().expect("an address"),
                authority_port: 53,
                domain: domain.to_owned(),
            };
            TemplateVars {
                directory: directory.to_owned(),
                server: Some(server),
                ..TemplateVars::default()
            }
        };
        assert!(vars("/tmp/sb-1-dut", "example.test").check().is_ok());
        assert_eq!(
            vars("/a b", "x").command_words("sh {dir}/x  {domain}"),
            ["sh", "/a b/x", "x"]
        );
        for hostile in [
            "a b",
            "a; touch /x",
            "$(touch x)",
            "`x`",
            "it's",
            "a\"",
            "a\nb",
            "a{left}",
            "a\u{1b}[2J",
            "a\\b",
            "a#b",
            "a|b",
        ] {
            for vars in [vars(hostile, "x"), vars("/d", hostile)] {
                let error = vars.check().expect_err(hostile).to_string();
                assert!(
                    error.contains("put into commands and files") && !error.contains('\u{1b}'),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn a_zone_without_a_text_has_an_apex() {
        let file = Zone {
            domain: "example.test".to_owned(),
            ..Zone::default()
        }
        .file();
        assert!(
            file.starts_with("$ORIGIN example.test.\n")
                && file.contains("@ SOA")
                && file.contains("@ NS"),
            "{file}"
        );
    }
}
