//! The keys of a measure in the `[[test]]` of a plan file, as its own file reads them. The file format and the places of mistakes are
//! the implementor's business.

use crate::plan::Profile;
use crate::terms::FrameRate;
use crate::units;

/// A table of a plan file. A value that cannot be read is a mistake, which the implementor remembers with its place, and is treated as if it
/// was missing.
pub trait Keys: Sized {
    /// Returns the quantity `key`, as `read` understands its text: a string with a unit, or a number, which is read as its
    /// digits. `None` if it is missing or a mistake.
    fn value<T>(&self, key: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T>;

    /// Returns the string `key`; `None` if it is missing or a mistake.
    fn text<T>(&self, key: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T>;

    /// Returns the whole number `key`; `None` if it is missing or a mistake.
    fn number<T>(&self, key: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T>;

    /// Returns a list of quantities; a single one may stand without brackets.
    fn list<T>(&self, key: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<Vec<T>>;

    /// Does the same as [`Keys::value`], and reports a missing key.
    fn required<T>(&self, key: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T>;

    /// Returns the table `key` below this one, which has `name` in messages; `None` for any other value, which is left to be read
    /// otherwise.
    fn table(&self, key: &'static str, name: &'static str) -> Option<Self>;

    /// Returns whether `key` is given at all.
    fn is_given(&self, key: &str) -> bool;

    /// Reports a mistake at the value of `key`, or at the table if the key is missing.
    fn mistake(&self, key: &str, title: impl Into<String>);

    /// Does the same as [`Keys::mistake`], and says what to do about it.
    fn mistake_with_help(&self, key: &str, title: impl Into<String>, help: impl Into<String>);

    /// Reports the keys that no reader has asked for. Call it when everything else was read; the table of a test is finished by the
    /// implementor.
    fn finish(self);
}

/// The settings of the rest of a plan from which those of a measure follow where a test says nothing.
#[derive(Clone, Copy, Debug)]
pub struct MeasureDefaults {
    /// The time for which a trial sends, nanoseconds.
    pub trial_ns: u64,
    /// The profile that the plan names.
    pub profile: Profile,
    /// The highest load of a search, frames per second per direction.
    pub maximum: FrameRate,
    /// True if the plan names the rate of the medium.
    pub is_medium_known: bool,
}

/// Reads a time that must be longer than nothing, and returns it in nanoseconds.
pub(super) fn time(keys: &impl Keys, key: &'static str, otherwise: u64) -> u64 {
    let time_ns = keys.value(key, units::duration_ns).unwrap_or(otherwise);
    if time_ns == 0 {
        keys.mistake(key, format!("`{key}` must be greater than zero"));
    }
    time_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::Measure;

    /// A test that gives no key at all.
    struct NoKeys;

    impl Keys for NoKeys {
        fn value<T>(&self, _: &'static str, _: impl Fn(&str) -> Result<T, String>) -> Option<T> {
            None
        }

        fn text<T>(&self, _: &'static str, _: impl Fn(&str) -> Result<T, String>) -> Option<T> {
            None
        }

        fn number<T>(&self, _: &'static str, _: impl Fn(&str) -> Result<T, String>) -> Option<T> {
            None
        }

        fn list<T>(&self, _: &'static str, _: impl Fn(&str) -> Result<T, String>) -> Option<Vec<T>> {
            None
        }

        fn required<T>(&self, _: &'static str, _: impl Fn(&str) -> Result<T, String>) -> Option<T> {
            None
        }

        fn table(&self, _: &'static str, _: &'static str) -> Option<Self> {
            None
        }

        fn is_given(&self, _: &str) -> bool {
            false
        }

        fn mistake(&self, key: &str, title: impl Into<String>) {
            panic!("`{key}`: {}", title.into());
        }

        fn mistake_with_help(&self, key: &str, title: impl Into<String>, _: impl Into<String>) {
            self.mistake(key, title);
        }

        fn finish(self) {}
    }

    #[test]
    fn every_name_is_read_as_the_measure_of_this_name_and_its_defaults_are_no_mistake() {
        for profile in [Profile::Smoke, Profile::Draft, Profile::Rfc, Profile::Custom] {
            let (trial_ns, maximum) = (750_000_000, FrameRate(2_000_000));
            let defaults = MeasureDefaults { trial_ns, profile, maximum, is_medium_known: false };
            let read = Measure::infos().map(|info| Measure::read(info.term.name, &NoKeys, &defaults));
            let names: Vec<&str> = read.map(|measure| measure.map_or("none", |measure| measure.name())).collect();
            assert_eq!(names, Measure::infos().map(|info| info.term.name).collect::<Vec<_>>());
            assert_eq!(Measure::read("no-measure", &NoKeys, &defaults), None);
        }
    }
}
