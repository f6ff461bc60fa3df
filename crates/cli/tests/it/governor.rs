//! The frequency governor that a plan sets, on cores whose files are simulated, since a virtual machine has none. Needs root; without it these tests
//! fail, they do not skip.

use crate::common::plans::{self, KERNEL};
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, facts, signal, text, wait_until, with_environment,
};
use std::fs;
use std::process::{Child, Command, Output, Stdio};

/// Simulates as many cores as any machine that runs these tests may have. The simulated machine also has its own `/run`: the notes there on what a
/// killed run must give back concern these files, and a run outside that swept them would find other files with the same names, or none.
const FILES: &str = "set -e
mount -t tmpfs none /run
mount -t tmpfs none /sys/devices/system/cpu
cd /sys/devices/system/cpu
echo 0-255 > online
for core in $(seq 0 255); do mkdir -p cpu$core/cpufreq; echo powersave > cpu$core/cpufreq/scaling_governor; done
touch ready
exec sleep infinity";

/// A process in a mount namespace with simulated files of the cores. Its mounts are only visible inside the namespace.
struct FakeCores(Child);

impl FakeCores {
    fn build() -> Self {
        let words = ["--mount", "--propagation", "slave", "sh", "-c", FILES];
        let mut holder = Command::new("unshare")
            .args(words)
            .stdin(Stdio::null())
            .spawn()
            .expect("unshare (needs root)");
        let ready = format!("/proc/{}/root/sys/devices/system/cpu/ready", holder.id());
        wait_until(&mut holder, "files of cores", || {
            fs::exists(&ready).unwrap_or_default()
        });
        Self(holder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = with_environment(Command::new("nsenter"));
        command
            .arg(format!("--mount=/proc/{}/ns/mnt", self.0.id()))
            .arg(env!("CARGO_BIN_EXE_sixbench"))
            .args(arguments);
        command.stdin(Stdio::null());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("sixbench")
    }

    fn folder(&self, core: u32) -> String {
        format!(
            "/proc/{}/root/sys/devices/system/cpu/cpu{core}/cpufreq",
            self.0.id()
        )
    }

    /// Returns the governors of all cores, each once.
    fn governors(&self) -> Vec<String> {
        let read =
            |core| fs::read_to_string(self.folder(core) + "/scaling_governor").expect("a governor");
        let mut all: Vec<String> = (0..256).map(read).collect();
        all.sort();
        all.dedup();
        all.iter()
            .map(|governor| governor.trim().to_owned())
            .collect()
    }
}

impl Drop for FakeCores {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn plan(scratch: &Scratch) -> String {
    scratch.write(
        "plan.toml",
        &format!("{KERNEL}[testbed]\ngovernor = \"performance\"\n"),
    )
}

#[test]
fn a_governor_of_a_plan_is_a_fact_and_goes_when_the_run_ends() {
    let (_guard, scratch, cores) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("governor"),
        FakeCores::build(),
    );
    let results = scratch.path("results");
    assert_ran(&cores.output(&["run", &plan(&scratch), "-o", &results]));
    assert_eq!(facts(&results)["host"]["frequency governor"], "performance");
    assert_eq!(cores.governors(), ["powersave"]);
}

#[test]
fn a_governor_goes_after_ctrl_c_and_by_the_next_sweep_after_a_kill() {
    let (_guard, scratch, cores) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("governor-stop"),
        FakeCores::build(),
    );
    let plan = scratch.write(
        "plan.toml",
        &plans::that_lasts(&fs::read_to_string(plan(&scratch)).expect("a plan")),
    );
    for name in ["INT", "KILL"] {
        let mut child = cores.command(&["run", &plan, "-o", &scratch.path(name)]);
        let mut child = child
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sixbench");
        wait_until(&mut child, "governor", || {
            cores.governors() == ["performance", "powersave"]
        });
        signal(&child, name);
        child.wait().expect("ended");
        if name == "KILL" {
            assert_eq!(
                cores.governors(),
                ["performance", "powersave"],
                "nothing has undone it yet"
            );
            let swept = cores.output(&["sweep"]);
            assert!(swept.status.success(), "{}", text(&swept.stderr));
        }
        assert_eq!(cores.governors(), ["powersave"], "{name}");
    }
}

#[test]
fn a_machine_without_governors_says_so() {
    let (_guard, scratch, cores) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("governor-none"),
        FakeCores::build(),
    );
    (0..256).for_each(|core| fs::remove_dir_all(cores.folder(core)).expect("removed"));
    let output = cores.output(&["run", &plan(&scratch), "-o", &scratch.path("results")]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("cannot set the frequency governor to performance")
            && error.contains("leave `governor` out"),
        "{error}"
    );
}
