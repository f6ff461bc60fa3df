//! Tests devices on another machine, over a real sshd in a namespace. They need root and openssh-server, and fail rather than skip without them.

#[path = "it/common/directories.rs"]
mod directories;
#[path = "it/common/room.rs"]
mod room;

use room::{FAR, Room};
use sixbench_method::plan::CoreLimits;
use sixbench_method::record::{CoreRole, CoreWatch, Watch};
use sixbench_testbed::existing::{self, OwnAddresses};
use sixbench_testbed::monitor::{INTERVAL, Monitor};
use sixbench_testbed::recipe::{DeviceHost, System};
use sixbench_testbed::{
    Cores, Devices, DutOptions, Library, LockAttempt, MachineLock, Recipe, RemoteMachine, Shell,
    SshConfig, TestbedError, check_machines,
};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn machine(room: &Room) -> RemoteMachine {
    RemoteMachine::new(
        "dut",
        Some(&SshConfig::new(room.config())),
        FAR.map(str::to_owned),
    )
}

fn reached(room: &Room) -> RemoteMachine {
    machine(room).reach(&Shell::new()).expect("a connection")
}

fn library() -> Library {
    Library::load::<&Path>(&[]).expect("recipes")
}

/// Returns a built-in recipe without its machine-wide sysctls: the size of the connection tracking table cannot be set from a namespace.
fn recipe(name: &str) -> Recipe {
    let mut recipe = library().get(name).expect("a recipe").clone();
    recipe.state.iter_mut().for_each(|state| state.host.clear());
    recipe
}

fn bring_up(room: &Room, run: &str, recipe: &Recipe) -> Result<Devices, String> {
    let options = DutOptions::default();
    Devices::bring_up_on(&[reached(room)], recipe, run, &Shell::new(), &options)
        .map_err(|error| error.to_string())
}

fn is_tried(recipe: &Recipe) -> bool {
    // Unpackaged programs may not be installed here, what this machine's lab built is not on another, and servers need no separate test.
    let is_for_here = recipe.is_for_namespaces() && !recipe.is_bare_wire();
    let can_be_here =
        recipe.host == DeviceHost::Netns && is_for_here && recipe.missing().is_empty();
    can_be_here
        && recipe.built.is_empty()
        && recipe.parts.is_empty()
        && !recipe.untested
        && !recipe.technology.is_dns()
}

#[test]
fn every_recipe_comes_up_on_another_machine_and_leaves_it_as_it_was() {
    let room = Room::build("all");
    let before = room.state();
    for name in library()
        .names()
        .into_iter()
        .filter(|name| is_tried(&recipe(name)))
    {
        let recipe = recipe(name);
        let mut dut =
            bring_up(&room, "all", &recipe).unwrap_or_else(|error| panic!("{name}: {error}"));
        dut.check_alive().expect("alive");
        assert!(!dut.facts().version.is_empty(), "{name}");
        let addresses = room
            .far
            .shell()
            .look(&["ip", "address", "show", "dev", FAR[0]])
            .expect("addresses");
        assert!(
            addresses.contains(&recipe.left.dut[0].to_string()),
            "{name}: {addresses}"
        );
        assert_eq!(
            room.processes().iter().any(|process| process == "tayga"),
            name.starts_with("tayga"),
            "{name}"
        );
        drop(dut);
        room.assert_is_as(&before);
    }
}

#[test]
fn a_wire_without_a_device_is_none_of_another_machine() {
    let room = Room::build("wire");
    let before = room.state();
    let error =
        bring_up(&room, "wire", &recipe("wire-ipv4")).expect_err("there is nothing to set up");
    assert!(
        error.starts_with("wire-ipv4 is no device but a wire from port to port"),
        "{error}"
    );
    room.assert_is_as(&before);
}

