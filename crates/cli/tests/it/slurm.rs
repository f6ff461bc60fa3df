//! A plan that Slurm distributes, with the files of `plans/slurm`: a controller and two nodes on this machine, one of which fails midway. Needs root,
//! munge and Slurm (`scripts/install-dependencies tests`); without them it fails, it does not skip.

use crate::common::plans::settings;
use crate::common::{Scratch, assert_ran, exported, facts, output, records, start, text};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/slurm");

/// Two devices, with six repetitions that start cold: twelve parts.
const PLAN: &str = concat!(
    "name = \"campaign\"\n",
    settings!("200ms" + "20ms", "1k" to "2k", "50%"),
    r#"start = "cold"
[[test]]
name = "v4"
dut = "linux-ipv4"
frame-sizes = [84]
repetitions = 6
[[test]]
name = "v6"
dut = "linux-ipv6"
frame-sizes = [84]
repetitions = 6
"#
);

/// A process with everything it has started, in a separate PID namespace; dropping it ends all of them as a power failure would.
struct Machine(Child);

impl Machine {
    /// Boots a machine of this name with its own /run, and runs this shell script on it.
    fn boot(scratch: &Scratch, name: &str, script: &str) -> Self {
        let log = || File::create(scratch.0.join(format!("{name}.log"))).expect("a log");
        let script = format!("hostname {name}; mount -t tmpfs none /run; {script}; exit");
        let child = Command::new("setpriv")
            .args([
                "--pdeathsig",
                "KILL",
                "unshare",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount",
                "--uts",
                "--mount-proc",
            ])
            .args(["sh", "-c", &script])
            .stdin(Stdio::null())
            .stdout(log())
            .stderr(log())
            .spawn();
        Self(child.expect("unshare (util-linux; needs root)"))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let pid = self.0.id();
        // The first process of the namespace: the kernel ends all others before it is gone.
        let first =
            fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        let ended = Command::new("sh")
            .args(["-c", "kill -s KILL $1", "sh", first.trim()])
            .status();
        if first.is_empty() || !ended.is_ok_and(|status| status.success()) {
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}

/// A cluster whose machines end before its directory is removed.
struct Cluster {
    nodes: Vec<(&'static str, Machine)>,
    _controller: Machine,
    _munge: Machine,
    scratch: Scratch,
}

impl Cluster {
    fn start(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let [munge, conf] = ["munge", "slurm.conf"].map(|name| scratch.path(name));
        let nodes = ["tb1", "tb2"];
        write_files(&scratch, nodes);
        let words = format!(
            "munged --foreground --force --socket {munge}/socket --key-file {munge}/key --pid-file {munge}/pid --log-file {munge}/log \
             --seed-file {munge}/seed"
        );
        let munge_machine = Machine::boot(&scratch, "munge-host", &words);
        wait_for("munge", || {
            fs::exists(format!("{munge}/socket")).unwrap_or_default()
        });
        let controller = Machine::boot(&scratch, "controller", &format!("slurmctld -D -f {conf}"));
        let boot = |name| {
            (
                name,
                Machine::boot(&scratch, name, &format!("slurmd -D -f {conf} -N {name}")),
            )
        };
        let nodes = nodes.map(boot).into();
        let cluster = Self {
            nodes,
            _controller: controller,
            _munge: munge_machine,
            scratch,
        };
        let is_up = || {
            cluster
                .said("sinfo", &["-h", "-N", "-o", "%T"])
                .lines()
                .filter(|state| *state == "idle")
                .count()
                == 2
        };
        wait_for("two idle nodes", is_up);
        cluster
    }

    /// Returns the output of a Slurm command; empty if it failed, as it does until there is a controller.
    fn said(&self, program: &str, arguments: &[&str]) -> String {
        self.answer(program, arguments).unwrap_or_default()
    }

    /// Returns the output of a Slurm command, or nothing if it failed, as any can while the controller is busy.
    fn answer(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let path = format!(
            "{}:{}",
            self.scratch.path("bin"),
            std::env::var("PATH").unwrap_or_default()
        );
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("SLURM_CONF", self.scratch.path("slurm.conf"))
            .env("PATH", path)
            .current_dir(&self.scratch.0);
        let output = command.output().expect("Slurm (slurm-client)");
        output.status.success().then(|| text(&output.stdout))
    }

    /// Submits a job; returns its number.
    fn submit(&self, arguments: &[&str]) -> String {
        let log = self.scratch.path("job-%A-%a.log");
        let number = self
            .said(
                "sbatch",
                &[&["--parsable", "--output", &log], arguments].concat(),
            )
            .trim()
            .to_owned();
        assert!(!number.is_empty(), "sbatch {arguments:?}");
        number
    }

    /// Returns a line for each element of a job: its state, reason and node; empty if the controller did not answer.
    fn jobs(&self, number: &str) -> String {
        self.answer_of_queue(number).unwrap_or_default()
    }

    fn answer_of_queue(&self, number: &str) -> Option<String> {
        self.answer("squeue", &["-h", "-r", "-j", number, "-o", "%K %T %r %N"])
    }

    /// Waits until the controller says that no element of a job is left; that it says nothing is not the end.
    fn wait_for_end(&self, number: &str) {
        wait_for("end of the jobs", || {
            self.answer_of_queue(number)
                .is_some_and(|jobs| jobs.is_empty())
        });
    }

    /// Starts an element of a job that was queued again, for which Slurm would wait two minutes.
    fn start_now(&self, element: &str) {
        let words = ["update", &format!("JobId={element}"), "StartTime=now"];
        wait_for("start of the element", || {
            self.answer("scontrol", &words).is_some()
        });
    }

    /// Cuts the power of a node, and tells the controller, which would only notice after `SlurmdTimeout`.
    fn lose(&mut self, name: &str) {
        let (lost, left) = std::mem::take(&mut self.nodes)
            .into_iter()
            .partition(|(node, _)| *node == name);
        self.nodes = left;
        drop::<Vec<_>>(lost);
        self.said(
            "scontrol",
            &[
                "update",
                &format!("NodeName={name}"),
                "State=DOWN",
                "Reason=power",
            ],
        );
    }
}

/// Writes the configuration of a cluster, and a `sixbench` that uses the temporary directory of its node.
fn write_files(scratch: &Scratch, nodes: [&str; 2]) {
    let ports = free_ports();
    let here = scratch.0.display();
    let of_nodes: String = nodes
        .iter()
        .zip(&ports[1..])
        .map(|(name, port)| {
            format!("NodeName={name} NodeAddr=127.0.0.1 Port={port} CPUs=1 Gres=testbed:1\n")
        })
        .collect();
    let conf = format!(
        "ClusterName=sixbench\nSlurmctldHost=controller(127.0.0.1)\nSlurmctldPort={}\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={here}/munge/socket\nProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\nSlurmctldPidFile={here}/controller.pid\n\
         SlurmdPidFile={here}/%n.pid\nStateSaveLocation={here}/state\nSlurmdSpoolDir={here}/spool-%n\n{of_nodes}\
         Include {FILES}/testbeds.conf\n",
        ports[0]
    );
    scratch.write("slurm.conf", &conf);
    fs::copy(format!("{FILES}/gres.conf"), scratch.0.join("gres.conf")).expect("a file");
    for directory in ["munge", "state", "spool-tb1", "spool-tb2", "tb1", "tb2"] {
        fs::create_dir(scratch.0.join(directory)).expect("a directory");
    }
    let key = scratch.write(
        "munge/key",
        &"a key of this test alone, as it is for one machine\n".repeat(8),
    );
    fs::set_permissions(key, fs::Permissions::from_mode(0o600)).expect("permissions");
    let program = format!(
        "#!/bin/sh\nTMPDIR={here}/$SLURMD_NODENAME NO_COLOR=1 exec {} \"$@\"\n",
        env!("CARGO_BIN_EXE_sixbench")
    );
    let program = scratch.write("bin/sixbench", &program);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("permissions");
}

/// Returns ports on loopback on which no process is listening now.
fn free_ports() -> [u16; 3] {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}

/// Waits until `is_so`, for at most three minutes.
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(180);
    while !is_so() {
        assert!(Instant::now() < end, "no {what} within three minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn keys(results: &str) -> BTreeSet<String> {
    records(results)
        .iter()
        .map(|record| format!("{} {}", record["point"], record["repetition"]))
        .collect()
}

#[test]
fn a_plan_that_lost_a_node_in_the_middle_has_all_that_an_undisturbed_run_has() {
    let mut cluster = Cluster::start("slurm-lost");
    let [plan, results] = [
        cluster.scratch.write("plan.toml", PLAN),
        cluster.scratch.path("results"),
    ];
    let whole = cluster.scratch.path("whole");
    let undisturbed = start(&["run", &plan, "-o", &whole]);

    let script = format!("{FILES}/campaign.sbatch");
    let job = cluster.submit(&["--array=1-2", &script, &plan, "2", &results]);
    let first = format!("{results}/shard-1");
    let node_of_first = || {
        let jobs = cluster.jobs(&job);
        let running = jobs
            .lines()
            .find(|line| line.starts_with("1 RUNNING"))?
            .to_owned();
        ["tb1", "tb2"]
            .into_iter()
            .find(|node| running.ends_with(node))
    };
    wait_for("node", || node_of_first().is_some());
    let node = node_of_first().expect("it still runs");
    // The node must be lost immediately, while some of the six repetitions are left.
    wait_for("record", || !records(&first).is_empty());
    cluster.lose(node);
    let made = records(&first).len();
    wait_for("element that is queued again", || {
        cluster
            .jobs(&job)
            .lines()
            .any(|line| line.starts_with("1 PENDING"))
    });
    cluster.start_now(&format!("{job}_1"));
    cluster.wait_for_end(&job);

    assert_ran(&undisturbed.wait_with_output().expect("its end"));
    let log = fs::read_to_string(cluster.scratch.path(&format!("job-{job}-1.log"))).expect("a log");
    assert!(
        log.contains("continuing after ") && records(&first).len() > made,
        "{log}"
    );
    let united = cluster.scratch.path("united");
    let said = output(&[
        "merge",
        &first,
        &format!("{results}/shard-2"),
        "-o",
        &united,
    ]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    assert_eq!(keys(&united), keys(&whole));
    let hosts = facts(&united)["measured_on"]
        .as_object()
        .expect("hosts")
        .keys()
        .cloned()
        .collect::<Vec<_>>();
    assert_eq!(hosts, ["tb1", "tb2"]);
    let report = exported(&united, "markdown", "results.md");
    assert!(
        report.contains("Measured on | tb1: ") && report.contains("Measured on | tb2: "),
        "{report}"
    );
}

#[test]
fn a_part_that_is_requeued_goes_on_by_itself_with_what_was_measured() {
    let cluster = Cluster::start("slurm-requeue");
    let [plan, results] = [
        cluster.scratch.write("plan.toml", PLAN),
        cluster.scratch.path("results"),
    ];
    let script = format!("{FILES}/campaign.sbatch");
    let job = cluster.submit(&["--array=1-1", &script, &plan, "1", &results]);
    let shard = format!("{results}/shard-1");
    wait_for("record", || !records(&shard).is_empty());
    let state = || cluster.said("scontrol", &["show", "job", &format!("{job}_1")]);
    cluster.said("scontrol", &["requeue", &format!("{job}_1")]);
    wait_for("part that is queued again", || {
        state().contains("JobState=PENDING")
    });
    let made = records(&shard);
    assert!(keys(&shard).len() < 12, "it was requeued in the middle");
    cluster.start_now(&format!("{job}_1"));
    cluster.wait_for_end(&job);
    let log = fs::read_to_string(cluster.scratch.path(&format!("job-{job}-1.log"))).expect("a log");
    assert!(log.contains("continuing after "), "{log}");
    let all = records(&shard);
    assert!(all.starts_with(&made) && keys(&shard).len() == 12, "{log}");
}

#[test]
fn a_testbed_and_a_device_that_several_can_reach_are_one_jobs_at_a_time() {
    let cluster = Cluster::start("slurm-licences");
    let go = cluster.scratch.path("go");
    let wrapped = format!("until [ -e {go} ]; do sleep 0.05; done");
    let submit = |arguments: &[&str]| {
        cluster.submit(&[&["--gres=testbed:1", "--wrap", &wrapped], arguments].concat())
    };
    let [first, second] = [0, 1].map(|_| submit(&["--licenses=router-a:1"]));
    wait_for("job that waits for the device", || {
        cluster.jobs(&second).contains("PENDING Licenses")
    });
    assert!(
        cluster.jobs(&first).contains("RUNNING"),
        "{}",
        cluster.jobs(&first)
    );
    let [third, fourth] = [0, 1].map(|_| submit(&["--licenses=router-b:1"]));
    wait_for("job beside it", || cluster.jobs(&third).contains("RUNNING"));
    assert!(
        cluster.jobs(&fourth).contains("PENDING"),
        "{}",
        cluster.jobs(&fourth)
    );
    fs::write(&go, "").expect("a file");
    for job in &[first, second, third, fourth] {
        cluster.wait_for_end(job);
    }
}
