//! Files of results, which may be in an untrusted directory: each is looked up in the directory as it was opened, no link is followed, and
//! nothing but a regular file is opened. The directory's owner can neither put another directory in its place, nor make a reader wait.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::fs::{
    fstat, linkat, mkdirat, openat, readlinkat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The most octets of a file that is read as a whole.
pub const LARGEST: u64 = 64 << 20;

/// The most links on the way to a directory, as the kernel has it.
const MOST_LINKS: usize = 40;

/// How a part of a path is opened, whatever it is: a link itself, and not what it leads to.
const PART: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How a file is opened: without waiting for another process, as a FIFO would.
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// A directory that is open. Clones share it.
#[derive(Clone, Debug)]
pub struct Folder {
    handle: Arc<OwnedFd>,
    path: PathBuf,
    link_owners: Vec<u32>,
}

impl Folder {
    /// Opens a directory by its path, on which there may be links: [`Folder::link_owners`] says whose. The empty path is that of the current one.
    ///
    /// # Errors
    /// There is none, or it cannot be reached.
    pub fn open(path: &Path) -> io::Result<Self> {
        // The parts are a stack, so that those of a link's target come before the rest. An absolute path begins with the part "/", which openat resolves
        // from the root whatever the handle is.
        let parts = |path: &Path| {
            path.components()
                .rev()
                .map(|part| part.as_os_str().to_owned())
                .collect::<Vec<_>>()
        };
        let mut handle = openat(CWD, ".", PART | OFlags::DIRECTORY, Mode::empty())?;
        let (mut rest, mut link_owners) = (parts(path), Vec::new());
        // Each part is opened in the one before, so none of them can be replaced on the way.
        while let Some(name) = rest.pop() {
            let part = openat(&handle, &name, PART, Mode::empty())?;
            let found = fstat(&part)?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory => handle = part,
                FileType::Symlink if link_owners.len() < MOST_LINKS => {
                    link_owners.push(found.st_uid);
                    let target = readlinkat(&part, "", Vec::new())?;
                    rest.extend(parts(Path::new(OsStr::from_bytes(target.as_bytes()))));
                }
                FileType::Symlink => return Err(Errno::LOOP.into()),
                _ => return Err(Errno::NOTDIR.into()),
            }
        }
        Ok(Self {
            handle: Arc::new(handle),
            path: path.to_owned(),
            link_owners,
        })
    }

    /// Returns the path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the users to whom the links on its path belong.
    pub fn link_owners(&self) -> &[u32] {
        &self.link_owners
    }

    /// Returns its owner, group and mode.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn metadata(&self) -> io::Result<Stat> {
        Ok(fstat(&self.handle)?)
    }

    /// Opens it for reading, as what lists it or gives it away needs it.
    ///
    /// # Errors
    /// This user may not read it.
    pub fn readable(&self) -> io::Result<OwnedFd> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(&self.handle, ".", how, Mode::empty())?)
    }

    /// Opens a folder in it.
    ///
    /// # Errors
    /// There is none, or a link.
    pub fn folder(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        let path = self.path.join(&name);
        let opened = openat(
            &self.handle,
            single(name.as_ref())?,
            PART | OFlags::DIRECTORY,
            Mode::empty(),
        );
        let handle = opened.map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => refused(&format!(
                "{} is a link to another folder, or no folder",
                path.display()
            )),
            error => error.into(),
        })?;
        Ok(Self {
            handle: Arc::new(handle),
            path,
            link_owners: Vec::new(),
        })
    }

    /// Opens a folder in it, which is made where there is none; returns it, and whether it is new.
    ///
    /// # Errors
    /// It cannot be made, or there is a link of this name.
    pub fn make_folder(&self, name: impl AsRef<Path>) -> io::Result<(Self, bool)> {
        let is_new = match mkdirat(
            &self.handle,
            single(name.as_ref())?,
            Mode::from_raw_mode(0o777),
        ) {
            Err(Errno::EXIST) => false,
            made => made.map(|()| true)?,
        };
        Ok((self.folder(name)?, is_new))
    }

    /// Opens a file in it for reading.
    ///
    /// # Errors
    /// There is none, or no regular file.
    pub fn read(&self, name: impl AsRef<Path>) -> io::Result<File> {
        self.open_file(name.as_ref(), OFlags::RDONLY)
    }

    /// Reads a whole file in it.
    ///
    /// # Errors
    /// Those of [`Folder::read`]; it is longer than [`LARGEST`].
    pub fn octets(&self, name: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let mut octets = Vec::new();
        self.read(name)?
            .take(LARGEST + 1)
            .read_to_end(&mut octets)?;
        if octets.len() as u64 > LARGEST {
            Err(refused(&format!("it is longer than {} MiB", LARGEST >> 20)))
        } else {
            Ok(octets)
        }
    }

    /// Reads the text of a file in it.
    ///
    /// # Errors
    /// Those of [`Folder::octets`]; the file is not UTF-8.
    pub fn text(&self, name: impl AsRef<Path>) -> io::Result<String> {
        String::from_utf8(self.octets(name)?)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
    }

    /// Opens a file in it to be written at its end, and makes it where there is none.
    ///
    /// # Errors
    /// It cannot be created, or is not a regular file.
    pub fn append(&self, name: impl AsRef<Path>) -> io::Result<File> {
        self.open_file(
            name.as_ref(),
            OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE,
        )
    }

    /// Makes a file in it that is not there yet.
    ///
    /// # Errors
    /// It is there, or cannot be made.
    pub fn create_new(&self, name: impl AsRef<Path>) -> io::Result<File> {
        self.open_file(
            name.as_ref(),
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        )
    }

    /// Makes a file in it in place of whatever has this name.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(&self, name: impl AsRef<Path>) -> io::Result<File> {
        match self.remove(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.create_new(name),
        }
    }

    /// Removes a file in it.
    ///
    /// # Errors
    /// There is none, or it cannot be removed.
    pub fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        Ok(unlinkat(
            &self.handle,
            single(name.as_ref())?,
            AtFlags::empty(),
        )?)
    }

    /// Gives a file in it another name, in place of whatever has that.
    ///
    /// # Errors
    /// There is none, or it cannot be renamed.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        Ok(renameat(
            &self.handle,
            single(from.as_ref())?,
            &self.handle,
            single(to.as_ref())?,
        )?)
    }

    /// Gives a file in it a name that nothing has.
    ///
    /// # Errors
    /// Something has that name, there is no such file, or it cannot be renamed.
    pub fn rename_new(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (single(from.as_ref())?, single(to.as_ref())?);
        match renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
            // Some file systems, such as NFS, know no such renaming; a hard link replaces nothing either.
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(&self.handle, from, &self.handle, to, AtFlags::empty())?;
                self.remove(from)
            }
            renamed => Ok(renamed?),
        }
    }

    /// Moves a file or folder in it to another folder of the same file system, under the same name, in place of a file that has that.
    ///
    /// # Errors
    /// There is none, or it cannot be moved.
    pub fn move_to(&self, name: impl AsRef<Path>, to: &Self) -> io::Result<()> {
        let name = single(name.as_ref())?;
        Ok(renameat(&self.handle, name, &to.handle, name)?)
    }

    /// Removes an empty folder in it.
    ///
    /// # Errors
    /// There is none, or something is in it.
    pub fn remove_folder(&self, name: impl AsRef<Path>) -> io::Result<()> {
        Ok(unlinkat(
            &self.handle,
            single(name.as_ref())?,
            AtFlags::REMOVEDIR,
        )?)
    }

    /// Returns the names of all that is in it, ascending.
    ///
    /// # Errors
    /// This user may not read it.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(self.readable()?)? {
            names.push(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned());
        }
        names.retain(|name| name != "." && name != "..");
        names.sort();
        Ok(names)
    }

    /// Returns the names of the regular files in it, ascending.
    ///
    /// # Errors
    /// This user may not read it.
    pub fn files(&self) -> io::Result<Vec<OsString>> {
        self.names_of(FileType::RegularFile)
    }

    /// Returns the names of the folders in it, ascending.
    ///
    /// # Errors
    /// This user may not read it.
    pub fn folders(&self) -> io::Result<Vec<OsString>> {
        self.names_of(FileType::Directory)
    }

    fn names_of(&self, kind: FileType) -> io::Result<Vec<OsString>> {
        // A file that was removed after it was listed has no type.
        let kind_of = |name: &OsString| {
            Some(
                statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
                    .ok()?
                    .st_mode,
            )
        };
        let mut names = self.names()?;
        names.retain(|name| kind_of(name).map(FileType::from_raw_mode) == Some(kind));
        Ok(names)
    }

    fn open_file(&self, name: &Path, how: OFlags) -> io::Result<File> {
        let opened = openat(
            &self.handle,
            single(name)?,
            how | FILE,
            Mode::from_raw_mode(0o666),
        );
        let irregular = || {
            refused(
                "it is no regular file: links, FIFOs and devices in results are neither read nor written",
            )
        };
        let file = File::from(opened.map_err(|error| match error {
            Errno::LOOP | Errno::NXIO | Errno::ISDIR => irregular(),
            error => error.into(),
        })?);
        let found = file.metadata()?;
        // Where the kernel lets users make hard links to files of others, such a link leads out as others do.
        let leads_out =
            || Ok::<_, io::Error>(found.nlink() > 1 && found.uid() != self.metadata()?.st_uid);
        match found.is_file() {
            false => Err(irregular()),
            true if rustix::process::geteuid().is_root() && leads_out()? => Err(refused(
                "it is a hard link to a file of another user than the directory's",
            )),
            true => Ok(file),
        }
    }
}