#[test]
fn the_facts_of_a_device_have_those_of_its_machine_and_of_its_interfaces() {
    let room = Room::build("facts");
    let dut = bring_up(&room, "facts", &recipe("linux-ipv4")).expect("a device");
    let facts = &dut.facts().machine;
    let own = room
        .far
        .shell()
        .look(&["cat", "/proc/sys/kernel/osrelease"])
        .expect("a release");
    let expected = [
        ("cores", "4"),
        ("frequency governor", "powersave"),
        ("kernel", own.trim()),
    ];
    assert_eq!(
        expected.map(|(name, _)| (name, facts.get(name).map_or("", String::as_str))),
        expected
    );
    for interface in FAR {
        assert!(
            facts[&format!("{interface}: offloads")].contains("tx-checksum-ip-generic"),
            "{facts:?}"
        );
    }
}

/// Returns the customer edge of MAP-T without Jool, which this machine may not have: everything except the translation.
fn ce_without_jool() -> Recipe {
    let mut recipe = recipe("jool-mapt-ce");
    recipe.modules.clear();
    let ignored = "jool_mapt() { :; }\nmodprobe() { :; }\n";
    recipe
        .files
        .iter_mut()
        .for_each(|file| file.content = format!("{ignored}{}", file.content));
    recipe.ready = None;
    recipe.version = toml::from_str("run = \"echo without Jool\"").expect("a command");
    recipe
}

#[test]
fn a_ce_that_puts_its_interface_into_a_namespace_tells_its_facts_and_gives_it_back() {
    let room = Room::build("ce");
    let before = room.state();
    let dut = bring_up(&room, "ce", &ce_without_jool()).expect("a device");
    let seen = room.far.shell().look(&["ip", "-o", "link"]).expect("links");
    assert!(!seen.contains(FAR[0]) && seen.contains("to_napt"), "{seen}");
    for interface in FAR {
        assert!(
            dut.facts()
                .machine
                .contains_key(&format!("{interface}: offloads")),
            "{:?}",
            dut.facts().machine
        );
    }
    let connections = dut.connections().expect("a stateful device");
    assert_eq!(
        (
            connections.empty().expect("emptied"),
            connections.count().expect("a count")
        ),
        (Some(0), Some(0))
    );
    drop((dut, connections));
    room.assert_is_as(&before);
    // The same if the machine has to undo it on its own.
    let dut = bring_up(&room, "ce", &ce_without_jool()).expect("a device");
    assert!(Room::end_sessions(&room.far) > 0);
    room.assert_is_as(&before);
    drop(dut);
}

#[test]
fn a_server_and_its_files_are_gone_as_well() {
    let room = Room::build("dns");
    let before = room.state();
    let mut dut = bring_up(&room, "dns", &recipe("unbound-dns64")).expect("a server");
    dut.restart().expect("started anew");
    let found = directories::of_process(std::process::id(), |role| role == "dns-ssh").pop();
    let directory = found.expect("a directory of the device");
    assert!(directory.join("unbound.conf").exists());
    drop(dut);
    room.assert_is_as(&before);
    assert!(!directory.exists());
}

#[test]
fn a_step_that_fails_half_way_is_told_and_everything_before_it_undone() {
    let room = Room::build("half");
    let before = room.state();
    let mut recipe = recipe("tayga-siit");
    recipe
        .setup
        .push(toml::from_str("run = \"ip link set nosuch up\"").expect("a step"));
    let error = bring_up(&room, "half", &recipe).expect_err("an error");
    assert!(
        error.contains("dut 'ip link set nosuch up'` failed") && error.contains("nosuch"),
        "{error}"
    );
    room.assert_is_as(&before);
}

