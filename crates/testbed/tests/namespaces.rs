//! Tests the testbed in real namespaces. These tests need root, and fail rather than skip without it.

#[path = "it/common/mod.rs"]
mod common;

use common::{
    assert_nothing_left, directories, is_for_hosts, is_for_the_tester, library, the_lab, tried_here,
};
use sixbench_testbed::existing::OwnAddresses;
use sixbench_testbed::facts::Machine;
use sixbench_testbed::namespace::{self, Namespace, name};
use sixbench_testbed::recipe::RecipeCommand;
use sixbench_testbed::{Cores, Devices, DutOptions, LinkSettings, Shell, Topology, existing};
use std::io::{BufRead as _, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn cores() -> Cores {
    Cores {
        tester: vec![0],
        dut: vec![1],
    }
}

fn build(shell: &Shell, run: &str) -> Topology {
    Topology::build_chain(shell, run, cores(), LinkSettings::of_mtu(1500), 1)
        .expect("a testbed (these tests need root)")
}

fn exists(name: &str) -> bool {
    Path::new("/run/netns").join(name).exists()
}

/// Returns true if no namespace, directory or process with this name exists.
fn is_gone(name: &str) -> bool {
    let bears_it = |process: std::fs::DirEntry| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(name)
    };
    let lives = std::fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(Result::ok)
        .any(bears_it);
    !exists(name) && directories::of_name(name).is_none() && !lives
}

