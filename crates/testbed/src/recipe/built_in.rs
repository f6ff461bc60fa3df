//! The recipes that come with sixbench: all of the folder `recipes`, as the build script lists them.

pub(super) const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/recipes.rs"));