#[test]
fn what_a_request_to_stop_comes_across_is_done_to_its_end_and_undone() {
    let room = Room::build("stop");
    let before = room.state();
    let [script, begun, ended] = ["slow", "begun", "ended"].map(|name| room.directory.join(name));
    let add = "ip link add sb-slow type veth peer name sb-slower";
    let slow = format!(
        "touch {}; sleep 2; {add}; touch {}\n",
        begun.display(),
        ended.display()
    );
    std::fs::write(&script, slow).expect("a script");
    let mut recipe = recipe("linux-ipv4");
    let step = |line: String| toml::from_str(&format!("run = \"{line}\"")).expect("a step");
    recipe.setup = vec![step(format!("sh {}", script.display()))];
    recipe.teardown = vec![step("ip link del sb-slow".to_owned())];
    let stop = Arc::new(AtomicBool::new(false));
    let (shell, machine, options) = (
        Shell::new().stopped_by(stop.clone()),
        reached(&room),
        DutOptions::default(),
    );
    std::thread::scope(|scope| {
        let up = scope.spawn(|| {
            Devices::bring_up_on(
                std::slice::from_ref(&machine),
                &recipe,
                "stop",
                &shell,
                &options,
            )
            .map(drop)
        });
        while !begun.exists() && !up.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
        }
        stop.store(true, Ordering::Relaxed);
        let error = up.join().expect("no panic").expect_err("interrupted");
        assert!(matches!(error, TestbedError::Interrupted), "{error}");
    });
    // The connection has a process on the far machine.
    drop(machine);
    assert!(
        ended.exists(),
        "a command that was left alone over there would still be at work"
    );
    room.assert_is_as(&before);
}

#[test]
fn a_link_without_a_carrier_is_told_and_undone() {
    let room = Room::build("cable");
    room.near
        .shell()
        .line("ip link set right down")
        .expect("pulled");
    let before = room.state();
    let error = bring_up(&room, "cable", &recipe("linux-ipv4")).expect_err("an error");
    assert!(
        error.contains("interface enp5s0f1 of dut has no carrier"),
        "{error}"
    );
    room.assert_is_as(&before);
}

#[test]
fn what_was_there_before_the_first_step_is_left_alone() {
    let room = Room::build("theirs");
    room.far
        .shell()
        .line("ip link add nat64 type veth peer name theirs")
        .expect("theirs");
    let before = room.state();
    let error = bring_up(&room, "theirs", &recipe("tayga-siit")).expect_err("an error");
    assert!(error.contains("--mktun"), "{error}");
    room.assert_is_as(&before);
    assert!(before.contains("nat64"));
}

#[test]
fn a_panic_in_the_middle_leaves_nothing() {
    let room = Room::build("panic");
    let before = room.state();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _dut = bring_up(&room, "panic", &recipe("tayga-siit")).expect("a device");
        panic!("in the middle");
    }));
    assert!(result.is_err());
    room.assert_is_as(&before);
}

#[test]
fn each_reason_why_there_is_no_connection_is_told() {
    let room = Room::build("refused");
    let refused = |name: &str| {
        let machine = RemoteMachine::new(
            name,
            Some(&SshConfig::new(room.config())),
            FAR.map(str::to_owned),
        );
        machine
            .reach(&Shell::new())
            .expect_err("an error")
            .to_string()
    };
    assert!(
        refused("closed").contains("is it up, does sshd run there"),
        "{}",
        refused("closed")
    );
    assert!(
        refused("refusing").contains("refused our key"),
        "{}",
        refused("refusing")
    );
    assert!(
        refused("unknown").contains("host key is not known"),
        "{}",
        refused("unknown")
    );
    assert!(
        refused("changed").contains("host key has changed"),
        "{}",
        refused("changed")
    );
    let none = RemoteMachine::new("sixbench.invalid", None, FAR.map(str::to_owned))
        .reach(&Shell::new())
        .expect_err("an error")
        .to_string();
    assert!(none.contains("sixbench.invalid: no such name"), "{none}");
}

