//! The `[state]` of a recipe: what makes a device stateful, and the commands that count and delete its connections.

use super::{RecipeCommand, plain};
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The connection tracking table of a device (RFC 9693), and its pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with the keys of [state]"
)]
pub struct StateSection {
    /// The side that opens connections, where the Initiator is.
    #[serde(default)]
    pub initiator: DeviceSide,
    /// The addresses to which sources are translated, as addresses or prefixes. They only differ in their last 16 bits.
    pub pool: Vec<Pool>,
    /// The first and the last port to which source ports are translated.
    #[serde(default)]
    pub pool_ports: PoolPorts,
    /// The command that prints the number of entries in the table.
    #[serde(default)]
    pub count: Option<RecipeCommand>,
    /// The number of table entries per connection.
    #[serde(default = "one")]
    pub entries: u64,
    /// Commands that empty the table before a trial.
    #[serde(default)]
    pub flush: Vec<RecipeCommand>,
    /// True if the device's daemon is restarted before every trial, for implementations whose table cannot be emptied permanently by a command.
    #[serde(default)]
    pub restart: bool,
    /// Commands that delete all connections when that is measured. The default is `flush`.
    #[serde(default)]
    pub tear_down: Vec<RecipeCommand>,
    /// The command that prints the maximum number of entries.
    #[serde(default)]
    pub limit: Option<RecipeCommand>,
    /// The command that prints the minimum time in seconds for which an idle UDP connection is kept.
    #[serde(default)]
    pub timeout: Option<RecipeCommand>,
    /// The default of `{table-size}`, the number of entries in the table.
    #[serde(default)]
    pub table_size: Option<u64>,
    /// The timers of the device, for requirements that wait for them.
    #[serde(default)]
    pub timers: Option<DeviceTimersSection>,
    /// Commands that empty the table and give the device a pool of four ports of one address for TCP and UDP, for requirements on a full pool.
    #[serde(default)]
    pub small_pool: Vec<RecipeCommand>,
    /// Sysctls of this machine, not of the device's namespace: written before the device is set up and restored after it is gone.
    #[serde(default)]
    pub host: Vec<HostSysctl>,
}

/// The timers of a device: short ones, so that requirements on them can be asked in seconds, and its own. The times are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with `short` and the timers"
)]
pub struct DeviceTimersSection {
    /// Commands that set the short timers.
    pub short: Vec<RecipeCommand>,
    /// Commands that give the device the timers back that it has by itself.
    #[serde(default)]
    pub own: Vec<RecipeCommand>,
    /// The short timer of UDP mappings.
    #[serde(default)]
    pub udp: Option<u64>,
    /// That of TCP connections which are partially open.
    #[serde(default)]
    pub tcp_transitory: Option<u64>,
    /// That of established TCP connections.
    #[serde(default)]
    pub tcp_established: Option<u64>,
    /// That of ICMP Query sessions.
    #[serde(default)]
    pub icmp: Option<u64>,
}

fn one() -> u64 {
    1
}

/// A range of ports: `1024-65535`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct PoolPorts {
    /// The first port.
    pub first: u16,
    /// The last port, not below the first.
    pub last: u16,
}

/// Port 0 is reserved; a recipe may still name it, for a device that uses it.
impl Default for PoolPorts {
    fn default() -> Self {
        Self {
            first: 1,
            last: u16::MAX,
        }
    }
}

impl TryFrom<String> for PoolPorts {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let ends = text.split_once('-').unwrap_or((&text, &text));
        let ends = (ends.0.trim().parse().ok(), ends.1.trim().parse().ok());
        match ends {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(format!("expected ports such as 1024-65535, not `{text}`")),
        }
    }
}

impl From<PoolPorts> for String {
    fn from(ports: PoolPorts) -> Self {
        format!("{}-{}", ports.first, ports.last)
    }
}

/// A side of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceSide {
    /// Left.
    #[default]
    Left,
    /// Right.
    Right,
}

/// An address, or a prefix whose addresses are all used, including the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Pool(IpNet);

impl TryFrom<String> for Pool {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let net = text
            .parse::<IpNet>()
            .ok()
            .or_else(|| text.parse::<IpAddr>().map(IpNet::from).ok());
        net.map(Self)
            .ok_or_else(|| format!("expected an address or a prefix, not `{text}`"))
    }
}

impl From<Pool> for String {
    fn from(pool: Pool) -> Self {
        if pool.0.prefix_len() == pool.0.max_prefix_len() {
            pool.0.addr().to_string()
        } else {
            pool.0.to_string()
        }
    }
}

impl Pool {
    /// Returns the first and the last address.
    pub fn ends(self) -> (IpAddr, IpAddr) {
        (self.0.network(), self.0.broadcast())
    }

