//! Traffic must cross the device for a result, and none may go to an address that a host could have. The tests that set up a machine need root; without
//! it they fail, they do not skip.

use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, output, plans, program, records, router, start_in, text,
    wait_until, with_environment,
};
use serde_json::Value;
use sixbench_method::text::is_control;
use sixbench_testbed::Shell;
use sixbench_testbed::namespace::{Namespace, name};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const LINKS: [&str; 2] = ["nic0", "nic1"];

/// A machine with two interfaces, every address of the recipes on its lo, and forwarding, so that its own kernel would answer or forward whatever one
/// of its ends sends. The device at the other ends of the cables forwards nothing.
struct Deceptive {
    machine: Namespace,
    _device: Namespace,
}

impl Deceptive {
    fn build(run: &str) -> Self {
        let shell = Shell::new();
        let [machine, device] = ["machine", "device"].map(|role| {
            Namespace::new(&shell, &name(run, role)).expect("a namespace (needs root)")
        });
        for link in LINKS {
            let add = format!(
                "ip link add {link} netns {} type veth peer name {link} netns {}",
                machine.name(),
                device.name()
            );
            shell.line(&add).expect("a link");
            for end in [&machine, &device] {
                end.shell()
                    .line(&format!("ip link set {link} up"))
                    .expect("up");
            }
        }
        for address in [
            "2001:2::1",
            "2001:2::2",
            "198.18.0.1",
            "198.18.0.2",
            "198.19.0.1",
            "198.19.0.2",
        ] {
            let length = if address.contains(':') {
                "128 nodad"
            } else {
                "32"
            };
            let (address, length) = (address, length.split(' ').collect::<Vec<_>>());
            let line = format!(
                "ip address add {address}/{} dev lo {}",
                length[0],
                length[1..].join(" ")
            );
            machine.shell().line(&line).expect("an address");
        }
        for switch in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            machine
                .shell()
                .set(&format!("/proc/sys/net/{switch}"), "1")
                .expect("a switch");
        }
        Self {
            machine,
            _device: device,
        }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        start_in(self.machine.name(), arguments)
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.start(arguments).wait_with_output().expect("ended")
    }

    /// Returns the state of its interfaces, as far as a run could change it.
    fn interfaces(&self) -> String {
        let link = |link: &&str| {
            let shell = self.machine.shell();
            let flags = shell
                .look(&["ip", "-o", "link", "show", "dev", link])
                .expect("it is there");
            let flags = flags
                .split_once('<')
                .and_then(|(_, rest)| rest.split_once('>'))
                .expect("flags")
                .0
                .to_owned();
            let setting = shell
                .look(&["cat", &format!("/proc/sys/net/ipv6/conf/{link}/accept_ra")])
                .expect("a setting");
            format!("{link} {flags} {setting}")
        };
        LINKS.iter().map(link).collect()
    }
}

fn plan(scratch: &Scratch, test: &str) -> String {
    scratch.write("plan.toml", &plans::through(LINKS, test))
}

/// Returns the trials in which anything at all was received.
fn passed(results: &str) -> Vec<Value> {
    let records = records(results).into_iter();
    records
        .filter(|record| {
            record["result"]["directions"]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one["received"] != 0))
        })
        .collect()
}