#[test]
fn interfaces_with_work_of_their_own_are_refused() {
    let room = Room::build("busy");
    let refused = |interfaces: [&str; 2]| {
        let machine = RemoteMachine::new(
            "dut",
            Some(&SshConfig::new(room.config())),
            interfaces.map(str::to_owned),
        )
        .reach(&Shell::new())
        .expect("a connection");
        machine
            .check(&recipe("linux-ipv4"), None, &Shell::new())
            .expect_err("refused")
            .to_string()
    };
    assert!(
        refused(["mgmt", FAR[1]])
            .contains("interface mgmt of dut carries the ssh connection from 10.99.0.1")
    );
    assert!(refused([FAR[0], "none"]).contains("interface none of dut does not exist"));
    let far = room.far.shell();
    far.line(&format!("ip address add 203.0.113.1/24 dev {}", FAR[1]))
        .expect("an address");
    assert!(refused(FAR).contains("has addresses already (203.0.113.1/24)"));
    far.line(&format!("ip link set {} up", FAR[1])).expect("up");
    far.line(&format!("ip route add default dev {}", FAR[1]))
        .expect("a route");
    assert!(refused(FAR).contains("carries the default route"));
}

#[test]
fn what_a_recipe_needs_and_the_machine_lacks_is_told_before_anything_is_done() {
    let room = Room::build("lacks");
    let check = |recipe: &Recipe| {
        reached(&room)
            .check(recipe, None, &Shell::new())
            .expect_err("refused")
            .to_string()
    };
    let mut router = recipe("linux-ipv4");
    router
        .needs
        .push(toml::from_str("program = \"sb-none\"\npackage = \"sb-package\"").expect("a need"));
    assert_eq!(
        check(&router),
        "cannot run sb-none: not installed (on dut: apt-get install sb-package)"
    );
    let mut router = recipe("linux-ipv4");
    router.modules = vec!["sb_none".to_owned(), "jool_none".to_owned()];
    let without = "the kernel of dut has no module jool_none, which linux-ipv4 needs: install it there (the running kernel)";
    assert_eq!(check(&router), without);
    let mut router = recipe("linux-ipv4");
    router.system = System::Openbsd;
    assert!(
        check(&router).contains("linux-ipv4 is a recipe for OpenBSD, but dut runs Linux"),
        "{}",
        check(&router)
    );
    let mut router = recipe("linux-ipv4");
    router.host = DeviceHost::Manual;
    assert!(
        check(&router).contains("linux-ipv4 is set up by hand"),
        "{}",
        check(&router)
    );
}

#[test]
fn machines_that_do_not_make_the_row_of_a_recipe_are_refused_and_left_as_they_were() {
    let room = Room::build_row("rows");
    let before = room.state();
    let [left, right] = FAR;
    let machine = |name: &str, interfaces: [&str; 2]| {
        let machine = RemoteMachine::new(
            name,
            Some(&SshConfig::new(room.config())),
            interfaces.map(str::to_owned),
        );
        machine.reach(&Shell::new()).expect("a connection")
    };
    let refused = |machines: &[RemoteMachine], recipe: &Recipe| {
        check_machines(machines, recipe, &CoreLimits::default(), &Shell::new())
            .expect_err("refused")
            .to_string()
    };
    let (first, second, row) = (
        machine("dut", FAR),
        machine("second", FAR),
        recipe("linux-ipv4-row"),
    );
    let one = refused(std::slice::from_ref(&first), &row);
    assert!(
        one.contains(
            "consists of 2 devices in a row, but dut is one machine: name a machine for each"
        ),
        "{one}"
    );
    let two = refused(&[first.clone(), second.clone()], &recipe("linux-ipv4"));
    assert!(
        two.contains(
            "linux-ipv4 is one device, but `host` names 2 machines in a row (dut, second)"
        ),
        "{two}"
    );
    let same = refused(&[first.clone(), machine("10.99.0.2", FAR)], &row);
    assert!(same.contains("dut and 10.99.0.2 are one machine"), "{same}");
    check_machines(
        &[first.clone(), second],
        &row,
        &CoreLimits::default(),
        &Shell::new(),
    )
    .expect("a row");
    let crossed = [first, machine("second", [right, left])];
    let up = Devices::bring_up_on(
        &crossed,
        &row,
        "rows",
        &Shell::new(),
        &DutOptions::default(),
    );
    // A connection has a process on the far machine.
    drop(crossed);
    let crossed = up.map(drop).expect_err("cabled otherwise").to_string();
    assert!(
        crossed.contains(
            "which is not enp5s0f1 of second, with the address 10.0.0.2 at its interface enp5s0f1"
        ),
        "{crossed}"
    );
    assert!(
        crossed.ends_with("is it cabled to enp5s0f1 of second?"),
        "{crossed}"
    );
    room.assert_is_as(&before);
}

