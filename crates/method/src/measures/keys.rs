//! The keys of a measure in the `[[test]]` of a plan file, as the file of the measure reads them. The implementor handles the file format and the
//! positions of mistakes.

use crate::plan::Profile;
use crate::terms::FrameRate;
use crate::units;
use std::fmt::Display;

/// A table in a plan file. A value that cannot be read is a mistake: the implementor records the words of the reader's error with the position, and treats the value as missing.
pub trait Keys: Sized {
    /// Returns the quantity `key`, parsed by `read`: either a string with a unit, or a number, which is passed as its digits. Returns `None` if it is
    /// missing or a mistake.
    fn value<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T>;

    /// Returns the string `key`, or `None` if it is missing or a mistake.
    fn text<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T>;

    /// Returns the whole number `key`, or `None` if it is missing or a mistake.
    fn number<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T>;

    /// Returns a list of quantities; a single one may be written without brackets.
    fn list<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<T>>;

    /// Does the same as [`Keys::value`], and reports a missing key.
    fn required<T, E: Display>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T>;

    /// Returns the subtable `key`, which is called `name` in messages; `None` for any other value, which can still be read another way.
    fn table(&self, key: &'static str, name: &'static str) -> Option<Self>;

    /// Returns whether `key` is present.
    fn is_given(&self, key: &str) -> bool;

    /// Reports a mistake at the value of `key`, or at the table if the key is missing.
    fn mistake(&self, key: &str, title: impl Into<String>);

    /// Does the same as [`Keys::mistake`], with advice on how to correct it.
    fn mistake_with_help(&self, key: &str, title: impl Into<String>, help: impl Into<String>);

    /// Reports the keys that no reader has asked for. Call it after everything else has been read; the implementor finishes the table of a test
    /// itself.
    fn finish(self);
}

/// The settings elsewhere in the plan that determine the defaults of a measure.
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

/// Reads a time that must be greater than zero, and returns it in nanoseconds.
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

    /// A test without any keys.
    struct NoKeys;

    impl Keys for NoKeys {
        fn value<T, E: Display>(
            &self,
            _: &'static str,
            _: impl Fn(&str) -> Result<T, E>,
        ) -> Option<T> {
            None
        }

        fn text<T, E: Display>(
            &self,
            _: &'static str,
            _: impl Fn(&str) -> Result<T, E>,
        ) -> Option<T> {
            None
        }

        fn number<T, E: Display>(
            &self,
            _: &'static str,
            _: impl Fn(&str) -> Result<T, E>,
        ) -> Option<T> {
            None
        }

        fn list<T, E: Display>(
            &self,
            _: &'static str,
            _: impl Fn(&str) -> Result<T, E>,
        ) -> Option<Vec<T>> {
            None
        }

        fn required<T, E: Display>(
            &self,
            _: &'static str,
            _: impl Fn(&str) -> Result<T, E>,
        ) -> Option<T> {
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
        for profile in [
            Profile::Smoke,
            Profile::Draft,
            Profile::Rfc,
            Profile::Custom,
        ] {
            let (trial_ns, maximum) = (750_000_000, FrameRate(2_000_000));
            let defaults = MeasureDefaults {
                trial_ns,
                profile,
                maximum,
                is_medium_known: false,
            };
            let read =
                Measure::infos().map(|info| Measure::read(info.term.name, &NoKeys, &defaults));
            let names: Vec<&str> = read
                .map(|measure| measure.map_or("none", |measure| measure.name()))
                .collect();
            assert_eq!(
                names,
                Measure::infos()
                    .map(|info| info.term.name)
                    .collect::<Vec<_>>()
            );
            assert_eq!(Measure::read("no-measure", &NoKeys, &defaults), None);
        }
    }
}
