//! The steps of a build.

use super::jool::OwnJool;
use super::work::{self, BuildStep, BuildWork};
use crate::exec::{LabError, Shell, TestbedError};
use crate::lab::cache::{MANIFEST, Manifest, module_tree};
use crate::lab::inputs::{Inputs, SHIM};
use std::path::PathBuf;

/// The inputs of a kernel lab.
#[derive(Debug)]
pub(super) struct LabSources {
    pub(super) inputs: Inputs,
    /// The user's own Jool, if it replaces Debian's.
    pub(super) own_jool: Option<OwnJool>,
}

type LabWork = BuildWork<LabSources>;

pub(super) const STEPS: &[BuildStep<LabSources>] = &[
    step("download the sources", download),
    step("unpack the sources", unpack),
    step("prepare the kernel's source", prepare),
    step("compile Jool's modules", compile_modules),
    BuildStep {
        name: "compile Jool's tools",
        run: compile_tools,
        is_wanted: |made_of| made_of.own_jool.is_some(),
    },
    step("compile the shim", compile_shim),
    step("lay out the modules", lay_out),
    step("remove the sources", BuildWork::clear),
];

const fn step(
    name: &'static str,
    run: fn(&mut LabWork) -> Result<(), TestbedError>,
) -> BuildStep<LabSources> {
    BuildStep {
        name,
        run,
        is_wanted: |_| true,
    }
}

/// Jool's modules with their folders, in order of their dependencies. Only a Jool newer than Debian's has the last one.
const JOOL: [(&str, &str); 4] = [
    ("common", "jool_common"),
    ("siit", "jool_siit"),
    ("nat64", "jool"),
    ("mapt", "jool_mapt"),
];

/// Parts of the kernel source that are not needed to prepare it: most of its 1.5 GB.
const NOT_NEEDED: [&str; 6] = [
    "Documentation/*/*",
    "drivers/*.[ch]",
    "sound/*.[ch]",
    "fs/*.c",
    "tools/testing/*",
    "arch/[!ux]*/*.[chS]",
];

/// Downloads the kernel source in exactly the version of the virtual machines' kernel, because data layouts differ between versions.
fn download(work: &mut LabWork) -> Result<(), TestbedError> {
    let (package, version) = (
        work.made_of.inputs.source_package(),
        work.made_of.inputs.kernel_package.clone(),
    );
    fetch(work, &package, &version)?;
    match work.made_of.own_jool {
        Some(_) => Ok(()),
        // The tools refuse modules of a different version.
        None => fetch(work, "jool-dkms", &work.made_of.inputs.jool_package.clone()),
    }
}

fn fetch(work: &mut LabWork, package: &str, version: &str) -> Result<(), TestbedError> {
    if archive(work, package, version).exists() {
        return Ok(());
    }
    let wanted = format!("{package}={version}");
    // As root, apt would warn that its sandbox user may not write here.
    let words = [
        "apt-get",
        "-q",
        "-o",
        "APT::Sandbox::User=root",
        "download",
        &wanted,
    ];
    if work.run(&words).is_ok() {
        return Ok(());
    }
    // apt's lists may be outdated, or missing as in a fresh container.
    work.run(&["apt-get", "-q", "update"])?;
    work.run(&words)
        .map_err(|error| not_offered(work, package, version, &error))
}

fn not_offered(work: &LabWork, package: &str, version: &str, error: &TestbedError) -> TestbedError {
    let offered = Shell::new()
        .look(&["apt-cache", "madison", package])
        .unwrap_or_default();
    let versions: Vec<&str> = offered
        .lines()
        .filter_map(|line| Some(line.split('|').nth(1)?.trim()))
        .collect();
    let offered = if versions.is_empty() {
        "none".to_owned()
    } else {
        versions.join(", ")
    };
    LabError::NotOffered {
        cause: error.to_string(),
        package: package.to_owned(),
        version: version.to_owned(),
        offered,
        archive: archive(work, package, version),
    }
    .into()
}

/// Returns the path of a package's archive as apt names it. Both packages are architecture-independent.
fn archive(work: &LabWork, package: &str, version: &str) -> PathBuf {
    work.sources()
        .join(format!("{package}_{}_all.deb", version.replace(':', "%3a")))
}

fn unpack(work: &mut LabWork) -> Result<(), TestbedError> {
    let (package, version) = (
        work.made_of.inputs.source_package(),
        work.made_of.inputs.kernel_package.clone(),
    );
    extract(work, &package, &version)?;
    let excluded = NOT_NEEDED.map(|pattern| format!("--exclude={package}/{pattern}"));
    let tarball = format!("usr/src/{package}.tar.xz");
    let words = ["tar", "xf", &tarball];
    work.run(
        &words
            .into_iter()
            .chain(excluded.iter().map(String::as_str))
            .collect::<Vec<_>>(),
    )?;
    unpack_jool(work)
}

fn extract(work: &mut LabWork, package: &str, version: &str) -> Result<(), TestbedError> {
    let archive = archive(work, package, version).display().to_string();
    work.run(&["dpkg-deb", "-x", &archive, "."])
}

fn unpack_jool(work: &mut LabWork) -> Result<(), TestbedError> {
    let Some(own) = work.made_of.own_jool.clone() else {
        let version = work.made_of.inputs.jool_package.clone();
        extract(work, "jool-dkms", &version)?;
        return work.run(&["sh", "-c", "rm -rf jool && mv usr/src/jool-dkms-* jool"]);
    };
    own.source.unpack(work, "jool")
}