#[test]
fn a_daemon_can_be_started_anew_and_its_death_is_noticed_with_its_last_words() {
    let room = Room::build("daemon");
    let mut dut = bring_up(&room, "daemon", &recipe("tayga-siit")).expect("a device");
    let tayga = || {
        Shell::new()
            .look(&["ip", "netns", "pids", room.far.name()])
            .expect("processes")
    };
    let first = tayga();
    dut.reset().expect("reset");
    dut.restart().expect("ready again");
    assert_ne!(tayga(), first);
    assert_eq!(
        room.processes()
            .iter()
            .filter(|process| *process == "tayga")
            .count(),
        1
    );
    dut.check_alive().expect("alive");
    drop(dut);
    let mut recipe = recipe("linux-ipv4");
    recipe.daemon = Some(toml::from_str("run = \"ls /no/such/file\"").expect("a step"));
    let mut dut = bring_up(&room, "daemon", &recipe).expect("a device");
    let end = Instant::now() + Duration::from_secs(60);
    while dut.check_alive().is_ok() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let error = dut.check_alive().expect_err("dead").to_string();
    assert!(
        error.contains("ended by itself (exit status: 2)") && error.contains("/no/such/file"),
        "{error}"
    );
}

#[test]
fn connections_are_counted_and_deleted_over_ssh() {
    let room = Room::build("state");
    let dut = bring_up(&room, "state", &recipe("nft-nat44")).expect("a gateway");
    let table = dut.connections().expect("a table");
    let entry =
        "conntrack -I -p udp -s 10.0.0.2 -d 198.18.0.2 --sport 4000 --dport 53 --timeout 600";
    room.far.shell().line(entry).expect("an entry");
    assert_eq!(
        table.count().expect("a count"),
        Some(1),
        "and not that over which we ask"
    );
    assert_eq!(table.empty().expect("emptied"), Some(0));
    table.tear_down().expect("a time");
}

/// Runs a command on the far machine, which has its own view.
fn over_there(room: &Room, command: &str) -> String {
    Shell::new()
        .look(&[
            "ssh",
            "-F",
            &room.config().display().to_string(),
            "dut",
            command,
        ])
        .expect("an answer")
}

fn watched(dut: &Devices, meanwhile: impl FnOnce()) -> Watch {
    let monitor = Monitor::start(
        &Cores {
            tester: vec![],
            dut: vec![],
        },
        dut.watched(),
    );
    meanwhile();
    monitor.stop()
}

