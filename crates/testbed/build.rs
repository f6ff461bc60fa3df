//! Lists the recipes built into sixbench: every file of the folder `recipes`.

use std::path::Path;

fn main() {
    let folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"))
        .join("../../recipes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(&folder).expect("the folder recipes");
    let names = entries.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name in UTF-8")
    });
    let mut names: Vec<String> = names
        .filter(|name| {
            std::path::Path::new(name)
                .extension()
                .is_some_and(|ext| ext.eq_ignore_ascii_case("toml"))
        })
        .collect();
    names.sort();
    let line = |name: &String| {
        format!(
            "    ({name:?}, include_str!({:?})),\n",
            folder.join(name).display().to_string()
        )
    };
    let list: String = names.iter().map(line).collect();
    let out = Path::new(&std::env::var_os("OUT_DIR").expect("set by cargo")).join("recipes.rs");
    std::fs::write(out, format!("&[\n{list}]\n")).expect("a file");
}
