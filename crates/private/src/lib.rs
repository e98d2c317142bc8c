//! The folder of this user alone, in which tacho and its plugins keep files that several processes must find by name.
//!
//! In a folder that others may write to, such as `/tmp`, anybody may make a link of a name that is known, and whoever
//! opens it writes where the link points. So no file of a fixed name lies there: all are in one folder that nobody
//! else can enter. The same rule for plugins in C and C++ is `native/include/tacho/private_folder.h`; both must name
//! the same folder.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder: `tacho` in `XDG_RUNTIME_DIR` where that is this user's alone, else `tacho-<uid>` in `TMPDIR` or
/// `/tmp`. Made if it is not there; an error where another user was first, or where others may enter it.
pub fn folder() -> io::Result<PathBuf> {
    folder_in(std::env::var_os("XDG_RUNTIME_DIR"), std::env::var_os("TMPDIR"), own_user())
}

/// A folder in [`folder`], as private.
pub fn subfolder(name: &str) -> io::Result<PathBuf> {
    made(folder()?.join(name), own_user())
}

/// Opens a file in a private folder, for reading and writing, made where it is not there. Never by a link, and never
/// another user's.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    checked(options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path), path)
}

/// The same of a file that must not be there yet.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    checked(options.custom_flags(libc::O_NOFOLLOW).open(path), path)
}

/// The user as whom this process makes files.
pub fn own_user() -> u32 {
    // SAFETY: geteuid() has no conditions.
    unsafe { libc::geteuid() }
}

fn folder_in(runtime: Option<OsString>, temporary: Option<OsString>, user: u32) -> io::Result<PathBuf> {
    let runtime = runtime.map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(runtime) = runtime.filter(|path| path.symlink_metadata().is_ok_and(|found| is_private(&found, user))) {
        return made(runtime.join("tacho"), user);
    }
    let temporary = temporary.filter(|path| !path.is_empty()).unwrap_or_else(|| "/tmp".into());
    made(PathBuf::from(temporary).join(format!("tacho-{user}")), user)
}

fn made(path: PathBuf, user: u32) -> io::Result<PathBuf> {
    match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(saying(&path, &error.to_string(), error.kind()))
        }
        _ => {}
    }
    let found = path.symlink_metadata().map_err(|error| saying(&path, &error.to_string(), error.kind()))?;
    match is_private(&found, user) {
        true => Ok(path),
        false => Err(foreign(&path, &found, user)),
    }
}

fn is_private(found: &Metadata, user: u32) -> bool {
    found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0
}

fn foreign(path: &Path, found: &Metadata, user: u32) -> io::Error {
    let kind = match found.file_type() {
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_dir() => "a folder",
        _ => "a file",
    };
    let (owner, mode) = (found.uid(), found.mode() & 0o7777);
    let text = format!(
        "found {kind} of user {owner} with mode {mode:o}, expected a folder of user {user} with mode 700, which nobody \
         else can enter; remove it, or set XDG_RUNTIME_DIR to such a folder"
    );
    saying(path, &text, io::ErrorKind::PermissionDenied)
}

fn checked(opened: io::Result<File>, path: &Path) -> io::Result<File> {
    let file = opened.map_err(|error| saying(path, &error.to_string(), error.kind()))?;
    let (found, user) = (file.metadata()?, own_user());
    match found.is_file() && found.uid() == user {
        true => Ok(file),
        false => {
            Err(saying(path, &format!("expected a file of user {user}; remove it"), io::ErrorKind::PermissionDenied))
        }
    }
}

fn saying(path: &Path, text: &str, kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, format!("{}: {text}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{symlink, PermissionsExt};

    fn with_mode(path: &Path, mode: u32) -> OsString {
        fs::create_dir_all(path).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        path.into()
    }

    #[test]
    fn the_runtime_folder_is_taken_where_it_is_private_and_the_temporary_one_elsewhere() {
        let place = tempfile::tempdir().unwrap();
        let (runtime, temporary) = (place.path().join("runtime"), place.path().join("temporary"));
        let shared = Some(with_mode(&temporary, 0o777));
        let found = |mode| folder_in(Some(with_mode(&runtime, mode)), shared.clone(), own_user()).unwrap();
        assert_eq!(found(0o700), runtime.join("tacho"));
        let other = temporary.join(format!("tacho-{}", own_user()));
        assert_eq!((found(0o770), found(0o755)), (other.clone(), other.clone()));
        assert_eq!(fs::metadata(&other).unwrap().mode() & 0o777, 0o700);
        let link = place.path().join("link");
        symlink(&runtime, &link).unwrap();
        with_mode(&runtime, 0o700);
        assert_eq!(folder_in(Some(link.into()), shared.clone(), own_user()).unwrap(), other);
        assert_eq!(folder_in(Some("".into()), shared, own_user()).unwrap(), other);
    }

    #[test]
    fn a_folder_that_others_can_enter_or_have_made_is_refused_and_named() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(format!("tacho-{}", own_user()));
        let refused = || folder_in(None, Some(place.path().into()), own_user()).unwrap_err().to_string();
        with_mode(&path, 0o710);
        assert!(refused().contains("mode 710") && refused().contains(path.to_str().unwrap()), "{}", refused());
        fs::remove_dir(&path).unwrap();
        symlink(place.path(), &path).unwrap();
        assert!(refused().contains("a symbolic link"), "{}", refused());
        let another =
            folder_in(None, Some(place.path().into()), own_user() + 1).map(|path| fs::remove_dir(path).unwrap());
        assert!(another.is_err(), "made by user {}, and taken as another's", own_user());
    }

    #[test]
    fn no_link_is_followed_and_what_must_be_new_is() {
        let place = tempfile::tempdir().unwrap();
        let (target, link) = (place.path().join("target"), place.path().join("link"));
        fs::write(&target, "kept").unwrap();
        symlink(&target, &link).unwrap();
        assert!(open(&link).is_err() && create(&link).is_err() && create(&target).is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
        open(&target).unwrap();
        create(&place.path().join("new")).unwrap();
    }
}