fn idle_percent(cores: &[CoreWatch]) -> f64 {
    let samples: Vec<f64> = cores
        .iter()
        .flat_map(|core| &core.samples)
        .map(|sample| f64::from(sample.idle) / 10.0)
        .collect();
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Returns true if the far machine has as many samples as this one, except at either end, and the same amount of work.
fn is_seen_alike(watch: &Watch) -> bool {
    let is_as_long = |samples: usize| samples.abs_diff(watch.cores[0].samples.len()) <= 2;
    let [device] = &watch.devices[..] else {
        return false;
    };
    let (seen, real) = (idle_percent(&device.cores), idle_percent(&watch.cores));
    let has_all = device
        .cores
        .iter()
        .all(|core| is_as_long(core.samples.len()))
        && is_as_long(device.memory.len());
    has_all && real < 99.0 && (seen - real).abs() < 10.0
}

#[test]
fn the_cores_and_the_memory_of_the_machine_are_watched_for_the_time_of_a_trial() {
    let room = Room::build("watch");
    let before = room.state();
    let dut = bring_up(&room, "watch", &recipe("linux-ipv4")).expect("a device");
    let shells = || {
        room.processes()
            .iter()
            .filter(|process| *process == "sh")
            .count()
    };
    let at_rest = shells();
    let watch = |_| {
        watched(&dut, || {
            // Creates a visible load, because the machine may otherwise be idle.
            let end = Instant::now() + INTERVAL * 20;
            while Instant::now() < end {}
            // On a busy machine, one of an earlier command may still be ending.
            let is_alone = (0..500).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                shells() == at_rest + 1
            });
            assert!(is_alone, "one shell: {} beside {at_rest}", shells());
        })
    };
    // On a busy machine, the shell may not have time for some samples.
    let watch = (0..10)
        .map(watch)
        .find(is_seen_alike)
        .expect("a device that is seen as this machine is");
    let [device] = &watch.devices[..] else {
        panic!("one device, not {}", watch.devices.len())
    };
    assert_eq!(device.device, "linux-ipv4");
    // The far machine is the same as this one, except for its network.
    let numbers = |cores: &[CoreWatch]| cores.iter().map(|core| core.core).collect::<Vec<_>>();
    assert_eq!(numbers(&device.cores), numbers(&watch.cores));
    assert!(
        device.cores.iter().all(|core| core.role == CoreRole::Dut),
        "{device:?}"
    );
    assert!(
        device.memory.iter().all(|octets| *octets > 1 << 20),
        "{device:?}"
    );
    assert_eq!(shells(), at_rest, "it ends with the trial");
    drop(dut);
    room.assert_is_as(&before);
}

#[test]
fn what_cannot_be_seen_or_not_to_the_end_is_left_out_and_the_device_goes_on() {
    let room = Room::build("unseen");
    let mut dut = bring_up(&room, "unseen", &recipe("linux-ipv4")).expect("a device");
    let kill_the_shell = || {
        let pids = Shell::new()
            .look(&["ip", "netns", "pids", room.far.name()])
            .expect("processes");
        let command_line = |pid: &&str| {
            std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
        };
        let is_the_shell = |pid: &&str| {
            command_line(pid).starts_with("sh") && command_line(pid).contains("/proc/meminfo")
        };
        let shell = pids
            .split_whitespace()
            .find(is_the_shell)
            .expect("a shell that looks");
        Shell::new()
            .look(&["sh", "-c", &format!("kill -s KILL {shell}")])
            .expect("killed");
    };
    // The monitor has to take one more sample. On a busy machine it may not get to, and then gets twice the time.
    let watched_for = |doublings: u32| {
        watched(&dut, || {
            kill_the_shell();
            std::thread::sleep(INTERVAL * (1 << doublings));
        })
    };
    let watch = (1..10)
        .map(watched_for)
        .find(|watch| watch.devices.is_empty())
        .expect("a device that was not seen to the end");
    assert!(!watch.cores.is_empty(), "this machine was seen");
    over_there(&room, "mount --bind /dev/null /proc/stat");
    assert_eq!(watched(&dut, || ()).devices, []);
    dut.check_alive().expect("alive");
}