/// Returns the name of a file or folder, which stands alone: no path leads on, up or elsewhere.
fn single(name: &Path) -> io::Result<&OsStr> {
    match (name.components().next(), name.components().nth(1)) {
        (Some(Component::Normal(name)), None) => Ok(name),
        _ => Err(io::ErrorKind::InvalidFilename.into()),
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Creates a file at a path that the user named, or empties the one that is there.
///
/// # Errors
/// Those of [`File::create`]; or the name is that of a symbolic link.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(NO_LINK)
        .open(path)
}

/// The flag with which a file is not opened where its name is that of a link.
const NO_LINK: i32 = OFlags::NOFOLLOW.bits().cast_signed();

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mknodat;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_emptied_and_what_a_link_leads_to_is_not() {
        let path = std::env::temp_dir().join(format!("sixbench-files-{}", std::process::id()));
        let link = path.with_extension("link");
        std::fs::write(&path, "kept").expect("a file");
        symlink(&path, &link).expect("a link");
        let refused = create(&link).map(drop);
        let kept = std::fs::read_to_string(&path).expect("the file");
        let emptied = create(&path).map(drop);
        let left = std::fs::read_to_string(&path).expect("the file");
        for file in [&path, &link] {
            std::fs::remove_file(file).expect("removed");
        }
        assert!(refused.is_err() && emptied.is_ok());
        assert_eq!([kept, left], ["kept", ""]);
    }

    /// A directory of this test, removed at its end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("sixbench-folder-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(path.join("results")).expect("a directory");
            Self(path)
        }

        fn results(&self) -> Folder {
            Folder::open(&self.0.join("results")).expect("a directory")
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn only_regular_files_are_opened_and_nobody_waits() {
        let scratch = Scratch::new("regular");
        let (folder, path) = (scratch.results(), scratch.0.join("results"));
        std::fs::write(scratch.0.join("secret"), "secret").expect("a file");
        symlink(scratch.0.join("secret"), path.join("link")).expect("a link");
        symlink("/dev/zero", path.join("device")).expect("a link");
        symlink(&scratch.0, path.join("up")).expect("a link");
        std::fs::create_dir(path.join("below")).expect("a folder");
        mknodat(
            CWD,
            path.join("fifo"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a FIFO");
        for name in ["link", "device", "fifo", "below"] {
            for opened in [folder.read(name), folder.append(name)] {
                assert!(
                    opened
                        .expect_err(name)
                        .to_string()
                        .contains("no regular file"),
                    "{name}"
                );
            }
        }
        for name in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../secret",
            "up/secret",
            "below/x",
        ] {
            assert_eq!(
                folder.read(name).expect_err(name).kind(),
                io::ErrorKind::InvalidFilename,
                "{name}"
            );
        }
        assert!(
            folder
                .folder("up")
                .expect_err("a link")
                .to_string()
                .contains("is a link to another folder")
        );
        assert!(
            folder.make_folder("up").is_err()
                && folder.make_folder("below").is_ok_and(|(_, is_new)| !is_new)
        );
        // What is made takes the place of a link.
        folder.create("link").expect("a file");
        assert_eq!(
            std::fs::read_to_string(scratch.0.join("secret")).expect("a file"),
            "secret"
        );
        assert_eq!(
            (
                folder.files().expect("files"),
                folder.folders().expect("folders")
            ),
            (vec!["link".into()], vec!["below".into()])
        );
    }

    #[test]
    fn a_folder_stays_the_one_that_was_opened_whatever_takes_its_place() {
        let scratch = Scratch::new("place");
        let (folder, other) = (scratch.results(), scratch.0.join("other"));
        std::fs::create_dir(&other).expect("a directory");
        std::fs::rename(folder.path(), scratch.0.join("moved")).expect("moved");
        symlink(&other, folder.path()).expect("a link");
        folder.create("a").expect("a file");
        folder.rename("a", "b").expect("renamed");
        assert!(scratch.0.join("moved/b").exists() && !other.join("b").exists());
        let through = Folder::open(&folder.path().join("../other/.")).expect("a directory");
        assert_eq!(
            through.link_owners(),
            [std::fs::symlink_metadata(folder.path())
                .expect("a link")
                .uid()]
        );
        let _ = through.create("c").expect("a file");
        assert!(other.join("c").exists());
        symlink("loop", scratch.0.join("loop")).expect("a link");
        assert!(
            Folder::open(&scratch.0.join("loop")).is_err()
                && Folder::open(&other.join("c")).is_err()
        );
    }

    #[test]
    fn what_is_longer_than_the_most_is_not_read_as_a_whole() {
        let scratch = Scratch::new("long");
        let folder = scratch.results();
        folder
            .create("sparse")
            .expect("a file")
            .set_len(3 << 30)
            .expect("a length");
        assert_eq!(
            folder.octets("sparse").expect_err("too long").to_string(),
            "it is longer than 64 MiB"
        );
    }

    #[test]
    fn root_opens_no_file_of_another_user_that_has_another_name_elsewhere() {
        let scratch = Scratch::new("hard");
        let folder = scratch.results();
        std::fs::write(scratch.0.join("of-root"), "x").expect("a file");
        std::fs::hard_link(scratch.0.join("of-root"), folder.path().join("x"))
            .expect("a hard link");
        assert!(folder.read("x").is_ok(), "the same user's");
        std::os::unix::fs::chown(folder.path(), Some(65_534), None).expect("root");
        assert!(
            folder
                .read("x")
                .expect_err("refused")
                .to_string()
                .contains("hard link")
                && folder.append("x").is_err()
        );
    }
}
