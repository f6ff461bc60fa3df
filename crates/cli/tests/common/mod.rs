//! What tests of the binary share: running it, and a directory of their own.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output};

pub(crate) fn sixbench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixbench"));
    command.args(arguments).env("NO_COLOR", "1").env("COLUMNS", "100");
    command
}

pub(crate) fn output(arguments: &[&str]) -> Output {
    sixbench(arguments).output().expect("sixbench")
}

pub(crate) fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status();
    assert!(status.expect("sh").success());
}

/// The namespaces of a process that still exist.
pub(crate) fn namespaces_of(pid: u32) -> Vec<String> {
    let entries = fs::read_dir("/run/netns").into_iter().flatten().filter_map(|e| e.ok()?.file_name().into_string().ok());
    entries.filter(|name| name.starts_with(&format!("sb-{pid}-"))).collect()
}

/// A directory of this test's own, gone when dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sixbench-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