#[test]
fn a_machine_that_hangs_is_noticed_and_what_it_has_is_undone_when_it_is_back() {
    let room = Room::build("hang");
    let before = room.state();
    let mut dut = bring_up(&room, "hang", &recipe("linux-ipv4")).expect("a device");
    dut.check_alive().expect("alive");
    room.near
        .shell()
        .line("ip link set mgmt down")
        .expect("unplugged");
    let begun = Instant::now();
    let error = dut.check_alive().expect_err("silent").to_string();
    assert!(
        error.starts_with("the connection to dut is lost: it did not answer within 10 s"),
        "{error}"
    );
    drop(dut);
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    room.near
        .shell()
        .line("ip link set mgmt up")
        .expect("plugged in");
    // sshd would eventually notice, but a test cannot wait for that.
    Room::end_sessions(&room.far);
    room.assert_is_as(&before);
}

fn online(room: &Room) -> String {
    over_there(room, "cat /sys/devices/system/cpu/cpu*/online")
        .split_whitespace()
        .collect()
}

#[test]
fn cores_beyond_those_of_the_plan_are_taken_offline_and_come_back() {
    let room = Room::build("cores");
    let up = |cores| {
        let options = DutOptions {
            cores: CoreLimits::every(cores),
            ..DutOptions::default()
        };
        Devices::bring_up_on(
            &[reached(&room)],
            &recipe("linux-ipv4"),
            "cores",
            &Shell::new(),
            &options,
        )
    };
    assert_eq!(online(&room), "111");
    let dut = up(2).expect("a device");
    assert_eq!(online(&room), "100");
    drop(dut);
    assert_eq!(online(&room), "111");
    let error = up(5).expect_err("refused").to_string();
    assert!(
        error.contains("requires 5 cores for the DUT, but dut has only 4 online"),
        "{error}"
    );
}

/// An `ethtool` that keeps the hash fields of each interface and flow in a file, initially those of addresses alone; it does nothing else.
const CARD: &str = r#"#!/bin/sh
[ "$3" = rx-flow-hash ] || exit 0
file=/run/hash-$2-$4
case $1 in
-N) echo "$5" >"$file" ;;
-n) fields=$(cat "$file" 2>/dev/null || echo sd)
    case $fields in *s*) echo "IP SA" ;; esac
    case $fields in *d*) echo "IP DA" ;; esac
    case $fields in *f*) echo "L4 bytes 0 & 1 [TCP/UDP src port]" ;; esac
    case $fields in *n*) echo "L4 bytes 2 & 3 [TCP/UDP dst port]" ;; esac ;;
esac
"#;

fn bring_up_with_hash(room: &Room, fields: &str) -> Result<Devices, TestbedError> {
    let options = DutOptions {
        rss_hash: Some(fields.to_owned()),
        ..DutOptions::default()
    };
    Devices::bring_up_on(
        &[reached(room)],
        &recipe("linux-ipv4"),
        "hash",
        &Shell::new(),
        &options,
    )
}

#[test]
fn the_hash_of_the_devices_cards_is_set_and_restored() {
    let room = Room::build("hash");
    let card = std::env::temp_dir().join(format!("sb-card-{}", std::process::id()));
    std::fs::write(&card, CARD).expect("a file");
    let card = card.display();
    over_there(
        &room,
        &format!("chmod +x {card} && mount --bind {card} $(command -v ethtool)"),
    );
    let held = || {
        over_there(
            &room,
            "cat /run/hash-*-udp4 /run/hash-*-udp6 2>/dev/null || true",
        )
    };
    let dut = bring_up_with_hash(&room, "sdfn").expect("a device");
    assert_eq!(
        held().split_whitespace().collect::<Vec<_>>(),
        ["sdfn"; 4],
        "both flows of both interfaces"
    );
    let facts = format!("{:?}", dut.facts());
    drop(dut);
    assert_eq!(
        held().split_whitespace().collect::<Vec<_>>(),
        ["sd"; 4],
        "restored"
    );
    std::fs::remove_file(card.to_string()).expect("the file");
    assert!(facts.contains("sdfn"), "{facts}");
}

