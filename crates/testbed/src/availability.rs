//! Determines whether a device can run on this machine.

use crate::exec::{Shell, has_program};
use crate::lab;
use crate::recipe::{DeviceHost, Recipe};
use std::path::Path;

/// Returns what is missing on this machine for a device that sixbench sets up here, and how to fix it, or `None` if nothing is missing.
pub fn why_missing(recipe: &Recipe) -> Option<String> {
    let of_lab = lab::check_for(recipe).err().map(|error| error.to_string());
    let program = || recipe.missing().first().map(|need| format!("{} is not installed: {}", need.program, need.cure()));
    let module = || recipe.kernel_modules().iter().find(|module| !has_module(module)).map(|module| without_module(module));
    of_lab.or_else(program).or_else(module)
}

/// Returns where a device runs or, if something is missing here, what to do about it.
pub fn availability(recipe: &Recipe) -> String {
    if recipe.host == DeviceHost::Manual {
        return "set up by hand, cabled to two interfaces".to_owned();
    }
    if !recipe.is_for_namespaces() {
        return format!("runs on {}, over ssh", recipe.system.title());
    }
    let missing = recipe.missing();
    match (lab::check_for(recipe), missing.first()) {
        (Err(error), _) => error.to_string(),
        (Ok(()), Some(need)) => format!("needs {}: {}", need.program, need.cure()),
        (Ok(()), None) => "runs here".to_owned(),
    }
}

/// Returns true if this machine's own kernel has a module or can load it.
pub(crate) fn has_module(name: &str) -> bool {
    let loaded = Path::new("/sys/module").join(name.replace('-', "_"));
    loaded.exists() || (has_program("modprobe") && Shell::new().run(&["modprobe", "-n", "-q", name]).is_ok())
}

fn without_module(name: &str) -> String {
    format!("this machine's kernel has no module {name}: {}", module_cure(name))
}

/// Returns what to do if the kernel lacks a module.
pub(crate) fn module_cure(name: &str) -> String {
    match name.starts_with("jool") {
        true => {
            "apt-get install jool-dkms linux-headers-$(uname -r), then modprobe jool; or use the kernel lab: sixbench lab build"
                .to_owned()
        }
        false => format!("modprobe {name}; or use the kernel lab: sixbench lab build"),
    }
}
