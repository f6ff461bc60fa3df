//! The built-in recipes: every recipe in the folder `recipes`, as listed by the build script.

pub(super) const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/recipes.rs"));
