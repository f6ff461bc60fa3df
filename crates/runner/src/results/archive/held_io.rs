//! A reader or writer for a compressor that does not support errors: the first error is kept, and nothing is read or written after it.

use std::io::{self, Read, Write};

pub(super) struct ErrorHolder<T> {
    inner: T,
    error: Option<io::Error>,
}

impl<T> ErrorHolder<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, error: None }
    }

    /// Returns the reader or writer.
    ///
    /// # Errors
    /// The first error that occurred.
    pub(super) fn into_inner(self) -> io::Result<T> {
        self.error.map_or(Ok(self.inner), Err)
    }

    /// Returns the result of `act`, or `otherwise` after an error.
    fn unless_failed<R>(
        &mut self,
        otherwise: R,
        act: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        if self.error.is_some() {
            return Ok(otherwise);
        }
        match act(&mut self.inner) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.error = Some(error);
                Ok(otherwise)
            }
            done => done,
        }
    }
}

impl<R: Read> Read for ErrorHolder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // The compressor would treat an interrupted call as an error, too.
            if let Ok(length) = self.unless_failed(0, |inner| inner.read(buffer)) {
                return Ok(length);
            }
        }
    }
}

impl<W: Write> Write for ErrorHolder<W> {
    // `Write::write_all` repeats an interrupted call itself; the compressor reads with `read` alone.
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.unless_failed(octets.len(), |inner| inner.write(octets))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Full;

    impl Write for Full {
        fn write(&mut self, _octets: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_is_kept_until_it_is_asked_for() {
        let mut full = ErrorHolder::new(Full);
        assert!(full.write_all(b"octets").is_ok() && full.write_all(b"more").is_ok());
        let kept = full.into_inner().err().expect("an error");
        assert_eq!(kept.kind(), io::ErrorKind::StorageFull);
    }
}