#[test]
fn a_machine_with_the_addresses_on_lo_and_a_device_that_forwards_nothing_has_no_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let deceptive = Deceptive::build("lo");
    let before = deceptive.interfaces();
    let mut authority = deceptive.start(&[
        "authority",
        "--listen",
        "[2001:2::1]:53",
        "--with-aaaa",
        "100%",
        "--threads",
        "1",
    ]);
    for (kind, test) in [
        ("frames", "dut = \"linux-ipv4\"\nframe-sizes = [84]\n"),
        (
            "tcp",
            "dut = \"linux-ipv4\"\nmeasure = \"tcp-establishment-rate\"\ntime-limit = \"100ms\"\n",
        ),
        (
            "dns",
            "dut = \"nsd-authority\"\nmeasure = \"dns-authority\"\n",
        ),
    ] {
        let scratch = Scratch::new(&format!("deceived-{kind}"));
        let results = scratch.path("results");
        let output = deceptive.output(&["run", &plan(&scratch, test), "-o", &results]);
        let said = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(passed(&results), Vec::<Value>::new(), "{kind}: {said}");
        assert!(
            !said.contains("does not exist"),
            "{kind}: it was given back: {said}"
        );
        assert_eq!(deceptive.interfaces(), before, "{kind}");
    }
    // The server that could have caused a false pass was reachable all the time.
    let asked = deceptive.output(&[
        "dns64",
        "2001:2::1",
        "--authoritative",
        "--with-aaaa",
        "100%",
        "--rate",
        "100",
        "--for",
        "100ms",
    ]);
    assert!(
        text(&asked.stdout).contains("received 10"),
        "{}",
        text(&asked.stderr)
    );
    assert!(
        text(&asked.stderr).contains("the queries cross no link"),
        "{}",
        text(&asked.stderr)
    );
    let _ = authority.kill();
    let _ = authority.wait();
}

#[test]
fn two_ends_of_one_cable_are_no_device() {
    let _guard = ONE_AT_A_TIME.lock();
    let (machine, scratch) = (
        Namespace::new(&Shell::new(), &name("cable", "machine")).expect("root"),
        Scratch::new("cable"),
    );
    machine
        .shell()
        .line("ip link add nic0 type veth peer name nic1")
        .expect("a cable");
    let deceptive = Deceptive {
        machine,
        _device: Namespace::new(&Shell::new(), &name("cable", "device")).expect("root"),
    };
    for test in ["linux-ipv4", "linux-ipv6"] {
        let results = scratch.path(test);
        let plan = plan(&scratch, &format!("dut = \"{test}\"\nframe-sizes = [84]\n"));
        let output = deceptive.output(&["run", &plan, "-o", &results]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains("no answer from"),
            "{}",
            text(&output.stderr)
        );
    }
}

/// Two interfaces of the host, cabled to a router in a namespace: what a `kill -9` leaves behind must be cleaned up on the host.
struct Cabled {
    links: [String; 2],
    _router: Namespace,
}

impl Cabled {
    fn build() -> Self {
        let shell = Shell::new();
        let router =
            Namespace::new(&shell, &name("cabled", "router")).expect("a namespace (needs root)");
        let links = ["a", "b"].map(|end| format!("sb{}{end}", std::process::id()));
        let inside = router.shell();
        inside
            .set("/proc/sys/net/ipv4/ip_forward", "1")
            .expect("a switch");
        for (link, address) in links.iter().zip(["198.18.0.1/30", "198.19.0.1/30"]) {
            shell
                .line(&format!(
                    "ip link add {link} type veth peer name {link} netns {}",
                    router.name()
                ))
                .expect("a link");
            inside
                .line(&format!("ip address add {address} dev {link}"))
                .expect("an address");
            inside.line(&format!("ip link set {link} up")).expect("up");
        }
        // Initially one is up and the other is down.
        shell
            .line(&format!("ip link set {} up", links[0]))
            .expect("up");
        Self {
            links,
            _router: router,
        }
    }

    fn is_up(&self) -> [Option<bool>; 2] {
        [0, 1].map(|end| {
            let described = Shell::new()
                .look(&["ip", "-o", "link", "show", "dev", &self.links[end]])
                .ok()?;
            Some(described.contains(",UP"))
        })
    }
}

impl Drop for Cabled {
    fn drop(&mut self) {
        for link in &self.links {
            let _ = Shell::new().look(&["ip", "link", "del", link]);
        }
    }
}

