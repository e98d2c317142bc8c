//! Finds what remains of a run that is gone, judges it, and removes what is not in doubt.

use super::held::Held;
use super::leftover::{Leftover, Mode};
use super::noted::Noted;
use super::segments;

/// Lists what remains of a note's objects, and removes it if `mode` says so.
pub(super) fn remains(noted: &Noted, mode: Mode) -> Vec<Leftover> {
    let run = format!("the run of process {}, which was killed", noted.pid);
    let doubt = noted.doubt();
    let mut found = Vec::new();
    let there: Vec<_> = noted.objects.iter().filter(|object| object.is_there()).collect();
    // Take the locks first: a process that comes meanwhile finds the object locked, and uses another name.
    let locks: Vec<_> = there.iter().map(|object| object.lock()).collect();
    let held = if there.is_empty() || doubt.is_some() { Held::default() } else { Held::by_processes() };
    let why = |at: usize| doubt.clone().or_else(|| locks[at].as_ref().err().cloned()).or_else(|| held.why(there[at]));
    let reasons: Vec<_> = (0..there.len()).map(why).collect();
    for (at, object) in there.iter().enumerate() {
        // Files that belong together are removed together: a port of Fast DDS, its lock and its semaphore.
        let group = (0..there.len()).filter(|other| there[*other].group() == object.group());
        let reason = reasons[at].clone().or_else(|| group.filter_map(|other| reasons[other].clone()).next());
        let stays = reason.or_else(|| object.goes(mode));
        found.push(Leftover {
            what: object.path.display().to_string(),
            bytes: object.bytes(),
            run: run.clone(),
            stays,
        });
    }
    found.extend(segments::of(noted, doubt, mode).into_iter().map(|(what, bytes, stays)| Leftover {
        what,
        bytes,
        run: run.clone(),
        stays,
    }));
    found
}
