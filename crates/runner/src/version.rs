//! The version of sixbench and its build options.

use sixbench_io::BACKENDS;

/// The version, with the commit and its date if they are known: `0.2.0 (1a2b3c4 2026-11-23)`.
pub const VERSION: &str = env!("SIXBENCH_VERSION");

/// Returns the version and the built-in features, in several lines.
pub fn version_with_features() -> String {
    let build = env!("SIXBENCH_BUILD");
    let words: Vec<&str> = BACKENDS.iter().map(|backend| backend.word).collect();
    // The dpdk backend is a shared object, which a statically linked program cannot load.
    let (linked, has_shared) = if cfg!(target_feature = "crt-static") {
        ("static", false)
    } else {
        ("dynamic", true)
    };
    let backends = words
        .into_iter()
        .filter(|word| has_shared || *word != "dpdk")
        .collect::<Vec<_>>()
        .join(", ");
    format!("{VERSION}\nbuilt for {build}, {linked}\nbackends: {backends}")
}