#[test]
fn what_a_killed_run_has_taken_is_given_back_by_the_next_and_measured() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("killed"));
    let cabled = Cabled::build();
    assert_eq!(cabled.is_up(), [Some(true), Some(false)]);
    let [left, right] = &cabled.links;
    let plan = plans::through([left, right], "dut = \"linux-ipv4\"\nframe-sizes = [84]\n");
    let plan = scratch.write("plan.toml", &plans::that_lasts(&plan));
    let results = scratch.path("results");
    let mut child = program()
        .args(["run", &plan, "-o", &results])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sixbench");
    wait_until(&mut child, "trial in which something was received", || {
        !passed(&results).is_empty()
    });
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert_eq!(cabled.is_up(), [None, None], "the killed run has them");
    let pair = format!("{left},{right}");
    let again = output(&[
        "trial",
        "linux-ipv4",
        "--rate",
        "200",
        "--for",
        "100ms",
        "--interfaces",
        &pair,
        "--json",
    ]);
    let result: Value =
        serde_json::from_slice(&again.stdout).unwrap_or_else(|_| panic!("{}", text(&again.stderr)));
    assert_eq!(result["directions"][0]["received"], 20);
    assert_eq!(cabled.is_up(), [Some(true), Some(false)]);
}

#[test]
fn nothing_goes_to_an_address_that_could_be_somebodys_by_any_command() {
    // Class E and the discard prefix (RFC 6666): the guard must not admit them. No host has such an address, should the guard ever fail.
    let scratch = Scratch::new("entrances");
    let recipe = include_str!("../../../../recipes/linux-ipv4.toml").replace("198.19.0", "240.0.0");
    scratch.write("recipes/wild.toml", &recipe.replace("linux-ipv4", "wild"));
    let server =
        include_str!("../../../../recipes/unbound-dns64.toml").replace("198.18.0.", "240.0.0.");
    scratch.write(
        "recipes/wild-server.toml",
        &server.replace("unbound-dns64", "wild-server"),
    );
    let recipes = scratch.path("recipes");
    let test = "dut = \"wild-server\"\nmeasure = \"dns64\"\nauthority = \"nsd-authority\"\nnames = \"10.0.0.0/16\"";
    let dns = scratch.write("dns.toml", &plans::of_test(test));
    let plan = scratch.write("plan.toml", &plans::of_test("dut = \"wild\""));
    let tcp = scratch.write(
        "tcp.toml",
        &plans::of_test("dut = \"wild\"\nmeasure = \"tcp-establishment-rate\""),
    );
    let results = scratch.path("results");
    for arguments in [
        &["dns64", "240.0.0.1"][..],
        &["dns64", "::ffff:240.0.0.1"],
        &["dns64", "64:ff9b::f000:1"],
        &["dns64", "::1", "--from", "100::1"],
        &["dns64", "::1", "--authority", "240.0.0.1:53"],
        &["authority", "--listen", "240.0.0.1:53"],
        &["authority", "--listen", "[::]:53"],
        &["authority", "--listen", "0.0.0.0:53"],
        &["trial", "wild", "--rate", "1k", "--recipes", &recipes],
        &["run", &plan, "--recipes", &recipes, "-o", &results],
        &["run", &dns, "--recipes", &recipes, "-o", &results],
        &["run", &tcp, "--recipes", &recipes, "-o", &results],
        &[
            "compare",
            "wild",
            "linux-ipv4",
            "--recipes",
            &recipes,
            "-o",
            &results,
        ],
    ] {
        assert_refused(&scratch, arguments);
    }
    assert!(!Path::new(&results).exists(), "nothing was touched");
}

/// Asserts that a command is refused because of an address outside the ranges of RFC 6815, before it opens a socket to any network.
fn assert_refused(scratch: &Scratch, arguments: &[&str]) {
    let (output, sockets) = watched(scratch, arguments);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(
        error.contains("RFC 6815") && error.contains("--force"),
        "{arguments:?}: {error}"
    );
    assert_eq!(sockets, Vec::<String>::new(), "{arguments:?}");
}

