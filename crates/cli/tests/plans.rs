//! Every plan that comes with sixbench is good and can be costed.

use std::path::Path;
use std::process::Command;

#[test]
fn every_plan_in_the_folder_is_good_and_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let sixbench =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_sixbench")).args(arguments).output().expect("sixbench");
    let listed = String::from_utf8_lossy(&sixbench(&["list", "plans"]).stdout).into_owned();
    let entries = std::fs::read_dir(folder).expect("plans");
    let plans: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    assert!(!plans.is_empty());
    for plan in plans {
        let output = sixbench(&["plan", &plan.display().to_string()]);
        assert!(output.status.success(), "{}: {}", plan.display(), String::from_utf8_lossy(&output.stderr));
        let name = plan.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(listed.contains(&name), "{name} is not in `sixbench list plans`");
    }
}
