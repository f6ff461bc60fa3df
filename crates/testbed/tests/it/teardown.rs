//! Checks that the `[[teardown]]` commands of recipes undo their setup, as needed on a machine that outlives the run. They run in virtual machines
//! of the lab, where nothing else can be damaged. The tests need root, and build the lab if it does not exist. Without either, they fail rather
//! than skip.

use crate::common::{library, tried_here};
use sixbench_testbed::recipe::{DeviceHost, RecipeCommand};
use sixbench_testbed::{
    Cores, Devices, DutOptions, LinkSettings, Recipe, Shell, Subscriber, Topology,
};
use std::sync::Arc;

/// Writes everything that could be left behind to a file with this name. A teardown leaves modules loaded, with the interfaces that come with them.
/// Left out are values that the kernel makes up: link-local and hardware addresses, the queues of such interfaces, and counters.
const STATE: &str = r"
modprobe -qa ip6_tunnel sit jool jool_siit jool_mapt iptable_nat iptable_mangle xt_nat xt_mark nf_conntrack
{
    ip -o link | sed 's/^[0-9]*: //'
    ip -o address | sed 's/^[0-9]*: //'
    ip -4 route show table all
    ip -6 route show table all
    ip rule
    ip -6 rule
    ip netns
    iptables-legacy-save -t nat
    iptables-legacy-save -t mangle
    jool instance display
    jool_siit instance display
    jool_mapt instance display
    ls -d /run/sixbench* /run/sessions
    cat /sys/module/nf_conntrack/parameters/hashsize
    cd /proc/sys/net/netfilter
    grep . nf_conntrack_max nf_conntrack_udp_timeout nf_conntrack_udp_timeout_stream
} 2>/dev/null | grep -v -e fe80: -e ff00: -e '^#' | sed -e 's/ \[[0-9:]*\]//' -e 's/,LOWER_UP//' -e 's/ qdisc [a-z_]*//' -e 's/ permaddr.*//' \
    -e 's/ pref .*//' > /run/state-$1
echo @@ >> /run/state-$1
";

fn step(run: &str) -> RecipeCommand {
    toml::from_str(&format!("run = '{run}'")).expect("a step")
}

/// Prints all states in one line.
const STATES: &str = "cat /run/state-before /run/state-during /run/state-after | tr '\\n' ';'";

/// Returns the states of a machine before a recipe's setup, after it, and after a teardown, a second setup and a second teardown. The addresses and
/// files exist from the start.
fn states(recipe: &Recipe) -> [String; 3] {
    let mut recipe = recipe.clone();
    for (name, content) in [("state", STATE), ("states", STATES)] {
        recipe.files.push(
            toml::from_str(&format!("path = '{name}'\ncontent = '''{content}'''")).expect("a file"),
        );
    }
    let look = |name: &str| vec![step(&format!("sh {{dir}}/state {name}"))];
    let (up, down) = (recipe.setup.clone(), recipe.teardown.clone());
    recipe.setup = [
        look("before"),
        up.clone(),
        look("during"),
        down.clone(),
        up,
        down,
        look("after"),
    ]
    .concat();
    (recipe.ready, recipe.version) = (None, step("sh {dir}/states"));
    let cores = Cores {
        tester: vec![0],
        dut: vec![1],
    };
    let topology =
        Topology::build_chain(&Shell::new(), "torn", cores, LinkSettings::of_mtu(1500), 1)
            .expect("a testbed (these tests need root)");
    let options = DutOptions {
        subscribers: [(recipe.name.clone(), subscribers())].into(),
        ..DutOptions::default()
    };
    let dut = Devices::bring_up(&recipe, &topology, &options)
        .unwrap_or_else(|error| panic!("{}: {error}", recipe.name));
    let states: Vec<String> = dut
        .facts()
        .version
        .split_terminator("@@;")
        .map(|state| state.replace(';', "\n"))
        .collect();
    states
        .try_into()
        .unwrap_or_else(|states| panic!("{}: {states:?}", recipe.name))
}

/// Returns the lines of a state that are not in the one before.
fn beyond<'a>(before: &str, state: &'a str) -> Vec<&'a str> {
    state
        .lines()
        .filter(|line| !before.lines().any(|known| known == *line))
        .collect()
}

/// Returns arbitrary subscribers: only their names matter.
fn subscribers() -> Arc<[Subscriber]> {
    let subscriber = |number: u32| Subscriber {
        number,
        ipv6: format!("2001:db8:ffff::{}", number + 1)
            .parse()
            .expect("an address"),
        ipv4: Some(format!("192.0.2.{number}").parse().expect("an address")),
        psid: 0,
        ports: (1, 4095),
    };
    (0..3).map(subscriber).collect()
}

/// The recipes that every change is tried with: a translator with state, subscribers in namespaces of their own, and a tunnel of the kernel. Each takes
/// a machine of its own for a quarter of a minute, so the others are tried by `make long`, which sets `SIXBENCH_LONG`.
const TRIED: [&str; 3] = ["jool-nat64", "linux-ip6tnl-ds-lite", "linux-sit-6to4-site"];

#[test]
fn a_recipe_of_the_lab_can_be_torn_down_and_set_up_again_and_then_leaves_nothing() {
    let library = library();
    let is_long = std::env::var_os("SIXBENCH_LONG").is_some();
    let recipes = tried_here(&library).into_iter().filter(|recipe| {
        recipe.host == DeviceHost::Lab
            && recipe.parts.is_empty()
            && (is_long || TRIED.contains(&recipe.name.as_str()))
    });
    let mut tried = 0;
    for recipe in recipes {
        let name = &recipe.name;
        let [before, during, after] = states(recipe);
        assert!(
            during != before,
            "{name}: the state does not show what its set-up does"
        );
        let (left, missing) = (beyond(&before, &after), beyond(&after, &before));
        assert!(
            left.is_empty() && missing.is_empty(),
            "{name}: {left:#?} is left, {missing:#?} is missing"
        );
        tried += 1;
    }
    assert!(tried >= TRIED.len(), "{tried}");
}
