//! Builds VPP, which Debian does not package, with Debian packages in place of the dependencies that it would download.

use super::source::OwnSource;
use super::work::{self, BuildStep, BuildWork};
use crate::exec::{LabError, TestbedError};
use crate::lab::cache::{VPP_PREFIX, VPP_VERSION};
use std::path::Path;

/// The file from which VPP's own build reads its version outside a git repository.
const VERSIONED: &str = "src/scripts/.version";

/// Plugins that must also be enabled in VPP's build: in a folder with several plugins, it stops at the first one that is not enabled.
const PASSED_OVER: [&str; 2] = ["nat66", "det44"];

/// The plugins that recipes use.
const PLUGINS: [&str; 9] = [
    "ping",
    "nat",
    "nat44_ei",
    "dslite",
    "nat64",
    "af_packet",
    "af_xdp",
    "memif",
    "map",
];

/// A source of VPP.
#[derive(Debug)]
pub(super) struct VppSource {
    source: OwnSource,
    /// `v26.06-rc2-0-g3d02ce21e31`, from `git describe --long`.
    version: String,
}

impl VppSource {
    pub(super) fn open(path: &Path) -> Result<Self, TestbedError> {
        let (source, text) = OwnSource::open(path, "VPP", VERSIONED).map_err(|error| {
            let cause = error.to_string();
            LabError::NoVersionOfVpp { cause }
        })?;
        let is_good = |version: &str| {
            version.starts_with('v')
                && version
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || ".-~".contains(c))
        };
        let version = text.trim().to_owned();
        if !is_good(&version) {
            return Err(source.wrong(format!("{VERSIONED} names no version, but {version:?}")));
        }
        Ok(Self { source, version })
    }

    /// Returns the name of the cache directory into which this source is built.
    pub(super) fn name(&self) -> String {
        format!("{VPP_PREFIX}{}", self.source.name(&self.version))
    }
}

type VppWork = BuildWork<VppSource>;

pub(super) const STEPS: &[BuildStep<VppSource>] = &[
    step("unpack VPP's source", unpack),
    step("configure VPP", configure),
    step("compile VPP", compile),
    step("lay out VPP", lay_out),
    step("remove the sources", BuildWork::clear),
];

const fn step(
    name: &'static str,
    run: fn(&mut VppWork) -> Result<(), TestbedError>,
) -> BuildStep<VppSource> {
    BuildStep {
        name,
        run,
        is_wanted: |_| true,
    }
}

/// VPP links the AF_XDP libraries statically into a plugin. Debian's static libraries are not suitable for that, but its shared ones are.
fn unpack(work: &mut VppWork) -> Result<(), TestbedError> {
    work.made_of.source.clone().unpack(work, "vpp")?;
    work.run(&[
        "sed",
        "-i",
        "s/libxdp\\.a/libxdp.so/; s/libbpf\\.a/libbpf.so/",
        "vpp/src/plugins/af_xdp/CMakeLists.txt",
    ])
}

/// Debian's Python has the module that VPP's generators import. Another Python that comes first on the PATH may not.
const OWN_PYTHON: &str = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";

fn configure(work: &mut VppWork) -> Result<(), TestbedError> {
    let plugins = format!(
        "-DVPP_PLUGINS={}",
        [&PLUGINS[..], &PASSED_OVER].concat().join(",")
    );
    let options = [
        "-DCMAKE_BUILD_TYPE=release",
        "-DVPP_USE_LTO=OFF",
        "-DVPP_BUILD_NATIVE_ONLY=ON",
        "-DVPP_TOOLS=vppctl",
    ];
    let words = [
        "env",
        OWN_PYTHON,
        "cmake",
        "-G",
        "Ninja",
        "-S",
        "vpp/src",
        "-B",
        "build",
        "-DVPP_TESTS=none",
        &plugins,
    ];
    work.run(&words.into_iter().chain(options).collect::<Vec<_>>())
}

/// Compiles only what recipes use, because one of the crypto engines does not compile with Debian's library.
fn compile(work: &mut VppWork) -> Result<(), TestbedError> {
    let plugins = PLUGINS.map(|plugin| format!("{plugin}_plugin"));
    let targets = ["vpp", "vppctl"]
        .into_iter()
        .chain(plugins.iter().map(String::as_str));
    let jobs = work::jobs();
    work.run(
        &["env", OWN_PYTHON, "ninja", "-C", "build", &jobs]
            .into_iter()
            .chain(targets)
            .collect::<Vec<_>>(),
    )
}

/// Copies the programs, their libraries and the plugins without debug information. The version comes last and marks the build as complete.
fn lay_out(work: &mut VppWork) -> Result<(), TestbedError> {
    let (programs, libraries, plugins) = (
        work.folder("bin")?,
        work.folder("lib")?,
        work.folder("lib/vpp_plugins")?,
    );
    let copies = [
        ("build/bin/vpp build/bin/vppctl", &programs),
        ("build/lib/*/lib*.so.*", &libraries),
    ];
    let copies = copies
        .into_iter()
        .chain([("build/lib/*/vpp_plugins/*.so", &plugins)]);
    for (from, to) in copies {
        // The shell expands the folder of the architecture.
        work.run(&[
            "sh",
            "-c",
            &format!("strip --strip-debug {from} && cp {from} \"$1\""),
            "sh",
            &to.display().to_string(),
        ])?;
    }
    let version = work.made_of.version.clone();
    work.write(VPP_VERSION, &format!("VPP {version}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Creates a directory that claims to be this version of VPP.
    fn source(name: &str, version: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("sixbench-vpp-source-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("src/scripts")).expect("a directory");
        std::fs::write(path.join(VERSIONED), version).expect("a file");
        path
    }

    #[test]
    fn a_source_is_known_by_its_version_and_its_content() {
        let path = source("good", "v26.06-rc2-0-g3d02ce21e31\n");
        let name = || VppSource::open(&path).expect("a source").name();
        let before = name();
        assert!(
            before.starts_with("vpp-v26.06-rc2-0-g3d02ce21e31-"),
            "{before}"
        );
        std::fs::write(path.join("a.c"), "int a;\n").expect("a file");
        assert_ne!(name(), before);
        std::fs::remove_dir_all(path).expect("removed");
    }

    #[test]
    fn what_is_no_source_of_vpp_is_refused_with_what_it_lacks() {
        let told = |path: &Path| VppSource::open(path).expect_err("no source").to_string();
        let without = told(Path::new("/usr/include/linux"));
        assert!(
            without.starts_with(
                "/usr/include/linux is not a source of VPP: src/scripts/.version: No such file"
            ),
            "{without}"
        );
        assert!(without.contains("such as v26.06-0-g0"), "{without}");
        assert!(
            told(Path::new("/nosuch")).starts_with("/nosuch is not a source of VPP: No such file")
        );
        let path = source("bad", "../../x");
        assert!(
            told(&path).contains("names no version, but \"../../x\""),
            "{}",
            told(&path)
        );
        std::fs::remove_dir_all(path).expect("removed");
    }
}