/// Runs the program, and returns the sockets for sending to a network that it and its children opened, according to `strace`.
fn watched(scratch: &Scratch, arguments: &[&str]) -> (Output, Vec<String>) {
    let calls = scratch.path("calls");
    let mut command = with_environment(Command::new("strace"));
    command.args([
        "--follow-forks",
        "--quiet=all",
        "--trace=socket",
        "--output",
        &calls,
        env!("CARGO_BIN_EXE_sixbench"),
    ]);
    let output = command.args(arguments).output().expect("strace");
    let calls = std::fs::read_to_string(calls).expect("what strace has written");
    let is_of_network = |call: &&str| {
        ["AF_INET", "AF_PACKET", "AF_XDP"]
            .iter()
            .any(|family| call.contains(family))
    };
    (
        output,
        calls
            .lines()
            .filter(is_of_network)
            .map(str::to_owned)
            .collect(),
    )
}

#[test]
fn a_socket_of_a_command_that_is_not_refused_is_seen() {
    let scratch = Scratch::new("watched");
    let (output, sockets) = watched(
        &scratch,
        &["dns64", "::1", "--rate", "10", "--for", "100ms"],
    );
    assert!(
        sockets
            .iter()
            .any(|call| call.contains("AF_INET6, SOCK_DGRAM")),
        "{sockets:?}: {}",
        text(&output.stderr)
    );
}

/// Returns a built-in recipe with another name and other addresses.
fn changed(recipe: &str, name: &str, changes: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(format!(
        "{}/../../recipes/{recipe}.toml",
        env!("CARGO_MANIFEST_DIR")
    ))
    .expect("a recipe");
    let renamed = text.replace(
        &format!("name = \"{recipe}\""),
        &format!("name = \"{name}\""),
    );
    changes.iter().fold(renamed, |text, (from, to)| {
        assert!(text.contains(from), "{recipe} has no {from}");
        text.replace(from, to)
    })
}

