//! The host of a device, and the hosts on which it could run instead.

use super::{DeviceHost, Recipe, Technology};

impl Recipe {
    /// Returns true if the device, or one of the devices in the row, runs in the lab.
    pub fn is_in_lab(&self) -> bool {
        self.devices()
            .iter()
            .any(|part| part.host == DeviceHost::Lab)
    }

    /// Returns true if there is no device: a `wire` in a namespace with no setup. The tester's ports are then joined directly.
    pub fn is_bare_wire(&self) -> bool {
        let is_set_up = self.owns_links
            || self.daemon.is_some()
            || !self.setup.is_empty()
            || !self.parts.is_empty();
        self.technology == Technology::Wire && self.host == DeviceHost::Netns && !is_set_up
    }

    /// Returns the recipe on another host, under the name `NAME@HOST`, or `None` if it is already there or cannot run there.
    pub(super) fn on(&self, host: DeviceHost) -> Option<Self> {
        if self.name.contains('@') || self.is_bare_wire() {
            return None;
        }
        if !self.parts.is_empty() {
            let parts = self
                .parts
                .iter()
                .map(|part| part.on(host))
                .collect::<Option<Vec<Self>>>()?;
            // Apart from its parts, a row has the modules of its first one.
            let (modules, kernel_modules) =
                (parts[0].modules.clone(), parts[0].kernel_modules.clone());
            return Some(Self {
                host,
                modules,
                kernel_modules,
                parts,
                ..self.named(host)
            });
        }
        let has_interfaces = matches!(self.host, DeviceHost::Netns | DeviceHost::Lab);
        let can_be_there = has_interfaces || self.other_hosts.contains(&host);
        let is_movable = self.host != host && can_be_there && self.is_for_namespaces();
        // A machine of the lab loads the modules itself. Elsewhere, the kernel must have them.
        let other = Self {
            host,
            modules: self.kernel_modules.clone(),
            kernel_modules: self.modules.clone(),
            ..self.named(host)
        }
        .of_its_host();
        (is_movable && problems(&other).is_empty()).then_some(other)
    }

    /// Returns the same recipe without the files for other hosts.
    pub(super) fn of_its_host(mut self) -> Self {
        self.files
            .retain(|file| file.host.is_none_or(|host| host == self.host));
        self
    }

    fn named(&self, host: DeviceHost) -> Self {
        let place = if host == DeviceHost::Lab {
            "in the lab"
        } else {
            "in a namespace"
        };
        Self {
            name: format!("{}@{}", self.name, host.name()),
            title: format!("{} {place}", self.title),
            ..self.clone()
        }
    }
}

impl DeviceHost {
    /// Returns the name of the host as written in plans and recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Netns => "netns",
            Self::Lab => "lab",
            Self::Memif => "memif",
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
    if recipe.host == DeviceHost::Lab
        && recipe
            .state
            .as_ref()
            .is_some_and(|state| !state.host.is_empty())
    {
        problems.push("[[state.host]]: a device in the lab has a kernel of its own; set its sysctls in [[setup]]".to_owned());
    }
    if recipe.owns_links && recipe.host == DeviceHost::Lab {
        problems.push(
            "owns-links: only a process can take frames from interfaces, and the lab has none"
                .to_owned(),
        );
    }
    if recipe.host == DeviceHost::Memif {
        problems.extend(problems_in_memory(recipe));
    }
    problems
}

/// Returns the problems of a recipe with shared-memory links, which belong to a process only.
fn problems_in_memory(recipe: &Recipe) -> Vec<String> {
    let mut problems = Vec::new();
    if recipe.daemon.is_none() {
        problems.push(
            "[daemon]: with host = \"memif\" a process must serve the sockets {left} and {right}"
                .to_owned(),
        );
    }
    if recipe.technology.is_dns() {
        problems.push("technology: a server answers the kernel's own sockets, which have no links in shared memory".to_owned());
    }
    if recipe.state.as_ref().is_some_and(|state| state.restart) {
        problems.push(
            "[state]: `restart` would end the links in shared memory; give commands in `flush`"
                .to_owned(),
        );
    }
    if recipe
        .state
        .as_ref()
        .is_some_and(|state| !state.host.is_empty())
    {
        problems.push(
            "[[state.host]]: frames in shared memory pass no kernel, so no sysctl of it matters"
                .to_owned(),
        );
    }
    if !recipe.is_for_namespaces() {
        problems.push(
            "system: a device at links in shared memory runs on this machine, which is linux"
                .to_owned(),
        );
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(changes: &[(&str, &str)]) -> Recipe {
        let text = include_str!("../../../../recipes/linux-ipv4.toml").to_owned();
        let text = changes
            .iter()
            .fold(text, |text, (from, to)| text.replacen(from, to, 1));
        toml::from_str(&text).expect("a recipe")
    }

    const IN_LAB: (&str, &str) = ("technology", "host = \"lab\"\ntechnology");
    const MODULES: (&str, &str) = ("technology", "modules = [\"sit\"]\ntechnology");

    const IN_MEMORY: (&str, &str) = ("technology", "host = \"memif\"\ntechnology");
    const DAEMON: (&str, &str) = ("[version]", "[daemon]\nrun = \"sleep 1\"\n[version]");

    #[test]
    fn a_device_at_links_in_shared_memory_is_a_process_and_is_nowhere_else() {
        assert!(problems(&recipe(&[IN_MEMORY]))[0].contains("a process must serve the sockets"));
        let whole = recipe(&[IN_MEMORY, DAEMON]);
        assert_eq!(problems(&whole), Vec::<String>::new());
        assert!(
            [DeviceHost::Netns, DeviceHost::Lab]
                .iter()
                .all(|host| whole.on(*host).is_none())
        );
        let text = "host = \"memif\"\nsystem = \"freebsd\"\ntechnology";
        assert!(
            problems(&recipe(&[("technology", text), DAEMON]))[0].contains("runs on this machine")
        );
    }

    #[test]
    fn modules_are_for_the_lab() {
        assert_eq!(problems(&recipe(&[MODULES])).len(), 1);
        assert!(problems(&recipe(&[MODULES, IN_LAB])).is_empty());
    }

    #[test]
    fn a_device_in_the_lab_has_no_daemon() {
        assert!(problems(&recipe(&[DAEMON])).is_empty());
        assert!(problems(&recipe(&[DAEMON, IN_LAB]))[0].contains("cannot be watched"));
    }

    #[test]
    fn the_modules_that_the_kernel_must_have_are_loaded_by_a_machine_of_the_lab() {
        let moved = recipe(&[("technology", "kernel-modules = [\"nf_nat\"]\ntechnology")])
            .on(DeviceHost::Lab)
            .expect("it can be moved");
        assert_eq!(moved.modules, ["nf_nat"]);
        assert!(moved.kernel_modules.is_empty());
    }
}
