//! Lists the plans that come with sixbench, the recipes next to them, and the traffic profiles: the folders `plans`, `plans/devices` and `profiles`.

use std::path::Path;

fn main() {
    let plans = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"))
        .join("../../plans");
    let out = std::env::var_os("OUT_DIR").expect("set by cargo");
    let profiles = plans.with_file_name("profiles");
    for (folder, file) in [
        (plans.clone(), "plans.rs"),
        (plans.join("devices"), "devices.rs"),
        (profiles, "profiles.rs"),
    ] {
        println!("cargo::rerun-if-changed={}", folder.display());
        std::fs::write(Path::new(&out).join(file), list(&folder)).expect("a file");
    }
}

/// Returns the names of a folder's TOML files without the extension, each with the file's text, as a Rust expression.
fn list(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name in UTF-8")
    });
    let mut names: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        .collect();
    names.sort();
    let line = |name: &String| {
        format!(
            "    ({name:?}, include_str!({:?})),\n",
            folder.join(format!("{name}.toml")).display().to_string()
        )
    };
    format!("&[\n{}]\n", names.iter().map(line).collect::<String>())
}
