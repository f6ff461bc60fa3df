//! Where a device runs, and where it could run instead.

use super::{DeviceHost, Recipe};

impl Recipe {
    /// Returns whether the device runs in the lab, or one of the devices in a row that the recipe stands for does.
    pub fn is_in_lab(&self) -> bool {
        self.devices().iter().any(|part| part.host == DeviceHost::Lab)
    }

    /// The same recipe on another host, under the name `NAME@HOST`; `None` where it is there already, or cannot be there.
    pub(super) fn on(&self, host: DeviceHost) -> Option<Self> {
        if !self.parts.is_empty() {
            let parts: Option<Vec<Self>> = self.parts.iter().map(|part| part.on(host)).collect();
            return Some(Self { parts: parts?, ..self.named(host) });
        }
        let is_movable = self.host != host && self.host != DeviceHost::Manual && self.is_for_namespaces();
        // In a machine of the lab the modules are loaded by it; elsewhere they are the kernel's business.
        let other = Self { host, modules: vec![], ..self.named(host) };
        (is_movable && problems(&other).is_empty()).then_some(other)
    }

    fn named(&self, host: DeviceHost) -> Self {
        let place = if host == DeviceHost::Lab { "in the lab" } else { "in a namespace" };
        Self { name: format!("{}@{}", self.name, host.name()), title: format!("{} {place}", self.title), ..self.clone() }
    }
}

impl DeviceHost {
    /// Returns the name of the host as plans and recipes write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Netns => "netns",
            Self::Lab => "lab",
            Self::Manual => "manual",
        }
    }
}

pub(super) fn problems(recipe: &Recipe) -> Vec<String> {
    let mut problems = Vec::new();
    if recipe.host != DeviceHost::Lab && !recipe.modules.is_empty() {
        problems.push("modules: they can be loaded in the lab only (host = \"lab\")".to_owned());
    }
    if recipe.host == DeviceHost::Lab && recipe.daemon.is_some() {
        problems
            .push("[daemon]: a process in the lab cannot be watched from here; leave it out, or use a namespace".to_owned());
    }
    if recipe.host == DeviceHost::Lab && recipe.state.as_ref().is_some_and(|state| !state.host.is_empty()) {
        problems.push("[[state.host]]: a device in the lab has a kernel of its own; set its sysctls in [[setup]]".to_owned());
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(changes: &[(&str, &str)]) -> Recipe {
        let text = include_str!("../../../../recipes/linux-ipv4.toml").to_owned();
        let text = changes.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1));
        toml::from_str(&text).expect("a recipe")
    }

    const IN_LAB: (&str, &str) = ("technology", "host = \"lab\"\ntechnology");
    const MODULES: (&str, &str) = ("technology", "modules = [\"sit\"]\ntechnology");

    #[test]
    fn modules_are_for_the_lab() {
        assert_eq!(problems(&recipe(&[MODULES])).len(), 1);
        assert!(problems(&recipe(&[MODULES, IN_LAB])).is_empty());
    }

    #[test]
    fn a_device_in_the_lab_has_no_daemon() {
        let daemon = ("[version]", "[daemon]\nrun = \"sleep 1\"\n[version]");
        assert!(problems(&recipe(&[daemon])).is_empty());
        assert!(problems(&recipe(&[daemon, IN_LAB]))[0].contains("cannot be watched"));
    }
}