#[test]
fn neither_links_nor_pools_nor_the_middle_of_a_row_nor_rules_lead_outside_by_any_measure() {
    let scratch = Scratch::new("guarded");
    for (recipe, name, changes) in [
        (
            "linux-ipv4",
            "wild-link",
            &[
                ("\"198.19.0.1/30\"", "\"240.0.0.1/30\""),
                ("tester = [\"198.19.0.2\"]", "tester = [\"240.0.0.2\"]"),
            ][..],
        ),
        ("nft-nat44", "wild-pool", &[("198.19.0.1", "240.0.0.1")]),
        ("linux-ipv4-first", "wild-first", &[("10.0.0.", "240.0.0.")]),
        (
            "linux-ipv4-second",
            "wild-second",
            &[("10.0.0.", "240.0.0.")],
        ),
        (
            "linux-ip6tnl-map-e",
            "wild-map",
            &[("192.0.2.", "240.0.0."), ("0:0:c000:200:0", "0:0:f000:0:0")],
        ),
    ] {
        scratch.write(
            &format!("recipes/{name}.toml"),
            &changed(recipe, name, changes),
        );
    }
    scratch.write(
        "recipes/wild-row.toml",
        "name = \"wild-row\"\ntitle = \"row\"\ntechnology = \"ipv4-router\"\nchain = [\"wild-first\", \"wild-second\"]\n",
    );
    let (recipes, results) = (scratch.path("recipes"), scratch.path("results"));
    let in_memory = "[testbed]\nleft = \"memif:/run/sixbench-none-0\"\nright = \"memif:/run/sixbench-none-1\"\n";
    for (nth, (test, testbed)) in [
        ("dut = \"wild-link\"", ""),
        ("dut = \"wild-link\"\nmeasure = \"tcp-establishment-rate\"", ""),
        ("dut = \"wild-link\"\nmeasure = \"tcp-capacity\"", ""),
        ("dut = \"wild-link\"\nmeasure = \"dns-queries\"", ""),
        ("dut = \"wild-link\"", in_memory),
        ("dut = \"wild-pool\"\nconnections = 100", ""),
        ("dut = \"wild-pool\"\nmeasure = \"tcp-establishment-rate\"", ""),
        ("dut = \"wild-row\"", ""),
        ("dut = \"wild-map\"\nsubscribers = 10", ""),
        (
            "dut = \"wild-link\"\noptional = true",
            "[testbed]\nleft = \"e0\"\nright = \"e1\"\nhost = \"ssh:240.0.0.9\"\ndut-left = \"e0\"\ndut-right = \"e1\"\n",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let plan = scratch.write(&format!("plan{nth}.toml"), &(plans::of_test(test) + testbed));
        assert_refused(&scratch, &["run", &plan, "--recipes", &recipes, "-o", &results]);
        assert_refused(&scratch, &["testbed", "up", &plan, "--recipes", &recipes]);
        assert!(!Path::new(&results).exists(), "{test}: nothing was touched");
    }
    assert_refused(
        &scratch,
        &["trial", "wild-row", "--rate", "1k", "--recipes", &recipes],
    );
}

#[test]
fn a_run_that_is_resumed_leads_nowhere_else_than_before() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("resumed"));
    let (plan, results) = (
        scratch.write("plan.toml", plans::KERNEL),
        scratch.path("results"),
    );
    assert_ran(&output(&["run", &plan, "-o", &results]));
    let kept = format!("{results}/recipes/linux-ipv4.toml");
    let recipe = std::fs::read_to_string(&kept).expect("a recipe");
    std::fs::write(&kept, recipe.replace("198.19.0.", "240.0.0.")).expect("written");
    let trials = std::fs::read_to_string(format!("{results}/trials.jsonl")).expect("trials");
    std::fs::write(
        format!("{results}/trials.jsonl"),
        trials.lines().next().expect("a trial").to_owned() + "\n",
    )
    .expect("written");
    assert_refused(&scratch, &["run", "--resume", &results, "--trust-recipes"]);
    assert_refused(
        &scratch,
        &[
            "run",
            &format!("{results}/resolved.toml"),
            "--trust-recipes",
            "-o",
            &scratch.path("again"),
        ],
    );
}

#[test]
fn neither_ends_nor_varying_addresses_nor_subscribers_nor_an_import_lead_outside() {
    let scratch = Scratch::new("outside");
    for (recipe, name, changes) in [
        (
            "linux-ipv4",
            "wild-end",
            &[
                ("\"198.18.0.2\"", "\"240.0.0.2\""),
                ("198.18.0.1/30", "240.0.0.1/30"),
            ][..],
        ),
        (
            "linux-ipv4",
            "wild-routes",
            &[("\"198.18.0.0/16\"", "\"0.0.0.0/0\"")],
        ),
        (
            "linux-ip6tnl-lw4o6",
            "wild-lw4o6",
            &[("192.0.2.", "240.0.0.")],
        ),
        ("linux-sit-6rd", "wild-6rd", &[("2001:db8:", "100:db8:")]),
    ] {
        scratch.write(
            &format!("recipes/{name}.toml"),
            &changed(recipe, name, changes),
        );
    }
    let siitperf = include_str!("../../../siitperf-import/tests/siitperf.conf")
        .replace("198.19.0.2", "240.0.0.2");
    let (configuration, imported) = (
        scratch.write("siitperf.conf", &siitperf),
        scratch.path("imported"),
    );
    let import = output(&["import", &configuration, "-o", &imported]);
    assert!(
        text(&import.stderr).contains("a run of this plan would be refused: 240.0.0."),
        "{}",
        text(&import.stderr)
    );
    // The machine of the test need not have the cores of the imported configuration, which are checked first.
    let of_import = format!("{imported}/plan.toml");
    let plan = fs::read_to_string(&of_import).expect("a plan");
    let lines = plan
        .lines()
        .filter(|line| !line.starts_with("tester-cores"));
    fs::write(&of_import, lines.collect::<Vec<_>>().join("\n")).expect("the plan without cores");
    let (recipes, results) = (scratch.path("recipes"), scratch.path("results"));
    let vary = "dut = \"wild-routes\"\nleft-addresses = { range = \"0-65535\", ipv4-offset = 0 }";
    let carry = "dut = \"wild-routes\"\nleft-addresses = { range = \"65536-131072\" }";
    let tests = [
        "dut = \"wild-end\"",
        vary,
        carry,
        "dut = \"wild-lw4o6\"",
        "dut = \"wild-6rd\"\nsubscribers = 10",
    ];
    let written = tests
        .iter()
        .enumerate()
        .map(|(i, test)| scratch.write(&format!("plan{i}.toml"), &plans::of_test(test)));
    for plan in written.chain([of_import]) {
        assert_refused(
            &scratch,
            &["run", &plan, "--recipes", &recipes, "-o", &results],
        );
        assert!(!Path::new(&results).exists(), "{plan}: nothing was touched");
    }
}

