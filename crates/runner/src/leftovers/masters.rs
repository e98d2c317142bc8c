//! Removes files by which nodes on ROS 1 find the master of their domain (native/middleware/ros1/master.cpp): `.users`,
//! on which every session holds a shared lock, and `.master`, which the master locks. Two remain for each domain and
//! network after all have ended.

use super::leftover::{Leftover, Mode};
use super::locks::try_lock;
use std::fs;
use std::io;
use std::path::Path;

pub(super) fn leftovers(private: &Path, mode: Mode) -> io::Result<Vec<Leftover>> {
    let folder = private.join("ros1");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).into_iter().flatten() {
        let users = entry?.path();
        if users.extension().is_none_or(|end| end != "users") {
            continue;
        }
        // A session locks `.users` first and then checks that the file still exists. While we hold that lock, no
        // session can start a master.
        let master = users.with_extension("master");
        let (of_users, of_master) = (tacho_private::open(&users)?, tacho_private::open(&master)?);
        if mode == Mode::Remove && try_lock(&of_users) && try_lock(&of_master) {
            fs::remove_file(&users)?;
            fs::remove_file(&master)?;
            found.extend([users, master].map(|path| Leftover {
                what: path.display().to_string(),
                bytes: 0,
                run: "runs on ROS 1, which have ended".into(),
                stays: None,
            }));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_session_has_locked_stay() {
        let private = tempfile::tempdir().unwrap();
        let users = private.path().join("ros1/7-1.users");
        fs::create_dir(private.path().join("ros1")).unwrap();
        let session = tacho_private::open(&users).unwrap();
        assert!(try_lock(&session));
        assert_eq!(leftovers(private.path(), Mode::Remove).unwrap(), []);
        drop(session);
        assert_eq!(leftovers(private.path(), Mode::List).unwrap(), []);
        assert_eq!(leftovers(private.path(), Mode::Remove).unwrap().len(), 2);
        assert!(!users.exists());
    }
}