fn kernel_source(work: &LabWork) -> PathBuf {
    work.sources().join(work.made_of.inputs.source_package())
}

/// Prepares the kernel source with the configuration of the packaged kernel, which the modules have to match.
fn prepare(work: &mut LabWork) -> Result<(), TestbedError> {
    let source = kernel_source(work);
    work.run_in(
        &source,
        &[
            "sh",
            "-c",
            "zcat /usr/share/doc/user-mode-linux/config.gz > .config",
        ],
    )?;
    work.run_in(
        &source,
        &[
            "make",
            &work::jobs(),
            "ARCH=um",
            "olddefconfig",
            "modules_prepare",
        ],
    )?;
    let release =
        std::fs::read_to_string(source.join("include/config/kernel.release")).unwrap_or_default();
    if release.trim() == work.made_of.inputs.kernel() {
        return Ok(());
    }
    let found = release.trim().to_owned();
    let wanted = work.made_of.inputs.kernel().to_owned();
    Err(LabError::OtherKernel { found, wanted }.into())
}

fn compile_modules(work: &mut LabWork) -> Result<(), TestbedError> {
    let source = kernel_source(work).display().to_string();
    for (folder, _) in modules_of(work) {
        let module = format!(
            "M={}",
            work.sources().join("jool/src/mod").join(folder).display()
        );
        // The packaged kernel's symbol table is not available, so missing symbols are only detected when the module is loaded.
        work.run(&[
            "make",
            &work::jobs(),
            "-C",
            &source,
            "ARCH=um",
            &module,
            "KBUILD_MODPOST_WARN=1",
            "modules",
        ])?;
    }
    Ok(())
}

fn modules_of(work: &LabWork) -> Vec<(&'static str, &'static str)> {
    let folders = work.sources().join("jool/src/mod");
    JOOL.into_iter()
        .filter(|(folder, _)| folders.join(folder).is_dir())
        .collect()
}

/// Compiles the tools of the user's Jool. Those of Debian's package have a different version, which the modules refuse.
fn compile_tools(work: &mut LabWork) -> Result<(), TestbedError> {
    let jool = work.sources().join("jool");
    if !jool.join("configure").exists() {
        work.run_in(&jool, &["sh", "./autogen.sh"])?;
    }
    work.run_in(&jool, &["sh", "./configure"])?;
    let tools = jool.join("src/usr");
    work.run_in(&tools, &["make", &work::jobs()])?;
    let programs = work.folder("bin")?;
    let built = [
        ("siit", "jool_siit"),
        ("nat64", "jool"),
        ("mapt", "jool_mapt"),
    ]
    .map(|(folder, name)| tools.join(folder).join(name));
    for program in built.iter().filter(|program| program.is_file()) {
        work.run(&[
            "cp",
            &program.display().to_string(),
            &programs.display().to_string(),
        ])?;
    }
    Ok(())
}

fn compile_shim(work: &mut LabWork) -> Result<(), TestbedError> {
    work.write("shim.c", SHIM)?;
    let (from, to) = (
        work.path("shim.c").display().to_string(),
        work.path("shim.so").display().to_string(),
    );
    work.run(&[
        "cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", &to, &from,
    ])
}

/// Links the packaged kernel's own modules, adds those of Jool, and generates the file with their dependencies.
fn lay_out(work: &mut LabWork) -> Result<(), TestbedError> {
    let (kernel, own) = (
        work.made_of.inputs.kernel().to_owned(),
        work.made_of.inputs.kernel_modules(),
    );
    let tree = module_tree(&work.path(""), &kernel);
    let extra = tree.join("extra").display().to_string();
    work.run(&["mkdir", "-p", &extra])?;
    work.run(&[
        "ln",
        "-sfn",
        &own.join("kernel").display().to_string(),
        &tree.join("kernel").display().to_string(),
    ])?;
    for list in [
        "modules.order",
        "modules.builtin",
        "modules.builtin.modinfo",
    ] {
        work.run(&[
            "cp",
            &own.join(list).display().to_string(),
            &tree.display().to_string(),
        ])?;
    }
    for (folder, module) in modules_of(work) {
        let file = format!("jool/src/mod/{folder}/{module}.ko");
        work.run(&["cp", &file, &extra])?;
    }
    let root = work.path("modules").display().to_string();
    work.run(&["depmod", "-b", &root, &kernel])?;
    write_modprobe(work)?;
    describe(work, &kernel)
}

/// Writes a `modprobe` for the commands of recipes and for the virtual machine's kernel, both of which would search /lib/modules.
fn write_modprobe(work: &mut LabWork) -> Result<(), TestbedError> {
    let path = work.folder("bin")?.join("modprobe").display().to_string();
    work.write(
        "bin/modprobe",
        "#!/bin/sh\nexec /sbin/modprobe -d \"${0%/bin/*}/modules\" \"$@\"\n",
    )?;
    work.run(&["chmod", "755", &path])
}

fn describe(work: &LabWork, kernel: &str) -> Result<(), TestbedError> {
    let jool = work
        .made_of
        .own_jool
        .as_ref()
        .map_or(&work.made_of.inputs.jool_package, |own| &own.version);
    let modules = modules_of(work)
        .into_iter()
        .map(|(_, module)| module.to_owned())
        .collect();
    let manifest = Manifest {
        kernel: kernel.to_owned(),
        jool: jool.clone(),
        modules,
    };
    let text = toml::to_string(&manifest).map_err(|error| LabError::Manifest { error })?;
    work.write(MANIFEST, &text)
}
