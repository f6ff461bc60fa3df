//! The socket that a server listens on, and its file. The directory of the file is opened once: what others put in the place of the path later is neither
//! opened nor removed.

use super::channel::{STEP_LIMIT, too_long};
use super::error::MemifError;
use crate::sys::seqpacket;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The most octets of a path that the kernel takes for a socket.
const MOST_OCTETS: usize = 107;

/// A socket that listens. Its file is removed when it is dropped.
pub(super) struct MemifListener {
    socket: OwnedFd,
    /// The file; `None` in the abstract namespace.
    _file: Option<SocketFile>,
}

impl MemifListener {
    pub(super) fn new(path: &str) -> Result<Self, MemifError> {
        if path.starts_with('@') {
            return seqpacket::listen(path)
                .map(|socket| Self {
                    socket,
                    _file: None,
                })
                .map_err(|error| refused(path, error));
        }
        // A client has to reach it by this path.
        if path.len() > MOST_OCTETS {
            return Err(too_long(path));
        }
        let place = SocketPlace::open(path)?;
        let socket = match seqpacket::listen(&place.path()) {
            // A server that was killed leaves its file behind.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                place.remove_left_behind(path)?;
                seqpacket::listen(&place.path())
            }
            listening => listening,
        };
        let socket = socket.map_err(|error| refused(path, error))?;
        let identity = place
            .socket()
            .ok_or_else(|| MemifError::InUse(path.to_owned()))?;
        Ok(Self {
            socket,
            _file: Some(SocketFile { place, identity }),
        })
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

fn refused(path: &str, source: io::Error) -> MemifError {
    match source.kind() {
        io::ErrorKind::AddrInUse => MemifError::InUse(path.to_owned()),
        io::ErrorKind::PermissionDenied => MemifError::Denied(path.to_owned()),
        io::ErrorKind::InvalidFilename => too_long(path),
        _ => MemifError::System {
            what: "listen on the socket",
            source,
        },
    }
}

/// What tells a file from all others: its device and its number there.
type FileIdentity = (u64, u64);

/// A name in a directory that is open.
struct SocketPlace {
    directory: OwnedFd,
    name: OsString,
}

impl SocketPlace {
    fn open(path: &str) -> Result<Self, MemifError> {
        let Some(name) = Path::new(path).file_name() else {
            return Err(MemifError::Address(format!("{path:?} names no file")));
        };
        let absolute = std::path::absolute(path).map_err(|error| refused(path, error))?;
        let folder = absolute.parent().unwrap_or(Path::new("/"));
        if rustix::process::geteuid().is_root()
            && let Some(part) = shared_part(folder)
        {
            return Err(MemifError::Shared {
                path: path.to_owned(),
                part: part.display().to_string(),
            });
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(CWD, folder, flags, Mode::empty());
        Ok(Self {
            directory: directory.map_err(|error| refused(path, error.into()))?,
            name: name.to_owned(),
        })
    }

    /// Returns a path that stays in the directory, whatever happens to the one that it was opened by.
    fn path(&self) -> String {
        format!(
            "/proc/self/fd/{}/{}",
            self.directory.as_raw_fd(),
            self.name.to_string_lossy()
        )
    }

    /// Returns the identity of the socket of this name, if it is one.
    fn socket(&self) -> Option<FileIdentity> {
        let found: Stat =
            rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(found.st_mode) == FileType::Socket)
            .then_some((found.st_dev, found.st_ino))
    }

    /// Removes the socket of this name if it is still that one.
    fn remove(&self, identity: FileIdentity) -> io::Result<()> {
        match self.socket() {
            Some(found) if found == identity => Ok(rustix::fs::unlinkat(
                &self.directory,
                &self.name,
                AtFlags::empty(),
            )?),
            _ => Ok(()),
        }
    }

    /// Removes a socket without a listener.
    fn remove_left_behind(&self, path: &str) -> Result<(), MemifError> {
        let Some(identity) = self.socket() else {
            return Err(MemifError::InUse(path.to_owned()));
        };
        let answer = seqpacket::connect(&self.path(), STEP_LIMIT)
            .err()
            .and_then(|error| error.raw_os_error());
        match answer {
            Some(libc::ECONNREFUSED) => self
                .remove(identity)
                .map_err(MemifError::system("remove a socket that was left behind")),
            _ => Err(MemifError::InUse(path.to_owned())),
        }
    }
}

/// The file of a socket that listens. It is removed when this is dropped, unless there is another one in its place.
struct SocketFile {
    place: SocketPlace,
    identity: FileIdentity,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = self.place.remove(self.identity);
    }
}

/// Returns the part of a path that users can change who are neither root nor the one who called sudo: in a directory with the sticky bit they cannot
/// change what belongs to others. Members of the group of a directory are those that its owner admits.
fn shared_part(folder: &Path) -> Option<PathBuf> {
    let caller = std::env::var("SUDO_UID")
        .ok()
        .and_then(|user| user.parse().ok())
        .unwrap_or(0);
    let is_shared = |part: &&Path| {
        let Ok(found) = std::fs::symlink_metadata(part) else {
            return false;
        };
        let is_for_all = found.is_dir() && found.mode() & 0o1002 == 0o0002;
        is_for_all || (found.uid() != 0 && found.uid() != caller)
    };
    folder.ancestors().find(is_shared).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A directory of our own with a socket that listens in `in`, and `precious/socket`, which is somebody else's file.
    fn listening(name: &str) -> (PathBuf, MemifListener) {
        let directory =
            std::env::temp_dir().join(format!("sb-{}-listener-{name}", std::process::id()));
        for name in &["in", "precious"] {
            fs::create_dir_all(directory.join(name)).expect("a directory");
        }
        fs::write(directory.join("precious/socket"), "precious").expect("a file");
        let listener = MemifListener::new(&directory.join("in/socket").display().to_string())
            .expect("our own directory");
        assert!(directory.join("in/socket").exists());
        (directory, listener)
    }

    #[test]
    fn a_directory_that_is_swapped_for_a_link_loses_no_file_when_the_socket_goes() {
        let (directory, listener) = listening("swapped");
        fs::rename(directory.join("in"), directory.join("moved")).expect("our own");
        symlink(directory.join("precious"), directory.join("in")).expect("a link");
        drop(listener);
        assert_eq!(
            fs::read_to_string(directory.join("precious/socket")).expect("it stays"),
            "precious"
        );
        assert!(
            !directory.join("moved/socket").exists(),
            "the socket is ours to remove"
        );
        fs::remove_dir_all(directory).expect("removed");
    }

    #[test]
    fn what_has_taken_the_place_of_the_socket_stays() {
        let (directory, listener) = listening("replaced");
        let path = directory.join("in/socket");
        fs::rename(directory.join("precious/socket"), &path).expect("our own");
        drop(listener);
        assert_eq!(fs::read_to_string(&path).expect("it stays"), "precious");
        fs::remove_file(&path).expect("removed");
        let listener = MemifListener::new(&path.display().to_string()).expect("our own directory");
        fs::rename(&path, directory.join("other")).expect("our own");
        let _other = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        drop(listener);
        assert!(path.exists(), "it is the socket of another");
        fs::remove_dir_all(directory).expect("removed");
    }
}
