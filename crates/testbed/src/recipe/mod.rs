//! Recipes describe devices under test as TOML data. A new DUT needs no Rust code: see `recipes/README.md`.

mod base;
mod built_in;
mod chain;
mod check;
mod check_dns;
mod definition;
mod filters;
mod host;
mod library;
mod name;
mod plain;
pub mod schema;
mod state;
mod step;
mod system;
mod technology;
mod traffic;

pub use definition::{
    ConfigFile, DeviceHost, DnsSection, FilterPlace, KnownDefect, LabProgram, Recipe,
    RequiredProgram, TranslationSection,
};
pub use library::{Library, RecipeFile, sha256, texts_in};
pub use name::{check_name, check_reference};
pub(crate) use plain::check_value;
pub use state::{DeviceSide, DeviceTimersSection, HostSysctl, Pool, PoolPorts, StateSection};
pub use step::RecipeCommand;
pub use system::System;
pub use technology::*;
pub use traffic::{Ends, Outer, RecipeLink, RecipeTraffic};