    /// Returns the pool as a prefix.
    pub fn net(self) -> IpNet {
        self.0
    }

    fn is_within_16_bits(self) -> bool {
        self.0.max_prefix_len() - self.0.prefix_len() <= 16
    }
}

/// A sysctl of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with `file` and `value`"
)]
pub struct HostSysctl {
    /// The path of the sysctl, below /proc/sys or /sys.
    #[serde(deserialize_with = "plain::sysctl_file")]
    pub file: String,
    /// The value to write.
    #[serde(deserialize_with = "plain::sysctl_value")]
    pub value: String,
}

/// Returns all but the last 16 bits of an address.
fn upper(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets()[..2].to_vec(),
        IpAddr::V6(address) => address.octets()[..14].to_vec(),
    }
}

impl StateSection {
    pub(super) fn steps(&self) -> impl Iterator<Item = &RecipeCommand> {
        let single = [&self.count, &self.limit, &self.timeout];
        let timers = self.timers.iter();
        let of_timers = timers.flat_map(|timers| timers.short.iter().chain(&timers.own));
        self.flush
            .iter()
            .chain(&self.tear_down)
            .chain(&self.small_pool)
            .chain(of_timers)
            .chain(single.into_iter().flatten())
    }

    /// Returns the problems of the section, one line each. `source` is the source address of the foreground frames behind the device.
    pub(super) fn problems(&self, source: IpAddr) -> Vec<String> {
        let mut problems = Vec::new();
        for pool in &self.pool {
            if !pool.is_within_16_bits() || upper(pool.0.addr()) != upper(source) {
                let text = String::from(*pool);
                problems.push(format!(
                    "[state]: the addresses of the pool {text} differ from {source} in more than their last 16 bits"
                ));
            }
        }
        if !self.pool.iter().any(|pool| pool.0.contains(&source)) {
            problems.push(format!(
                "[state]: the foreground's translated source {source} is not in the pool"
            ));
        }
        if self.flush.is_empty() && !self.restart {
            problems.push(
                "[state]: `flush` or `restart` must say how the table is emptied before a trial"
                    .to_owned(),
            );
        }
        if self.entries == 0 {
            problems.push("[state]: `entries` of a connection must be at least 1".to_owned());
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> Result<StateSection, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    const GOOD: &str = "pool = [\"198.19.0.1\", \"198.19.4.0/30\"]\npool-ports = \"1024-65535\"\nflush = [{ run = \"conntrack -F\" }]\n";

    fn problems(text: &str, source: &str) -> Vec<String> {
        state(text)
            .expect("a state")
            .problems(source.parse().expect("an address"))
    }

    #[test]
    fn a_pool_is_of_addresses_and_prefixes() {
        let state = state(GOOD).expect("a state");
        let ends: Vec<String> = state
            .pool
            .iter()
            .map(|pool| format!("{}-{}", pool.ends().0, pool.ends().1))
            .collect();
        assert_eq!(ends, ["198.19.0.1-198.19.0.1", "198.19.4.0-198.19.4.3"]);
        assert_eq!((state.initiator, state.entries), (DeviceSide::Left, 1));
        assert!(problems(GOOD, "198.19.4.2").is_empty());
    }

    #[test]
    fn sources_outside_the_pool_and_pools_too_wide_are_told() {
        let told = problems(GOOD, "198.18.0.1");
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(
            told[0].contains("differ from 198.18.0.1 in more than their last 16 bits"),
            "{told:?}"
        );
        assert!(
            told[2].contains("the foreground's translated source 198.18.0.1 is not in the pool"),
            "{told:?}"
        );
        let wide = GOOD.replace("198.19.4.0/30", "198.18.0.0/15");
        assert!(problems(&wide, "198.19.0.1")[0].contains("the pool 198.18.0.0/15"));
    }

    #[test]
    fn a_table_that_nothing_empties_and_a_sysctl_that_is_none_are_told() {
        let no_flush = GOOD.replace("flush = [{ run = \"conntrack -F\" }]", "");
        assert!(problems(&no_flush, "198.19.0.1")[0].contains("`flush` or `restart`"));
        let sysctl = format!("{GOOD}host = [{{ file = \"/etc/passwd\", value = \"1\" }}]\n");
        let error = state(&sysctl).expect_err("no sysctl");
        assert!(
            error.contains("line 4")
                && error.contains("\"/etc/passwd\" is not a sysctl under /proc/sys or /sys"),
            "{error}"
        );
    }

    #[test]
    fn ports_that_end_before_they_begin_are_an_error_at_their_line() {
        let error = state(&GOOD.replace("1024-65535", "65535-1024")).expect_err("an error");
        assert!(
            error.contains("line 2") && error.contains("expected ports such as 1024-65535"),
            "{error}"
        );
    }
}