#[test]
fn the_offloads_of_an_interface_are_facts_and_rings_that_it_has_not_are_none() {
    let topology = build(&Shell::new(), "facts");
    let dut = topology.duts()[0].shell();
    let offloads = || {
        let facts = Machine::read(&dut, &["left"]).facts(&[], &["left"]);
        assert!(
            !facts
                .keys()
                .any(|name| name.starts_with("left: ring") || name.starts_with("left: driver")),
            "{facts:?}"
        );
        facts["left: offloads"]
            .split(", ")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for (word, is_on) in [("on", true), ("off", false)] {
        dut.line(&format!("ethtool -K left gro {word}"))
            .expect("ethtool");
        assert_eq!(
            offloads()
                .iter()
                .any(|name| name == "generic-receive-offload"),
            is_on
        );
    }
}

#[test]
fn a_topology_is_built_quiet_and_gone_afterwards() {
    let shell = Shell::new();
    let topology = build(&shell, "top");
    let dut = topology.duts()[0].shell();
    let mask = dut
        .look(&["cat", "/sys/class/net/left/queues/rx-0/rps_cpus"])
        .expect("mask");
    assert_eq!(mask.trim().trim_start_matches('0'), "2");
    let forwarding = dut
        .look(&["cat", "/proc/sys/net/ipv6/conf/left/forwarding"])
        .expect("switch");
    assert_eq!(forwarding.trim(), "1");
    let addresses = topology
        .tester()
        .shell()
        .look(&["ip", "-brief", "address"])
        .expect("addresses");
    assert!(
        !addresses.contains("fe80"),
        "the tester's kernel must be silent: {addresses}"
    );
    let names = [
        topology.duts()[0].name().to_owned(),
        topology.tester().name().to_owned(),
    ];
    assert!(names.iter().all(|name| exists(name)));
    drop(topology);
    assert!(!names.iter().any(|name| exists(name)));
    // A veth is removed with its peer, and none has ever been outside.
    let outside = shell.look(&["ip", "-brief", "link"]).expect("links");
    assert!(
        !outside
            .lines()
            .any(|l| l.starts_with("left") || l.starts_with("right")),
        "{outside}"
    );
}

/// The others are tried with traffic, here between hosts and in `runner` by the tester.
#[test]
fn every_server_comes_up_and_leaves_nothing() {
    let library = library();
    let servers = tried_here(&library)
        .into_iter()
        .filter(|recipe| !is_for_hosts(recipe) && !is_for_the_tester(recipe));
    let mut tried = 0;
    for recipe in servers {
        // The path of a server's socket has at most 107 octets.
        let run = format!("r-{}", &recipe.name[..5]);
        let topology = build(&Shell::new(), &run);
        let mut devices =
            Devices::bring_up(recipe, &topology, &DutOptions::default()).expect("a device");
        devices.check_alive().expect("alive");
        assert!(!devices.facts().version.is_empty(), "{}", recipe.name);
        drop((devices, topology));
        assert_nothing_left(&run);
        tried += 1;
    }
    assert!(tried > 0);
}

#[test]
fn a_panic_in_the_middle_leaves_nothing() {
    let shell = Shell::new();
    let name = namespace::name("panic", "dut");
    let result = catch_unwind(AssertUnwindSafe(|| {
        let topology = build(&shell, "panic");
        let _dut = Devices::bring_up(
            library().get("tayga-siit").expect("a recipe"),
            &topology,
            &DutOptions::default(),
        )
        .expect("a device");
        assert!(exists(&name));
        panic!("in the middle");
    }));
    assert!(result.is_err());
    assert!(is_gone(&name));
}

#[test]
fn a_daemon_dies_with_the_thread_that_started_it() {
    let log = std::env::temp_dir().join(format!("sb-{}-thread.log", std::process::id()));
    let words = ["sleep", "60"].map(str::to_owned);
    let start = || {
        let child = Shell::new()
            .start("0", &words, &log)
            .expect("started")
            .expect("a child");
        // Wait until it has passed setpriv, which requests its death with the parent.
        let number = child.process().expect("of this machine");
        while std::fs::read_to_string(format!("/proc/{number}/comm"))
            .expect("a name")
            .trim()
            != "sleep"
        {
            std::thread::yield_now();
        }
        child
    };
    let mut child = std::thread::scope(|scope| scope.spawn(start).join().expect("joined"));
    let end = Instant::now() + Duration::from_secs(60);
    while child.ended().is_none() && Instant::now() < end {
        std::thread::yield_now();
    }
    let status = child.ended().expect("ended");
    std::fs::remove_file(&log).expect("removed");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
}

#[test]
fn a_directory_somebody_else_made_is_not_used() {
    let shell = Shell::new();
    let topology = build(&shell, "theirs");
    let theirs = std::env::temp_dir().join(topology.duts()[0].name());
    std::fs::create_dir(&theirs).expect("a directory");
    let devices = Devices::bring_up(
        library().get("linux-ipv4").expect("a recipe"),
        &topology,
        &DutOptions::default(),
    )
    .expect("a device");
    let own = directories::of_name(topology.duts()[0].name()).expect("a directory");
    assert_ne!(own, theirs);
    drop(devices);
    assert!(theirs.exists() && !own.exists());
    std::fs::remove_dir(&theirs).expect("removed");
}

#[test]
fn a_daemon_that_is_not_installed_is_told_by_its_name() {
    let shell = Shell::new();
    let topology = build(&shell, "nodaemon");
    let mut recipe = library().get("linux-ipv4").expect("a recipe").clone();
    recipe.daemon = Some(toml::from_str("run = \"sb-no-such-daemon -n\"").expect("a step"));
    let error = Devices::bring_up(&recipe, &topology, &DutOptions::default())
        .expect_err("an error")
        .to_string();
    assert!(
        error.contains("cannot run sb-no-such-daemon: it is not on the PATH"),
        "{error}"
    );
}

#[test]
fn a_step_that_fails_is_told_and_undone() {
    let shell = Shell::new();
    let topology = build(&shell, "fail");
    let mut recipe = library().get("linux-ipv4").expect("a recipe").clone();
    recipe
        .setup
        .push(toml::from_str("run = \"ip link set nosuch up\"").expect("a step"));
    let error = Devices::bring_up(&recipe, &topology, &DutOptions::default())
        .expect_err("an error")
        .to_string();
    assert!(
        error.contains("ip link set nosuch up` failed") && error.contains("nosuch"),
        "{error}"
    );
    assert_eq!(directories::of_name(topology.duts()[0].name()), None);
}

#[test]
fn a_daemon_that_dies_is_noticed_with_its_last_words() {
    let shell = Shell::new();
    let topology = build(&shell, "dead");
    let mut recipe = library().get("linux-ipv4").expect("a recipe").clone();
    recipe.daemon = Some(toml::from_str("run = \"ls /no/such/file\"").expect("a step"));
    let mut dut = Devices::bring_up(&recipe, &topology, &DutOptions::default()).expect("a device");
    let end = Instant::now() + Duration::from_secs(60);
    let error = loop {
        match dut.check_alive() {
            Err(error) => break error.to_string(),
            Ok(()) => assert!(Instant::now() < end, "it is still alive"),
        }
        std::thread::yield_now();
    };
    assert!(
        error.contains("ended by itself") && error.contains("/no/such/file"),
        "{error}"
    );
}

#[test]
fn what_a_killed_run_left_is_swept_up_with_its_processes() {
    let shell = Shell::new();
    // The ID of a process that has ended, as left behind by a killed run.
    let mut child = std::process::Command::new("true").spawn().expect("true");
    let dead = child.id();
    child.wait().expect("ended");
    let name = format!("sb-{dead}-dut");
    std::mem::forget(Namespace::new(&shell, &name).expect("a namespace"));
    std::fs::create_dir(std::env::temp_dir().join(format!("sb-{dead}.52-dut")))
        .expect("a directory");
    assert!(directories::of_name(&name).is_some());
    let mut sleeper = std::process::Command::new("ip")
        .args(["netns", "exec", &name, "sleep", "60"])
        .spawn()
        .expect("sleep");
    while shell
        .look(&["ip", "netns", "pids", &name])
        .expect("pids")
        .trim()
        .is_empty()
    {
        std::thread::yield_now();
    }
    let swept = sixbench_testbed::sweep(&shell).expect("swept");
    assert!(swept.contains(&name));
    assert!(is_gone(&name));
    assert!(!sleeper.wait().expect("ended").success());
}

#[test]
fn a_rehearsal_writes_the_same_commands_and_does_nothing() {
    let rehearsal = Shell::rehearsal();
    let topology = build(&rehearsal, "reh");
    let _dut = Devices::bring_up(
        library().get("tayga-siit").expect("a recipe"),
        &topology,
        &DutOptions::default(),
    )
    .expect("rehearsed");
    assert!(!exists(topology.duts()[0].name()));
    let script = rehearsal.transcript().text();
    assert!(
        script.contains("tayga -c") && script.contains("cat > "),
        "{script}"
    );
}

#[test]
fn the_transcript_builds_and_removes_the_same_by_hand() {
    build_by_hand("tayga-siit", "hand");
}

#[test]
fn so_does_that_of_a_virtual_machine() {
    the_lab();
    build_by_hand("jool-siit", "labhand");
}

fn build_by_hand(recipe: &str, run: &str) {
    let rehearsal = Shell::rehearsal();
    let topology = build(&rehearsal, run);
    let name = topology.duts()[0].name().to_owned();
    let library = library();
    let recipe = library.get(recipe).expect("a recipe");
    drop(Devices::bring_up(recipe, &topology, &DutOptions::default()).expect("rehearsed"));
    drop(topology);
    // A run waits until the daemon is ready before it measures. If that never happens, the shell's own timeout ends the wait.
    let wait =
        |step: &RecipeCommand| format!("until ip netns exec {name} {}; do :; done\n", step.run);
    let measure = format!(
        "\n{}rm -r ",
        recipe.ready.as_ref().map(wait).unwrap_or_default()
    );
    let script = rehearsal.transcript().text().replace("\nrm -r ", &measure);
    assert!(script.contains(&measure), "{script}");
    let result = Shell::new().run(&["sh", "-ec", &script]);
    // A script that stopped halfway has not removed anything.
    for role in ["dut", "tester"] {
        let _ = Shell::new().look(&["ip", "netns", "del", &namespace::name(run, role)]);
    }
    result.expect("a script that runs");
    // The script kills its processes without waiting for them to end.
    let end = Instant::now() + Duration::from_secs(60);
    while !is_gone(&name) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(is_gone(&name));
}

/// Creates a machine with an interface `nic0` cabled to another one, and runs `commands` on it.
fn machine(run: &str, commands: &[&str]) -> [Namespace; 2] {
    let shell = Shell::new();
    let [machine, device] = ["machine", "device"]
        .map(|role| Namespace::new(&shell, &name(run, role)).expect("a namespace"));
    let add = format!(
        "ip link add nic0 netns {} type veth peer name nic0 netns {}",
        machine.name(),
        device.name()
    );
    shell.line(&add).expect("a link");
    for end in [&machine, &device] {
        end.shell().line("ip link set nic0 up").expect("up");
    }
    for command in commands {
        drop(machine.shell().line(command).expect(command));
    }
    [machine, device]
}

#[test]
fn an_interface_without_work_of_its_own_is_taken() {
    let [machine, _device] = machine(
        "idle",
        &[
            "ip link add nic1 type veth peer name nic2",
            "ip link set nic1 up",
        ],
    );
    for interface in ["nic0", "nic1", "nic2"] {
        existing::check(&machine.shell(), interface, OwnAddresses::Refused).expect(interface);
    }
}

#[test]
fn an_interface_that_the_host_uses_in_any_way_is_refused_by_the_name_of_the_work() {
    for (run, commands, told) in [
        (
            "main",
            &["ip route add default dev nic0"][..],
            "carries the default route",
        ),
        (
            "six",
            &["ip -6 route add default dev nic0"],
            "carries the default route",
        ),
        (
            "table",
            &[
                "ip route add default dev nic0 table 100",
                "ip rule add from 10.0.0.0/8 lookup 100",
            ],
            "(default dev nic0 table 100",
        ),
        (
            "halves",
            &[
                "ip route add 0.0.0.0/1 dev nic0",
                "ip route add 128.0.0.0/1 dev nic0",
            ],
            "much of the Internet (0.0.0.0/1 dev nic0",
        ),
        (
            "upper",
            &["ip route add 128.0.0.0/1 dev nic0"],
            "much of the Internet (128.0.0.0/1 dev nic0",
        ),
        (
            "global",
            &["ip -6 route add 2000::/3 dev nic0"],
            "much of the Internet (2000::/3 dev nic0",
        ),
        (
            "paths",
            &[
                "ip link add nic9 type veth peer name nic8",
                "ip link set nic9 up",
                "ip route add default nexthop dev nic9 nexthop dev nic0",
            ],
            "default route",
        ),
        (
            "own",
            &["ip route add 10.9.0.0/16 dev nic0 table 7"],
            "ip -4 route del 10.9.0.0/16 dev nic0 table 7",
        ),
        (
            "link",
            &["ip address add 169.254.7.1/16 dev nic0 scope link"],
            "has addresses of this host (169.254.7.1/16)",
        ),
        (
            "host",
            &["ip address add 10.0.0.1/32 dev nic0 scope host"],
            "has addresses of this host (10.0.0.1/32)",
        ),
        // `ip` shows VLANs in the same way, but not every kernel supports them.
        (
            "macvlan",
            &["ip link add link nic0 name mac0 type macvlan mode bridge"],
            "has mac0 on top of it",
        ),
        (
            "vxlan",
            &["ip link add vx0 type vxlan id 5 remote 10.0.0.1 dstport 4789 dev nic0"],
            "has vx0 on top of it",
        ),
        (
            "bridge",
            &["ip link add br0 type bridge", "ip link set nic0 master br0"],
            "belongs to br0",
        ),
        (
            "fifths",
            &["ip route add 8.0.0.0/5 dev nic0"],
            "much of the Internet (8.0.0.0/5 dev nic0",
        ),
        (
            "any",
            &["ip route add local 0.0.0.0/0 dev nic0 table 100"],
            "much of the Internet (local default",
        ),
        (
            "hand",
            &["ip address add fe80::53/64 dev nic0 nodad"],
            "has addresses of this host (fe80::53/64)",
        ),
        (
            "hop",
            &["ip nexthop add id 5 dev nic0"],
            "ip nexthop del id 5",
        ),
    ] {
        let [machine, _device] = machine(run, commands);
        let error = existing::check(&machine.shell(), "nic0", OwnAddresses::Refused)
            .expect_err(run)
            .to_string();
        assert!(
            error.contains("interface nic0") && error.contains(told),
            "{run}: {error}"
        );
    }
}

#[test]
fn an_interface_is_refused_for_what_is_on_top_of_it_in_another_namespace() {
    let [machine, device] = machine(
        "container",
        &["ip link add link nic0 name mac0 type macvlan mode bridge"],
    );
    machine
        .shell()
        .line(&format!("ip link set mac0 netns {}", device.name()))
        .expect("as containers have it");
    device.shell().line("ip link set mac0 up").expect("up");
    for own in [OwnAddresses::Refused, OwnAddresses::Lent] {
        let error = existing::check(&machine.shell(), "nic0", own)
            .expect_err("in use")
            .to_string();
        assert!(
            error.starts_with("interface nic0 also takes frames for ")
                && error.contains("a macvlan in another namespace"),
            "{error}"
        );
    }
}

#[test]
fn an_interface_that_is_named_by_another_name_or_sends_by_another_interface_is_refused() {
    for (run, commands, interface, told) in [
        (
            "name",
            &[
                "ip link property add dev nic0 altname alt0",
                "ip route add default dev nic0",
            ][..],
            "alt0",
            "use nic0",
        ),
        (
            "mac",
            &["ip link add link nic0 name mac0 type macvlan mode bridge"],
            "mac0",
            "of the kind macvlan",
        ),
        (
            "vx",
            &["ip link add vx0 type vxlan id 5 remote 10.0.0.1 dstport 4789"],
            "vx0",
            "of the kind vxlan",
        ),
    ] {
        let [machine, _device] = machine(run, commands);
        for own in [OwnAddresses::Refused, OwnAddresses::Lent] {
            let error = existing::check(&machine.shell(), interface, own)
                .expect_err(run)
                .to_string();
            assert!(error.contains(told), "{run}: {error}");
        }
    }
}

#[test]
fn an_interface_that_carries_a_connection_between_addresses_of_its_link_is_refused() {
    let [machine, device] = machine("session", &["ip address add fe80::53/64 dev nic0 nodad"]);
    device
        .shell()
        .line("ip address add fe80::54/64 dev nic0 nodad")
        .expect("an address");
    let script = "import socket, sys; s = socket.create_server(('::', 7), family=socket.AF_INET6); print(flush=True); kept = s.accept(); sys.stdin.read()";
    let python = |namespace: &Namespace, script: &str| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace.name(), "python3", "-c", script]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3")
    };
    let said = |child: &mut Child| {
        BufReader::new(child.stdout.as_mut().expect("an output")).read_line(&mut String::new())
    };
    let mut server = python(&device, script);
    said(&mut server).expect("it listens");
    let script = "import socket, sys; s = socket.create_connection(('fe80::54%nic0', 7)); print(flush=True); sys.stdin.read()";
    let mut client = python(&machine, script);
    said(&mut client).expect("it is connected");
    let errors = [OwnAddresses::Refused, OwnAddresses::Lent]
        .map(|own| existing::check(&machine.shell(), "nic0", own));
    for mut child in [client, server] {
        let _ = child.kill();
        let _ = child.wait();
    }
    for error in errors {
        let error = error.expect_err("connected").to_string();
        assert!(
            error.contains("carries a TCP connection of this host (from [fe80::"),
            "{error}"
        );
    }
}

#[test]
fn an_interface_whose_addresses_are_lent_may_have_some_but_no_default_route() {
    let [machine, _device] = machine(
        "lent",
        &[
            "ip address add 10.0.0.1/24 dev nic0",
            "ip route add 10.9.0.0/16 via 10.0.0.2",
        ],
    );
    let check = || existing::check(&machine.shell(), "nic0", OwnAddresses::Lent);
    check().expect("addresses and routes come back");
    machine
        .shell()
        .line("ip route add default via 10.0.0.2")
        .expect("a route");
    let error = check().expect_err("a default route").to_string();
    assert!(error.contains("carries the default route"), "{error}");
}