#[test]
fn a_card_without_a_hash_is_refused_by_name() {
    let room = Room::build("nohash");
    let before = room.state();
    let error = bring_up_with_hash(&room, "sdfn")
        .expect_err("veth has no hash")
        .to_string();
    assert!(
        error.contains("`dut-rss-hash` on the machine dut")
            && error.contains("it has no such setting"),
        "{error}"
    );
    room.assert_is_as(&before);
}

#[test]
fn a_rehearsal_writes_the_same_commands_and_reaches_nobody() {
    let rehearsal = Shell::rehearsal();
    let machine = RemoteMachine::new("dut", None, FAR.map(str::to_owned));
    let options = DutOptions::default();
    let dut = Devices::bring_up_on(
        std::slice::from_ref(&machine),
        &recipe("tayga-siit"),
        "reh",
        &rehearsal,
        &options,
    )
    .expect("rehearsed");
    drop(dut);
    let script = rehearsal.transcript().text();
    for line in [
        "\nssh dut 'ip link set enp5s0f0 up'\n",
        "\nssh dut 'ip address add 2001:2::1/64 dev enp5s0f0 nodad'\n",
        "\nssh dut 'cat > /tmp/sb-",
        "\nssh dut 'ip link del nat64'\n",
        "\nssh dut 'ip address del 2001:2::1/64 dev enp5s0f0'\n",
    ] {
        assert!(script.contains(line), "{line}{script}");
    }
}

#[test]
fn an_interface_that_carries_a_connection_is_not_lent() {
    let room = Room::build("lent");
    let check = || existing::check(&room.near.shell(), "mgmt", OwnAddresses::Lent);
    check().expect("nothing is connected yet");
    let _reached = reached(&room);
    let error = check().expect_err("ssh is connected over it").to_string();
    assert!(
        error.contains("interface mgmt carries a TCP connection of this host (from 10.99.0.1:"),
        "{error}"
    );
}

fn lock(room: &Room, tester: &str) -> LockAttempt {
    MachineLock::take(machine(room).remote(), tester, &Shell::new()).expect("an answer")
}

/// Returns the holder of the machine's lock, or `None` if it was free.
fn holder(room: &Room, tester: &str) -> Option<String> {
    match lock(room, tester) {
        LockAttempt::Taken(_) => None,
        LockAttempt::Held(by) => Some(by),
        LockAttempt::Unsupported => panic!("flock (util-linux) is everywhere"),
    }
}

#[test]
fn a_machine_is_one_testers_until_its_session_ends() {
    let room = Room::build("lock");
    let first = lock(&room, "{\"name\": \"it's first\"}");
    assert!(matches!(first, LockAttempt::Taken(_)), "{first:?}");
    assert_eq!(
        holder(&room, "second").as_deref(),
        Some("{\"name\": \"it's first\"}")
    );
    drop(first);
    assert_eq!(holder(&room, "second"), None);
    assert_eq!(room.processes(), Vec::<String>::new());
}

#[test]
fn a_machine_that_measures_itself_is_nobodys_device_meanwhile() {
    let room = Room::build("lock-run");
    let script = "echo 'a run there' > /run/sixbench/7-0.json; exec flock /run/sixbench/7-0.json sh -c 'echo locked; exec cat'";
    assert_eq!(holder(&room, "first"), None, "this makes the directory");
    let mut run = Command::new("ssh")
        .args(["-F", &room.config().display().to_string(), "dut", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ssh");
    let mut line = String::new();
    BufReader::new(run.stdout.take().expect("its output"))
        .read_line(&mut line)
        .expect("a line");
    assert_eq!(line, "locked\n");
    assert_eq!(holder(&room, "second").as_deref(), Some("a run there"));
    assert_eq!(
        holder(&room, "a run there"),
        None,
        "this is the run of this tester, on one machine with its device"
    );
    drop(run.stdin.take());
    run.wait().expect("its end");
    assert_eq!(holder(&room, "second"), None);
}