#[test]
fn hostile_texts_and_names_reach_no_terminal_and_no_path() {
    let scratch = Scratch::new("hostile");
    let title = plans::of_test("title = \"a\\u001b]0;owned\\u0007\"\ndut = \"linux-ipv4\"");
    let name = plans::of_test("dut = \"../../x\\u001b[2J\"");
    for (plan, told) in [
        (title, "a title is one line of text"),
        (name, "expected the name of a recipe"),
    ] {
        let plan = scratch.write("plan.toml", &plan);
        let output = output(&["check", &plan]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(
            error.contains(told) && !error.contains('\u{1b}') && !error.contains('\u{7}'),
            "{error:?}"
        );
    }
    let hostile = "\u{1b}[30m\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";
    for arguments in [
        &["list", hostile][..],
        &[hostile],
        &["check", hostile],
        &["explain", hostile],
    ] {
        let output = output(arguments);
        let all = text(&output.stderr) + &text(&output.stdout);
        assert!(
            !all.contains(|c| is_control(c) && c != '\n') && all.contains("\\u009b2J\\u202e"),
            "{arguments:?}: {all:?}"
        );
    }
    let script = scratch.write("hostile.sh", "printf '\\033[30mhidden' >&2; exit 1\n");
    let setup = format!("[[setup]]\nrun = \"sh {script}\"\n");
    scratch.write("recipes/failing.toml", &router("failing", "fails", &setup));
    let failed = output(&[
        "trial",
        "failing",
        "--rate",
        "100",
        "--for",
        "100ms",
        "--recipes",
        &scratch.path("recipes"),
    ]);
    let error = text(&failed.stderr);
    assert!(
        error.contains("\\u001b[30mhidden") && !error.contains('\u{1b}'),
        "{error:?}"
    );
    let version = changed(
        "linux-ipv4",
        "liar",
        &[("uname -sr", "printf \\\\033]0;owned\\\\007v1")],
    );
    scratch.write("recipes/liar.toml", &version);
    let plan = scratch.write(
        "liar.toml",
        &plans::KERNEL.replace("\"linux-ipv4\"", "\"liar\""),
    );
    let results = scratch.path("results");
    let said = output(&[
        "run",
        &plan,
        "-o",
        &results,
        "--recipes",
        &scratch.path("recipes"),
    ]);
    let (all, status) = (text(&said.stderr) + &text(&said.stdout), said.status.code());
    let facts = std::fs::read_to_string(format!("{results}/facts.json")).unwrap_or_default();
    assert!(
        facts.contains("\\\\u001b]0;owned\\\\u0007v1"),
        "{all:?}: {facts}"
    );
    assert!(
        !all.contains('\u{1b}') && all.contains("\\u001b]0;owned\\u0007v1"),
        "{status:?}: {all:?}"
    );
}
